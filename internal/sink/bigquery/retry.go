package bigquery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Retry bounds how requests are tried again. There is no other layer that does.
type Retry struct {
	// Pause is the first pause after a failure, and PauseMax what it doubles up to. Each is varied by half of itself.
	Pause, PauseMax time.Duration
	// QuotaPause is the first pause after RESOURCE_EXHAUSTED: a quota refills within seconds or minutes.
	QuotaPause time.Duration
	// Budget is how long failures may follow one another before the last one is returned.
	Budget time.Duration
	// NotFoundBudget is the same for tables and streams that are not found: a new table is unknown to some servers for
	// a while.
	NotFoundBudget time.Duration
}

// DefaultRetry gives up after ten minutes, which is what a regional quota takes to refill.
func DefaultRetry() Retry {
	return Retry{
		Pause: 100 * time.Millisecond, PauseMax: 30 * time.Second, QuotaPause: time.Second,
		Budget: 10 * time.Minute, NotFoundBudget: 30 * time.Second,
	}
}

// pauses counts the failures since the last success.
type pauses struct {
	retry    Retry
	waits    *backoff.ExponentialBackOff
	quota    bool
	since    time.Time
	attempts int
}

func newPauses(r Retry) *pauses {
	p := &pauses{retry: r}
	p.reset()
	return p
}

// reset begins anew after a success.
func (p *pauses) reset() {
	p.attempts, p.quota = 0, false
	p.restart(p.retry.Pause)
}

func (p *pauses) restart(first time.Duration) {
	p.waits = &backoff.ExponentialBackOff{
		InitialInterval: first, MaxInterval: max(first, p.retry.PauseMax), Multiplier: 2, RandomizationFactor: 0.5,
	}
}

// next is how long to wait after a failure, or the error with which to give up.
func (p *pauses) next(e *Error, now time.Time) (time.Duration, error) {
	budget := p.retry.Budget
	if e.is(ErrNotFound) {
		budget = p.retry.NotFoundBudget
	}
	if !e.retryable() || budget <= 0 {
		return 0, e
	}
	if p.attempts == 0 {
		p.since = now
	}
	p.attempts++
	if e.is(ErrQuota) && !p.quota {
		p.quota = true
		p.restart(p.retry.QuotaPause)
	}
	wait := max(p.waits.NextBackOff(), e.RetryAfter)
	if spent := now.Sub(p.since); spent+wait > budget {
		return 0, fmt.Errorf("gave up after %d attempts in %s: %w", p.attempts, spent.Round(time.Millisecond), e)
	}
	return wait, nil
}

// sleep waits, or returns why ctx ended.
func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Notice is something that happened to requests and that they may yet survive.
type Notice struct {
	Subject string        // the stream or table
	Err     error         // why it failed: errors.Is tells its kind, ErrQuota above all
	Attempt int           // failures in a row, this one included
	Wait    time.Duration // until it is tried again
}

// notify tells the listener and the log of a failure that is tried again.
func (c *Client) notify(n Notice) {
	if c.options.OnRetry != nil {
		c.options.OnRetry(n)
	}
	log := c.log.With("subject", n.Subject, "error", n.Err, "attempt", n.Attempt, "wait", n.Wait)
	if errors.Is(n.Err, ErrQuota) {
		log.Warn("BigQuery refuses requests for a quota, they are tried again")
		return
	}
	log.Warn("BigQuery did not take a request, it is tried again")
}
