package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"firn/internal/parquet"
)

// TestFloorFile: all values are in it, in order; compressed ones by zstd.
func TestFloorFile(t *testing.T) {
	messages, err := newSample(narrowTemplate, 3)
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, b := range messages.blocks {
		for i := range b.Records {
			want = append(want, b.Records[i].Value...)
		}
	}
	for _, codec := range []parquet.Codec{parquet.CodecNone, parquet.CodecZstd} {
		folder := t.TempDir()
		f, err := newFloorFile(folder, codec)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range messages.blocks {
			for i := range b.Records {
				if err := f.add(b.Records[i].Value); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := f.close(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(folder, "floor.bin"))
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(got)) != f.written {
			t.Errorf("%s: %d bytes written, %d in the file", codec, f.written, len(got))
		}
		if codec == parquet.CodecZstd {
			if part := float64(len(got)) / float64(len(want)); part > 0.8 {
				t.Errorf("compressed to %.2f of the size", part)
			}
			d, err := zstd.NewReader(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if got, err = d.DecodeAll(got, nil); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other values", codec)
		}
	}
}

func TestFloorFileThatCannotBeMade(t *testing.T) {
	if _, err := newFloorFile(t.TempDir(), parquet.CodecGzip); err == nil {
		t.Error("a codec that the floor does not have")
	}
	if _, err := newFloorFile(filepath.Join(t.TempDir(), "missing"), parquet.CodecNone); err == nil {
		t.Error("a folder that is not there")
	}
}
