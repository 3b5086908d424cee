package parquet

// learnedCodec is which codec CodecAuto picks for a column.
type learnedCodec struct {
	codec Codec
	due   int64 // bytes until it is picked again
}

const (
	// pickBytes is how much of a column goes by between two picks.
	pickBytes = 256 << 20
	// pickWorth is the part of a page that a codec must save over a faster one.
	pickWorth = 0.1
)

// codecOf is the codec of the column's pages in this file. It stays the same for the file: though the format allows
// each chunk its own, parquet-go takes the first one's for all.
func (l *leaf) codecOf(f *File, w *workspace, kind pageKind, body []byte, head int) (Codec, error) {
	if f.options.Codec != CodecAuto {
		return f.options.Codec, nil
	}
	if l.picked {
		return l.codec, nil
	}
	codec, err := l.learned.pick(w, kind, body, head)
	l.codec, l.picked = codec, err == nil
	return codec, err
}

// pick measures a column's page with each codec, or returns what was picked lately. A page of indices says little: the
// dictionary comes after it, and compresses well where it matters.
func (k *learned) pick(w *workspace, kind pageKind, body []byte, head int) (Codec, error) {
	if kind == pageOfIndices {
		return CodecZstd, nil
	}
	k.mu.Lock()
	k.codec.due -= int64(len(body))
	known, pick := k.codec.codec, k.codec.due < 0
	k.mu.Unlock()
	switch {
	case !pick:
		return known, nil
	case len(body) < judgeBytesMin:
		return CodecZstd, nil
	}
	picked, err := w.pick(k, kind, body, head)
	if err != nil {
		return picked, err
	}
	k.mu.Lock()
	k.codec = learnedCodec{picked, pickBytes}
	k.mu.Unlock()
	return picked, nil
}

// pick is none, snappy or zstd: a slower one where it makes the page smaller by pickWorth.
func (w *workspace) pick(k *learned, kind pageKind, body []byte, head int) (Codec, error) {
	snappy, err := appendSnappy(nil, body)
	if err != nil {
		return CodecNone, err
	}
	zstd, err := w.judge(k, kind, 0, nil, body, head)
	if err != nil {
		return CodecNone, err
	}
	picked, size := CodecNone, float64(len(body))
	if float64(len(snappy)) < (1-pickWorth)*size {
		picked, size = CodecSnappy, float64(len(snappy))
	}
	if float64(len(zstd)) < (1-pickWorth)*size {
		picked = CodecZstd
	}
	return picked, nil
}

// codecWritten is the codec that the pages of the finished file have. A column without pages has none.
func (l *leaf) codecWritten(f *File) Codec {
	switch {
	case f.options.Codec != CodecAuto:
		return f.options.Codec
	case l.picked:
		return l.codec
	default:
		return CodecNone
	}
}
