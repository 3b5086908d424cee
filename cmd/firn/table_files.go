package main

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"firn/internal/table"
)

func newTableFilesCommand(g *globalOptions, o *tableOptions) *cobra.Command {
	var f table.FilesOptions
	cmd := &cobra.Command{
		Use:   "files [TABLE]",
		Short: "List the live files of a table",
		Long: `List the live data and delete files of a table with their partition, rows, size, row groups and the snapshot
that added them. --bounds adds what each file says of its columns. With --json the result is an array.`,
		Example: "  firn table files db.orders --job orders.yaml --bounds",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), g, args, func(t *table.Table, _ target) error {
				files, err := t.Files(cmd.Context(), f)
				if err != nil {
					return err
				}
				if g.JSON {
					return printJSON(g.Stdout, files)
				}
				return printFiles(g.Stdout, files)
			})
		},
	}
	cmd.Flags().BoolVar(&f.Bounds, "bounds", false, "with the bounds of every column")
	cmd.Flags().Int64Var(&f.SnapshotID, "snapshot", 0, "`id` of the snapshot to list; default the current one")
	return cmd
}

func printFiles(w io.Writer, files []table.FileInfo) error {
	out := bufio.NewWriter(w)
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	t := &lines{w: columns}
	t.printf("PARTITION\tROWS\tBYTES\tROW GROUPS\tSEQUENCE\tSNAPSHOT\tCONTENT\tPATH\n")
	var rows, size int64
	for _, f := range files {
		if f.Content == "data" {
			rows += f.Rows
		}
		size += f.Bytes
		t.printf("%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", orDash(f.Partition), f.Rows, f.Bytes, f.RowGroups,
			f.SequenceNumber, f.SnapshotID, f.Content, f.Path)
	}
	l := &lines{w: out, err: errors.Join(t.err, columns.Flush())}
	for _, f := range files {
		printBounds(l, f)
	}
	l.printf("%d files, %d rows, %s\n", len(files), rows, humanize.Bytes(uint64(max(size, 0))))
	return errors.Join(l.err, out.Flush())
}

func printBounds(l *lines, f table.FileInfo) {
	if len(f.Bounds) == 0 {
		return
	}
	l.printf("%s\n", f.Path)
	for _, b := range f.Bounds {
		l.printf("  %s: %s to %s, nulls %s, bytes %s\n", b.Column, cell(orDash(b.Lower)), cell(orDash(b.Upper)),
			known(b.Nulls), known(b.Bytes))
	}
}

// known prints a number, or a dash for one that is not stated.
func known(n int64) string {
	if n < 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}
