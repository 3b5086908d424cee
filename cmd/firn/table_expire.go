package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"firn/internal/table"
)

type expireOptions struct {
	Keep        int
	OlderThan   time.Duration
	DeleteAfter time.Duration
	DryRun      bool
}

// upkeepTimeout is how long upkeep by hand may take, and how long it waits for a catalog or store that is away.
const upkeepTimeout = time.Hour

func newTableExpireCommand(g *globalOptions, o *tableOptions) *cobra.Command {
	var e expireOptions
	cmd := &cobra.Command{
		Use:   "expire [TABLE]",
		Short: "Take old snapshots out of a table",
		Long: `Take old snapshots out of a table, and delete the files that only they needed. The newest snapshots of the main
branch stay (--keep), those younger than --older-than, those that a branch or a tag names, the history of branches, and
what the table's properties history.expire.* ask to keep. Snapshots that were rolled back stay for 5 days, or for
--older-than. The floors of jobs stay, whatever the age of their snapshots. The job may run on.

Files are not deleted at once, since queries may be at one of the snapshots: they are listed in the table's folder of
metadata, and a run of this command after --delete-after deletes them. With --dry-run nothing changes, and what would go
is printed with the requests that it takes. With --json the result is {"expired": ..., "swept": ...}.`,
		Example: "  firn table expire db.orders --job orders.yaml --keep 100 --older-than 1h",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.validate(); err != nil {
				return usageError{err}
			}
			return o.with(cmd.Context(), g, args, func(t *table.Table, _ target) error {
				return expireTable(cmd.Context(), g, t, e)
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&e.Keep, "keep", 100, "`number` of the newest snapshots of the main branch that stay")
	f.DurationVar(&e.OlderThan, "older-than", 0, "least `age` of snapshots that go")
	f.DurationVar(&e.DeleteAfter, "delete-after", time.Hour, "`time` from the expiry until the files are deleted")
	f.BoolVar(&e.DryRun, "dry-run", false, "only print what would go")
	return cmd
}

func (e expireOptions) validate() error {
	var faults []error
	if e.Keep < 1 {
		faults = append(faults, fmt.Errorf("--keep %d: want at least 1", e.Keep))
	}
	if e.OlderThan < 0 {
		faults = append(faults, fmt.Errorf("--older-than %s: want no negative time", e.OlderThan))
	}
	if e.DeleteAfter < 0 {
		faults = append(faults, fmt.Errorf("--delete-after %s: want no negative time", e.DeleteAfter))
	}
	return errors.Join(faults...)
}

// committerByHand is the table's committer for work by hand.
func committerByHand(g *globalOptions, t *table.Table) (*table.Committer, error) {
	log := slog.New(slog.NewTextHandler(g.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return t.Upkeep(table.CommitterOptions{
		Timeout: upkeepTimeout, AttemptTimeout: upkeepTimeout, Version: readVersion().Version, Log: log,
	})
}

func expireTable(ctx context.Context, g *globalOptions, t *table.Table, e expireOptions) error {
	k, err := committerByHand(g, t)
	if err != nil {
		return err
	}
	expired, err := expireAll(ctx, g, k, e)
	var swept table.Swept
	if err == nil && !e.DryRun {
		swept, err = sweepTable(ctx, g, k, e)
	}
	if g.JSON {
		return errors.Join(err, printJSON(g.Stdout, struct {
			DryRun  bool          `json:"dry_run"`
			Expired table.Expired `json:"expired"`
			Swept   table.Swept   `json:"swept"`
		}{e.DryRun, expired, swept}))
	}
	return errors.Join(err, printExpired(g.Stdout, e, expired, swept))
}

// expireAll takes out what one call takes out, until it is all.
func expireAll(
	ctx context.Context, g *globalOptions, k *table.Committer, e expireOptions,
) (all table.Expired, err error) {
	var read atomic.Int64
	stop := bar{
		title: "expire", done: read.Load,
		text: func() string { return fmt.Sprintf("%d snapshots read", read.Load()) },
	}.show(ctx, g.Stderr)
	defer stop()
	for {
		one, err := k.Expire(ctx, table.ExpirePolicy{
			SnapshotsMax: e.Keep, OlderThan: e.OlderThan, Batch: 1, DryRun: e.DryRun, Progress: func() { read.Add(1) },
		})
		if err != nil {
			return all, err
		}
		all.Snapshots, all.Reads, all.Files = all.Snapshots+one.Snapshots, all.Reads+one.Reads, all.Files.Plus(one.Files)
		all.Kept, all.More, all.List = one.Kept, one.More, one.List
		if e.DryRun || !one.More {
			return all, nil
		}
	}
}

func sweepTable(ctx context.Context, g *globalOptions, k *table.Committer, e expireOptions) (table.Swept, error) {
	var deleted atomic.Int64
	stop := bar{
		title: "delete", done: deleted.Load,
		text: func() string { return fmt.Sprintf("%d files deleted", deleted.Load()) },
	}.show(ctx, g.Stderr)
	defer stop()
	return k.Sweep(ctx, table.SweepPolicy{
		DeleteAfter: max(e.DeleteAfter, 1), Progress: func(files int) { deleted.Add(int64(files)) },
	})
}

func printExpired(w io.Writer, e expireOptions, expired table.Expired, swept table.Swept) error {
	l := &lines{w: w}
	if e.DryRun {
		least := ""
		if expired.More {
			least = "at least "
		}
		l.printf("%s%d snapshots would go, %d stay\n", least, expired.Snapshots, expired.Kept)
		l.printf("%s%s would be needed by nothing\n", least, filesText(expired.Files))
		l.printf("requests: %d reads, 3 writes, 1 commit, %d deletions\n", expired.Reads, expired.Files.Total()+1)
		return l.err
	}
	l.printf("%d snapshots expired, %d stay\n", expired.Snapshots, expired.Kept)
	l.printf("%s are needed by nothing now, and may be deleted after %s\n", filesText(expired.Files), e.DeleteAfter)
	l.printf("%s deleted; %d lists of files wait\n", filesText(swept.Files), swept.Waiting)
	return l.err
}

func filesText(f table.RemovedFiles) string {
	return fmt.Sprintf("%d files (%d data, %d delete, %d manifests, %d manifest lists, %d statistics; %s)", f.Total(),
		f.Data, f.Deletes, f.Manifests, f.Lists, f.Statistics, humanize.Bytes(uint64(max(f.Bytes, 0))))
}
