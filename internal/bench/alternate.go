package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// work is a piece of work that is repeated to measure it. It returns the bytes of JSON that it dealt with.
type work func() (bytes int64, err error)

// entrant is work with its name.
type entrant struct {
	name string
	work work
}

// alternate measures the million bytes that each entrant handles in a second of CPU time: one window each to warm up,
// then Runs windows each, in turn, so that what else goes on meets them all. The result is by entrant, then by run.
func (s *session) alternate(ctx context.Context, title string, entrants []entrant) ([][]float64, error) {
	rates := make([][]float64, len(entrants))
	for run := range s.Runs + 1 {
		for i, e := range entrants {
			end := s.Progress.step(say("%s: %s, run %d of %d", title, e.name, run, s.Runs))
			rate, err := perCPUSecond(ctx, s.Window, e.work)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", title, e.name, err)
			}
			end()
			if run > 0 {
				rates[i] = append(rates[i], rate)
			}
		}
	}
	return rates, nil
}

// alternateSteps is the steps that alternate announces.
func alternateSteps(o Options, entrants int) int { return entrants * (o.Runs + 1) }

// perCPUSecond repeats the work for at least the window and returns million bytes for each second of CPU time.
func perCPUSecond(ctx context.Context, window time.Duration, w work) (float64, error) {
	runtime.GC() // the garbage of others is not this one's
	began := time.Now()
	before, err := cpuTime()
	if err != nil {
		return 0, err
	}
	var bytes int64
	for {
		n, err := w()
		if err != nil {
			return 0, err
		}
		if bytes += n; n <= 0 {
			return 0, errors.New("the work dealt with nothing")
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if time.Since(began) < window {
			continue
		}
		after, err := cpuTime()
		if err != nil {
			return 0, err
		}
		if after > before { // clocks of CPU time may be coarse
			return float64(bytes) / 1e6 / (after - before).Seconds(), nil
		}
	}
}
