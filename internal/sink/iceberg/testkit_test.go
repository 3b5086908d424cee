package iceberg

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"

	"firn/internal/decode"
	"firn/internal/fault"
	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/table"
)

// objects is a store in memory. Every creation, write and close of an object asks the plan. It is safe for concurrent
// use.
type objects struct {
	plan *fault.Plan

	mu    sync.Mutex // guards whole
	whole map[string][]byte
}

func (o *objects) Create(ctx context.Context, path string) (io.WriteCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &object{store: o, path: path}
	return w, o.plan.Do("create", func() error { return nil })
}

// object is an object that is being written. It exists once it was closed, whatever was written by then.
type object struct {
	store *objects
	path  string
	bytes.Buffer
}

func (w *object) Write(p []byte) (n int, err error) {
	err = w.store.plan.Do("write", func() error {
		n, err = w.Buffer.Write(p)
		return err
	})
	return n, err
}

func (w *object) Close() error {
	return w.store.plan.Do("close", func() error {
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		if w.store.whole == nil {
			w.store.whole = map[string][]byte{}
		}
		w.store.whole[w.path] = w.Bytes()
		return nil
	})
}

// contents is a copy of what the store holds.
func (o *objects) contents() map[string][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.whole)
}

// numbersSchema is a number and a text.
func numbersSchema() *record.Schema {
	return &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "n", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "text", Type: record.Type{Kind: record.KindString}},
	}}
}

// byBucket partitions numbersSchema by buckets of the number.
func byBucket(buckets int) []table.PartitionField {
	return []table.PartitionField{{
		SourceID: 1, FieldID: 1000, Name: "n_bucket", Transform: "bucket", Param: buckets,
		Result: record.Type{Kind: record.KindInt},
	}}
}

// counter makes ids that are the same in every run.
func counter(prefix string) func() string {
	var mu sync.Mutex
	n := 0
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("%s-%d", prefix, n)
	}
}

// memoryWriter is a writer of numbersSchema into the store.
func memoryWriter(t *testing.T, o *objects, change func(*Target, *Options)) *Writer {
	t.Helper()
	target := Target{
		Schema: numbersSchema(), Partition: byBucket(4), Create: o.Create,
		DataPath: func(p []record.PartitionValue, file string) (string, error) {
			var folders strings.Builder
			for _, v := range p {
				fmt.Fprintf(&folders, "%x/", v.Value)
			}
			return "mem://" + folders.String() + file, nil
		},
	}
	options := Options{
		Parquet: parquet.DefaultOptions(), FileBytesMax: 1 << 40, SealersMax: 2, StoreTriesMax: 1, NewID: counter("flush"),
	}
	options.Parquet.Pool = parquet.NewPool(1 << 20)
	if change != nil {
		change(&target, &options)
	}
	w, err := NewWriter(target, options)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// batchOf decodes a JSON message a row.
func batchOf(t *testing.T, s *record.Schema, messages ...string) *record.Batch {
	t.Helper()
	decoder, err := decode.NewJSON(s, decode.DefaultJSONOptions())
	if err != nil {
		t.Fatal(err)
	}
	block := &record.Block{}
	for _, m := range messages {
		block.Records = append(block.Records, record.Record{Value: []byte(m)})
	}
	batch := record.NewBatch(s)
	decoder.Decode(block, batch)
	for _, r := range batch.Rejected {
		t.Fatalf("%s: %s", r.Record.Value, r.Reason)
	}
	return batch
}

// numbers is rows of numbersSchema; every seventh number is null.
func numbers(t *testing.T, from, to, textBytes int) *record.Batch {
	t.Helper()
	var messages []string
	for i := from; i < to; i++ {
		number := fmt.Sprint(i)
		if i%7 == 0 {
			number = "null"
		}
		text := fmt.Sprintf("%d.", i)
		text += strings.Repeat("x", max(0, textBytes-len(text)))
		messages = append(messages, fmt.Sprintf(`{"n": %s, "text": %q}`, number, text))
	}
	return batchOf(t, numbersSchema(), messages...)
}

func mustWrite(t *testing.T, w *Writer, b *record.Batch) {
	t.Helper()
	if err := w.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func rowsIn(files []record.DataFile) (rows int64) {
	for _, f := range files {
		rows += f.Rows
	}
	return rows
}

func mustHoldNothing(t *testing.T, w *Writer) {
	t.Helper()
	if n := w.BufferedBytes(); n != 0 {
		t.Errorf("%d bytes are still buffered", n)
	}
}
