package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
)

// showGenerated shows how far a generator is: of its messages, else of its time, else only that it works.
func showGenerated(ctx context.Context, w io.Writer, o generateOptions, messages func() int64) (stop func()) {
	began := time.Now()
	b := bar{title: "generate", total: o.Messages, done: messages}
	if o.Messages <= 0 && o.For > 0 {
		b.total = o.For.Milliseconds()
		b.done = func() int64 { return min(time.Since(began), o.For).Milliseconds() }
	}
	b.text = func() string {
		n, past := messages(), time.Since(began)
		rate := float64(n) / max(past.Seconds(), 1e-3)
		text := fmt.Sprintf(" %s messages, %s a second", humanize.Comma(n), humanize.Comma(int64(rate)))
		if left, known := timeLeft(o, n, rate, past); known {
			text += fmt.Sprintf(", %s left", left.Round(time.Second))
		}
		return text
	}
	return b.show(ctx, w)
}

// timeLeft is until the nearer of the two limits; it is not known without any.
func timeLeft(o generateOptions, n int64, rate float64, past time.Duration) (left time.Duration, known bool) {
	if o.For > 0 {
		left, known = max(0, o.For-past), true
	}
	if o.Messages > 0 && rate > 0 {
		byCount := time.Duration(float64(o.Messages-n) / rate * float64(time.Second))
		if !known || byCount < left {
			left, known = byCount, true
		}
	}
	return left, known
}
