package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"firn/internal/fault"
	"firn/internal/pipeline"
	"firn/internal/record"
)

// tight is a process with room for few of the rows of its world, and a commit at the end only.
func tight(w *world, plan *fault.Plan) pipeline.Config {
	c, _ := w.process(plan)
	c.MemoryBytesMax, c.CommitInterval, c.UntilCaughtUp = 5000, time.Hour, true
	return c
}

// crowd is a world of two partitions with 2 kB each, and the rows that come of it.
func crowd() (*world, []string) {
	w := newWorld()
	w.log.Create("a", "id-a", 2)
	var rows []string
	for p := range 2 {
		prefix := fmt.Sprintf("%d%s-", p, strings.Repeat("v", 60))
		w.log.Append("a", p, fault.Sequence(prefix, 30)...)
		rows = append(rows, values(prefix, 0, 30)...)
	}
	return w, sorted(rows)
}

// spilling counts what a pipeline asks of its writer, and notes how much it ever held.
type spilling struct {
	pipeline.Writer
	spills, heldMax atomic.Int64
	fail            error
}

func (s *spilling) Write(ctx context.Context, b *record.Batch) error {
	err := s.Writer.Write(ctx, b)
	for held := s.BufferedBytes(); ; {
		if most := s.heldMax.Load(); held <= most || s.heldMax.CompareAndSwap(most, held) {
			return err
		}
	}
}

func (s *spilling) Spill(ctx context.Context, bytesMax int64) error {
	s.spills.Add(1)
	if s.fail != nil {
		return s.fail
	}
	return s.Writer.Spill(ctx, bytesMax)
}

// C45, C46: memory that is short does not bring the commit forward. What is stored before its time is part of it.
func TestMemoryBoundHoldsWithOneCommit(t *testing.T) {
	w, rows := crowd()
	c := tight(w, nil)
	writer := &spilling{Writer: c.Writer}
	c.Writer = writer
	commits := 0
	whole := c.Committer.Commit
	setCommit(&c, func(ctx context.Context, sealed []record.Sealed) (pipeline.Outcome, error) {
		commits++
		if n := int64(len(sealed[0].Files)); n != writer.spills.Load()+1 {
			t.Errorf("%d files after %d spills", n, writer.spills.Load())
		}
		return whole(ctx, sealed, nil)
	})
	if err := pipeline.New(c).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustRows(t, w, rows)
	if most := writer.heldMax.Load(); most > c.MemoryBytesMax/2 {
		t.Errorf("%d bytes were held of %d", most, c.MemoryBytesMax/2)
	}
	if commits != 1 || writer.spills.Load() < 3 {
		t.Errorf("%d commits, %d spills", commits, writer.spills.Load())
	}
}

// The n-th operation fails while files are stored early, for every n, before or after it took effect (C01, C46).
func TestFaultSweepWithLittleMemory(t *testing.T) {
	finish := func(w *world, plan *fault.Plan) {
		for range 10 {
			err := pipeline.New(tight(w, plan)).Run(t.Context())
			if err == nil {
				return
			}
			if !errors.Is(err, fault.ErrInjected) {
				t.Fatal(err)
			}
		}
		t.Fatal("it never finished")
	}
	count := &fault.Plan{}
	w, _ := crowd()
	finish(w, count)
	for at := 1; at <= count.Count(); at++ {
		for _, after := range []bool{false, true} {
			w, rows := crowd()
			finish(w, &fault.Plan{At: at, After: after})
			mustRows(t, w, rows)
			if t.Failed() {
				t.Fatalf("operation %d, after %t", at, after)
			}
		}
	}
	t.Logf("%d operations failed in turn", count.Count())
}

// What could not be stored early is tried again by a commit, which comes before its time.
func TestSpillThatFailsIsFollowedByACommit(t *testing.T) {
	w, rows := crowd()
	c := tight(w, nil)
	writer := &spilling{Writer: c.Writer, fail: fault.ErrInjected}
	c.Writer = writer
	if err := pipeline.New(c).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustRows(t, w, rows)
	if writer.spills.Load() < 3 {
		t.Errorf("%d spills", writer.spills.Load())
	}
}

// A store that stays away ends the job with the store's error, long before the interval is over.
func TestStoreThatStaysAwayWhileMemoryIsShort(t *testing.T) {
	w, _ := crowd()
	c := tight(w, nil)
	c.Writer = awayWriter{&spilling{Writer: c.Writer, fail: errOwn}}
	err := pipeline.New(c).Run(t.Context())
	if !errors.Is(err, errOwn) || len(w.table.Rows()) != 0 {
		t.Errorf("error %v, %d rows", err, len(w.table.Rows()))
	}
	if n := c.Writer.BufferedBytes(); n != 0 {
		t.Errorf("%d bytes are still buffered", n)
	}
}

// awayWriter has flushes that cannot be sealed.
type awayWriter struct{ *spilling }

func (w awayWriter) Rotate() pipeline.Flush { return awayFlush{w.Writer.Rotate()} }

type awayFlush struct{ pipeline.Flush }

func (awayFlush) Seal(context.Context) ([]record.DataFile, error) { return nil, errOwn }
