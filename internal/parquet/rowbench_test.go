package parquet

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"firn/internal/record"
)

// BenchmarkReadRows reads the reference data, and BenchmarkReencode writes what it reads anew without each 50th row, as
// a compaction of files with deletes does. MB are of the rows as JSON.
func BenchmarkReadRows(b *testing.B) {
	benchmarkRows(b, func(*File, *record.Batch) error { return nil })
}

func BenchmarkReencode(b *testing.B) {
	var live []int32
	benchmarkRows(b, func(f *File, batch *record.Batch) error {
		live = live[:0]
		for i := range batch.Rows {
			if i%50 > 0 {
				live = append(live, int32(i))
			}
		}
		return f.Append(batch.Columns, live)
	})
}

func benchmarkRows(b *testing.B, do func(*File, *record.Batch) error) {
	s := referenceSchema()
	for _, codec := range []Codec{CodecNone, CodecZstd} {
		o := DefaultOptions()
		o.Codec, o.Pool = codec, NewPool(1<<30)
		f, err := NewFile(s, o)
		if err != nil {
			b.Fatal(err)
		}
		for seed := range uint64(benchmarkBatches) {
			if err := f.Append(referenceBatch(s, referenceRows, seed), nil); err != nil {
				b.Fatal(err)
			}
		}
		var data bytes.Buffer
		if _, err := f.Finish(&data); err != nil {
			b.Fatal(err)
		}
		f.Reset()
		b.Run(fmt.Sprintf("codec=%s", codec), func(b *testing.B) { benchmarkReader(b, s, data.Bytes(), f, do) })
	}
}

func benchmarkReader(b *testing.B, s *record.Schema, data []byte, f *File, do func(*File, *record.Batch) error) {
	footer, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	const inputBytes = benchmarkBatches * referenceRows * referenceJSONBytes
	b.SetBytes(inputBytes)
	b.ReportAllocs()
	runtime.GC()
	start := cpuSeconds(b)
	for b.Loop() {
		r, err := NewRowReader(bytes.NewReader(data), footer, s, RowReaderOptions{Pool: f.options.Pool})
		if err != nil {
			b.Fatal(err)
		}
		batch := record.NewBatch(s)
		for _, err = r.Next(batch); err == nil; _, err = r.Next(batch) {
			if err := do(f, batch); err != nil {
				b.Fatal(err)
			}
		}
		if r.Close(); r.row != footer.Rows {
			b.Fatal(r.row, err)
		}
		if _, err := f.Finish(io.Discard); err != nil {
			b.Fatal(err)
		}
		f.Reset()
	}
	b.ReportMetric(float64(b.N)*inputBytes/1e6/(cpuSeconds(b)-start), "MB/cpu-s")
}
