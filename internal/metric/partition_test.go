package metric

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// C31, C32, C33: lag is against the last stable offset, zero when caught up, and never negative.
func TestLag(t *testing.T) {
	j := NewJob("orders", newClock().Now)
	if got := j.Summary().LagRecords; got != 0 {
		t.Errorf("at the start: %d", got) // C32
	}
	j.Lag("a", 0, 100)
	j.Lag("a", 1, 20)
	j.Lag("b", 0, -3) // C33
	j.Uncertain("a", 1, 5)
	s := j.Summary()
	if s.LagRecords != 120 || s.UncertainRecords != 5 { // C31
		t.Errorf("behind: lag %d, uncertain %d", s.LagRecords, s.UncertainRecords)
	}
	want := []PartitionLag{{"a", 0, 100, 0, 0}, {"a", 1, 20, 5, 0}, {"b", 0, 0, 0, 0}}
	if d := cmp.Diff(want, s.Partitions); d != "" {
		t.Errorf("partitions (-want +got):\n%s", d)
	}
	j.Lag("a", 0, 0)
	j.Unassigned("a", 1)
	if s := j.Summary(); s.LagRecords != 0 || s.UncertainRecords != 0 || len(s.Partitions) != 2 { // C32
		t.Errorf("caught up: %+v", s.Partitions)
	}
}

func TestGaps(t *testing.T) {
	j := NewJob("orders", newClock().Now)
	for i := range int64(gapListMax + 5) {
		j.Gap("a", 3, i*10, i*10+4)
	}
	j.Gap("a", 3, 7, 7) // empty: no gap
	j.Unassigned("a", 3)
	s := j.Summary()
	if s.Gaps.Count != gapListMax+5 || s.Gaps.Offsets != 4*(gapListMax+5) || len(s.Gaps.Last) != gapListMax {
		t.Errorf("gaps %d, offsets %d, kept %d", s.Gaps.Count, s.Gaps.Offsets, len(s.Gaps.Last))
	}
	if first := s.Gaps.Last[0]; first != (Gap{"a", 3, 50, 54}) {
		t.Errorf("oldest kept %+v", first)
	}
	if d := cmp.Diff([]PartitionLag{{"a", 3, 0, 0, 4 * (gapListMax + 5)}}, s.Partitions); d != "" {
		t.Errorf("a revoked partition keeps its loss (-want +got):\n%s", d)
	}
}
