package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// decompressAny is decompress for every codec of the format that a writer of Iceberg has.
func (d *decoders) decompressAny(c format.CompressionCodec, dst, src []byte, size int) ([]byte, error) {
	if known, ok := codecOfFormat(c); ok {
		return d.decompress(known, dst, src, size)
	}
	if size == 0 {
		return dst[:0], nil
	}
	if cap(dst) < size {
		dst = make([]byte, 0, size)
	}
	var err error
	switch c {
	case format.Brotli:
		dst, err = unbrotli(dst[:size], src)
	case format.Lz4:
		dst, err = unlz4(dst[:size], src)
	default:
		err = errors.New("the codec is not one that can be read")
	}
	if err != nil {
		return nil, fmt.Errorf("decompressing a page with %s: %w", c, err)
	}
	return dst, nil
}

// unbrotli fills dst.
func unbrotli(dst, src []byte) ([]byte, error) {
	r := brotli.NewReader(bytes.NewReader(src))
	if _, err := io.ReadFull(r, dst); err != nil {
		return nil, err
	}
	var more [1]byte
	if n, err := r.Read(more[:]); n > 0 || !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, errPageSize)
	}
	return dst, nil
}

// unlz4 fills dst from the deprecated codec LZ4, under which there are two forms: Hadoop's, of blocks with both sizes
// before them, and a bare block.
func unlz4(dst, src []byte) ([]byte, error) {
	if unhadoop(dst, src) {
		return dst, nil
	}
	n, err := lz4.UncompressBlock(src, dst)
	if err == nil && n != len(dst) {
		err = fmt.Errorf("it has %d bytes instead of %d", n, len(dst))
	}
	return dst, err
}

func unhadoop(dst, src []byte) bool {
	for len(dst) > 0 {
		if len(src) < 8 {
			return false
		}
		size, packed := uint64(binary.BigEndian.Uint32(src)), uint64(binary.BigEndian.Uint32(src[4:]))
		src = src[8:]
		if size == 0 || size > uint64(len(dst)) || packed > uint64(len(src)) {
			return false
		}
		if n, err := lz4.UncompressBlock(src[:packed], dst[:size]); err != nil || uint64(n) != size {
			return false
		}
		dst, src = dst[size:], src[packed:]
	}
	return len(src) == 0
}
