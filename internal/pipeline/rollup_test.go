package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"firn/internal/fault"
	"firn/internal/pipeline"
	"firn/internal/record"
)

// rollup hands over what a test gives it, and notes what it is told.
type rollup struct {
	ready chan record.Replacement
	runs  chan struct{} // one a run

	mu        sync.Mutex // guards the fields below
	committed []string
	replaced  []string
	stale     []string
	told      chan struct{} // one for each Settled
	fail      error
}

func newRollup() *rollup {
	return &rollup{
		ready: make(chan record.Replacement, 10), runs: make(chan struct{}, 10), told: make(chan struct{}, 10),
	}
}

func (r *rollup) Run(ctx context.Context) error {
	r.runs <- struct{}{}
	if r.fail != nil {
		return r.fail
	}
	<-ctx.Done()
	return nil
}

func (r *rollup) Committed(files []record.DataFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range files {
		r.committed = append(r.committed, f.Path)
	}
}

func (r *rollup) Ready() []record.Replacement {
	select {
	case x := <-r.ready:
		return []record.Replacement{x}
	default:
		return nil
	}
}

func (r *rollup) Settled(replaced, stale []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replaced, r.stale = append(r.replaced, replaced...), append(r.stale, stale...)
	if len(replaced)+len(stale) > 0 {
		r.told <- struct{}{}
	}
}

// Replacements go with the commits, also where there is no record to commit, and the roll-up learns which files are
// visible and what became of its own.
func TestRollup(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-a", 1)
	w.log.Append("a", 0, fault.Sequence("a-", 3)...)
	c, _ := w.process(nil)
	r := newRollup()
	c.Rollup = r
	runUntil(t, c, "all is committed", func() bool {
		if len(w.table.Rows()) < 3 {
			return false
		}
		for _, id := range []string{"first", "second"} { // nothing else is to be committed now
			r.ready <- record.Replacement{ID: id}
			<-r.told
		}
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.replaced, []string{"first", "second"}) || len(r.stale) > 0 {
		t.Errorf("replaced %v, stale %v", r.replaced, r.stale)
	}
	if len(r.committed) == 0 || len(r.runs) != 1 {
		t.Errorf("files %v were committed, and there were %d runs", r.committed, len(r.runs))
	}
}

// An error of the roll-up means that it cannot go on, and ends the job.
func TestRollupFails(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-a", 1)
	c, _ := w.process(nil)
	r := newRollup()
	r.fail = errors.New("no way on")
	c.Rollup = r
	if err := pipeline.New(c).Run(t.Context()); !errors.Is(err, r.fail) {
		t.Errorf("error %v, want %v", err, r.fail)
	}
}
