package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"firn/internal/gen"
)

// freshnessRates are in million bytes a second.
func freshnessRates() []float64 { return []float64{5, 20} }

func freshnessBenchmark() Benchmark {
	return Benchmark{
		Name: "freshness", Runs: 3, Summary: "time from a message's making until its row is visible, at a steady rate",
		steps: func(o Options) int { return len(freshnessRates()) * o.Runs },
		run:   func(ctx context.Context, s *session) ([]Result, error) { return s.fresh(ctx, freshnessRates()) },
	}
}

// fresh measures each rate, with a broker and a table of its own for each run.
func (s *session) fresh(ctx context.Context, rates []float64) ([]Result, error) {
	runs := make([][]flowed, len(rates))
	for run := range s.Runs {
		for i, rate := range rates {
			end := s.Progress.step(say("%g MB/s for %s, run %d of %d", rate, s.For, run+1, s.Runs))
			f, err := s.flow(ctx, flowCase{rate, bucketed, freshCommits, nil, 0})
			if err != nil {
				return nil, fmt.Errorf("%g MB/s: %w", rate, err)
			}
			end()
			runs[i] = append(runs[i], f)
		}
	}
	var results []Result
	for i, rate := range rates {
		results = append(results, s.freshResults(rate, runs[i])...)
	}
	return results, nil
}

// flowed is what one run at a rate came to.
type flowed struct {
	p50, p95, p99  float64 // milliseconds
	fileMB         float64
	peakMB         float64
	mbPerCPUSecond float64
	mbPerSecond    float64 // that were sent
	cpuSeconds     float64
	largeShare     float64 // of bytes in files of 128 MB or more, in percent
	kind           string  // of broker
}

// freshCommits is firn's default.
const freshCommits = time.Second

// flowCase is a job and the rate of its messages, in million bytes a second.
type flowCase struct {
	rate           float64
	partition      string
	commitInterval time.Duration
	settings       []string      // of sink.iceberg
	old            time.Duration // rows of that age are to be in large files
}

// flowRetention is how much a topic partition keeps while messages flow: half a minute at 100 MB/s, so that a long run
// does not fill the disk. A job that falls behind it loses messages, and the run fails.
const flowRetention = 256 << 20

// flow runs the job while messages are sent at the rate.
func (s *session) flow(ctx context.Context, c flowCase) (f flowed, err error) {
	b, err := s.openBroker(ctx, flowRetention)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, b.close(context.WithoutCancel(ctx))) }()
	folder, err := os.MkdirTemp("", "firn-bench-")
	if err != nil {
		return f, fmt.Errorf("making a folder for the table: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	config := jobConfig{b, folder, narrow(), c.partition, "zstd", c.commitInterval, c.settings}
	process, err := s.startJob(ctx, config, false)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, process.end()) }()
	if err := process.hear(&jobMessage{}); err != nil {
		return f, err
	}
	sent, err := b.fill(ctx, fillConfig{kind: narrow(), rate: c.rate * 1e6 / narrowBytes, limit: s.For})
	if err != nil {
		return f, err
	}
	if err := process.tell(jobOrder{Rows: sent.Messages}); err != nil {
		return f, err
	}
	report, err := process.report()
	if err != nil {
		return f, err
	}
	if err := report.moved(sent.Messages); err != nil {
		return f, err
	}
	files, old, err := config.filesByAge(ctx, c.old)
	f = newFlowed(report, process, files, sent, b.kind)
	f.largeShare = old.largeShare()
	return f, err
}

func newFlowed(r *jobReport, process *child, files dataFiles, sent gen.Stats, kind string) flowed {
	fresh := r.Summary.Freshness.Ms
	return flowed{
		p50: fresh.P50, p95: fresh.P95, p99: fresh.P99, kind: kind,
		fileMB:         files.meanMB(),
		peakMB:         float64(r.PeakRSSBytes) / 1e6,
		mbPerCPUSecond: float64(sent.Bytes) / 1e6 / process.cpu().Seconds(),
		mbPerSecond:    float64(sent.Bytes) / 1e6 / sent.Elapsed.Seconds(),
		cpuSeconds:     process.cpu().Seconds(),
	}
}

// freshResults makes the figures of a rate.
func (s *session) freshResults(rate float64, runs []flowed) []Result {
	column := func(of func(flowed) float64) []float64 {
		values := make([]float64, len(runs))
		for i, f := range runs {
			values[i] = of(f)
		}
		return values
	}
	conditions := fmt.Sprintf("%.1f MB/s reached for %s, messages of %d bytes in %d topic partitions of %s; %s, zstd, "+
		"commits every %s; the first commits are counted too",
		median(column(func(f flowed) float64 { return f.mbPerSecond })), s.For, narrowBytes, topicPartitions, runs[0].kind,
		bucketed, freshCommits)
	name := fmt.Sprintf("freshness at %g MB/s", rate)
	percentile := func(p string, of func(flowed) float64) Result {
		r := s.result(name+", "+p, "ms", column(of), conditions)
		r.LowerIsBetter = true
		r.against(freshnessRivals(p))
		return r
	}
	memory := s.result(name+", peak memory", "MB", column(func(f flowed) float64 { return f.peakMB }), conditions)
	memory.LowerIsBetter = true
	p50 := percentile("P50", func(f flowed) float64 { return f.p50 })
	p50.Goal, p50.GoalReason = 1000, "visible about a second after it was written, as README.md says"
	return []Result{
		p50,
		percentile("P95", func(f flowed) float64 { return f.p95 }),
		percentile("P99", func(f flowed) float64 { return f.p99 }),
		s.result(name+", mean data file", "MB", column(func(f flowed) float64 { return f.fileMB }), conditions),
		s.result(name+", speed", unitPerCPU, column(func(f flowed) float64 { return f.mbPerCPUSecond }), conditions),
		memory,
	}
}
