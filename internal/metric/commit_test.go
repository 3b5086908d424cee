package metric

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func near(got, want float64) bool { return math.Abs(got-want) <= want/500 }

func TestFreshnessIsWeightedByRecords(t *testing.T) {
	c := newClock()
	j := NewJob("orders", c.Now)
	end := c.Now().Add(100 * time.Millisecond)
	at := func(ago time.Duration) int64 { return end.Add(-ago).UnixMilli() }
	j.Committed(Commit{
		SnapshotID: 9, Start: c.Now(), Duration: 100 * time.Millisecond, Rows: 100, Files: 2, Bytes: 30,
		FileBytes: []int64{10, 20},
		Events: []Event{
			{at(time.Second), 90}, {at(4 * time.Second), 8}, {at(20 * time.Second), 2},
		},
	})
	f := j.Summary().Freshness
	if f.Ms.Count != 100 || !near(f.Ms.P50, 1000) || !near(f.Ms.P95, 4000) || !near(f.Ms.P99, 20000) {
		t.Errorf("freshness %+v", f.Ms)
	}
	if f.NewestMs != 1000 || f.NewestVisible.UnixMilli() != at(time.Second) {
		t.Errorf("newest %v ms, %v", f.NewestMs, f.NewestVisible)
	}
}

func TestFreshnessOfTheLastMinute(t *testing.T) {
	c := newClock()
	j := NewJob("orders", c.Now)
	commit := func(age time.Duration) {
		j.Committed(Commit{Start: c.Now(), Events: []Event{{c.Now().Add(-age).UnixMilli(), 1}}})
	}
	commit(time.Hour)
	c.Move(30 * time.Second)
	commit(2 * time.Second)
	if m := j.Summary().Freshness.MsLastMinute; m.Count != 2 {
		t.Errorf("after 30 s: %+v", m)
	}
	c.Move(40 * time.Second)
	s := j.Summary().Freshness
	if s.MsLastMinute.Count != 1 || !near(s.MsLastMinute.P99, 2000) {
		t.Errorf("after 70 s: %+v", s.MsLastMinute)
	}
	if s.Ms.Count != 2 || !near(s.Ms.P99, 3.6e6) {
		t.Errorf("since the start: %+v", s.Ms)
	}
	c.Move(time.Hour)
	if m := j.Summary().Freshness.MsLastMinute; m != (Percentiles{}) {
		t.Errorf("an hour later: %+v", m)
	}
}

func TestTimestampAheadOfTheClock(t *testing.T) {
	c := newClock()
	j := NewJob("orders", c.Now)
	j.Committed(Commit{Start: c.Now(), Events: []Event{{c.Now().Add(time.Hour).UnixMilli(), 7}}})
	f := j.Summary().Freshness
	if f.AheadRecords != 7 || f.Ms.Count != 7 || f.Ms.Max != 0 || f.NewestMs != 0 {
		t.Errorf("freshness %+v", f)
	}
}

func TestLatencyBeyondTheRange(t *testing.T) {
	c := newClock()
	j := NewJob("orders", c.Now)
	j.Committed(Commit{Start: c.Now(), Events: []Event{{1, 3}}}) // 1970
	if m := j.Summary().Freshness.Ms; m.Count != 3 || !near(m.Max, float64(latencyMax.Milliseconds())) {
		t.Errorf("freshness %+v", m)
	}
}

func TestCommitFigures(t *testing.T) {
	c := newClock()
	j := NewJob("orders", c.Now)
	for i := range 100 {
		d := 10 * time.Millisecond
		if i >= 98 {
			d = time.Second
		}
		j.Committed(Commit{
			SnapshotID: int64(i), Start: c.Now(), Duration: d, Rows: 10, Bytes: 100, Files: 2,
			FileBytes: []int64{16 << 10, 1 << 40}, Attempts: 2, Conflicts: 1, Unknown: 1,
		})
	}
	got := j.Summary().Commits
	if !near(got.Ms.P50, 10) || !near(got.Ms.P99, 1000) || got.Ms.Count != 100 {
		t.Errorf("commit time %+v", got.Ms)
	}
	sums := []int64{
		got.Count, got.Attempts, got.Conflicts, got.Unknown, got.Rows, got.Bytes, got.Files, got.LastSnapshotID,
	}
	if d := cmp.Diff([]int64{100, 200, 100, 100, 1000, 10000, 200, 99}, sums); d != "" {
		t.Errorf("commits (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Bucket{{16 << 10, 100}, {-1, 100}}, got.FileBytes); d != "" {
		t.Errorf("file sizes (-want +got):\n%s", d)
	}
}
