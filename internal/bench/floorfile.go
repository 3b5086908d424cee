package bench

import (
	"fmt"
	"os"
	"path/filepath"

	"firn/internal/literal"
	"firn/internal/parquet"
)

// floorBlockBytes is the size of a page of firn's.
const floorBlockBytes = 1 << 20

// floorFile is a file of blocks of values. One goroutine owns it.
type floorFile struct {
	file     *os.File
	compress bool
	block    []byte
	packed   []byte
	encoder  literal.Encoder
	known    *literal.Table
	written  int64
}

// newFloorFile makes a file in the folder. Codecs are none and zstd.
func newFloorFile(folder string, codec parquet.Codec) (*floorFile, error) {
	if codec != parquet.CodecNone && codec != parquet.CodecZstd {
		return nil, fmt.Errorf("the floor has no codec %s", codec)
	}
	file, err := os.Create(filepath.Join(folder, "floor.bin")) //nolint:gosec // the folder is the harness's own
	if err != nil {
		return nil, fmt.Errorf("making the floor's file: %w", err)
	}
	return &floorFile{
		file: file, compress: codec == parquet.CodecZstd,
		block: make([]byte, 0, floorBlockBytes), packed: make([]byte, 0, literal.FrameBytesMax(floorBlockBytes)),
	}, nil
}

// add takes a value. It copies it.
func (f *floorFile) add(value []byte) error {
	if len(f.block)+len(value) > floorBlockBytes {
		if err := f.flush(); err != nil {
			return err
		}
	}
	f.block = append(f.block, value...)
	return nil
}

func (f *floorFile) flush() error {
	out := f.block
	if f.compress {
		f.packed, f.known = f.encoder.AppendFrame(f.packed[:0], f.block, 0, f.known)
		out = f.packed
	}
	n, err := f.file.Write(out)
	f.written += int64(n)
	f.block = f.block[:0]
	if err != nil {
		return fmt.Errorf("writing the floor's file: %w", err)
	}
	return nil
}

// close writes what is left.
func (f *floorFile) close() error {
	err := f.flush()
	if errClose := f.file.Close(); err == nil && errClose != nil {
		err = fmt.Errorf("closing the floor's file: %w", errClose)
	}
	return err
}
