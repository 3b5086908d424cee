package bigquery

import (
	"errors"
	"testing"

	"firn/internal/pipeline"
	"firn/internal/record"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func (w *world) groupCommitter() *GroupCommitter {
	w.t.Helper()
	client, err := kgo.NewClient(w.kafka()...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(client.Close)
	k, err := NewGroupCommitter(client, "g")
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

// Rows are visible at the seal, and those whose offsets were not committed come twice.
func TestAtLeastOnce(t *testing.T) {
	w := newWorld(t)
	if err := w.brokers.CreateTopic(source.Topic, 1, nil); err != nil {
		t.Fatal(err)
	}
	o := w.small()
	o.Mode = AtLeastOnce
	p := w.startWith(o, w.groupCommitter())
	if err := p.step(30); err != nil {
		t.Fatal(err)
	}
	w.visible(30)
	if _, err := p.seal(10, plain); err != nil {
		t.Fatal(err)
	}
	w.visible(40)
	p.kill()
	next := w.startWith(o, w.groupCommitter())
	if next.at != 30 {
		t.Fatalf("the floor is %d", next.at)
	}
	if err := next.step(20); err != nil {
		t.Fatal(err)
	}
	seen := map[int64]int{}
	for _, r := range w.server.Rows(testTable.String()) {
		seen[r["n"].(int64)]++
	}
	for n := range int64(50) {
		want := 1
		if n >= 30 && n < 40 {
			want = 2
		}
		if seen[n] != want {
			t.Errorf("row %d is there %d times, want %d", n, seen[n], want)
		}
	}
	p.ctx = t.Context()
	if err := p.step(10); !errors.Is(err, errRejected) {
		t.Errorf("the other process: %v", err)
	}
}

func TestGroupCommitterInit(t *testing.T) {
	w := newWorld(t)
	if err := w.brokers.CreateTopic("orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	k := w.groupCommitter()
	next := record.Floor{"orders": {Identity: identity, Next: map[int32]int64{0: 3}}}
	for range 2 {
		if err := k.Init(t.Context(), record.Floor{}, next); err != nil {
			t.Fatal(err)
		}
	}
	if floor, err := k.Floor(t.Context()); err != nil || !floor.Equal(next) {
		t.Errorf("%v, %v", floor, err)
	}
	other := record.Floor{"orders": {Identity: identity, Next: map[int32]int64{0: 4}}}
	if err := k.Init(t.Context(), record.Floor{}, other); !errors.Is(err, pipeline.ErrFloorMoved) {
		t.Errorf("%v", err)
	}
	var foreign kadm.Offsets
	foreign.AddOffset("orders", 0, 9, -1)
	if _, err := k.admin.CommitOffsets(t.Context(), "g", foreign); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Floor(t.Context()); err == nil {
		t.Error("the offsets of somebody else were taken for a floor")
	}
}
