package upkeep

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	library "github.com/parquet-go/parquet-go"

	"firn/internal/decode"
	"firn/internal/parquet"
	"firn/internal/record"
)

func numbersSchema() *record.Schema {
	return &record.Schema{ID: 1, Fields: []record.Field{
		{ID: 1, Name: "n", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "text", Type: record.Type{Kind: record.KindString}},
	}}
}

// write stores a data file of numbers [from, to), which is not live yet.
func (w *world) write(partition byte, from, to int) record.DataFile {
	w.t.Helper()
	decoder, err := decode.NewJSON(numbersSchema(), decode.DefaultJSONOptions())
	if err != nil {
		w.t.Fatal(err)
	}
	block := &record.Block{}
	for i := from; i < to; i++ {
		block.Records = append(block.Records, record.Record{
			Value: fmt.Appendf(nil, `{"n": %d, "text": "%s %d"}`, i, strings.Repeat("word ", 10), i%13),
		})
	}
	batch := record.NewBatch(numbersSchema())
	decoder.Decode(block, batch)
	file, err := parquet.NewFile(numbersSchema(), parquet.DefaultOptions())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := file.Append(batch.Columns, nil); err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	f, err := file.Finish(&out)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files++
	f.Path, f.Partition = fmt.Sprintf("mem://%x/real-%d.parquet", partition, w.files), inPartition(partition)
	w.objects[f.Path] = out.Bytes()
	return f
}

// read gives the numbers in a data file, in order.
func (w *world) read(path string) (out []int) {
	w.t.Helper()
	type row struct {
		N    *int64  `parquet:"n,optional"`
		Text *string `parquet:"text,optional"`
	}
	b := w.objects[path]
	rows, err := library.Read[row](bytes.NewReader(b), int64(len(b)))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range rows {
		if want := fmt.Sprintf("%s %d", strings.Repeat("word ", 10), *r.N%13); *r.Text != want {
			w.t.Fatalf("row %d has the text %q", *r.N, *r.Text)
		}
		out = append(out, int(*r.N))
	}
	return out
}

// TestParquet joins files as the sink makes them, whose bytes are in memory, on disk and in the store.
func TestParquet(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		rollup := w.rollup(func(c *Config) {
			c.Join, c.Parquet = parquet.Join, parquet.DefaultOptions()
			c.Schema = func(id int) *record.Schema {
				if id != 1 {
					return nil
				}
				return numbersSchema()
			}
			c.TargetBytes = 1 << 30
			c.Local, c.MemoryBytesMax, c.SpoolBytesMax, c.SpoolFolder = false, 20_000, 1<<20, t.TempDir()
		})
		r := w.run(rollup)
		const files, rows = 60, 50
		for i := range files {
			f := w.write(1, i*rows, (i+1)*rows)
			if i%3 > 0 {
				w.keep(rollup, f)
			}
			w.commit(rollup, f)
			pass(time.Second)
		}
		pass(10 * time.Minute)
		w.commit(rollup)
		if len(w.live) != 1 {
			t.Fatalf("%d files; log:\n%s", len(w.live), w.log)
		}
		for path, f := range w.live {
			if want := slices.Collect(func(yield func(int) bool) {
				for i := range files * rows {
					if !yield(i) {
						return
					}
				}
			}); !slices.Equal(w.read(path), want) {
				t.Error("the rows are not those of the files, in their order")
			}
			if f.File.Rows != files*rows || f.File.ValueCounts[1] != files*rows || f.File.SchemaID != 1 ||
				f.File.SizeBytes != int64(len(w.objects[path])) || len(f.File.SplitOffsets) != 1 {
				t.Errorf("described as %+v", f.File)
			}
		}
		s := w.metrics.Summary().Rollups
		if s.MemoryReadBytes == 0 || s.DiskReadBytes == 0 || s.StoreReadBytes == 0 || s.CopiedPages == 0 || s.Failures > 0 {
			t.Errorf("metrics %+v; log:\n%s", s, w.log)
		}
		r.stop(t)
		if err := rollup.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Rows keep their ids through joins; a file of which the ids are not known stays as it is.
func TestRowLineage(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(func(c *Config) {
			c.Join, c.Parquet, c.RowLineage = parquet.Join, parquet.DefaultOptions(), true
			c.Schema = func(int) *record.Schema { return numbersSchema() }
			c.TargetBytes = 1 << 30
		}))
		defer r.stop(t)
		unknown := w.write(1, 0, 10)
		w.commit(r.Rollup, unknown)
		for i := 1; i < 7; i++ { // in two joins, of which the second has the file of the first
			f := w.write(1, i*10, (i+1)*10)
			f.Lineage = record.Lineage{FirstRowID: int64(1000 * i), SequenceNumber: int64(i)}
			w.commit(r.Rollup, f)
			if i%3 == 0 {
				pass(11 * time.Minute)
				w.commit(r.Rollup)
			}
		}
		if _, ok := w.live[unknown.Path]; !ok || len(w.live) != 2 {
			t.Fatalf("%d files are live; log:\n%s", len(w.live), w.log)
		}
		type row struct {
			N        int64 `parquet:"n,optional"`
			ID       int64 `parquet:"_row_id,optional"`
			Sequence int64 `parquet:"_last_updated_sequence_number,optional"`
		}
		for path, f := range w.live {
			if path == unknown.Path {
				continue
			}
			b := w.objects[path]
			rows, err := library.Read[row](bytes.NewReader(b), int64(len(b)))
			if err != nil || len(rows) != 60 || f.File.Lineage != (record.Lineage{}) {
				t.Fatalf("%d rows, lineage %+v, %v", len(rows), f.File.Lineage, err)
			}
			for _, x := range rows {
				if i := x.N / 10; x.ID != 1000*i+x.N%10 || x.Sequence != i {
					t.Errorf("row %+v", x)
				}
			}
		}
	})
}

// A file whose bytes are no Parquet stays as it is, and the others are joined.
func TestParquetThatIsTorn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(func(c *Config) {
			c.Join, c.Parquet, c.TargetBytes = parquet.Join, parquet.DefaultOptions(), 1<<30
			c.Schema = func(int) *record.Schema { return numbersSchema() }
		}))
		defer r.stop(t)
		var torn string
		for i := range 8 {
			f := w.write(1, i*10, (i+1)*10)
			if i == 5 {
				torn = f.Path
				w.objects[torn] = bytes.Repeat([]byte{1}, len(w.objects[torn]))
			}
			w.commit(r.Rollup, f)
		}
		for range 120 {
			pass(time.Minute)
			w.commit(r.Rollup)
			synctest.Wait()
		}
		if _, ok := w.live[torn]; !ok || len(w.live) > 4 {
			t.Errorf("%d files are left; log:\n%s", len(w.live), w.log)
		}
		var rows []int
		for path := range w.live {
			if path != torn {
				rows = append(rows, w.read(path)...)
			}
		}
		slices.Sort(rows)
		if len(rows) != 70 || len(slices.Compact(rows)) != 70 {
			t.Errorf("%d rows", len(rows))
		}
	})
}
