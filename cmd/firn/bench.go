package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"firn/internal/bench"
)

type benchOptions struct {
	bench.Options
	Folder string
}

func newBenchCommand(g *globalOptions) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench NAME...",
		Short: "Measure how fast firn is",
		Long: `Measure and write docs/figures/NAME.json: each figure with its runs, the goal, the rival, the command, the
commit and the machine. firn bench list says what can be measured; all measures everything.

Jobs run in a process of their own, so that the CPU time is theirs alone. The Kafka that they read is an in-memory one
in another process, or a real one with --brokers. Measure on a quiet machine: the load average at the start is in the
figure.

Exit status: 0 measured, 1 failed, 2 usage, 3 brokers cannot be reached.`,
		Example: "  firn bench list\n  firn bench decode\n  firn bench kafka-to-iceberg --runs 5 --brokers localhost:9092",
		Args:    usageArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, names []string) error {
			benchmarks, err := findBenchmarks(names)
			if err != nil {
				return err
			}
			if o.Runs < 1 || o.MB < 0 || o.Window <= 0 || o.For <= 0 {
				return usageError{errors.New("--runs, --window and --for must be above zero, and --mb not below")}
			}
			flags := benchFlags(cmd)
			o.Commit = benchCommit(cmd.Context()) // before figures change the folder
			for _, b := range benchmarks {
				o.Command = strings.TrimSpace("firn bench " + b.Name + " " + flags)
				if err := runBenchmark(cmd.Context(), g, b, o); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Folder, "out", "docs/figures", "folder to write to; empty: print only")
	f.IntVar(&o.Runs, "runs", 5, "how often each figure is measured; the median counts")
	f.IntVar(&o.MB, "mb", 0, "million bytes of messages to measure with; 0: as is usual for the benchmark")
	f.DurationVar(&o.Window, "window", time.Second, "least time of a run of a part that is measured alone")
	f.DurationVar(&o.For, "for", 30*time.Second, "how long messages flow while freshness is measured")
	f.StringSliceVar(&o.Brokers, "brokers", nil, "host:port of a real Kafka; topics are made there and deleted again")
	cmd.AddCommand(newBenchListCommand(g), newBenchChartCommand(g), newBenchBrokerCommand(g), newBenchJobCommand(g))
	return cmd
}

// findBenchmarks gives the benchmarks of the names, each once and in the order of the list.
func findBenchmarks(names []string) ([]bench.Benchmark, error) {
	if len(names) == 0 {
		return nil, usageError{errors.New("say what to measure: firn bench list shows what there is; all is everything")}
	}
	wanted := map[string]bool{}
	for _, name := range names {
		if name != "all" {
			if _, err := bench.Find(name); err != nil {
				return nil, usageError{err}
			}
		}
		wanted[name] = true
	}
	var found []bench.Benchmark
	for _, b := range bench.All() {
		if wanted["all"] || wanted[b.Name] {
			found = append(found, b)
		}
	}
	return found, nil
}

// benchFlags is what was given beside names and where the figures go, for who wants to repeat it.
func benchFlags(cmd *cobra.Command) string {
	var given []string
	for _, name := range []string{"runs", "mb", "window", "for", "brokers"} {
		if cmd.Flags().Changed(name) {
			given = append(given, fmt.Sprintf("--%s %s", name, strings.Trim(cmd.Flags().Lookup(name).Value.String(), "[]")))
		}
	}
	return strings.Join(given, " ")
}

// runBenchmark measures, writes the figure, and shows it.
func runBenchmark(ctx context.Context, g *globalOptions, b bench.Benchmark, o benchOptions) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	o.Child = func(ctx context.Context, role string, arguments ...string) *exec.Cmd {
		//nolint:gosec // it starts itself
		return exec.CommandContext(ctx, self, append([]string{"bench", role}, arguments...)...)
	}
	o.Progress = &bench.Progress{}
	if load := bench.ReadLoad(); load != nil && *load > bench.BusyLoad {
		fmt.Fprintf(g.Stderr, "firn: the load average is %.1f: figures will be worse than on a quiet machine\n", *load)
	}
	stop := bar{
		title: "bench " + b.Name, total: int64(b.Steps(o.Options)), done: o.Progress.Done,
		text: func() string { return " " + o.Progress.Text() },
	}.show(ctx, g.Stderr)
	results, err := b.Run(ctx, o.Options)
	stop()
	if err != nil {
		return err
	}
	return showFigure(g, b.Name, o.Folder, results)
}

func showFigure(g *globalOptions, name, folder string, results []bench.Result) error {
	if g.JSON {
		if err := json.NewEncoder(g.Stdout).Encode(results); err != nil {
			return err
		}
	} else if err := bench.Print(g.Stdout, results); err != nil {
		return err
	}
	if folder == "" {
		return nil
	}
	path, err := bench.WriteFigure(folder, name, results)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.Stderr, "wrote %s\n", path)
	if name != bench.ChartedBenchmark {
		return nil
	}
	return drawChart(g, folder)
}

func drawChart(g *globalOptions, folder string) error {
	path, err := bench.WriteChart(folder)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.Stderr, "wrote %s\n", path)
	return nil
}

// benchCommit is the commit that this program was built from, or else that of the sources in the current folder, which
// go run takes. With changes beside it -dirty stands behind it.
func benchCommit(ctx context.Context) string {
	if v := readVersion(); v.Commit != "unknown" {
		return v.Commit
	}
	describe := []string{"describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"}
	commit, err := exec.CommandContext(ctx, "git", describe...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(commit))
}

func newBenchListCommand(g *globalOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Say what can be measured",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			t := tabwriter.NewWriter(g.Stdout, 0, 0, 2, ' ', 0)
			for _, b := range bench.All() {
				fmt.Fprintf(t, "%s\t%s\n", b.Name, b.Summary)
			}
			return t.Flush()
		},
	}
}

func newBenchChartCommand(g *globalOptions) *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "chart",
		Short: "Draw the chart again from the figures",
		Args:  usageArgs(cobra.NoArgs),
		RunE:  func(*cobra.Command, []string) error { return drawChart(g, folder) },
	}
	cmd.Flags().StringVar(&folder, "out", "docs/figures", "folder of the figures")
	return cmd
}
