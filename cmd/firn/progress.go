package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"firn/internal/metric"
)

// progressLineInterval is how often a line is written where there is no terminal to draw a bar on.
const progressLineInterval = 10 * time.Second

// bar is a progress to show: done of total (0: unknown), and what stands behind it.
type bar struct {
	title string
	total int64
	done  func() int64
	text  func() string
}

// show draws the bar on a terminal, or writes a line now and then, until the function returned is called.
func (b bar) show(ctx context.Context, w io.Writer) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	file, ok := w.(*os.File)
	if ok && term.IsTerminal(int(file.Fd())) {
		group.Go(func() { b.draw(ctx, w) })
	} else {
		group.Go(func() { b.lines(ctx, w) })
	}
	return func() { cancel(); group.Wait() }
}

func (b bar) draw(ctx context.Context, w io.Writer) {
	p := mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))
	style := mpb.BarFillerBuilder(mpb.BarStyle())
	if b.total <= 0 {
		style = mpb.SpinnerStyle("-", `\`, "|", "/").PositionLeft()
	}
	drawn := p.New(b.total, style, mpb.PrependDecorators(decor.Name(b.title+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.text() })))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		drawn.SetCurrent(b.done())
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	drawn.SetCurrent(b.done())
	drawn.Abort(false)
	p.Wait()
}

func (b bar) lines(ctx context.Context, w io.Writer) {
	tick := time.NewTicker(progressLineInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(w, "%s: %s\n", b.title, b.text())
		case <-ctx.Done():
			return
		}
	}
}

// showProgress shows how far a timed run is.
func showProgress(ctx context.Context, w io.Writer, limit time.Duration, m *metric.Job) (stop func()) {
	began := time.Now()
	return bar{
		title: "demo", total: limit.Milliseconds(),
		done: func() int64 { return min(time.Since(began), limit).Milliseconds() },
		text: func() string {
			s := m.Summary()
			left := max(0, limit-time.Since(began)).Round(time.Second)
			return fmt.Sprintf(" %s rows, %.1f MB/s, fresh %.0f ms, %s, %s left", humanize.Comma(s.Commits.Rows),
				s.Rate.MBPerSecond, s.Freshness.NewestMs, joinedText(s), left)
		},
	}.show(ctx, w)
}

// joinedText says how many small files there were, and what became of them.
func joinedText(s metric.Summary) string {
	r := &s.Rollups
	if r.Count == 0 {
		return fmt.Sprintf("%d small files", s.Commits.Files)
	}
	mean := (r.CopiedBytes + r.ReencodedBytes) / r.Count
	return fmt.Sprintf("%d of %d small files joined into %d of %s", r.FilesIn, s.Commits.Files, r.Count,
		humanize.Bytes(uint64(mean)))
}
