package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"firn/internal/parquet"
	"firn/internal/table"
	"firn/internal/upkeep"
	"firn/internal/wire"
)

type compactOptions struct {
	TargetSize string
	DryRun     bool

	targetBytes int64
}

// leftShown is how many files that are left alone are printed.
const leftShown = 20

func newTableCompactCommand(g *globalOptions, o *tableOptions) *cobra.Command {
	var c compactOptions
	cmd := &cobra.Command{
		Use:   "compact [TABLE]",
		Short: "Join the small files of a table, and write those with deleted rows anew",
		Long: `Join the data files of each partition that are smaller than half of --target-size into files of about that
size, for tables of which no job joins them. Bytes are copied, as a job does it, and nothing is decoded.

The rows of files are read and written anew, without those that are deleted, where delete files may apply to them,
whatever their size, and where small ones have other columns or types than the table's schema has by now. Delete files
that no data file needs after that go as well. This takes many times the CPU of a join.

The files are committed some at a time, so that a run that is stopped goes on where it was when it is run again. Jobs
may run on, and others may delete rows meanwhile: what no longer fits is given up. Files are left alone, and listed,
when they are not Parquet. With --dry-run nothing changes, and the plan is printed with the requests that it takes.`,
		Example: "  firn table compact db.orders --job orders.yaml --dry-run",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.parse(); err != nil {
				return usageError{err}
			}
			return o.with(cmd.Context(), g, args, func(t *table.Table, _ target) error {
				return compactTable(cmd.Context(), g, t, c)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.TargetSize, "target-size", "256MB", "`size` of the files to make")
	f.BoolVar(&c.DryRun, "dry-run", false, "only print what would be done")
	return cmd
}

func (c *compactOptions) parse() error {
	n, err := humanize.ParseBytes(c.TargetSize)
	if err != nil || n < 1<<10 || n > 1<<40 {
		return fmt.Errorf("--target-size %s: want a size from 1KiB to 1TiB, such as 256MB", c.TargetSize)
	}
	c.targetBytes = int64(n)
	return nil
}

// compactPlan is what one pass would do.
type compactPlan struct {
	FilesIn  int              `json:"files_in"`
	FilesOut int              `json:"files_out"`
	Bytes    int64            `json:"bytes"`
	Rewrite  rewritePlan      `json:"rewrite"`
	Left     []table.LeftFile `json:"left"`

	work    upkeep.Work
	columns int
}

// rewritePlan is the part of a pass whose rows are read and written anew.
type rewritePlan struct {
	Files          int   `json:"files"`
	Bytes          int64 `json:"bytes"`
	WithDeletes    int   `json:"files_with_deletes"`
	DeletesDropped int   `json:"deletes_dropped"` // delete files that nothing needs after it
	DeletesBytes   int64 `json:"deletes_bytes"`   // of those
}

func planCompaction(ctx context.Context, t *table.Table, c compactOptions) (compactPlan, error) {
	found, err := t.Joinable(ctx, upkeep.CompactionSmall(c.targetBytes))
	if err != nil {
		return compactPlan{}, err
	}
	names, err := parquet.ColumnNames(t.Schema())
	if err != nil {
		return compactPlan{}, err
	}
	p := compactPlan{Left: found.Left, columns: len(names)}
	p.work.Joins = upkeep.PlanCompaction(candidates(found.Groups), c.targetBytes, p.columns)
	p.work.Rewrites = upkeep.PlanRewrites(candidates(found.Rewritable), c.targetBytes, p.columns)
	p.work.DropDeletes = len(found.Deletes) > 0
	p.FilesOut = len(p.work.Joins)
	p.FilesIn, p.Bytes = sumOf(p.work.Joins)
	p.Rewrite.Files, p.Rewrite.Bytes = sumOf(p.work.Rewrites)
	p.Rewrite.DeletesDropped = len(found.Deletes)
	for _, d := range found.Deletes {
		p.Rewrite.DeletesBytes += d.SizeBytes
	}
	for _, g := range found.Rewritable {
		for _, f := range g {
			if f.Deletes > 0 {
				p.Rewrite.WithDeletes++
			}
		}
	}
	return p, nil
}

func candidates(groups [][]table.SmallFile) [][]upkeep.Candidate {
	out := make([][]upkeep.Candidate, len(groups))
	for i, g := range groups {
		for _, f := range g {
			out[i] = append(out[i], upkeep.Candidate{Path: f.Path, Bytes: f.Bytes})
		}
	}
	return out
}

func sumOf(all [][]upkeep.Candidate) (files int, bytes int64) {
	for _, some := range all {
		files += len(some)
		for _, f := range some {
			bytes += f.Bytes
		}
	}
	return files, bytes
}

func compactTable(ctx context.Context, g *globalOptions, t *table.Table, c compactOptions) error {
	p, err := planCompaction(ctx, t, c)
	if err != nil {
		return err
	}
	if c.DryRun {
		if g.JSON {
			return printJSON(g.Stdout, struct {
				DryRun bool `json:"dry_run"`
				compactPlan
			}{true, p})
		}
		return printCompactPlan(g.Stdout, p)
	}
	done, err := compactAll(ctx, g, t, c, &p)
	if g.JSON {
		return errors.Join(err, printJSON(g.Stdout, struct {
			DryRun bool `json:"dry_run"`
			upkeep.Compacted
			Left []table.LeftFile `json:"left"`
		}{false, done, p.Left}))
	}
	return errors.Join(err, printCompacted(g.Stdout, done, p))
}

// compactAll makes one pass after the other: one joins a bounded number of files into one, which may be small still, as
// may be what was written anew. Only the first pass writes files anew: others may go on deleting rows.
func compactAll(
	ctx context.Context, g *globalOptions, t *table.Table, c compactOptions, p *compactPlan,
) (all upkeep.Compacted, err error) {
	k, err := committerByHand(g, t)
	if err != nil {
		return all, err
	}
	var done atomic.Int64
	for len(p.work.Joins) > 0 || len(p.work.Rewrites) > 0 || p.work.DropDeletes {
		one, err := compactOnce(ctx, g, t, k, c, *p, &done)
		all = all.Plus(one)
		if err != nil || one.FilesIn == 0 || len(one.Failed) > 0 {
			return all, err
		}
		if t, err = t.Refresh(ctx); err != nil {
			return all, err
		}
		if *p, err = planCompaction(ctx, t, c); err != nil {
			return all, err
		}
		p.work.Rewrites, p.work.DropDeletes = nil, false
	}
	return all, nil
}

func compactOnce(
	ctx context.Context, g *globalOptions, t *table.Table, k *table.Committer, c compactOptions, p compactPlan,
	done *atomic.Int64,
) (upkeep.Compacted, error) {
	log := slog.New(slog.NewTextHandler(g.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	compaction, err := wire.Compaction(t, k, c.targetBytes, runtime.GOMAXPROCS(0), log)
	if err != nil {
		return upkeep.Compacted{}, err
	}
	joined, _ := sumOf(p.work.Joins)
	rewritten, _ := sumOf(p.work.Rewrites)
	done.Store(0)
	compaction.Progress = func(files int) { done.Add(int64(files)) }
	stop := bar{
		title: "compact", total: int64(joined + rewritten), done: done.Load,
		text: func() string {
			if n := done.Load(); n > int64(joined) {
				return fmt.Sprintf("%d of %d files written anew", n-int64(joined), rewritten)
			}
			return fmt.Sprintf("%d of %d files joined", done.Load(), joined)
		},
	}.show(ctx, g.Stderr)
	defer stop()
	return compaction.Run(ctx, p.work)
}

func printCompactPlan(w io.Writer, p compactPlan) error {
	l := &lines{w: w}
	batch, r := upkeep.CompactionBatchFiles(p.columns), p.Rewrite
	commits := (p.FilesIn+batch-1)/batch + (r.Files+batch-1)/batch
	l.printf("%d files of %s would become %d\n", p.FilesIn, humanize.Bytes(uint64(max(p.Bytes, 0))), p.FilesOut)
	if r.Files > 0 {
		l.printf("%d files of %s would be written anew, %d of them because of deletes\n", r.Files,
			humanize.Bytes(uint64(max(r.Bytes, 0))), r.WithDeletes)
	}
	if r.DeletesDropped > 0 {
		l.printf("%d delete files of %s would not be needed any more, and go\n", r.DeletesDropped,
			humanize.Bytes(uint64(max(r.DeletesBytes, 0))))
		commits = max(commits, 1)
	}
	l.printf("requests: %d files read, %d written, at least %d commits\n", p.FilesIn+r.Files,
		p.FilesOut+len(p.work.Rewrites), commits)
	printLeft(l, p.Left)
	return l.err
}

func printCompacted(w io.Writer, done upkeep.Compacted, p compactPlan) error {
	l := &lines{w: w}
	l.printf("%d files became %d of %s, in %d commits\n", done.FilesIn, done.FilesOut,
		humanize.Bytes(uint64(max(done.Bytes, 0))), done.Commits)
	if done.Rewritten > 0 {
		l.printf("%d of them were written anew, without %d deleted rows\n", done.Rewritten, done.Deleted)
	}
	if done.DeletesDropped > 0 {
		l.printf("%d delete files went, which nothing needs any more\n", done.DeletesDropped)
	}
	if n := done.Stale + done.Gone; n > 0 {
		l.printf("%d files were changed by others meanwhile, and are left: run the command again\n", n)
	}
	for _, f := range done.Failed {
		l.printf("%d files could not be compacted: %s\n", f.Files, f.Error)
	}
	printLeft(l, p.Left)
	return l.err
}

func printLeft(l *lines, left []table.LeftFile) {
	for i, f := range left {
		if i == leftShown {
			break
		}
		l.printf("left alone: %s: %s\n", f.Path, f.Reason)
	}
	if n := len(left) - leftShown; n > 0 {
		l.printf("and %d more, which --json lists\n", n)
	}
}
