package advise

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"firn/internal/parquet"
	"firn/internal/record"
)

// mixed is a batch of as many columns, numbers and texts in turn.
func mixed(columns, rows int) *record.Batch {
	random := rand.New(rand.NewPCG(1, 2))
	schema := &record.Schema{}
	for i := range columns {
		kind := record.KindLong
		if i%2 == 1 {
			kind = record.KindString
		}
		schema.Fields = append(schema.Fields, record.Field{ID: i + 1, Name: fmt.Sprintf("c%d", i),
			Type: record.Type{Kind: kind}})
	}
	b := record.NewBatch(schema)
	for row := range rows {
		for i := range b.Columns {
			c := &b.Columns[i]
			c.Grow()
			c.Valid[row] = true
			if i%2 == 0 {
				c.Ints64[row] = random.Int64()
			} else {
				c.Bytes[row] = []byte(strings.Repeat("x", 5) + fmt.Sprint(random.IntN(1e6)))
			}
		}
	}
	b.Rows = rows
	return b
}

func mustMake(b *testing.B, s *record.Schema) *parquet.File {
	b.Helper()
	o := parquet.DefaultOptions()
	o.Codec, o.Pool = parquet.CodecZstd, parquet.NewPool(64<<20)
	f, err := parquet.NewFile(s, o)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// BenchmarkSmallFile is fileCPU and fieldCPU: files of 16 rows by their columns.
func BenchmarkSmallFile(b *testing.B) {
	for _, columns := range []int{2, 10, 50} {
		b.Run(fmt.Sprintf("columns%d", columns), func(b *testing.B) {
			batch := mixed(columns, 16)
			f := mustMake(b, batch.Schema)
			for b.Loop() {
				if err := f.Append(batch.Columns, nil); err != nil {
					b.Fatal(err)
				}
				if _, err := f.Finish(io.Discard); err != nil {
					b.Fatal(err)
				}
				f.Reset()
			}
		})
	}
}

// BenchmarkScan is scanBytesPerCPU, by one reader: the bytes of a file, all of whose values are decoded.
func BenchmarkScan(b *testing.B) {
	batch := mixed(10, 100_000)
	f := mustMake(b, batch.Schema)
	if err := f.Append(batch.Columns, nil); err != nil {
		b.Fatal(err)
	}
	var whole bytes.Buffer
	if _, err := f.Finish(&whole); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(whole.Len()))
	values := make([]parquetgo.Value, 4096)
	for b.Loop() {
		file, err := parquetgo.OpenFile(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
		if err != nil {
			b.Fatal(err)
		}
		for _, group := range file.RowGroups() {
			for _, chunk := range group.ColumnChunks() {
				scanChunk(b, chunk, values)
			}
		}
	}
}

func scanChunk(b *testing.B, chunk parquetgo.ColumnChunk, values []parquetgo.Value) {
	b.Helper()
	pages := chunk.Pages()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		r := page.Values()
		for {
			n, err := r.ReadValues(values)
			if n == 0 || err != nil {
				break
			}
		}
		parquetgo.Release(page)
	}
	if err := pages.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkJoin is joinCPU, by parts of 16 rows, and rollUpBytesPerCPU, by parts of some MB: pages are copied.
func BenchmarkJoin(b *testing.B) {
	for _, rows := range []int{16, 50_000} {
		b.Run(fmt.Sprintf("rows%d", rows), func(b *testing.B) {
			batch := mixed(10, rows)
			f := mustMake(b, batch.Schema)
			if err := f.Append(batch.Columns, nil); err != nil {
				b.Fatal(err)
			}
			var whole bytes.Buffer
			described, err := f.Finish(&whole)
			if err != nil {
				b.Fatal(err)
			}
			parts := make([]parquet.Part, 64)
			for i := range parts {
				parts[i] = parquet.Part{Bytes: bytes.NewReader(whole.Bytes()), SizeBytes: int64(whole.Len()), File: described}
			}
			o := parquet.DefaultOptions()
			o.Codec, o.Pool = parquet.CodecZstd, parquet.NewPool(64<<20)
			b.SetBytes(int64(len(parts) * whole.Len()))
			for b.Loop() {
				_, err := parquet.Join(b.Context(), io.Discard, parts, parquet.JoinOptions{Schema: batch.Schema, Options: o})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
