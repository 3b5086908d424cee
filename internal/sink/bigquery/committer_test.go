package bigquery

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	double "firn/internal/fault/bigquery"
	"firn/internal/pipeline"
	"firn/internal/record"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestCommitsAreVisibleOnce(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	for range 3 {
		if err := p.step(30); err != nil {
			t.Fatal(err)
		}
	}
	w.visible(90)
	if err := p.committer.(*Committer).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range p.writer.lanes { // after some days
		w.server.Faults().Expire(s.stream)
	}
	next := w.start()
	if next.at != 90 {
		t.Fatalf("the floor is %d", next.at)
	}
	if err := next.step(10); err != nil {
		t.Fatal(err)
	}
	w.visible(100)
}

// A process that dies at any step leaves what the next one makes whole.
func TestDyingAtEachStep(t *testing.T) {
	f := func(name string, end int64, die func(w *world, p *process)) {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.start()
			if err := p.step(20); err != nil {
				t.Fatal(err)
			}
			die(w, p)
			p.kill()
			w.server.Faults().OnCall(nil)
			next := w.start()
			if next.at != end {
				t.Errorf("the floor is %d, want %d", next.at, end)
			}
			w.visible(next.at)
			if err := next.step(15); err != nil {
				t.Fatal(err)
			}
			w.visible(next.at)
			// What was left over does nothing when the dead one wakes.
			p.ctx = t.Context()
			if err := p.step(7); !errors.Is(err, errRejected) {
				t.Errorf("the zombie's commit: %v", err)
			}
			w.visible(next.at)
			if err := next.step(5); err != nil {
				t.Fatal(err)
			}
			w.visible(end + 20)
		})
	}
	f("before append", 20, func(_ *world, p *process) {
		if _, _, err := p.write(30, plain); err != nil {
			t.Error(err)
		}
	})
	f("after append", 20, func(_ *world, p *process) {
		if _, err := p.seal(30, plain); err != nil {
			t.Error(err)
		}
	})
	for n := range int32(4) {
		f("after "+string('0'+n)+" flushes", 50, func(w *world, p *process) {
			var calls atomic.Int32
			w.server.Faults().OnCall(func(c double.Call) double.Fate {
				if c.Method == "FlushRows" && calls.Add(1) > n {
					p.kill()
					return double.Cut()
				}
				return double.Pass()
			})
			if err := p.step(30); (err == nil) != (n == 3) {
				t.Error(err)
			}
		})
	}
}

// The transaction of an intent whose end was not answered is looked up.
func TestUnknownOutcomeOfAnIntent(t *testing.T) {
	end := func(err *kerr.Error, count int) kfake.Fault {
		return kfake.Fault{Keys: []kmsg.Key{kmsg.EndTxn}, Err: err, Count: count}
	}
	for name, faults := range map[string][]kfake.Fault{
		"did not land": {end(kerr.UnknownServerError, 1)},
		"landed":       {end(kerr.RequestTimedOut, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.start()
			if err := p.step(20); err != nil {
				t.Fatal(err)
			}
			w.brokers.Fault(faults...)
			sealed, err := p.seal(20, plain)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.committer.Commit(t.Context(), []record.Sealed{sealed}, nil)
			if err != nil || len(out.Committed) != 1 || out.Unknown != 1 {
				t.Fatalf("%+v, %v", out, err)
			}
			w.visible(40)
			again, err := p.committer.Commit(t.Context(), []record.Sealed{sealed}, nil)
			if err != nil || len(again.Committed) != 1 {
				t.Errorf("the same again: %+v, %v", again, err)
			}
			p.at = 40
			if err := p.step(20); err != nil {
				t.Fatal(err)
			}
			w.visible(60)
		})
	}
}

// A flush that fails leaves the intent, and the same commit again shows its rows.
func TestCommitAgainAfterAFlushFailed(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	sealed, err := p.seal(30, plain)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.server.Faults().OnCall(func(double.Call) double.Fate {
		cancel()
		return double.Cut()
	})
	if _, err := p.committer.Commit(ctx, []record.Sealed{sealed}, nil); err == nil {
		t.Fatal("no error")
	}
	w.server.Faults().OnCall(nil)
	if err := p.commit(sealed); err != nil {
		t.Fatal(err)
	}
	w.visible(30)
	if err := p.step(10); err != nil {
		t.Fatal(err)
	}
	w.visible(40)
}

// A stream that is gone with rows in doubt stops the job and is named.
func TestStreamGone(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	if err := p.step(30); err != nil {
		t.Fatal(err)
	}
	gone := p.writer.lanes[1].stream
	w.server.Faults().Expire(gone)
	_, err := w.committer("j").Floor(t.Context())
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), gone) {
		t.Errorf("%v", err)
	}
}

func TestInit(t *testing.T) {
	w := newWorld(t)
	k, other := w.committer("j"), w.committer("j")
	at := func(n int64) record.Floor {
		return record.Floor{"orders": {Identity: identity, Next: map[int32]int64{0: n}}}
	}
	f := func(k *Committer, base, next record.Floor, want error) {
		t.Helper()
		if err := k.Init(t.Context(), base, next); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if floor, err := k.Floor(t.Context()); err != nil || len(floor) != 0 {
		t.Fatal(floor, err)
	}
	f(k, record.Floor{}, at(5), nil)
	f(k, record.Floor{}, at(5), nil) // it is there
	f(k, record.Floor{}, at(6), pipeline.ErrFloorMoved)
	if floor, err := other.Floor(t.Context()); err != nil || !floor.Equal(at(5)) {
		t.Fatal(floor, err)
	}
	f(k, at(5), at(7), pipeline.ErrFloorMoved) // fenced
	f(other, at(5), at(8), nil)
	f(k, at(8), at(9), pipeline.ErrFloorMoved)
}

// What would show rows that belong to no commit is refused, and what does not continue the floor is rejected.
func TestCommitRejects(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	lost, err := p.seal(30, plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.step(30); err == nil || !strings.Contains(err.Error(), "belongs to no commit") {
		t.Errorf("%v", err)
	}
	w.visible(0)
	if err := p.commit(lost); err != nil {
		t.Fatal(err)
	}
	p.at = 0
	p.writer.Rotate().Discard()
	if err := p.step(30); !errors.Is(err, errRejected) {
		t.Errorf("%v", err)
	}
	w.visible(30)
	if _, err := p.committer.Commit(t.Context(), nil, make([]record.Replacement, 1)); err == nil {
		t.Error("no error for a replacement")
	}
	if _, err := p.committer.Commit(t.Context(), []record.Sealed{{ID: "a"}}, nil); err == nil {
		t.Error("no error for a flush without ranges")
	}
}
