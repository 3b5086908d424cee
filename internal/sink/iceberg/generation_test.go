package iceberg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"firn/internal/fault"
	"firn/internal/record"
)

// written is a writer of three partition values with rows of two writes, and its flush.
func written(t *testing.T, store *objects, change func(*Target, *Options)) (*Writer, *generation) {
	t.Helper()
	w := memoryWriter(t, store, change)
	mustWrite(t, w, numbers(t, 1, 7, 3000))
	mustWrite(t, w, numbers(t, 8, 14, 3000))
	return w, w.Rotate().(*generation)
}

// The n-th creation, write or close fails, for every n, before or after it took effect. Seal is called again and the
// store ends up with the same bytes under the same names as if nothing had happened.
func TestSealGoesOnAfterEveryFault(t *testing.T) {
	whole := &objects{plan: &fault.Plan{}}
	_, f := written(t, whole, nil)
	mustSeal(t, f)
	operations := whole.plan.Count()
	if len(whole.contents()) < 3 || operations < 3*len(whole.contents()) {
		t.Fatalf("%d objects, %d operations", len(whole.contents()), operations)
	}
	for at := 1; at <= operations; at++ {
		for _, after := range []bool{false, true} {
			store := &objects{plan: &fault.Plan{At: at, After: after}}
			w, f := written(t, store, nil)
			if _, err := f.Seal(t.Context()); !errors.Is(err, fault.ErrInjected) {
				t.Fatalf("operation %d, after %t: error %v", at, after, err)
			}
			if w.BufferedBytes() <= 0 {
				t.Errorf("operation %d, after %t: %d bytes are kept for the next try", at, after, w.BufferedBytes())
			}
			files := mustSeal(t, f)
			if rowsIn(files) != 12 {
				t.Errorf("operation %d, after %t: %d rows", at, after, rowsIn(files))
			}
			mustHoldNothing(t, w)
			if d := cmp.Diff(whole.contents(), store.contents()); d != "" {
				t.Fatalf("operation %d, after %t: %s", at, after, d)
			}
		}
	}
	t.Logf("%d operations failed in turn", operations)
}

// The same with the writer's own tries: Seal does not fail at all.
func TestSealTriesAgainByItself(t *testing.T) {
	whole := &objects{plan: &fault.Plan{}}
	_, f := written(t, whole, nil)
	mustSeal(t, f)
	for at := 1; at <= whole.plan.Count(); at++ {
		synctest.Test(t, func(t *testing.T) { // the pauses take no time
			store := &objects{plan: &fault.Plan{At: at, After: at%2 == 0}}
			w, f := written(t, store, func(_ *Target, o *Options) { o.StoreTriesMax = 2 })
			mustSeal(t, f)
			mustHoldNothing(t, w)
			if d := cmp.Diff(whole.contents(), store.contents()); d != "" {
				t.Fatalf("operation %d: %s", at, d)
			}
		})
	}
}

// After as many tries as allowed the error says what, where and how large.
func TestStoreThatStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		w, f := written(t, &objects{}, func(target *Target, o *Options) {
			o.StoreTriesMax, o.SealersMax = 3, 1
			target.Partition = nil
			target.Create = func(context.Context, string) (io.WriteCloser, error) { tries++; return nil, fault.ErrInjected }
		})
		_, err := f.Seal(t.Context())
		want := "storing data file mem://flush-1-00001.parquet (mem store): injected fault"
		if err == nil || err.Error() != want || tries != 3 {
			t.Errorf("%d tries, error %v", tries, err)
		}
		f.Discard()
		mustHoldNothing(t, w)
	})
}

// A process that ends does not sit out the pauses.
func TestSealEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w, f := written(t, &objects{}, func(target *Target, o *Options) {
		o.StoreTriesMax = 1000
		target.Create = func(context.Context, string) (io.WriteCloser, error) { cancel(); return nil, fault.ErrInjected }
	})
	if _, err := f.Seal(ctx); err == nil {
		t.Error("no error")
	}
	f.Discard()
	mustHoldNothing(t, w)
}

// Rows that cannot be encoded are not tried again, and the writer is good for others afterwards.
func TestRowsThatCannotBeEncoded(t *testing.T) {
	store := &objects{plan: &fault.Plan{}}
	w := memoryWriter(t, store, func(target *Target, o *Options) {
		o.StoreTriesMax, target.Partition = 1000, nil
		target.Schema.Fields[0].Required = true
	})
	b := record.NewBatch(w.target.Schema)
	for i := range b.Columns {
		b.Columns[i].Grow() // nulls, which no decoder gives for a required column
	}
	b.Rows = 1
	if err := w.Write(t.Context(), b); err == nil {
		t.Fatal("a required column took a null")
	}
	f := w.Rotate()
	if _, err := f.Seal(t.Context()); err == nil || store.plan.Count() != 2 { // created and closed, once
		t.Errorf("error %v after %d operations", err, store.plan.Count())
	}
	f.Discard()
	mustHoldNothing(t, w)
	mustWrite(t, w, numbersOf(t, w.target.Schema, 3))
	if files := mustSeal(t, w.Rotate()); rowsIn(files) != 1 {
		t.Errorf("%d rows", rowsIn(files))
	}
}

func numbersOf(t *testing.T, s *record.Schema, n int) *record.Batch {
	t.Helper()
	return batchOf(t, s, fmt.Sprintf(`{"n": %d, "text": "x"}`, n))
}

func TestPathThatCannotBeNamed(t *testing.T) {
	w := memoryWriter(t, &objects{}, func(target *Target, _ *Options) {
		target.DataPath = func([]record.PartitionValue, string) (string, error) { return "", fault.ErrInjected }
	})
	if err := w.Write(t.Context(), numbers(t, 0, 1, 10)); !errors.Is(err, fault.ErrInjected) {
		t.Errorf("error %v", err)
	}
	w.Rotate().Discard()
	mustHoldNothing(t, w)
}
