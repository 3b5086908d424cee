package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"

	"firn/internal/record"
)

// The benchmarks write the reference data: an id, and a message of 962 random alphanumerics, which as JSON is 1002
// bytes a record. MB/s are of that JSON.
const (
	referenceRows      = 32768
	referenceJSONBytes = 1002
	referenceTextBytes = 962
)

func referenceSchema() *record.Schema {
	return &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "logStreamId", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "message", Type: record.Type{Kind: record.KindString}},
	}}
}

func referenceBatch(s *record.Schema, rows int, seed uint64) []record.Column {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	rng := rand.New(rand.NewPCG(1, seed))
	columns := record.NewColumns(s.Fields)
	buffer := make([]byte, rows*referenceTextBytes)
	for i := range buffer {
		buffer[i] = alphabet[rng.IntN(len(alphabet))]
	}
	for i := range rows {
		for c := range columns {
			columns[c].Grow()
			columns[c].Valid[i] = true
		}
		columns[0].Ints64[i] = rng.Int64()
		columns[1].Bytes[i] = buffer[i*referenceTextBytes : (i+1)*referenceTextBytes]
	}
	return columns
}

// benchmarkBatches are enough that no page has a record twice.
const benchmarkBatches = 4

// batch is columns with the rows for each of the files.
type batch struct {
	columns    []record.Column
	selections [][]int32
}

// BenchmarkWrite writes batches to one file, or to 64 by a hash of the id. MB/cpu-s is what counts on a shared
// machine.
func BenchmarkWrite(b *testing.B) {
	s := referenceSchema()
	for _, files := range []int{1, 64} {
		batches := make([]batch, benchmarkBatches)
		for i := range batches {
			columns, selections := referenceBatch(s, referenceRows, uint64(i)), make([][]int32, files)
			for row, id := range columns[0].Ints64 {
				n := uint64(id) % uint64(files)
				selections[n] = append(selections[n], int32(row))
			}
			batches[i] = batch{columns, selections}
		}
		for _, codec := range []Codec{CodecNone, CodecSnappy, CodecLZ4Raw, CodecZstd} {
			b.Run(fmt.Sprintf("files=%d/codec=%s", files, codec), func(b *testing.B) {
				benchmarkWrite(b, s, batches, codec)
			})
		}
	}
}

func benchmarkWrite(b *testing.B, s *record.Schema, batches []batch, codec Codec) {
	o := DefaultOptions()
	o.Codec, o.Pool = codec, NewPool(1<<30)
	if codec == CodecZstd {
		o.Level = 1
	}
	files := make([]*File, len(batches[0].selections))
	for i := range files {
		f, err := NewFile(s, o)
		if err != nil {
			b.Fatal(err)
		}
		files[i] = f
	}
	const inputBytes = benchmarkBatches * referenceRows * referenceJSONBytes
	b.SetBytes(inputBytes)
	b.ReportAllocs()
	writeBatches(b, files, batches) // the pool is warm from here on
	runtime.GC()
	start, written := cpuSeconds(b), int64(0)
	for b.Loop() {
		written = writeBatches(b, files, batches)
	}
	b.ReportMetric(float64(b.N)*inputBytes/1e6/(cpuSeconds(b)-start), "MB/cpu-s")
	b.ReportMetric(float64(written)/inputBytes, "out/in")
}

func writeBatches(b *testing.B, files []*File, batches []batch) int64 {
	b.Helper()
	written := int64(0)
	for i := range batches {
		for n, f := range files {
			if err := f.Append(batches[i].columns, batches[i].selections[n]); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, f := range files {
		d, err := f.Finish(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		written += d.SizeBytes
		f.Reset()
	}
	return written
}

// cpuSeconds is the user and system time of the process.
func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkSmallFile writes files of 16 rows, as a low commit interval makes them.
func BenchmarkSmallFile(b *testing.B) {
	s := referenceSchema()
	columns := referenceBatch(s, referenceRows, 0)
	rows := make([]int32, 16)
	for i := range rows {
		rows[i] = int32(7 * i)
	}
	o := DefaultOptions()
	o.Pool = NewPool(64 << 20)
	write := func(b *testing.B, f *File) {
		b.Helper()
		if err := f.Append(columns, rows); err != nil {
			b.Fatal(err)
		}
		if _, err := f.Finish(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := NewFile(s, o)
			if err != nil {
				b.Fatal(err)
			}
			write(b, f)
		}
	})
	b.Run("reused", func(b *testing.B) {
		f, err := NewFile(s, o)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			write(b, f)
			f.Reset()
		}
	})
}

// BenchmarkJoin joins the files that a low commit interval makes: reference data, whose pages are copied, and texts
// from a hundred in another order in each file, whose indices are encoded anew. MB are of the files.
func BenchmarkJoin(b *testing.B) {
	const files, rows = 64, 4096
	s := referenceSchema()
	o := DefaultOptions()
	o.Pool = NewPool(1 << 30)
	for _, codec := range []Codec{CodecNone, CodecZstd} {
		o.Codec, o.Level = codec, 0
		var copied, indexed []Part
		for i := range files {
			copied = append(copied, benchmarkPart(b, s, referenceBatch(s, rows, uint64(i)), o))
			indexed = append(indexed, benchmarkPart(b, s, indexedBatch(s, 16*rows, uint64(i)), o))
		}
		b.Run(fmt.Sprintf("copied/codec=%s", codec), func(b *testing.B) { benchmarkJoin(b, s, copied, o) })
		b.Run(fmt.Sprintf("indexed/codec=%s", codec), func(b *testing.B) { benchmarkJoin(b, s, indexed, o) })
	}
}

// indexedBatch is rows of a number and of one of a hundred texts.
func indexedBatch(s *record.Schema, rows int, seed uint64) []record.Column {
	rng := rand.New(rand.NewPCG(2, seed))
	columns := record.NewColumns(s.Fields)
	for i := range rows {
		for c := range columns {
			columns[c].Grow()
			columns[c].Valid[i] = true
		}
		columns[0].Ints64[i] = rng.Int64N(1000)
		columns[1].Bytes[i] = fmt.Appendf(nil, "one of a hundred texts, number %d", rng.IntN(100))
	}
	return columns
}

func benchmarkPart(b *testing.B, s *record.Schema, columns []record.Column, o Options) Part {
	b.Helper()
	f, err := NewFile(s, o)
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Append(columns, nil); err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	d, err := f.Finish(&out)
	if err != nil {
		b.Fatal(err)
	}
	return asPart(out.Bytes(), d)
}

func benchmarkJoin(b *testing.B, s *record.Schema, parts []Part, o Options) {
	size := int64(0)
	for _, p := range parts {
		size += p.SizeBytes
	}
	b.SetBytes(size)
	b.ReportAllocs()
	start, joined := cpuSeconds(b), Joined{}
	for b.Loop() {
		var err error
		if joined, err = Join(b.Context(), io.Discard, parts, JoinOptions{Schema: s, Options: o}); err != nil {
			b.Fatal(err)
		}
	}
	seconds := cpuSeconds(b) - start
	b.ReportMetric(float64(b.N)*float64(size)/1e6/seconds, "MB/cpu-s")
	b.ReportMetric(float64(b.N)*float64(joined.BytesReencoded)/1e6/seconds, "reencoded-MB/cpu-s")
	b.ReportMetric(float64(joined.File.SizeBytes)/float64(size), "out/in")
}
