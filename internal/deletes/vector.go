package deletes

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/RoaringBitmap/roaring/v2"
)

// vectorBytesMax is far beyond a vector that makes sense: a bit for each of 4 billion rows takes 512 MB.
const vectorBytesMax = 1 << 30

// vector takes in the rows of a deletion vector, which lies in a Puffin file.
func (f *finder) vector(ctx context.Context, a *applying) error {
	if len(a.to) != 1 {
		return fmt.Errorf("the vector at byte %d is of %d data files, not of one", a.Offset, len(a.to))
	}
	if a.Offset < 0 || a.Length < 0 || a.Length > vectorBytesMax || a.Offset > a.SizeBytes-a.Length {
		return fmt.Errorf("the vector is said to be %d bytes at %d of %d", a.Length, a.Offset, a.SizeBytes)
	}
	blob := make([]byte, a.Length)
	err := f.open(ctx, a.Path, func(file io.ReaderAt) error {
		n, err := file.ReadAt(blob, a.Offset)
		if n < len(blob) {
			return fmt.Errorf("reading %d bytes at %d: %w", len(blob), a.Offset, errors.Join(err, io.ErrUnexpectedEOF))
		}
		return nil
	})
	if err != nil {
		return err
	}
	vector := newRows(f.data[a.to[0]].Rows)
	if err := readVector(blob, &vector); err != nil {
		return fmt.Errorf("the vector at byte %d: %w", a.Offset, err)
	}
	if vector.count != a.Rows {
		return fmt.Errorf("the vector at byte %d has %d rows, and is said to have %d", a.Offset, vector.count, a.Rows)
	}
	f.found[a.to[0]].merge(&vector)
	return nil
}

// merge takes in the rows of another set of the same file.
func (r *Rows) merge(o *Rows) {
	for row := range r.rows {
		if o.Has(row) {
			r.add(row)
		}
	}
}

// The frame of a blob deletion-vector-v1 (Puffin specification): its length, the magic, the bitmap, and the CRC of the
// magic and the bitmap.
const (
	vectorMagic      = 0x6439D3D1 // little-endian
	vectorFrameBytes = 4 + 4 + 4
)

func readVector(b []byte, to *Rows) error {
	if len(b) < vectorFrameBytes {
		return fmt.Errorf("it has %d bytes, and the least one has %d", len(b), vectorFrameBytes)
	}
	framed := b[4 : len(b)-4]
	switch {
	case uint64(binary.BigEndian.Uint32(b)) != uint64(len(framed)):
		return fmt.Errorf("it is said to have %d bytes, and has %d", binary.BigEndian.Uint32(b), len(framed))
	case binary.LittleEndian.Uint32(framed) != vectorMagic:
		return fmt.Errorf("it begins with %x, and is no deletion vector", framed[:4])
	case crc32.ChecksumIEEE(framed) != binary.BigEndian.Uint32(b[len(b)-4:]):
		return errors.New("its bytes are not those of its checksum: the file is damaged")
	}
	return readBitmap(framed[4:], to)
}

// errBitmap means that the bytes are no bitmap.
var errBitmap = errors.New("its bitmap is damaged")

// readBitmap reads 64-bit roaring bitmaps: how many there are of 32 bits, and each after the upper half of its numbers
// (RoaringFormatSpec, "Extension for 64-bit implementations").
func readBitmap(b []byte, to *Rows) error {
	if len(b) < 8 {
		return errBitmap
	}
	n := binary.LittleEndian.Uint64(b)
	b = b[8:]
	for range n {
		if len(b) < 4 {
			return errBitmap
		}
		high := int64(binary.LittleEndian.Uint32(b)) << 32
		in := bytes.NewReader(b[4:])
		bitmap := roaring.New()
		if _, err := bitmap.ReadFrom(in); err != nil {
			return fmt.Errorf("%w: %w", errBitmap, err)
		}
		if err := bitmap.Validate(); err != nil {
			return fmt.Errorf("%w: %w", errBitmap, err)
		}
		for rows := bitmap.Iterator(); rows.HasNext(); {
			if row := high + int64(rows.Next()); !to.add(row) {
				return fmt.Errorf("it has row %d of a file of %d", row, to.rows)
			}
		}
		b = b[len(b)-in.Len():]
	}
	if len(b) > 0 {
		return errBitmap
	}
	return nil
}
