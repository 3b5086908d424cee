package iceberg

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"

	"firn/internal/fault"
	"firn/internal/pipeline"
	"firn/internal/record"
)

func TestLeastMissed(t *testing.T) {
	const idleMin = 100
	named := map[string]candidate{
		"idle, old":        {held: 1, idle: 300, age: 900},
		"idle, large":      {held: 999, idle: 200, age: 900},
		"large":            {held: 500, idle: 10, age: 90},
		"as large, later":  {held: 500, idle: 10, age: 80},
		"small, very old":  {held: 10, idle: 99, age: 3000},
		"small, and young": {held: 10, idle: 1, age: 2},
	}
	want := []string{"idle, old", "idle, large", "large", "as large, later", "small, very old", "small, and young"}
	got := slices.SortedFunc(maps.Keys(named), func(a, b string) int { return leastMissed(named[a], named[b], idleMin) })
	if !slices.Equal(got, want) {
		t.Errorf("order %q", got)
	}
}

// half is a bound that makes a writer close about half of what it holds.
func half(w *Writer) int64 { return w.BufferedBytes() / 2 }

// Early files are in the store at once, the writer holds as little as it was told to, and the rows come back in the
// flush, together with those that were written to the same partitions afterwards.
func TestSpilledFilesArePartOfTheFlush(t *testing.T) {
	store := &objects{}
	w := memoryWriter(t, store, nil)
	mustWrite(t, w, numbers(t, 0, 200, 2000))
	bound := half(w)
	if err := w.Spill(t.Context(), bound); err != nil {
		t.Fatal(err)
	}
	early := len(store.contents())
	if early == 0 || early > 4 || w.BufferedBytes() > bound { // of 5 partitions
		t.Errorf("%d files, %d bytes held of %d", early, w.BufferedBytes(), bound)
	}
	mustWrite(t, w, numbers(t, 200, 400, 10))
	files := mustSeal(t, w.Rotate())
	if len(files) != 5+early || len(store.contents()) != len(files) {
		t.Errorf("%d files, %d of them early, %d objects", len(files), early, len(store.contents()))
	}
	mustHoldNothing(t, w)
	mustHoldNumbers(t, store, files, 400)
}

// Files that are full go first: they cost nothing.
func TestFullFilesAreSpilledFirst(t *testing.T) {
	store := &objects{}
	w := memoryWriter(t, store, func(target *Target, o *Options) { target.Partition, o.FileBytesMax = nil, 1 })
	mustWrite(t, w, numbers(t, 0, 50, 2000))
	w.options.FileBytesMax = 1 << 40
	mustWrite(t, w, numbers(t, 50, 60, 100))
	if err := w.Spill(t.Context(), half(w)); err != nil {
		t.Fatal(err)
	}
	if files := slices.Collect(maps.Keys(store.contents())); len(files) != 1 || files[0] != "mem://flush-1-00001.parquet" {
		t.Errorf("objects %v", files)
	}
	if n := rowsIn(mustSeal(t, w.Rotate())); n != 60 {
		t.Errorf("%d rows", n)
	}
}

// The n-th creation, write or close fails in Spill, before or after it took effect. Nothing is lost, whether Spill is
// called again or Seal, and the same files come out as without the fault.
func TestSpillFaultSweep(t *testing.T) {
	run := func(plan *fault.Plan, again bool) (*objects, []record.DataFile) {
		store := &objects{plan: plan}
		w := memoryWriter(t, store, nil)
		mustWrite(t, w, numbers(t, 0, 100, 2000))
		bound := half(w)
		err := w.Spill(t.Context(), bound)
		if err != nil && (!errors.Is(err, fault.ErrInjected) || w.BufferedBytes() < bound/2) {
			t.Fatalf("error %v, %d bytes held", err, w.BufferedBytes())
		}
		if err != nil && again {
			if err := w.Spill(t.Context(), bound); err != nil || w.BufferedBytes() > bound {
				t.Fatalf("error %v, %d bytes held", err, w.BufferedBytes())
			}
		}
		mustWrite(t, w, numbers(t, 100, 200, 20))
		files := mustSeal(t, w.Rotate())
		mustHoldNothing(t, w)
		return store, files
	}
	count := &fault.Plan{}
	whole, files := run(&fault.Plan{}, false)
	if err := spillOnly(t, count); err != nil || len(files) < 6 || count.Count() < 3 {
		t.Fatalf("%d files, %d operations, error %v", len(files), count.Count(), err)
	}
	for at := 1; at <= count.Count(); at++ {
		for _, after := range []bool{false, true} {
			for _, again := range []bool{false, true} {
				store, got := run(&fault.Plan{At: at, After: after}, again)
				if len(got) != len(files) || len(store.contents()) != len(whole.contents()) {
					t.Errorf("operation %d, after %t: %d files, want %d", at, after, len(got), len(files))
				}
				mustHoldNumbers(t, store, got, 200)
			}
		}
	}
	t.Logf("%d operations failed in turn", count.Count())
}

// spillOnly spills the rows of TestSpillFaultSweep with a plan.
func spillOnly(t *testing.T, plan *fault.Plan) error {
	w := memoryWriter(t, &objects{plan: plan}, nil)
	mustWrite(t, w, numbers(t, 0, 100, 2000))
	return w.Spill(t.Context(), half(w))
}

// A Spill that is broken off loses nothing.
func TestSpillEndsWithItsContext(t *testing.T) {
	store := &objects{}
	w := memoryWriter(t, store, nil)
	mustWrite(t, w, numbers(t, 0, 100, 2000))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Spill(ended, half(w)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	files := mustSeal(t, w.Rotate())
	mustHoldNothing(t, w)
	mustHoldNumbers(t, store, files, 100)
}

// Rows that are given up leave their files in the store, and nothing in memory.
func TestDiscardAfterSpill(t *testing.T) {
	store := &objects{}
	w := memoryWriter(t, store, nil)
	mustWrite(t, w, numbers(t, 0, 100, 2000))
	if err := w.Spill(t.Context(), half(w)); err != nil {
		t.Fatal(err)
	}
	w.Rotate().Discard()
	mustHoldNothing(t, w)
	mustWrite(t, w, numbers(t, 0, 10, 20))
	if n := rowsIn(mustSeal(t, w.Rotate())); n != 10 {
		t.Errorf("%d rows", n)
	}
}

// Descriptions of sealed files are counted: a flush of very many files ends by a commit.
func TestSpillLeavesDescriptionsToTheCommit(t *testing.T) {
	w := memoryWriter(t, &objects{}, func(target *Target, _ *Options) { target.Partition[0].Param = 1 << 20 })
	mustWrite(t, w, numbers(t, 0, 300, 10))
	if err := w.Spill(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	described := w.BufferedBytes()
	if want := w.current.described; described != want || want < 200*w.describedBytes {
		t.Errorf("%d bytes held, %d for descriptions", described, want)
	}
	mustWrite(t, w, numbers(t, 300, 400, 10))
	held := w.BufferedBytes()
	if err := w.Spill(t.Context(), described); err != nil || w.BufferedBytes() != held {
		t.Errorf("error %v, %d bytes held before and %d after", err, held, w.BufferedBytes())
	}
	if n := rowsIn(mustSeal(t, w.Rotate())); n != 400 {
		t.Errorf("%d rows", n)
	}
	mustHoldNothing(t, w)
}

// Writes run beside spills, and every row is in one file of its partition value.
func TestWritesBesideSpills(t *testing.T) {
	const workers, batches, rows = 4, 30, 40
	store := &objects{}
	w := memoryWriter(t, store, nil)
	var writers sync.WaitGroup
	errs := make(chan error, workers)
	for n := range workers {
		var own []*record.Batch
		for i := range batches {
			own = append(own, numbers(t, (n*batches+i)*rows, (n*batches+i+1)*rows, 50))
		}
		writers.Go(func() {
			for _, b := range own {
				if err := w.Write(t.Context(), b); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for range 20 {
		if err := w.Spill(t.Context(), half(w)); err != nil {
			t.Error(err)
		}
	}
	writers.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	files := mustSeal(t, w.Rotate())
	mustHoldNothing(t, w)
	mustHoldNumbers(t, store, files, workers*batches*rows)
}

// Those who wait for room hear of every file that is stored, and of the last byte.
func TestOnFreed(t *testing.T) {
	var writer pipeline.Writer
	w := memoryWriter(t, &objects{}, nil)
	writer = w
	var mu sync.Mutex
	var seen []int64
	writer.OnFreed(func() {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, w.BufferedBytes())
	})
	mustWrite(t, w, numbers(t, 0, 100, 2000))
	mustSeal(t, writer.Rotate())
	if len(seen) != 5+1 || seen[5] != 0 { // the last are the descriptions
		t.Errorf("heard of %d", seen)
	}
}

// discarding is a store that forgets.
type discarding struct{ io.Writer }

func (discarding) Close() error { return nil }

// What descriptions of sealed files are said to hold is what they hold, so that a flush of very many files is bounded.
func TestBufferedBytesCountDescriptions(t *testing.T) {
	const files = 3000
	w := memoryWriter(t, &objects{}, func(target *Target, _ *Options) {
		target.Partition[0].Transform, target.Partition[0].Result = "identity", record.Type{Kind: record.KindLong}
		target.Create = func(context.Context, string) (io.WriteCloser, error) { return discarding{io.Discard}, nil }
	})
	spill := func() {
		b := numbers(t, 0, files, 30)
		mustWrite(t, w, b)
		if err := w.Spill(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	spill() // encoders that are idle now are so afterwards too
	w.Rotate().Discard()
	before := heapBytes()
	spill()
	grown, counted := heapBytes()-before, w.BufferedBytes()
	t.Logf("%d bytes a file, %d counted", grown/files, counted/files)
	if counted < grown*7/10 || counted > grown*15/10 {
		t.Errorf("%d files grew the heap by %d bytes, and %d are counted", files, grown, counted)
	}
	w.Rotate().Discard()
}
