package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dustin/go-humanize"

	"firn/internal/gen"
)

// moveMB makes a run long against its start, and is a third of what the rivals moved.
const moveMB = 2000

// bucketed is the partitioning of the reference's table.
const bucketed = "bucket(logStreamId, 64)"

// moveCase is one way to write the table.
type moveCase struct {
	partition      string
	compression    string
	commitInterval time.Duration
	goal           float64
	rivals         []Rival
	memoryRivals   []Rival
}

// moveGoalReason is why the goals are what they are.
const moveGoalReason = "a trial of the design reached it in memory, with the cost of receiving by TCP added, on " +
	"another machine (docs/decisions/20261129-own-decoder-and-page-writer.md)"

const rivalCommits = 10 * time.Second

func moveCases() []moveCase {
	return []moveCase{
		{bucketed, "zstd", rivalCommits, 382, bucketedRivals(), bucketedRivalMemory()},
		{bucketed, "zstd", time.Second, 382, bucketedRivals(), bucketedRivalMemory()},
		{"", "zstd", rivalCommits, 382, unpartitionedRivals(), unpartitionedRivalMemory()},
		{bucketed, "none", rivalCommits, 900, nil, nil},
		{"", "none", rivalCommits, 900, nil, nil},
	}
}

// String names the case.
func (c moveCase) String() string {
	partition := c.partition
	if partition == "" {
		partition = "unpartitioned"
	}
	compression := c.compression
	if compression == "none" {
		compression = "not compressed"
	}
	return fmt.Sprintf("%s, %s, commits every %s", partition, compression, c.commitInterval)
}

func kafkaToIcebergBenchmark() Benchmark { return moveBenchmark(moveCases()) }

func moveBenchmark(cases []moveCase) Benchmark {
	return Benchmark{
		Name: "kafka-to-iceberg", Summary: "the main job in a process of its own, from a topic that is full at the start",
		steps: func(o Options) int { return 1 + len(cases)*o.Runs },
		run:   func(ctx context.Context, s *session) ([]Result, error) { return s.moveAll(ctx, cases) },
	}
}

// moved is what one run of a case came to.
type moved struct {
	mbPerCPUSecond float64
	peakMB         float64
	fileMB         float64
}

// moveAll fills a topic once and has every case read it, in turn.
func (s *session) moveAll(ctx context.Context, cases []moveCase) (results []Result, err error) {
	b, err := s.openBroker(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close(context.WithoutCancel(ctx))) }()
	sent, err := s.preload(ctx, b, int64(s.amount(moveMB))*1e6)
	if err != nil {
		return nil, err
	}
	runs := make([][]moved, len(cases))
	for run := range s.Runs {
		for i, c := range cases {
			end := s.Progress.step(say("%s, run %d of %d", c, run+1, s.Runs))
			m, err := s.move(ctx, b, c, sent)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c, err)
			}
			end()
			runs[i] = append(runs[i], m)
		}
	}
	for i, c := range cases {
		results = append(results, s.moveResults(c, runs[i], b, sent)...)
	}
	return results, nil
}

// preload fills the topic.
func (s *session) preload(ctx context.Context, b *broker, bytes int64) (gen.Stats, error) {
	messages := max(1, bytes/narrowBytes)
	var progress gen.Progress
	defer s.Progress.step(func() string {
		return fmt.Sprintf("filling the topic, %s of %s", humanize.Comma(progress.Messages.Load()), humanize.Comma(messages))
	})()
	return b.fill(ctx, fillConfig{messages: messages, progress: &progress, large: true})
}

// move runs the job once, in a process of its own and a new folder, until all is committed.
func (s *session) move(ctx context.Context, b *broker, c moveCase, sent gen.Stats) (m moved, err error) {
	folder, err := os.MkdirTemp("", "firn-bench-")
	if err != nil {
		return m, fmt.Errorf("making a folder for the table: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	config := jobConfig{b, folder, c.partition, c.compression, c.commitInterval}
	process, err := s.startJob(ctx, config, true)
	if err != nil {
		return m, err
	}
	report, err := process.report()
	if err != nil {
		return m, err
	}
	if err := report.moved(sent.Messages); err != nil {
		return m, err
	}
	files, err := config.files(ctx)
	return moved{
		mbPerCPUSecond: float64(sent.Bytes) / 1e6 / process.cpu().Seconds(),
		peakMB:         float64(report.PeakRSSBytes) / 1e6,
		fileMB:         files.meanMB(),
	}, err
}

// moveResults makes the figures of a case.
func (s *session) moveResults(c moveCase, runs []moved, b *broker, sent gen.Stats) []Result {
	var speed, peak, file []float64
	for _, m := range runs {
		speed, peak, file = append(speed, m.mbPerCPUSecond), append(peak, m.peakMB), append(file, m.fileMB)
	}
	conditions := fmt.Sprintf("%s messages of %d bytes, not compressed, in %d topic partitions of %s; hadoop catalog in "+
		"a local folder; the CPU time is the job's process from start to end", humanize.Comma(sent.Messages), narrowBytes,
		topicPartitions, b.kind)
	name := "kafka-to-iceberg, " + c.String()
	results := []Result{
		s.result(name, unitPerCPU, speed, conditions),
		s.result(name+", peak memory", "MB", peak, conditions),
		s.result(name+", mean data file", "MB", file, conditions),
	}
	results[0].Goal, results[0].GoalReason = c.goal, moveGoalReason
	results[0].against(c.rivals)
	results[1].LowerIsBetter = true
	results[1].against(c.memoryRivals)
	return results
}
