package metric

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// clock is a time that a test moves by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_800_000_000, 0).UTC()} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestSummaryCounts(t *testing.T) {
	c := newClock()
	j := NewJob("orders", c.Now)
	j.Read("a", 0, 10, 1000)
	j.Read("a", 1, 5, 500)
	j.Decoded(12, 2, 1)
	j.Reconnected()
	j.Buffered(77)
	j.Workers(3)
	j.State(Running)
	j.LastError(nil)
	j.LastError(errors.New("catalog: 503"))
	c.Move(2 * time.Second)
	s := j.Summary()
	got := []int64{
		s.Records, s.Bytes, s.Rows, s.Rejected, s.Tombstones, s.Reconnects, s.Buffered, s.Workers, s.Errors,
	}
	if d := cmp.Diff([]int64{15, 1500, 12, 2, 1, 1, 77, 3, 1}, got); d != "" {
		t.Errorf("counters (-want +got):\n%s", d)
	}
	if s.State != Running || s.UptimeSeconds != 2 || s.LastError.Text != "catalog: 503" || s.Job != "orders" {
		t.Errorf("got state %s, uptime %v, error %v, job %s", s.State, s.UptimeSeconds, s.LastError, s.Job)
	}
	if s.MeanRate != (Throughput{7.5, 0.00075}) {
		t.Errorf("mean rate %+v", s.MeanRate)
	}
}

func TestSummaryIsJSON(t *testing.T) {
	raw, err := json.Marshal(NewJob("empty", newClock().Now).Summary())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"partitions":[]`, `"last":[]`, `"file_bytes":[]`, `"state":"starting"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
}

func TestRateOfLastTenSeconds(t *testing.T) {
	c := newClock()
	j := NewJob("orders", c.Now)
	rate := func() float64 { return j.Summary().Rate.MBPerSecond }
	if got := rate(); got != 0 {
		t.Errorf("before any read: %v", got)
	}
	j.Read("a", 0, 1, 4e6)
	if got := rate(); got != 4 {
		t.Errorf("in the first second: %v, want 4", got)
	}
	c.Move(time.Second)
	if got := rate(); got != 2 {
		t.Errorf("in the second second: %v, want 2", got)
	}
	c.Move(8 * time.Second)
	j.Read("a", 0, 1, 6e6)
	if got := rate(); got != 1 {
		t.Errorf("in the tenth second: %v, want 1", got)
	}
	c.Move(time.Second)
	if got := rate(); got != 0.6 {
		t.Errorf("the first read left the window: %v, want 0.6", got)
	}
	c.Move(time.Hour)
	if got := rate(); got != 0 {
		t.Errorf("an hour later: %v", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	c := newClock()
	j := NewJob("orders", c.Now)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				j.Read("a", int32(w), 2, 20)
				j.Decoded(2, 0, 0)
				j.Buffered(int64(i))
				j.Lag("a", int32(w), int64(i))
				j.Committed(Commit{Start: c.Now(), Rows: 2, Files: 1, FileBytes: []int64{5}})
				if i%50 == 0 {
					_ = j.Summary()
				}
			}
		})
	}
	wg.Wait()
	s := j.Summary()
	if s.Records != 3200 || s.Rows != 3200 || s.Commits.Count != 1600 || s.LagRecords != 8*199 {
		t.Errorf("records %d, rows %d, commits %d, lag %d", s.Records, s.Rows, s.Commits.Count, s.LagRecords)
	}
}
