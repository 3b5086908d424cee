package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// decoders decompress for one goroutine. Each is made when first used.
type decoders struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

// pageReadBytesMax bounds the pages that are decompressed, to bound what a header can make us allocate. The writers of
// other systems stop at 1 MB, or at a row.
const pageReadBytesMax = 128 << 20

// codecOfFormat is the codec by its number in a file, and false for one that is neither read nor written.
func codecOfFormat(c format.CompressionCodec) (Codec, bool) {
	switch c {
	case format.Uncompressed:
		return CodecNone, true
	case format.Snappy:
		return CodecSnappy, true
	case format.Gzip:
		return CodecGzip, true
	case format.Zstd:
		return CodecZstd, true
	case format.Lz4Raw:
		return CodecLZ4Raw, true
	default:
		return 0, false
	}
}

// decompress returns src, of size bytes once decompressed, in dst's memory or in new one. It may return src itself.
func (d *decoders) decompress(c Codec, dst, src []byte, size int) ([]byte, error) {
	if size > pageReadBytesMax {
		return nil, fmt.Errorf("a page of %d bytes is more than the %d that are decompressed", size, pageReadBytesMax)
	}
	if c == CodecNone {
		if len(src) != size {
			return nil, fmt.Errorf("a page of %d bytes is said to have %d", len(src), size)
		}
		return src, nil
	}
	if size == 0 { // some writers compress nothing to nothing
		return dst[:0], nil
	}
	if cap(dst) < size {
		dst = make([]byte, 0, size)
	}
	out, err := d.decode(c, dst[:0:size], src)
	if err != nil {
		return nil, fmt.Errorf("decompressing a page with %s: %w", c, err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("a page has %d bytes decompressed, and is said to have %d", len(out), size)
	}
	return out, nil
}

// decode fills dst up to its capacity.
func (d *decoders) decode(c Codec, dst, src []byte) ([]byte, error) {
	switch c {
	case CodecSnappy:
		if n, err := s2.DecodedLen(src); err != nil || n > cap(dst) {
			return nil, errors.Join(err, errPageSize)
		}
		return s2.Decode(dst[:cap(dst)], src)
	case CodecGzip:
		return d.gunzip(dst, src)
	case CodecZstd:
		return d.unzstd(dst, src)
	case CodecLZ4Raw:
		n, err := lz4.UncompressBlock(src, dst[:cap(dst)])
		if err != nil {
			return nil, err
		}
		return dst[:n], nil
	default:
		return nil, fmt.Errorf("codec %d is unknown", int(c))
	}
}

// errPageSize means that a page has more bytes than its header says.
var errPageSize = errors.New("it has more bytes than its header says")

func (d *decoders) gunzip(dst, src []byte) ([]byte, error) {
	if d.gzip == nil {
		d.gzip = &gzip.Reader{}
	}
	if err := d.gzip.Reset(bytes.NewReader(src)); err != nil {
		return nil, err
	}
	n, err := io.ReadFull(d.gzip, dst[:cap(dst)])
	if err != nil {
		return nil, err
	}
	var more [1]byte
	if k, err := d.gzip.Read(more[:]); k > 0 || !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, errPageSize)
	}
	return dst[:n], nil
}

func (d *decoders) unzstd(dst, src []byte) ([]byte, error) {
	if d.zstd == nil {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxMemory(pageReadBytesMax))
		if err != nil {
			return nil, fmt.Errorf("making a zstd decoder: %w", err)
		}
		d.zstd = r
	}
	return d.zstd.DecodeAll(src, dst)
}
