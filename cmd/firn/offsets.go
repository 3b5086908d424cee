package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"firn/internal/job"
	"firn/internal/record"
	"firn/internal/table"
	"firn/internal/wire"
)

func newOffsetsCommand(g *globalOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "offsets",
		Short: "Show and set how far a job has got",
		Long: `Show and set the floor of a job: for each topic partition the next offset that is not in its table. It is kept
in the table alone; the offsets of the consumer group only mirror it.

Exit status: 0 success, 1 it failed, 2 usage or job file, 3 the catalog cannot be reached.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newOffsetsShowCommand(g), newOffsetsSetCommand(g))
	return cmd
}

func newOffsetsShowCommand(g *globalOptions) *cobra.Command {
	return &cobra.Command{
		Use:     "show JOB.yaml",
		Short:   "Show the next offset of each topic partition",
		Example: "  firn offsets show orders.yaml",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withCommitter(cmd.Context(), g, args[0], func(ctx context.Context, k *table.Committer) error {
				floor, err := k.Floor(ctx)
				if err != nil {
					return err
				}
				return printOffsets(g, floor)
			})
		},
	}
}

func newOffsetsSetCommand(g *globalOptions) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "set JOB.yaml TOPIC/PARTITION=OFFSET...",
		Short: "Set the next offset of topic partitions",
		Long: `Set the floor of topic partitions, in a commit of its own. Stop the job first: a running one notices that its
floor was moved and starts again from it, but what it has in hand then is dropped.

A lower offset makes rows come a second time, a higher one leaves rows out: firn table audit shows either.`,
		Example: "  firn offsets set orders.yaml orders/0=1200 orders/1=1180\n" +
			"  firn offsets set orders.yaml orders/0=0 --dry-run",
		Args: usageArgs(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := parseOffsets(args[1:])
			if err != nil {
				return usageError{err}
			}
			return withCommitter(cmd.Context(), g, args[0], func(ctx context.Context, k *table.Committer) error {
				return setOffsets(ctx, g, k, wanted, dryRun)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be, and change nothing")
	return cmd
}

// withCommitter gives the committer of the job's table.
func withCommitter(
	ctx context.Context, g *globalOptions, path string, do func(context.Context, *table.Committer) error,
) (err error) {
	j, err := job.Load(path, g.Env)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	c, err := wire.OpenCatalog(ctx, j.Sink.Iceberg.Catalog, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	k, err := table.NewCommitter(c, j.Sink.Iceberg.Table, j.Name, table.CommitterOptions{
		Timeout: j.Limits.ConnectTimeout, Log: log,
	})
	if err != nil {
		return err
	}
	return do(ctx, k)
}

// parseOffsets reads TOPIC/PARTITION=OFFSET.
func parseOffsets(args []string) (map[record.TopicPartition]int64, error) {
	wanted := make(map[record.TopicPartition]int64, len(args))
	for _, arg := range args {
		place, offset, ok := strings.Cut(arg, "=")
		topic, partition, ok2 := cutLast(place, "/")
		p, err := strconv.ParseInt(partition, 10, 32)
		next, err2 := strconv.ParseInt(offset, 10, 64)
		if !ok || !ok2 || topic == "" || err != nil || err2 != nil || p < 0 || next < 0 {
			return nil, fmt.Errorf("%q is not TOPIC/PARTITION=OFFSET, such as orders/0=1200", arg)
		}
		tp := record.TopicPartition{Topic: topic, Partition: int32(p)}
		if _, twice := wanted[tp]; twice {
			return nil, fmt.Errorf("%s is given twice", tp)
		}
		wanted[tp] = next
	}
	return wanted, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// setOffsets moves the floor, or shows what that would give.
func setOffsets(
	ctx context.Context, g *globalOptions, k *table.Committer, wanted map[record.TopicPartition]int64, dryRun bool,
) error {
	change := func(floor record.Floor) (record.Floor, error) {
		for tp, next := range wanted {
			if _, known := floor.Next(tp); !known {
				return nil, fmt.Errorf("the job has never read %s: firn offsets show lists what it reads; "+
					"where a new topic begins is its setting source.kafka.start", tp)
			}
			floor[tp.Topic].Next[tp.Partition] = next
		}
		return floor, nil
	}
	if dryRun {
		floor, err := k.Floor(ctx)
		if err != nil {
			return err
		}
		if floor, err = change(floor); err != nil {
			return err
		}
		return printOffsets(g, floor)
	}
	floor, err := k.SetFloor(ctx, change)
	if err != nil {
		return err
	}
	return printOffsets(g, floor)
}

func printOffsets(g *globalOptions, floor record.Floor) error {
	if g.JSON {
		return json.NewEncoder(g.Stdout).Encode(floor)
	}
	if len(floor) == 0 {
		_, err := fmt.Fprintln(g.Stdout, "the table holds nothing of this job yet")
		return err
	}
	w := tabwriter.NewWriter(g.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOPIC\tPARTITION\tNEXT OFFSET\tTOPIC ID")
	for _, tp := range floor.Partitions() {
		next, _ := floor.Next(tp)
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", tp.Topic, tp.Partition, next, floor[tp.Topic].TopicID)
	}
	return w.Flush()
}
