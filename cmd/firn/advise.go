package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"firn/internal/advise"
	"firn/internal/job"
	"firn/internal/table"
	"firn/internal/wire"
)

type adviseOptions struct {
	table     tableOptions
	Filters   []string
	Freshness time.Duration
	Target    string
	Rate      string
	Queries   float64
	Span      time.Duration
	Apply     bool
	Yes       bool
}

func newAdviseCommand(g *globalOptions) *cobra.Command {
	o := &adviseOptions{}
	cmd := &cobra.Command{
		Use:   "advise [TABLE | JOB.yaml]",
		Short: "Say how a table should be partitioned and committed to",
		Long: `Say which bucket count, commit interval, file size and sort order suit a table, and what others would cost a
day in files, commits, requests, CPU and money. How fast rows come is measured by the history of the table, how they
spread over keys by its files or some of its rows; flags say how the table is read. For a job whose table has no
history yet, the newest messages of its topics are looked at. docs/advise.md has the model.

--apply changes the partition spec after asking. Files that are there stay as they are; a job that runs goes on with
the spec that it started with, until it is started again.

Exit status: 0 success, 1 it failed, 2 usage or job file, 3 catalog or brokers cannot be reached.`,
		Example: `  firn advise orders.yaml --filter customer --freshness 2s
  firn advise db.orders --catalog-type hadoop --warehouse s3://lake --filter customer --queries 50000
  firn advise orders.yaml --filter customer --apply`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), g, args, cmd.InOrStdin())
		},
	}
	o.table.addFlags(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&o.Filters, "filter", nil, "`column` that queries filter by; may be repeated. Default: those that "+
		"the table has buckets of")
	f.DurationVar(&o.Freshness, "freshness", 2*time.Second, "in which a row is to be visible at the latest")
	f.StringVar(&o.Target, "target-size", "", "`size` of files after the roll-up; default: the cheapest of 128, 256, "+
		"512 MB")
	f.Float64Var(&o.Queries, "queries", 1000, "queries a day, each for one value of one filter column")
	f.DurationVar(&o.Span, "query-span", 24*time.Hour, "how far back a query looks")
	f.StringVar(&o.Rate, "rate", "", "`size` of data files a second, in place of what is measured")
	f.BoolVar(&o.Apply, "apply", false, "change the table's partition spec to the advice")
	f.BoolVar(&o.Yes, "yes", false, "with --apply: do not ask")
	return cmd
}

// measured is a load and what it was taken from.
type measured struct {
	load  advise.Load
	rate  advise.Rate
	from  string   // what was measured
	notes []string // what is to be known of the measurement
	now   []string // partition fields of the table, or those that the job would make it with
}

func (o *adviseOptions) run(ctx context.Context, g *globalOptions, args []string, in io.Reader) error {
	if err := o.check(g); err != nil {
		return err
	}
	if len(args) == 1 && (filepath.Ext(args[0]) == ".yaml" || filepath.Ext(args[0]) == ".yml") {
		if o.table.JobFile != "" {
			return usageError{errors.New("give the job file once: as the argument or as --job")}
		}
		o.table.JobFile, args = args[0], nil
	}
	err := o.table.with(ctx, g, args, func(t *table.Table, _ target) error { return o.adviseTable(ctx, g, t, in) })
	if o.table.JobFile == "" || !errors.Is(err, table.ErrNoTable) && !errors.Is(err, advise.ErrNoRate) {
		return err
	}
	return o.adviseJob(ctx, g, err)
}

func (o *adviseOptions) check(g *globalOptions) error {
	switch {
	case o.Freshness <= 0:
		return usageError{fmt.Errorf("--freshness %s: want more than 0", o.Freshness)}
	case o.Queries < 0:
		return usageError{fmt.Errorf("--queries %g: want 0 or more", o.Queries)}
	case o.Span <= 0:
		return usageError{fmt.Errorf("--query-span %s: want more than 0", o.Span)}
	case o.Yes && !o.Apply:
		return usageError{errors.New("--yes needs --apply")}
	case g.JSON && o.Apply && !o.Yes:
		return usageError{errors.New("--apply with --json cannot ask: add --yes")}
	}
	for _, flag := range []struct{ name, value string }{{"--target-size", o.Target}, {"--rate", o.Rate}} {
		if n, err := sizeOf(flag.value); err != nil || flag.value != "" && n <= 0 {
			return usageError{fmt.Errorf("%s %q: want a size such as 256MB", flag.name, flag.value)}
		}
	}
	return nil
}

// sizeOf is the bytes of a size, 0 for none.
func sizeOf(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	var size job.ByteSize
	err := size.UnmarshalText([]byte(text))
	return float64(size), err
}

// adviseTable measures a table and prints the advice.
func (o *adviseOptions) adviseTable(ctx context.Context, g *globalOptions, t *table.Table, in io.Reader) error {
	m, err := o.measure(ctx, t)
	if err != nil {
		return err
	}
	target, err := sizeOf(o.Target)
	if err != nil {
		return err
	}
	a := advise.Search(m.load, target)
	fields := advised(m.now, a.Best)
	if err := printAdvice(g, t.Ident(), m, a, fields); err != nil || !o.Apply {
		return err
	}
	return o.apply(ctx, g, t, fields, in)
}

// adviseJob measures the newest messages of a job's topics, since its table tells nothing yet.
func (o *adviseOptions) adviseJob(ctx context.Context, g *globalOptions, why error) error {
	if o.Apply {
		return fmt.Errorf("there is nothing to change: %w; write the advice of firn advise without --apply into "+
			"sink.iceberg.partition", why)
	}
	j, err := loadFile(o.table.JobFile, g.Env)
	if err != nil {
		return err
	}
	m, err := o.measureTopics(ctx, j, newLogger(g, j))
	if err != nil {
		return err
	}
	target, err := sizeOf(o.Target)
	if err != nil {
		return err
	}
	a := advise.Search(m.load, target)
	return printAdvice(g, j.Sink.Iceberg.Table, m, a, advised(m.now, a.Best))
}

// advised is the partition fields with the buckets of the advice in place of all others.
func advised(now []string, best advise.Cost) []string {
	fields := slices.DeleteFunc(slices.Clone(now), func(text string) bool {
		p, err := table.ParsePartitionField(text)
		return err == nil && p.Transform == "bucket"
	})
	if best.Buckets > 1 {
		p := table.PartitionSource{Field: best.Column, Transform: "bucket", Param: best.Buckets}
		fields = append(fields, p.String())
	}
	return fields
}

// bucketColumns are the columns that partition fields make buckets of.
func bucketColumns(fields []string) []string {
	var columns []string
	for _, text := range fields {
		if p, err := table.ParsePartitionField(text); err == nil && p.Transform == "bucket" {
			columns = append(columns, p.Field)
		}
	}
	return columns
}

// load is what the flags say of how the table is read.
func (o *adviseOptions) load(location string) advise.Load {
	return advise.Load{
		Others: 1, Queries: o.Queries, Span: o.Span, Freshness: o.Freshness,
		ObjectStore: strings.Contains(location, "://") && !strings.HasPrefix(location, "file:"),
	}
}

// measureTopics takes the load from the newest messages.
func (o *adviseOptions) measureTopics(ctx context.Context, j *job.Job, log *slog.Logger) (measured, error) {
	i := &j.Sink.Iceberg
	m := measured{load: o.load(i.Catalog.Warehouse), now: i.Partition}
	sample, err := wire.SampleTopics(ctx, j, log)
	if err != nil {
		return m, err
	}
	m.from = fmt.Sprintf("the newest %d messages of %s", sample.Batch.Rows, strings.Join(j.Source.Kafka.Topics, ", "))
	m.rate = advise.Rate{
		BytesPerSecond: sample.RowsPerSecond * sample.RowBytes, RowsPerSecond: sample.RowsPerSecond,
		Peak: sample.RowsPerSecond * sample.RowBytes, Window: sample.Window,
	}
	if err := o.setRate(&m); err != nil {
		return m, err
	}
	m.load.Fields = leaves(sample.Batch.Schema.Fields)
	filters := o.Filters
	if len(filters) == 0 {
		filters = bucketColumns(m.now)
	}
	for _, column := range filters {
		values, kind, err := advise.Values(sample.Batch, column)
		if err != nil {
			return m, usageError{fmt.Errorf("--filter %s: %w", column, err)}
		}
		m.load.Filters = append(m.load.Filters, advise.Filter{
			Column: column, Bucket: advise.Bucketable(kind), Keys: advise.KeysOfSample(values), HeldShare: 1,
		})
	}
	return m, nil
}

// setRate puts the rate into the load: that of --rate, with rows of the measured size, before what was measured.
func (o *adviseOptions) setRate(m *measured) error {
	given, err := sizeOf(o.Rate)
	if err != nil {
		return err
	}
	if given > 0 {
		row := 1000.0 // bytes; without any row to look at
		if m.rate.RowsPerSecond > 0 {
			row = m.rate.BytesPerSecond / m.rate.RowsPerSecond
		}
		m.notes = append(m.notes, "the rate is that of --rate")
		m.rate.BytesPerSecond, m.rate.Peak, m.rate.RowsPerSecond = given, given, given/row
	}
	m.load.BytesPerSecond, m.load.RowsPerSecond = m.rate.BytesPerSecond, m.rate.RowsPerSecond
	if m.load.RowsPerSecond <= 0 {
		return fmt.Errorf("no rows came in %s, so that there is no rate: try again when some do, or give --rate",
			m.rate.Window.Round(time.Second))
	}
	return nil
}
