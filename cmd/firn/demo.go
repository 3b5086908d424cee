package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"firn/internal/gen"
	"firn/internal/job"
	"firn/internal/metric"
	"firn/internal/web"
	"firn/internal/wire"
)

const (
	demoTopic = "demo"
	demoTable = "demo.messages"
	// caughtUpWait bounds how long the demo waits for the last messages after the generator has stopped.
	caughtUpWait = 30 * time.Second
)

type demoOptions struct {
	For        time.Duration
	Rate       float64
	Folder     string
	Template   string
	Partitions int
	Buckets    int
	Listen     string
	Verbose    bool
}

func newDemoCommand(g *globalOptions) *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the main job with everything embedded",
		Long: `Run an in-process Kafka, the message generator and kafka-to-iceberg in one process, with a SQLite catalog and a
warehouse in a local folder. It ends by itself, or at once on Ctrl-C, and leaves a table that any Iceberg reader opens.

Exit status: 0 success, 1 the run failed, 2 usage.`,
		Example: "  firn demo\n  firn demo --for 10s --rate 50000",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.For <= 0 || o.Rate <= 0 || o.Partitions < 1 || o.Buckets < 1 {
				return usageError{errors.New("--for, --rate, --partitions and --buckets must be above zero")}
			}
			if demoSchema(o.Template) == nil {
				return usageError{fmt.Errorf("the demo knows the schemas of the templates reference and GAME_EVENT, not of %s; "+
					"for others use firn generate and a job file", o.Template)}
			}
			return runDemo(cmd.Context(), g, o)
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.For, "for", 30*time.Second, "how long messages are made")
	f.Float64Var(&o.Rate, "rate", 20_000, "messages per second")
	f.StringVar(&o.Folder, "dir", "firn-demo", "`folder` for the catalog and the warehouse")
	f.StringVar(&o.Template, "template", "reference", "message template: `name` reference or GAME_EVENT")
	f.IntVar(&o.Partitions, "partitions", 8, "partitions of the topic")
	f.IntVar(&o.Buckets, "buckets", 8, "buckets of the table, for the reference message")
	f.StringVar(&o.Listen, "listen", "", "`HOST:PORT` for /metrics, such as 127.0.0.1:9464")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "log what the job does")
	return cmd
}

// runDemo puts the embedded parts together, runs them for the time asked, and shows what came of it.
func runDemo(ctx context.Context, g *globalOptions, o demoOptions) error {
	folder, err := filepath.Abs(o.Folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the demo's folder: %w", err)
	}
	kafka, err := wire.NewEmbeddedKafka(demoTopic, o.Partitions)
	if err != nil {
		return err
	}
	defer kafka.Close()
	j := demoJob(o, folder, kafka.Address())
	log := demoLogger(g, o.Verbose)
	earlier := exists(j.Sink.Iceberg.Catalog) == nil
	a, err := wire.Open(ctx, j, wire.Options{}, log)
	if err != nil && earlier {
		return fmt.Errorf("%w\n%s holds the table of an earlier demo: --dir names another folder", err, o.Folder)
	}
	if err != nil {
		return err
	}
	made, err := demoFlow(ctx, g, o, kafka, a, log)
	err = errors.Join(err, a.Close())
	if err != nil {
		return err
	}
	return demoReport(context.WithoutCancel(ctx), g, j, folder, a.Metrics.Summary(), made)
}

func demoLogger(g *globalOptions, verbose bool) *slog.Logger {
	if !verbose {
		return slog.New(slog.NewTextHandler(g.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	}
	return slog.New(slog.NewTextHandler(g.Stderr, nil))
}

// demoJob is the job that the demo runs: one that a user could have written.
func demoJob(o demoOptions, folder, broker string) *job.Job {
	j := job.Default()
	j.Name, j.Kind = "demo", "kafka-to-iceberg"
	k := &j.Source.Kafka
	k.Brokers, k.Topics, k.Group = []string{broker}, []string{demoTopic}, "firn-demo"
	k.OnClusterChange = "restart" // each demo has a Kafka of its own and goes on in the same table
	k.MetadataInterval = time.Second
	i := &j.Sink.Iceberg
	i.Catalog = job.Catalog{
		Name: "firn", Type: "sql", URI: filepath.Join(folder, "catalog.db"), Warehouse: filepath.Join(folder, "warehouse"),
	}
	i.Table = demoTable
	// A demo is short: files large enough to see how small ones become large.
	i.TargetFileSize, i.Rollup.MaxAge, i.Expire.DeleteAfter = 16e6, 15*time.Second, 30*time.Second
	j.Decode.NumbersInStrings = "accept" // the reference message quotes its number
	j.Decode.Schema.Fields = demoSchema(o.Template)
	if o.Template == "reference" {
		i.Partition = []string{fmt.Sprintf("bucket(logStreamId, %d)", o.Buckets)}
	}
	return &j
}

// demoFlow generates and moves messages until the time is over. It returns how many were made.
func demoFlow(
	ctx context.Context, g *globalOptions, o demoOptions, kafka *wire.EmbeddedKafka, a *wire.Assembly, log *slog.Logger,
) (made int64, err error) {
	text, err := wire.TemplateText(o.Template)
	if err != nil {
		return 0, usageError{err}
	}
	generator, err := wire.NewGenerator(wire.GeneratorConfig{
		Kafka: job.Kafka{Brokers: []string{kafka.Address()}}, Topic: demoTopic, TemplateText: text, RatePerSecond: o.Rate,
		Workers: 1,
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, generator.Close()) }()
	running, stop := context.WithCancel(ctx)
	defer stop()
	group, running := errgroup.WithContext(running)
	if o.Listen != "" {
		server, err := web.Serve(running, o.Listen, web.Handlers{Job: a.Metrics}, log)
		if err != nil {
			return 0, err
		}
		group.Go(server.Wait)
		fmt.Fprintf(g.Stderr, "metrics at http://%s/metrics\n", server.Addr)
	}
	group.Go(func() error { return a.Run(running) })
	group.Go(func() error { return kafka.DropRead(running, a.Floor) })
	group.Go(func() error {
		defer stop()
		stats, err := demoGenerate(running, g, o, generator, a.Metrics)
		made = stats.Messages
		return err
	})
	err = group.Wait() // before made is read
	return made, err
}

// demoGenerate makes messages for the time asked, shows the progress, and waits until they are in the table.
func demoGenerate(
	ctx context.Context, g *globalOptions, o demoOptions, generator *wire.Generator, m *metric.Job,
) (gen.Stats, error) {
	making, stop := context.WithTimeout(ctx, o.For)
	defer stop()
	shown := showProgress(making, g.Stderr, o.For, m)
	stats, err := generator.Run(making)
	stop()
	shown()
	if err != nil {
		return stats, err
	}
	waiting, stop := context.WithTimeout(ctx, caughtUpWait)
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for m.Summary().Commits.Rows < stats.Messages {
		select {
		case <-tick.C:
		case <-waiting.Done():
			return stats, nil
		}
	}
	return stats, nil
}

// demoReport prints what came of the demo.
func demoReport(ctx context.Context, g *globalOptions, j *job.Job, folder string, s metric.Summary, made int64) error {
	r, err := readDemoTable(ctx, j)
	if err != nil {
		return err
	}
	if g.JSON {
		return printDemoJSON(g, s, made, r)
	}
	w := g.Stdout
	fmt.Fprintf(w, "\n%s messages made, %s rows committed in %d snapshots; the table has %s rows\n",
		humanize.Comma(made), humanize.Comma(s.Commits.Rows), s.Commits.Count, humanize.Comma(r.Rows))
	fmt.Fprintf(w, "%.1f MB/s in, %.0f MB for each second of CPU (Kafka and generator included), peak memory %s\n",
		s.MeanRate.MBPerSecond, float64(s.Bytes)/1e6/max(s.Process.CPUSeconds, 1e-9),
		humanize.Bytes(uint64(s.Process.PeakRSSBytes)))
	fmt.Fprintf(w, "freshness: P50 %.0f ms, P95 %.0f ms, P99 %.0f ms from the broker's timestamp until visible\n",
		s.Freshness.Ms.P50, s.Freshness.Ms.P95, s.Freshness.Ms.P99)
	fmt.Fprintf(w, "files: %d, %s in all, %s on average; %s\n\nfirst rows of %s:\n", r.Files,
		humanize.Bytes(uint64(r.FileBytes)), humanize.Bytes(uint64(r.FileBytes/max(r.Files, 1))), joinedText(s), demoTable)
	if err := printRows(w, r.First); err != nil {
		return err
	}
	return printHowToOpen(w, folder, r.Metadata)
}

func printHowToOpen(w io.Writer, folder, metadata string) error {
	_, err := fmt.Fprintf(w, `
Open it with DuckDB:
  INSTALL iceberg; LOAD iceberg;
  SELECT count(*) FROM iceberg_scan('%s');
or with PyIceberg:
  from pyiceberg.catalog.sql import SqlCatalog
  catalog = SqlCatalog("firn", uri="sqlite:///%s", warehouse="file://%s")
  print(catalog.load_table("%s").scan(limit=10).to_arrow())
or with firn:
  firn table peek %s --catalog-type sql --catalog-name firn --catalog-uri %s --warehouse %s
`, metadata, filepath.Join(folder, "catalog.db"), filepath.Join(folder, "warehouse"), demoTable,
		demoTable, filepath.Join(folder, "catalog.db"), filepath.Join(folder, "warehouse"))
	return err
}
