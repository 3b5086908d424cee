package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"firn/internal/table"
)

type orphanOptions struct {
	OlderThan time.Duration
	Force     bool
	DryRun    bool
}

// orphansShown is how many files are printed.
const orphansShown = 20

func newTableOrphansCommand(g *globalOptions, o *tableOptions) *cobra.Command {
	var p orphanOptions
	cmd := &cobra.Command{
		Use:   "orphans [TABLE]",
		Short: "Delete the files below a table that nothing refers to",
		Long: `Delete the files below a table's folders that no snapshot needs: what writers left that were killed, and what
failed commits wrote. Files stay that are younger than --older-than by the store's clock, since a commit that is under
way, or whose outcome is unknown, may still need them; so do the files of other tables below the folder, and those that
firn table expire has listed. What is found is printed first. The job may run on.

The whole metadata of the table is read and its folders are listed. At most 200,000 files are found at a time. With
--json the result has every file.`,
		Example: "  firn table orphans db.orders --job orders.yaml --dry-run",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.OlderThan < 0 {
				return usageError{fmt.Errorf("--older-than %s: want no negative time", p.OlderThan)}
			}
			if p.OlderThan < time.Hour && !p.Force {
				return usageError{fmt.Errorf("--older-than %s: want at least 1h, or --force when nothing writes to the table",
					p.OlderThan)}
			}
			return o.with(cmd.Context(), g, args, func(t *table.Table, _ target) error {
				return orphansOf(cmd.Context(), g, t, p)
			})
		},
	}
	f := cmd.Flags()
	f.DurationVar(&p.OlderThan, "older-than", 72*time.Hour, "least `age` of files that go")
	f.BoolVar(&p.Force, "force", false, "allow an age of less than 1h")
	f.BoolVar(&p.DryRun, "dry-run", false, "only print what would be deleted")
	return cmd
}

func orphansOf(ctx context.Context, g *globalOptions, t *table.Table, p orphanOptions) error {
	k, err := committerByHand(g, t)
	if err != nil {
		return err
	}
	found, err := findOrphans(ctx, g, k, p)
	if err != nil {
		return err
	}
	if !g.JSON {
		if err := printOrphans(g.Stdout, found); err != nil {
			return err
		}
	}
	if !p.DryRun {
		err = deleteOrphans(ctx, g, k, &found)
	}
	if g.JSON {
		return errors.Join(err, printJSON(g.Stdout, struct {
			DryRun bool `json:"dry_run"`
			table.Orphans
		}{p.DryRun, found}))
	}
	l := &lines{w: g.Stdout}
	if !p.DryRun {
		l.printf("%d files deleted\n", found.Deleted)
	}
	if found.More {
		l.printf("there are more: run the command again\n")
	}
	return errors.Join(err, l.err)
}

func findOrphans(
	ctx context.Context, g *globalOptions, k *table.Committer, p orphanOptions,
) (table.Orphans, error) {
	var listed atomic.Int64
	stop := bar{
		title: "orphans", done: listed.Load,
		text: func() string { return fmt.Sprintf("%d files listed", listed.Load()) },
	}.show(ctx, g.Stderr)
	defer stop()
	return k.Orphans(ctx, table.OrphanPolicy{
		OlderThan: max(p.OlderThan, 1), Force: p.Force, Progress: func(files int) { listed.Add(int64(files)) },
	})
}

func deleteOrphans(ctx context.Context, g *globalOptions, k *table.Committer, found *table.Orphans) error {
	var deleted atomic.Int64
	total := len(found.Files)
	stop := bar{
		title: "delete", total: int64(total), done: deleted.Load,
		text: func() string { return fmt.Sprintf("%d of %d files deleted", deleted.Load(), total) },
	}.show(ctx, g.Stderr)
	defer stop()
	return k.DeleteOrphans(ctx, found, func(files int) { deleted.Add(int64(files)) })
}

func printOrphans(w io.Writer, found table.Orphans) error {
	out := bufio.NewWriter(w)
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	t := &lines{w: columns}
	for i, f := range found.Files {
		if i == orphansShown {
			break
		}
		t.printf("%s\t%d\t%s\n", f.Changed.Format(time.RFC3339), f.Bytes, f.Path)
	}
	l := &lines{w: out, err: errors.Join(t.err, columns.Flush())}
	if n := len(found.Files) - orphansShown; n > 0 {
		l.printf("and %d more, which --json lists\n", n)
	}
	for _, folder := range found.Foreign {
		l.printf("another table is at %s: its files stay\n", folder)
	}
	l.printf("%d of %d files are orphans, %s\n", len(found.Files), found.Listed,
		humanize.Bytes(uint64(max(found.Bytes, 0))))
	return errors.Join(l.err, out.Flush())
}
