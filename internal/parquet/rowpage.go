package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// rowPage is an opened data page. Its values are PLAIN or indices into the dictionary, whatever encoding they had.
type rowPage struct {
	entries int // that are left
	starts  int // rows that begin among them
	defs    hybridReader
	reps    []uint8
	plain   []byte
	indices hybridReader
	indexed bool
	buffers [2][]byte // of the pool: what is above lies in them
}

func (p *rowPage) held() int { return cap(p.buffers[0]) + cap(p.buffers[1]) + cap(p.reps) }

// openPage opens the page that comes next, and tells whether it was one with entries.
func (l *rowLeaf) openPage(w *workspace) (bool, error) {
	at := l.source.offset()
	opened, err := l.openNext(w)
	if err != nil {
		return false, fmt.Errorf("the page at byte %d: %w", at, err)
	}
	return opened, nil
}

func (l *rowLeaf) openNext(w *workspace) (bool, error) {
	h, err := l.source.head()
	if err != nil {
		return false, err
	}
	raw, err := l.source.take(h.size + h.compressed)
	if err != nil {
		return false, err
	}
	body := raw[h.size:]
	switch {
	case h.kind == format.IndexPage:
		return false, nil
	case h.kind == format.DictionaryPage:
		return false, l.openDictionary(w, &h, body)
	case h.kind != format.DataPage && h.kind != format.DataPageV2:
		return false, fmt.Errorf("it is a page of unknown kind %d", h.kind)
	case h.values == 0:
		return false, nil
	case h.values > pageEntriesReadMax:
		return false, fmt.Errorf("it is said to have %d values, more than the %d that are read", h.values, pageEntriesReadMax)
	case int64(h.values) > l.entries:
		return false, errors.New("there are more values than its footer says")
	}
	l.entries -= int64(h.values)
	p := rowPage{entries: h.values, starts: h.values}
	p.buffers[0], err = l.decompress(w, &h, body)
	if err == nil {
		err = l.openData(&p, &h)
	}
	if err != nil {
		l.held = append(l.held, p.buffers[:]...)
		return false, err
	}
	l.pages = append(l.pages, p)
	return true, nil
}

// decompress returns the page's bytes in a buffer of the pool.
func (l *rowLeaf) decompress(w *workspace, h *pageHead, body []byte) ([]byte, error) {
	if err := h.verify(body); err != nil {
		return nil, err
	}
	if h.uncompressed > pageReadBytesMax {
		return nil, fmt.Errorf("a page of %d bytes is more than the %d that are decompressed", h.uncompressed,
			pageReadBytesMax)
	}
	codec, raw := l.chunk.codec, 0
	if h.kind == format.DataPageV2 {
		raw = h.repBytes + h.defBytes // never compressed
		if h.stored {
			codec = format.Uncompressed
		}
	}
	buffer := append(l.pool.get(h.uncompressed), body[:raw]...)
	room := buffer[raw:raw:cap(buffer)]
	plain, err := w.decoders.decompressAny(codec, room, body[raw:], h.uncompressed-raw)
	if err != nil {
		l.held = append(l.held, buffer)
		return nil, err
	}
	buffer = buffer[:h.uncompressed]
	if len(plain) > 0 && &plain[0] != &buffer[raw] { // as it was in the file, whose window moves on
		copy(buffer[raw:], plain)
	}
	return buffer, nil
}

// openData parses the levels, and turns the values into PLAIN ones.
func (l *rowLeaf) openData(p *rowPage, h *pageHead) error {
	reps, defs, values, err := l.split(h, p.buffers[0])
	if err != nil {
		return err
	}
	if l.rep > 0 {
		if err := l.openRows(p, reps); err != nil {
			return err
		}
	}
	if l.def > 0 {
		if p.defs, err = newHybridReader(defs, bits.Len8(l.def)); err != nil {
			return err
		}
	}
	if l.levelsOnly {
		return nil
	}
	return l.openValues(p, h, values)
}

// split cuts a page into repetition levels, definition levels and values.
func (l *rowLeaf) split(h *pageHead, b []byte) (reps, defs, values []byte, err error) {
	if h.kind == format.DataPageV2 {
		return b[:h.repBytes], b[h.repBytes : h.repBytes+h.defBytes], b[h.repBytes+h.defBytes:], nil
	}
	if l.rep > 0 {
		if reps, b, err = cutLevels(h.repEncoding, b); err != nil {
			return nil, nil, nil, err
		}
	}
	if l.def > 0 {
		if defs, b, err = cutLevels(h.defEncoding, b); err != nil {
			return nil, nil, nil, err
		}
	}
	return reps, defs, b, nil
}

// cutLevels cuts off the levels of a page v1, which have their length before them.
func cutLevels(e format.Encoding, b []byte) (levels, rest []byte, err error) {
	switch {
	case e == format.BitPacked:
		return nil, nil, errBitPacked
	case e != format.RLE:
		return nil, nil, fmt.Errorf("its levels are encoded as %s", e)
	case len(b) < 4:
		return nil, nil, errCut
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if n > uint64(len(b)-4) {
		return nil, nil, errCut
	}
	return b[4 : 4+n], b[4+n:], nil
}

// openRows reads the repetition levels, and counts the rows that begin.
func (l *rowLeaf) openRows(p *rowPage, reps []byte) error {
	h, err := newHybridReader(reps, bits.Len8(l.rep))
	if err != nil {
		return err
	}
	if p.reps, err = l.readLevels(&h, make([]uint8, 0, p.entries), l.rep, p.entries); err != nil {
		return err
	}
	p.starts = 0
	for _, rep := range p.reps {
		if rep == 0 {
			p.starts++
		}
	}
	if p.reps[0] != 0 && l.entries+int64(p.entries) == l.chunk.values {
		return errors.New("it goes on with a row that did not begin")
	}
	return nil
}

func (l *rowLeaf) openValues(p *rowPage, h *pageHead, values []byte) (err error) {
	switch e := h.encoding; {
	case isDictionary(e):
		return l.openIndices(p, values)
	case e == format.Plain && l.physical != format.Boolean:
		p.plain = values
		return nil
	}
	out := l.pool.get(len(values))
	switch e, p := h.encoding, l.physical; {
	case e == format.Plain:
		out = unpackBooleans(out, values, h.values)
	case e == format.RLE && p == format.Boolean:
		out, err = readBooleans(out, values, h.values)
	case e == format.DeltaBinaryPacked && (p == format.Int32 || p == format.Int64):
		out, _, err = readDeltas(out, values, l.width, h.values)
	case e == format.DeltaLengthByteArray && p == format.ByteArray:
		out, err = readDeltaLengths(out, values, h.values)
	case e == format.DeltaByteArray && (p == format.ByteArray || p == format.FixedLenByteArray):
		out, err = readDeltaByteArrays(out, values, l.width, h.values)
	case e == format.ByteStreamSplit && l.width > 1 && p != format.Int96:
		out, err = readStreams(out, values, l.width)
	default:
		err = fmt.Errorf("its values of %s are encoded as %s, which is not known", p, e)
	}
	p.buffers[1], p.plain = out, out
	if err != nil {
		return fmt.Errorf("reading values encoded as %s: %w", h.encoding, err)
	}
	return nil
}

func (l *rowLeaf) openIndices(p *rowPage, values []byte) (err error) {
	if !l.loaded {
		return errors.New("it has indices into a dictionary, and there is none")
	}
	p.indexed = true
	if len(values) == 0 { // there are only nulls
		return nil
	}
	p.indices, err = newHybridReader(values[1:], int(values[0]))
	return err
}

// openDictionary reads the dictionary, which comes before all data pages.
func (l *rowLeaf) openDictionary(w *workspace, h *pageHead, body []byte) error {
	if l.levelsOnly {
		return nil
	}
	switch {
	case l.loaded || l.entries != l.chunk.values:
		return errors.New("it is a dictionary after another page")
	case h.encoding != format.Plain && h.encoding != plainDictionary:
		return fmt.Errorf("the dictionary is encoded as %s instead of PLAIN", h.encoding)
	case l.physical == format.Boolean:
		return errors.New("it is a dictionary of booleans, which have none")
	case h.values > dictionaryValuesMax:
		return fmt.Errorf("the dictionary is said to have %d values, more than the %d that are read", h.values,
			dictionaryValuesMax)
	}
	plain, err := l.decompress(w, h, body)
	if err != nil {
		return err
	}
	l.dictBuffer = plain
	d := &l.dictionary
	d.Field = l.field
	d.Ints32, d.Ints64, d.Floats32, d.Floats64 = d.Ints32[:0], d.Ints64[:0], d.Floats32[:0], d.Floats64[:0]
	d.Bytes, d.Fixed = d.Bytes[:0], d.Fixed[:0]
	if _, err := l.appendPlain(d, plain, h.values); err != nil {
		return fmt.Errorf("the dictionary is said to have %d values: %w", h.values, err)
	}
	d.Len, l.loaded = h.values, true
	return nil
}
