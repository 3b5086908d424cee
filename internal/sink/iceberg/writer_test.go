package iceberg

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"firn/internal/parquet"
	"firn/internal/pipeline"
	"firn/internal/record"
	"firn/internal/table"
)

// The pipeline bounds its memory by BufferedBytes: what flushes leave behind in it would sooner or later stop the
// reading, or switch the bound off.
func TestBufferedBytesReturnToZero(t *testing.T) {
	for _, codec := range []parquet.Codec{parquet.CodecNone, parquet.CodecZstd} {
		t.Run(codec.String(), func(t *testing.T) {
			w := memoryWriter(t, &objects{}, func(_ *Target, o *Options) { o.Parquet.Codec = codec })
			for round := range 6 { // encoders are used again, with the buffers that they kept
				mustWrite(t, w, numbers(t, 0, 300, 20*(round%3)))
				mustWrite(t, w, numbers(t, 300, 400, 2000))
				if w.BufferedBytes() < 200_000 {
					t.Errorf("round %d: %d bytes hold 200 kB", round, w.BufferedBytes())
				}
				f := w.Rotate()
				if round%3 == 2 {
					f.Discard()
				} else if files, err := f.Seal(t.Context()); err != nil || rowsIn(files) != 400 {
					t.Fatal(rowsIn(files), err)
				}
				mustHoldNothing(t, w)
				f.Discard() // as the pipeline does after an error; it must not count twice
				mustHoldNothing(t, w)
			}
		})
	}
}

// One partition value may have several files, of about the size asked for.
func TestFilesRollAtTheirSize(t *testing.T) {
	store := &objects{}
	const sizeMax = 100 << 10
	w := memoryWriter(t, store, func(target *Target, o *Options) {
		target.Partition, o.FileBytesMax, o.Parquet.Codec = nil, sizeMax, parquet.CodecNone
		o.Parquet.PageBytesMax = 8 << 10
	})
	for i := range 50 {
		mustWrite(t, w, numbers(t, 10*i, 10*i+10, 2000))
	}
	files := mustSeal(t, w.Rotate())
	if rowsIn(files) != 500 || len(files) != 9 {
		t.Errorf("%d rows in %d files, want 500 in 9", rowsIn(files), len(files))
	}
	last := 0
	for _, f := range files {
		if f.SizeBytes != int64(len(store.contents()[f.Path])) {
			t.Errorf("%s: said to have %d bytes, has %d", f.Path, f.SizeBytes, len(store.contents()[f.Path]))
		}
		if f.SizeBytes > sizeMax+sizeMax/4 {
			t.Errorf("%s: %d bytes", f.Path, f.SizeBytes)
		}
		if f.SizeBytes < sizeMax {
			last++
		}
	}
	if last > 1 {
		t.Errorf("%d files are smaller than asked for", last)
	}
}

// Names come from the flush's id and are never used twice, however many files, flushes and writers there are.
func TestNamesAreUnique(t *testing.T) {
	store := &objects{}
	id := counter("id")
	seen := map[string]bool{}
	for range 2 {
		w := memoryWriter(t, store, func(_ *Target, o *Options) { o.NewID, o.FileBytesMax = id, 1 })
		for range 3 {
			mustWrite(t, w, numbers(t, 0, 50, 10))
			mustWrite(t, w, numbers(t, 0, 50, 10))
			for _, f := range mustSeal(t, w.Rotate()) {
				if seen[f.Path] {
					t.Errorf("%s twice", f.Path)
				}
				seen[f.Path] = true
			}
		}
	}
	if len(seen) != 2*3*2*5 || len(store.contents()) != len(seen) { // 4 buckets and null, a file for each Write
		t.Errorf("%d files, %d objects", len(seen), len(store.contents()))
	}
}

// An empty flush has no files.
func TestFlushOfNothing(t *testing.T) {
	store := &objects{}
	w := memoryWriter(t, store, nil)
	mustWrite(t, w, record.NewBatch(numbersSchema()))
	if files := mustSeal(t, w.Rotate()); len(files) != 0 || len(store.contents()) != 0 {
		t.Errorf("%d files, %d objects", len(files), len(store.contents()))
	}
}

// Writes run at once, a flush is sealed beside them, and every row is in one file of its partition value, whatever the
// distribution.
func TestWritesAtOnce(t *testing.T) {
	for _, d := range []Distribution{DistributionAuto, DistributionHash, DistributionNone} {
		t.Run(d.String(), func(t *testing.T) { writeAtOnce(t, d) })
	}
}

func writeAtOnce(t *testing.T, d Distribution) {
	const workers, batches, rows = 4, 30, 40
	store := &objects{}
	w := memoryWriter(t, store, func(_ *Target, o *Options) {
		o.FileBytesMax, o.Distribution, o.Writers, o.SplitBytesMin = 4<<10, d, workers, 100
	})
	var cut sync.RWMutex // as the pipeline's: no write is half done at a rotation
	var writers sync.WaitGroup
	errs := make(chan error, workers)
	for n := range workers {
		var own []*record.Batch
		for i := range batches {
			own = append(own, numbers(t, (n*batches+i)*rows, (n*batches+i+1)*rows, 50))
		}
		writers.Go(func() {
			for _, b := range own {
				cut.RLock()
				err := w.Write(t.Context(), b)
				cut.RUnlock()
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	var files []record.DataFile
	for range 10 {
		cut.Lock()
		f := w.Rotate()
		cut.Unlock()
		files = append(files, mustSeal(t, f)...)
	}
	writers.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	files = append(files, mustSeal(t, w.Rotate())...)
	mustHoldNothing(t, w)
	if rowsIn(files) != workers*batches*rows {
		t.Errorf("%d rows, want %d", rowsIn(files), workers*batches*rows)
	}
	mustHoldNumbers(t, store, files, workers*batches*rows)
}

// mustHoldNumbers reads the files: each text once, and each number in the folder of its bucket.
func mustHoldNumbers(t *testing.T, store *objects, files []record.DataFile, want int) {
	t.Helper()
	objects := store.contents()
	seen := map[string]bool{}
	for _, f := range files {
		rows, err := parquetgo.Read[struct {
			N    *int64 `parquet:"n,optional"`
			Text string `parquet:"text,optional"`
		}](bytes.NewReader(objects[f.Path]), f.SizeBytes)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			number, _, _ := strings.Cut(r.Text, ".")
			if seen[number] {
				t.Errorf("row %s twice", number)
			}
			seen[number] = true
			if r.N == nil != f.Partition[0].Null {
				t.Errorf("row %s: null %t in partition %+v", number, r.N == nil, f.Partition[0])
				continue
			}
			if r.N == nil {
				continue
			}
			if strconv.FormatInt(*r.N, 10) != number {
				t.Errorf("row %s has number %d", number, *r.N)
			}
			if bucket := (hashLong(*r.N) & 0x7fffffff) % 4; bucket != binary.LittleEndian.Uint32(f.Partition[0].Value) {
				t.Errorf("row %s: bucket %d in partition %v", number, bucket, f.Partition[0].Value)
			}
		}
	}
	if len(seen) != want {
		t.Errorf("%d rows, want %d", len(seen), want)
	}
}

func mustSeal(t *testing.T, f pipeline.Flush) []record.DataFile {
	t.Helper()
	files, err := f.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A void field is always null, so its source may be gone from the table.
func TestVoidFieldWithoutItsColumn(t *testing.T) {
	w := memoryWriter(t, &objects{}, func(target *Target, _ *Options) {
		target.Partition = append(target.Partition, table.PartitionField{
			SourceID: 99, FieldID: 1001, Name: "gone", Transform: "void", Result: record.Type{Kind: record.KindInt},
		})
	})
	mustWrite(t, w, numbers(t, 0, 20, 10))
	files := mustSeal(t, w.Rotate())
	if rowsIn(files) != 20 {
		t.Errorf("%d rows", rowsIn(files))
	}
	for _, f := range files {
		if !f.Partition[1].Null {
			t.Errorf("partition %+v", f.Partition)
		}
	}
}

// Thousands of partition values with a row each: what the open files hold beside their rows is counted too, or such a
// table would take many times the memory limit.
func TestBufferedBytesCountOpenFiles(t *testing.T) {
	for _, columns := range []int{2, 10, 40} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			schema := &record.Schema{}
			kinds := []record.Kind{record.KindLong, record.KindString}
			for i := range columns {
				schema.Fields = append(schema.Fields, record.Field{
					ID: i + 1, Name: "c" + strconv.Itoa(i), Type: record.Type{Kind: kinds[i%2]},
				})
			}
			w := memoryWriter(t, &objects{}, func(target *Target, _ *Options) {
				target.Schema = schema
				target.Partition = []table.PartitionField{{
					SourceID: 1, FieldID: 1000, Name: "c0", Transform: "identity", Result: schema.Fields[0].Type,
				}}
			})
			const files = 2000
			b := record.NewBatch(schema)
			for n := range files {
				for i := range b.Columns {
					c := &b.Columns[i]
					c.Grow()
					c.Valid[n] = true
					if c.Ints64 != nil {
						c.Ints64[n] = int64(n)
					} else {
						c.Bytes[n] = []byte("some text")
					}
				}
			}
			b.Rows = files
			before := heapBytes()
			mustWrite(t, w, b)
			grown, counted := heapBytes()-before, w.BufferedBytes()
			t.Logf("%d bytes a file, %d counted", grown/files, counted/files)
			if counted < grown*8/10 || counted > grown*12/10 {
				t.Errorf("%d files grew the heap by %d bytes, and %d are counted", files, grown, counted)
			}
			w.Rotate().Discard()
		})
	}
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
