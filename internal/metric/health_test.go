package metric

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// C36: a job that commits nothing while there is something to commit says so.
func TestHealthy(t *testing.T) {
	const stale = time.Minute
	tests := []struct {
		name string
		do   func(j *Job, c *clock)
		want string // part of the error; empty is healthy
	}{
		{"quiet source", func(_ *Job, c *clock) { c.Move(time.Hour) }, ""},
		{"backlog just met", func(j *Job, c *clock) { c.Move(time.Hour); j.Lag("a", 0, 5) }, ""},
		{"backlog at the limit", func(j *Job, c *clock) { j.Lag("a", 0, 5); c.Move(stale) }, ""},
		{"lag and no commit", func(j *Job, c *clock) {
			j.Lag("a", 0, 5)
			c.Move(61 * time.Second)
		}, "no commit landed for 1m1s"},
		{"buffered and no commit", func(j *Job, c *clock) {
			j.Buffered(1)
			c.Move(2 * time.Minute)
		}, "no commit landed for 2m0s"},
		{"lag that changes is no progress", func(j *Job, c *clock) {
			for range 10 {
				j.Lag("a", 0, c.Now().Unix())
				c.Move(10 * time.Second)
			}
		}, "no commit landed"},
		{"commits go on under lag", func(j *Job, c *clock) {
			j.Lag("a", 0, 5)
			for range 10 {
				c.Move(50 * time.Second)
				j.Committed(Commit{Start: c.Now()})
			}
		}, ""},
		{"caught up in time", func(j *Job, c *clock) {
			j.Lag("a", 0, 5)
			c.Move(50 * time.Second)
			j.Lag("a", 0, 0)
			c.Move(50 * time.Second)
			j.Lag("a", 0, 5)
			c.Move(50 * time.Second)
		}, ""},
		{"retrying for long", func(j *Job, c *clock) { j.State(Retrying); c.Move(2 * stale) }, "retrying since 2m0s"},
		{"retrying said again", func(j *Job, c *clock) {
			j.State(Retrying)
			c.Move(stale)
			j.State(Retrying)
			c.Move(stale)
		}, "retrying since 2m0s"},
		{"back to running", func(j *Job, c *clock) { j.State(Retrying); c.Move(2 * stale); j.State(Running) }, ""},
		{"with the last error", func(j *Job, c *clock) {
			j.LastError(errors.New("catalog: 503"))
			j.Buffered(1)
			c.Move(2 * stale)
		}, "last error: catalog: 503"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			j := NewJob("orders", c.Now)
			j.State(Running)
			tt.do(j, c)
			err := j.Healthy(stale)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v, want healthy", err)
			case tt.want != "" && (!errors.Is(err, ErrUnhealthy) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestStartingForLongIsUnhealthy(t *testing.T) {
	c := newClock()
	j := NewJob("orders", c.Now)
	c.Move(time.Hour)
	if err := j.Healthy(time.Minute); !errors.Is(err, ErrUnhealthy) {
		t.Errorf("got %v", err)
	}
}
