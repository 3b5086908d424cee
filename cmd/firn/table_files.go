package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
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
	cmd.Flags().Int64Var(&f.SnapshotID, "snapshot", 0, "snapshot to list; default the current one")
	return cmd
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func printFiles(w io.Writer, files []table.FileInfo) error {
	out := bufio.NewWriter(w)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PARTITION\tROWS\tBYTES\tROW GROUPS\tSEQUENCE\tSNAPSHOT\tCONTENT\tPATH")
	var rows, size int64
	for _, f := range files {
		if f.Content == "data" {
			rows += f.Rows
		}
		size += f.Bytes
		partition := f.Partition
		if partition == "" {
			partition = "-"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", partition, f.Rows, f.Bytes, f.RowGroups, f.SequenceNumber,
			f.SnapshotID, f.Content, f.Path)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range files {
		printBounds(out, f)
	}
	fmt.Fprintf(out, "%d files, %d rows, %s\n", len(files), rows, humanize.Bytes(uint64(size)))
	return out.Flush()
}

func printBounds(w io.Writer, f table.FileInfo) {
	if len(f.Bounds) == 0 {
		return
	}
	fmt.Fprintf(w, "%s\n", f.Path)
	for _, b := range f.Bounds {
		fmt.Fprintf(w, "  %s: %s to %s, nulls %s, bytes %s\n", b.Column, cell(orDash(b.Lower)), cell(orDash(b.Upper)),
			known(b.Nulls), known(b.Bytes))
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// known prints a number, or a dash for one that is not stated.
func known(n int64) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
