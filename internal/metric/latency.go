package metric

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// latencyMax is the largest latency told apart: a backlog of ten years. Larger ones count as this.
	latencyMax = 10 * 365 * 24 * time.Hour
	// latencyDigits of 3 keeps a percentile within 0.1 %.
	latencyDigits = 3
	// The last minute is six slots of ten seconds, the current one included: 50 to 60 seconds.
	windowSlots = 6
	windowSlot  = 10 * time.Second
)

// Percentiles is a distribution in milliseconds. Count is what it is made of: zero means that the others say nothing.
type Percentiles struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// latency is a distribution of durations since the start and over the last minute. It is not safe for concurrent use.
// It keeps microseconds, so that a commit of a few milliseconds is not rounded away.
type latency struct {
	all    *hdrhistogram.Histogram
	sum    float64 // seconds, of all
	window [windowSlots]windowed
}

type windowed struct {
	slot int64 // number of the ten seconds since 1970 that the histogram holds
	h    *hdrhistogram.Histogram
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, latencyMax.Microseconds(), latencyDigits)
}

func newLatency() latency { return latency{all: newHistogram()} }

// record adds n values of d, seen at now. d is clamped to 0 and latencyMax; n below 1 adds nothing.
func (l *latency) record(now time.Time, d time.Duration, n int64) {
	if n < 1 {
		return
	}
	d = min(max(d, 0), latencyMax)
	l.sum += d.Seconds() * float64(n)
	// RecordValues fails only above the highest trackable value, which the clamp excludes.
	_ = l.all.RecordValues(d.Microseconds(), n)
	slot := now.UnixNano() / int64(windowSlot)
	w := &l.window[slot%windowSlots]
	if w.h == nil {
		w.h = newHistogram()
	}
	if w.slot != slot {
		w.h.Reset()
		w.slot = slot
	}
	_ = w.h.RecordValues(d.Microseconds(), n)
}

func (l *latency) sinceStart() Percentiles { return percentiles(l.all) }

func (l *latency) lastMinute(now time.Time) Percentiles {
	slot := now.UnixNano() / int64(windowSlot)
	sum := newHistogram()
	for _, w := range l.window {
		if w.h != nil && w.slot > slot-windowSlots && w.slot <= slot {
			sum.Merge(w.h)
		}
	}
	return percentiles(sum)
}

func percentiles(h *hdrhistogram.Histogram) Percentiles {
	if h.TotalCount() == 0 {
		return Percentiles{}
	}
	at := func(p float64) float64 { return float64(h.ValueAtPercentile(p)) / 1000 }
	return Percentiles{Count: h.TotalCount(), P50: at(50), P95: at(95), P99: at(99), Max: float64(h.Max()) / 1000}
}
