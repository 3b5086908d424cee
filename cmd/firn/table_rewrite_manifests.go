package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"firn/internal/table"
)

type rewriteManifestsOptions struct {
	Force  bool
	DryRun bool
}

func newTableRewriteManifestsCommand(g *globalOptions, o *tableOptions) *cobra.Command {
	var r rewriteManifestsOptions
	cmd := &cobra.Command{
		Use:   "rewrite-manifests [TABLE]",
		Short: "Gather the manifests of a table into few",
		Long: `Gather the manifests of data files that are smaller than the table's property commit.manifest.target-size-bytes
(8 MiB) into as few as possible, with their entries ordered by partition: queries plan faster, and those that ask for
few partitions open few manifests. It is one commit, which changes no file of data. The job may run on; where it
commits at the same time, this begins again.

Where there would be no fewer manifests nothing is done, unless --force asks for the order alone. With --dry-run
nothing changes, and what would be done is printed with the requests that it takes.`,
		Example: "  firn table rewrite-manifests db.orders --job orders.yaml --dry-run",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), g, args, func(t *table.Table, _ target) error {
				return rewriteManifestsOf(cmd.Context(), g, t, r)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&r.Force, "force", false, "also when there would be no fewer manifests")
	f.BoolVar(&r.DryRun, "dry-run", false, "only print what would be done")
	return cmd
}

func rewriteManifestsOf(ctx context.Context, g *globalOptions, t *table.Table, r rewriteManifestsOptions) error {
	k, err := committerByHand(g, t)
	if err != nil {
		return err
	}
	var read atomic.Int64
	stop := bar{
		title: "manifests", done: read.Load,
		text: func() string { return fmt.Sprintf("%d manifests read", read.Load()) },
	}.show(ctx, g.Stderr)
	done, err := k.RewriteManifests(ctx, table.RewriteManifestsPolicy{
		Force: r.Force, DryRun: r.DryRun, Progress: func(manifests int) { read.Add(int64(manifests)) },
	})
	stop()
	if g.JSON {
		return errors.Join(err, printJSON(g.Stdout, struct {
			DryRun bool `json:"dry_run"`
			table.RewrittenManifests
		}{r.DryRun, done}))
	}
	if err != nil {
		return err
	}
	return printRewrittenManifests(g.Stdout, r, done)
}

func printRewrittenManifests(w io.Writer, r rewriteManifestsOptions, done table.RewrittenManifests) error {
	l := &lines{w: w}
	switch {
	case done.Written == 0:
		l.printf("%d manifests of data files, and there would be no fewer: nothing to do\n", done.Before)
	case r.DryRun:
		l.printf("%d manifests of data files would become %d\n", done.Before, done.After)
		l.printf("%s would be written anew, with %d files of data, as %d\n", manifestsText(done), done.Files, done.Written)
		l.printf("requests: %d reads, %d writes, 1 commit\n", done.Replaced-done.Empty+1, done.Written+1)
	default:
		l.printf("%d manifests of data files became %d, in snapshot %d\n", done.Before, done.After, done.SnapshotID)
		l.printf("%s were written anew, with %d files of data, as %d\n", manifestsText(done), done.Files, done.Written)
	}
	return l.err
}

func manifestsText(done table.RewrittenManifests) string {
	return fmt.Sprintf("%d manifests of %s", done.Replaced-done.Empty, humanize.Bytes(uint64(max(done.Bytes, 0))))
}
