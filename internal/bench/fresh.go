package bench

import (
	"context"
	"fmt"
	"time"
)

// freshConfig is how much of it the benchmark fresh does.
type freshConfig struct {
	mb      float64 // million bytes a second
	commits int     // of the table that grows
}

func freshBenchmark() Benchmark { return freshBenchmarkOf(freshConfig{100, growCommits}) }

func freshBenchmarkOf(c freshConfig) Benchmark {
	return Benchmark{
		Name: "fresh", Runs: 1,
		Summary: "freshness and file sizes at once, at 100 MB/s, and what upkeep costs",
		steps:   func(o Options) int { return len(c.steps(o)) * o.Runs },
		run:     func(ctx context.Context, s *session) ([]Result, error) { return s.freshAndCompact(ctx, c) },
	}
}

// freshStep is one thing that the benchmark does in each round.
type freshStep struct {
	text string
	do   func(ctx context.Context, s *session, into *freshRuns) error
}

// freshRuns is what the rounds came to.
type freshRuns struct {
	bucketed, fast, bare []flowed // with roll-up in buckets, at 200 ms without partitions, without roll-up in buckets
	grown                []grown
	reencoded            []float64 // MB of JSON for a CPU-second
}

// old is the age from which small files are joined: half of the time, so that some are old at the end.
func (o Options) old() time.Duration { return min(10*time.Minute, (o.For / 2).Round(time.Second)) }

func (c freshConfig) steps(o Options) []freshStep {
	old := o.old()
	rolled := fmt.Sprintf("rollup: {max_age: %s}", old)
	const kept = "expire: {delete_after: 1m}" // else the disk holds all twice
	flow := func(text string, job flowCase, into func(*freshRuns) *[]flowed) freshStep {
		return freshStep{text, func(ctx context.Context, s *session, runs *freshRuns) error {
			f, err := s.flow(ctx, job)
			if err == nil {
				*into(runs) = append(*into(runs), f)
			}
			return err
		}}
	}
	return []freshStep{
		flow("64 buckets, commits every second", flowCase{c.mb, bucketed, time.Second, []string{rolled, kept}, old},
			func(r *freshRuns) *[]flowed { return &r.bucketed }),
		flow("no partitions, commits every 200 ms", flowCase{c.mb, "", 200 * time.Millisecond, []string{rolled, kept}, old},
			func(r *freshRuns) *[]flowed { return &r.fast }),
		flow("64 buckets, commits every second, no upkeep", flowCase{
			c.mb, bucketed, time.Second, []string{"rollup: {enabled: false}", "expire: {enabled: false}"}, 0,
		}, func(r *freshRuns) *[]flowed { return &r.bare }),
		{fmt.Sprintf("%d commits", c.commits), func(ctx context.Context, _ *session, runs *freshRuns) error {
			g, err := grow(ctx, c.commits)
			runs.grown = append(runs.grown, g)
			return err
		}},
		{"files written anew", func(ctx context.Context, s *session, runs *freshRuns) error {
			rate, err := reencode(ctx, s.amount(reencodeFileMB))
			runs.reencoded = append(runs.reencoded, rate)
			return err
		}},
	}
}

func (s *session) freshAndCompact(ctx context.Context, c freshConfig) ([]Result, error) {
	var runs freshRuns
	for run := range s.Runs {
		for _, step := range c.steps(s.Options) {
			end := s.Progress.step(say("%s, run %d of %d", step.text, run+1, s.Runs))
			if err := step.do(ctx, s, &runs); err != nil {
				return nil, fmt.Errorf("%s: %w", step.text, err)
			}
			end()
		}
	}
	return s.freshFigures(c, &runs), nil
}

func (s *session) freshFigures(c freshConfig, r *freshRuns) []Result {
	at := fmt.Sprintf("%.0f MB/s of narrow messages for %s, hadoop catalog on the local disk", c.mb, s.For)
	lower := func(name, unit string, goal float64, runs []float64, conditions string) Result {
		f := s.result(name, unit, runs, conditions)
		f.LowerIsBetter, f.Goal, f.GoalReason = true, goal, freshGoal
		return f
	}
	p50, p99 := func(f flowed) float64 { return f.p50 }, func(f flowed) float64 { return f.p99 }
	buckets := at + "; 64 buckets, a commit a second"
	fast := at + "; no partitions, a commit every 200 ms"
	share := s.result("bytes_share_128mb", "%", each(r.bucketed, func(f flowed) float64 { return f.largeShare }),
		buckets+fmt.Sprintf("; of the files that are not of an append in the last %s, the age limit", s.old()))
	share.Goal, share.GoalReason = 99, freshGoal
	upkeep := make([]float64, len(r.bare))
	for i := range upkeep {
		upkeep[i] = 100 * (1 - r.bare[i].cpuSeconds/r.bucketed[i].cpuSeconds)
	}
	commits := fmt.Sprintf("%d commits of 64 files each, replaced when a bucket has 200, and expiry", c.commits)
	results := []Result{
		lower("p50_ms", "ms", 700, each(r.bucketed, p50), buckets),
		lower("p99_ms", "ms", 1500, each(r.bucketed, p99), buckets),
		lower("p50_ms_200", "ms", 250, each(r.fast, p50), fast),
		lower("p99_ms_200", "ms", 600, each(r.fast, p99), fast),
		share,
		lower("upkeep_cpu_share", "%", 10, upkeep, buckets+"; the CPU time of a job with upkeep, less that of one without"),
		lower("commit_ratio_10000_100", "times", 1.3, each(r.grown, func(g grown) float64 { return g.ratio }),
			commits+"; the mean of 100 commits at the end and at the beginning"),
		lower("metadata_kb", "kB", 200, each(r.grown, func(g grown) float64 { return g.metadataKB }), commits),
		lower("live_manifests", "manifests", 50, each(r.grown, func(g grown) float64 { return g.manifests }), commits),
	}
	anew := fmt.Sprintf("%d files of %d MB of narrow messages, zstd, read from the local disk, decoded, written anew and "+
		"committed by one compaction", reencodeFiles, s.amount(reencodeFileMB))
	speed := s.result("reencode_mb_per_cpu_s", unitPerCPU, r.reencoded, anew)
	speed.Goal, speed.GoalReason = reencodeGoal, freshGoal
	results = append(results, speed)
	results[0].against(freshnessRivals("P50"))
	results[1].against(freshnessRivals("P99"))
	return results
}

// freshGoal is why the goals are what they are.
const freshGoal = "low latency and large files at once, without another job and without metadata that grows"

// each takes one number of every run.
func each[T any](runs []T, of func(T) float64) []float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	return values
}
