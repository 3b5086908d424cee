package pipeline_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/fault"
	"firn/internal/pipeline"
	"firn/internal/record"
)

// slowGauge is a source that shows positions once its gate is open.
type slowGauge struct {
	pipeline.Source
	gate *held
}

func (s slowGauge) Acknowledge(ctx context.Context, floor record.Floor) error {
	if err := s.gate.wait(ctx); err != nil {
		return err
	}
	return s.Source.Acknowledge(ctx, floor)
}

// The group's offsets are a gauge: while their coordinator does not answer, commits go on.
func TestCommitsDoNotWaitForTheGauge(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("x", 1)...)
	c, _ := w.process(nil)
	gate := newHeld()
	c.Source = slowGauge{w.log, gate}
	r := start(t, c)
	<-gate.inside
	for n := 2; n < 5; n++ {
		w.log.Append("a", 0, fault.Sequence("y", 1)...)
		eventually(t, "a commit", func() bool { return len(w.table.Rows()) == n })
	}
	close(gate.release)
	r.stop()
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(w.table.Floor(), w.log.Acknowledged()); d != "" {
		t.Errorf("the newest floor was not shown: %s", d)
	}
}
