package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"firn/internal/fault"
	"firn/internal/pipeline"
	"firn/internal/record"
)

// withBadRecord is a world with one partition of x0, bad1, x1.
func withBadRecord() *world {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, valued("x0", "bad1", "x1")...)
	return w
}

// A signal that comes while a dead letter is written must not fail the block: it is finished and committed.
func TestEndWhileADeadLetterIsWritten(t *testing.T) {
	w := withBadRecord()
	c, _ := w.process(nil)
	gate := newHeld()
	c.CommitInterval, c.DeadLetters = time.Hour, heldLetters{w.letters, gate}
	r := start(t, c)
	<-gate.inside
	r.stop()
	close(gate.release)
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	mustRows(t, w, values("x", 0, 2))
	if w.letters.Durable() != 1 {
		t.Errorf("%d dead letters", w.letters.Durable())
	}
}

// What never ends is left at the shutdown limit; it is read again by the next process.
func TestShutdownLimit(t *testing.T) {
	f := func(name string, change func(*world, *pipeline.Config, *held)) {
		t.Run(name, func(t *testing.T) {
			w := withBadRecord()
			c, _ := w.process(nil)
			gate := newHeld()
			c.ShutdownTimeout = 10 * time.Millisecond
			change(w, &c, gate)
			r := start(t, c)
			<-gate.inside
			r.stop()
			err := r.end(t)
			if err == nil || !strings.Contains(err.Error(), "within limits.shutdown_timeout (10ms)") {
				t.Errorf("error %v", err)
			}
			w.letters.Crash()
			c, _ = w.process(nil)
			runUntil(t, c, "the rows", func() bool { return len(w.table.Rows()) == 2 })
			mustRows(t, w, values("x", 0, 2))
		})
	}
	f("a dead letter hangs", func(w *world, c *pipeline.Config, gate *held) {
		c.CommitInterval, c.DeadLetters = time.Hour, heldLetters{w.letters, gate}
	})
	f("a commit hangs", func(_ *world, c *pipeline.Config, gate *held) {
		setCommit(c, func(ctx context.Context, _ []record.Sealed) (pipeline.Outcome, error) {
			return pipeline.Outcome{}, gate.wait(ctx)
		})
	})
	f("the last commit hangs", func(_ *world, c *pipeline.Config, gate *held) {
		c.CommitInterval = time.Hour
		setCommit(c, func(ctx context.Context, _ []record.Sealed) (pipeline.Outcome, error) {
			<-ctx.Done()
			return pipeline.Outcome{}, ctx.Err()
		})
		c.NewDecoder = func() (pipeline.Decoder, error) { return entering{fault.Text{}, gate}, nil }
	})
}

// entering is a decoder that tells when the first block came.
type entering struct {
	pipeline.Decoder
	gate *held
}

func (e entering) Decode(b *record.Block, into *record.Batch) (int, int) {
	e.gate.entered.Do(func() { close(e.gate.inside) })
	return e.Decoder.Decode(b, into)
}

// The error that ends a run is the first, not one that follows from it.
func TestErrorOfACommitIsNotHiddenByTheWorkers(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("x", 1)...)
	c, _ := w.process(nil)
	gate := newHeld()
	c.DeadLetters = heldLetters{w.letters, gate}
	setCommit(&c, func(context.Context, []record.Sealed) (pipeline.Outcome, error) {
		w.log.Append("a", 0, record.Record{Value: []byte("bad1")})
		<-gate.inside
		return pipeline.Outcome{}, errOwn
	})
	if err := start(t, c).end(t); !errors.Is(err, errOwn) || errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestErrorOfAWorkerIsNotHiddenByTheCommit(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("x", 1)...)
	c, _ := w.process(nil)
	c.DeadLetters = nil
	setCommit(&c, func(ctx context.Context, _ []record.Sealed) (pipeline.Outcome, error) {
		w.log.Append("a", 0, record.Record{Value: []byte("bad1")})
		<-ctx.Done()
		return pipeline.Outcome{}, ctx.Err()
	})
	err := start(t, c).end(t)
	if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "cannot become a row") {
		t.Errorf("error %v", err)
	}
}

// A reader that fails does not undo what was read before: it is committed, so that a start after it goes on from there.
func TestReaderThatFailsLeavesWhatWasRead(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("x", 5)...)
	c, m := w.process(nil)
	own := &source{Source: w.log}
	c.Source, c.CommitInterval = own, time.Hour
	r := start(t, c)
	eventually(t, "all is read", func() bool { return m.Summary().Records == 5 })
	own.fail.Store(&errOwn)
	w.log.Append("a", 0, fault.Sequence("y", 1)...) // wakes the reader, whose next wait fails
	if err := r.end(t); !errors.Is(err, errOwn) {
		t.Errorf("error %v", err)
	}
	for _, row := range values("x", 0, 5) {
		if !strings.Contains(strings.Join(w.table.Rows(), " "), row) {
			t.Errorf("row %s is not in the table", row)
		}
	}
}

// While commits hang, the lag goes on being shown: it is what an operator sees of it.
func TestLagIsShownWhileACommitHangs(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("x", 1)...)
	c, m := w.process(nil)
	gate := newHeld()
	next := c.Committer
	setCommit(&c, func(ctx context.Context, sealed []record.Sealed) (pipeline.Outcome, error) {
		if err := gate.wait(ctx); err != nil {
			return pipeline.Outcome{}, err
		}
		return next.Commit(ctx, sealed, nil)
	})
	r := start(t, c)
	<-gate.inside
	for lag := int64(2); lag < 6; lag++ {
		w.log.Append("a", 0, fault.Sequence("y", 1)...)
		eventually(t, "the lag", func() bool { return m.Summary().LagRecords == lag })
	}
	close(gate.release)
	r.stop()
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
}
