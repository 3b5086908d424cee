package metric

import (
	"errors"
	"fmt"
	"time"
)

// ErrUnhealthy is in every error that Healthy returns.
var ErrUnhealthy = errors.New("job is unhealthy")

// backlog remembers since when there is something to commit without a commit. It is guarded by the job's lock.
type backlog struct {
	since time.Time // zero: nothing to commit
}

func (b *backlog) update(now time.Time, behind bool) {
	switch {
	case !behind:
		b.since = time.Time{}
	case b.since.IsZero():
		b.since = now
	}
}

func (b *backlog) progressed(now time.Time) {
	if !b.since.IsZero() {
		b.since = now
	}
}

// Healthy is nil while the job gets on. It is an error when there has been lag or buffered data for longer than stale
// and no commit landed in that time, or when the job has been starting or retrying for longer than stale. A quiet
// source, with nothing to commit, is healthy.
func (j *Job) Healthy(stale time.Duration) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	if since := j.backlog.since; !since.IsZero() && now.Sub(since) > stale {
		return j.unhealthy("no commit landed for %s with data waiting", now.Sub(since))
	}
	waiting := j.state == Retrying || j.state == Starting
	if d := now.Sub(j.stateSince); waiting && d > stale {
		return j.unhealthy("job is "+string(j.state)+" since %s", d)
	}
	return nil
}

func (j *Job) unhealthy(format string, d time.Duration) error {
	text := fmt.Sprintf(format, d.Round(time.Second))
	if j.lastError.Text != "" {
		text += "; last error: " + j.lastError.Text
	}
	return fmt.Errorf("%w: %s", ErrUnhealthy, text)
}
