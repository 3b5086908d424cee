package gen

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeClock is a clock that moves only while someone sleeps, and by late more than asked.
type fakeClock struct {
	at   time.Time
	late func() time.Duration
}

func (c *fakeClock) pacer(t *testing.T, rate float64) *Pacer {
	t.Helper()
	p, err := NewPacer(rate)
	if err != nil {
		t.Fatal(err)
	}
	p.now = func() time.Time { return c.at }
	p.sleep = func(_ context.Context, d time.Duration) error {
		c.at = c.at.Add(d)
		if c.late != nil {
			c.at = c.at.Add(c.late())
		}
		return nil
	}
	return p
}

// grant is messages that a Take gave at a time.
type grant struct {
	at time.Duration
	n  int
}

// take runs a pacer for a time and lists what it gave.
func take(t *testing.T, p *Pacer, c *fakeClock, span time.Duration, most int) (grants []grant) {
	t.Helper()
	for start := c.at; c.at.Sub(start) < span; {
		n, err := p.Take(t.Context(), most)
		if err != nil || n < 1 || n > most {
			t.Fatalf("Take gave %d, %v", n, err)
		}
		grants = append(grants, grant{c.at.Sub(start), n})
	}
	return grants
}

// worstWindow is the largest deviation from the rate over all windows, as a share.
func worstWindow(grants []grant, rate float64, window time.Duration) float64 {
	worst, sum, first := 0.0, 0, 0
	for _, g := range grants {
		sum += g.n
		for g.at-grants[first].at > window {
			sum -= grants[first].n
			first++
		}
		if first > 0 {
			worst = math.Max(worst, math.Abs(float64(sum)/(rate*window.Seconds())-1))
		}
	}
	return worst
}

func TestPacerHoldsRate(t *testing.T) {
	for _, rate := range []float64{100, 999, 12_345, 1_000_000} {
		random := rand.New(rand.NewPCG(1, uint64(rate)))
		clock := &fakeClock{at: noon(), late: func() time.Duration { return time.Duration(random.IntN(3_000_000)) }}
		grants := take(t, clock.pacer(t, rate), clock, 30*time.Second, 256)
		if d := worstWindow(grants, rate, 10*time.Second); d > 0.01 {
			t.Errorf("rate %g is off by %.2f %% in a window of 10 s", rate, 100*d)
		}
	}
}

func TestPacerSlow(t *testing.T) {
	clock := &fakeClock{at: noon()}
	grants := take(t, clock.pacer(t, 0.5), clock, 9*time.Second, 256)
	var at []time.Duration
	for _, g := range grants {
		at = append(at, g.at)
	}
	if want := []time.Duration{2e9, 4e9, 6e9, 8e9, 10e9}; !slices.Equal(at, want) {
		t.Errorf("messages came at %v, want %v", at, want)
	}
}

func TestPacerAfterStall(t *testing.T) {
	for _, c := range []struct {
		name  string
		stall time.Duration
		want  int // messages at once
	}{
		{"short stall is made up for", 400 * time.Millisecond, 400},
		{"long stall is not", time.Hour, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := &fakeClock{at: noon()}
			p := clock.pacer(t, 1000)
			take(t, p, clock, 5*time.Second, 100)
			clock.at = clock.at.Add(c.stall)
			stalled := clock.at
			burst := 0
			for {
				n, err := p.Take(t.Context(), 7)
				if err != nil {
					t.Fatal(err)
				}
				if clock.at.After(stalled) {
					break
				}
				burst += n
			}
			if burst < c.want-5 || burst > c.want {
				t.Errorf("%d messages at once after a stall of %v, want %d", burst, c.stall, c.want)
			}
			grants := take(t, p, clock, 20*time.Second, 100)
			if d := worstWindow(grants, 1000, 10*time.Second); d > 0.01 {
				t.Errorf("after the stall the rate is off by %.2f %%", 100*d)
			}
		})
	}
}

func TestPacerUnlimited(t *testing.T) {
	p, err := NewPacer(0)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := p.Take(t.Context(), 77); n != 77 || err != nil {
		t.Errorf("Take gave %d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Take(ctx, 77); !errors.Is(err, context.Canceled) {
		t.Errorf("Take of an ended context gave %v", err)
	}
}

func TestPacerRefuses(t *testing.T) {
	for _, rate := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := NewPacer(rate); err == nil {
			t.Errorf("rate %g gave no error", rate)
		}
	}
}

// Several workers share the rate, on the real clock of a synctest bubble.
func TestPacerSharedByWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewPacer(50_000)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var mu sync.Mutex
		var grants []grant
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					n, err := p.Take(ctx, 100)
					if err != nil {
						return
					}
					mu.Lock()
					grants = append(grants, grant{time.Since(start), n})
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		total := 0
		for _, g := range grants {
			total += g.n
		}
		if share := float64(total) / 1_000_000; share < 0.99 || share > 1.001 {
			t.Errorf("%d messages in 20 s, want 1000000", total)
		}
		if d := worstWindow(grants, 50_000, 10*time.Second); d > 0.01 {
			t.Errorf("off by %.2f %% in a window of 10 s", 100*d)
		}
	})
}

// A cancelled wait ends at once.
func TestPacerCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewPacer(0.001)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := p.Take(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Take gave %v", err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("Take took %v, want 1 s", d)
		}
	})
}
