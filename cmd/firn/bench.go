package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"firn/internal/bench"
)

type benchOptions struct {
	bench.Options
	Folder string
	HTML   string
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

kafka-to-iceberg measures firn in turn with its rivals: Flink, Kafka Connect and Spark, where there is a real Kafka,
Java 17 or newer, and Maven the first time, which fetches them into the cache. Those that cannot be had are skipped,
and named. What was measured is written after each case, and when it is interrupted; go on with --cases. It also
writes a report with charts. Tables are made in the folder for temporary files (TMPDIR).

Exit status: 0 measured, 1 failed, 2 usage, 3 brokers cannot be reached.`,
		Example: `  firn bench list
  firn bench decode
  firn bench kafka-to-iceberg --brokers localhost:9092
  firn bench kafka-to-iceberg --brokers localhost:9092 --rivals flink --cases bucket64_zstd,wide_zstd`,
		Args: usageArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, names []string) error {
			benchmarks, err := findBenchmarks(names)
			if err != nil {
				return err
			}
			flags := benchFlags(cmd) // as given
			if err := checkBench(cmd, &o); err != nil {
				return err
			}
			o.Commit = benchCommit(cmd.Context()) // before figures change the folder
			for _, b := range benchmarks {
				if !cmd.Flags().Changed("runs") {
					o.Runs = b.Runs
				}
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
	f.StringVar(&o.HTML, "html", "", "path of the report of kafka-to-iceberg; empty: beside its figure")
	f.IntVar(&o.Runs, "runs", 0, "how often each figure is measured; the median counts (default 3 or 5, by benchmark)")
	f.IntVar(&o.MB, "mb", 0, "million bytes of messages to measure with; 0: as is usual for the benchmark")
	f.DurationVar(&o.Window, "window", time.Second, "least time of a run of a part that is measured alone")
	f.DurationVar(&o.For, "for", 30*time.Second, "how long messages flow while freshness is measured")
	f.StringSliceVar(&o.Brokers, "brokers", nil, "host:port of a real Kafka; topics are made there and deleted again")
	f.StringSliceVar(&o.Cases, "cases", nil, "cases of kafka-to-iceberg to measure; the others keep their figures "+
		"(default all)")
	f.StringSliceVar(&o.Rivals, "rivals", []string{"auto"}, "of kafka-to-iceberg: flink, connect, spark; auto: all that "+
		"can be had; none")
	cmd.AddCommand(newBenchListCommand(g), newBenchChartCommand(g), newBenchBrokerCommand(g), newBenchJobCommand(g),
		newBenchFloorCommand(g))
	return cmd
}

// checkBench looks for what makes no sense in the flags.
func checkBench(cmd *cobra.Command, o *benchOptions) error {
	if (cmd.Flags().Changed("runs") && o.Runs < 1) || o.MB < 0 || o.Window <= 0 || o.For <= 0 {
		return usageError{errors.New("--runs, --window and --for must be above zero, and --mb not below")}
	}
	if slices.Equal(o.Rivals, []string{"none"}) {
		o.Rivals = nil
	}
	if err := errors.Join(bench.CheckRivals(o.Rivals), bench.CheckCases(o.Cases)); err != nil {
		return usageError{err}
	}
	return nil
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
	for _, name := range []string{"runs", "mb", "window", "for", "brokers", "rivals", "cases"} {
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
	o.Log = func(text string) { fmt.Fprintf(g.Stderr, "firn: %s\n", text) }
	o.Keep = func(results []bench.Result) error { return writeFigure(g, b.Name, o, results) }
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
	if err := showFigure(g, results); err != nil {
		return err
	}
	return writeFigure(g, b.Name, o, results)
}

func showFigure(g *globalOptions, results []bench.Result) error {
	if g.JSON {
		return json.NewEncoder(g.Stdout).Encode(results)
	}
	return bench.Print(g.Stdout, results)
}

// writeFigure writes what was measured, unless it is only to be shown. Cases of kafka-to-iceberg that were not measured
// now keep their figures.
func writeFigure(g *globalOptions, name string, o benchOptions, results []bench.Result) error {
	if o.Folder == "" {
		return nil
	}
	charted := name == bench.ChartedBenchmark
	if charted {
		old, err := bench.ReadFigure(o.Folder, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		results = bench.Merge(old, results)
	}
	path, err := bench.WriteFigure(o.Folder, name, results)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.Stderr, "wrote %s\n", path)
	if !charted {
		return nil
	}
	return drawChart(g, o.Folder, o.HTML)
}

// drawChart draws the chart and the report from the figures of a folder.
func drawChart(g *globalOptions, folder, html string) error {
	path, err := bench.WriteChart(folder)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.Stderr, "wrote %s\n", path)
	if path, err = bench.WriteReport(folder, html); err != nil {
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
	var folder, html string
	cmd := &cobra.Command{
		Use:   "chart",
		Short: "Draw the chart and the report again from the figures",
		Args:  usageArgs(cobra.NoArgs),
		RunE:  func(*cobra.Command, []string) error { return drawChart(g, folder, html) },
	}
	cmd.Flags().StringVar(&html, "html", "", "path of the report; empty: beside its figure")
	cmd.Flags().StringVar(&folder, "out", "docs/figures", "folder of the figures")
	return cmd
}
