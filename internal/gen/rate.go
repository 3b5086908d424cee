package gen

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

const (
	// takeInterval is the least work that Take waits for, as time: at a million messages a second waking for each one
	// would cost more than making it. 5 ms keeps a 10 s window within 0.05 %.
	takeInterval = 5 * time.Millisecond
	// burstMax is the arrears that are made up for after a stall; what is older is given up.
	burstMax = time.Second
)

// Pacer spreads messages evenly over time at a rate. It is safe for concurrent use: workers share one.
type Pacer struct {
	perSecond float64
	now       func() time.Time
	sleep     func(ctx context.Context, d time.Duration) error

	mu    sync.Mutex // guards the following
	start time.Time  // of the schedule; zero before the first Take
	taken float64    // messages since start, those that a Take still waits for included
}

// NewPacer makes a pacer for a rate in messages a second; 0 is unlimited. The schedule begins with the first Take.
func NewPacer(perSecond float64) (*Pacer, error) {
	if perSecond < 0 || math.IsNaN(perSecond) || math.IsInf(perSecond, 0) {
		return nil, fmt.Errorf("a rate of %g messages a second is not possible; "+
			"choose a positive one, or 0 for no limit", perSecond)
	}
	return &Pacer{perSecond: perSecond, now: time.Now, sleep: sleepContext}, nil
}

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Take waits until messages are due and returns how many may be made now: at least 1, at most the number given (which
// is at least 1). The error is the context's.
func (p *Pacer) Take(ctx context.Context, most int) (int, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if p.perSecond == 0 {
		return most, nil
	}
	n, wait := p.reserve(most)
	if wait > 0 {
		if err := p.sleep(ctx, wait); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// reserve takes up to most messages off the schedule and tells how long it is until they are due. Each Take reserves
// for itself, so that several workers sleep to different times instead of waking together.
func (p *Pacer) reserve(most int) (n int, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.start.IsZero() {
		p.start = now
	}
	due := p.perSecond*now.Sub(p.start).Seconds() - p.taken
	if burst := math.Max(1, p.perSecond*burstMax.Seconds()); due > burst {
		p.start, p.taken = now, -burst
		due = burst
	}
	if due >= 1 {
		n = int(math.Min(due, float64(most)))
		p.taken += float64(n)
		return n, 0
	}
	n = int(math.Ceil(p.perSecond * takeInterval.Seconds()))
	n = min(n, most)
	p.taken += float64(n)
	at := p.start.Add(time.Duration(p.taken / p.perSecond * float64(time.Second)))
	return n, at.Sub(now)
}
