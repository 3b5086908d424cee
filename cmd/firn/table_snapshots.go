package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"firn/internal/record"
	"firn/internal/table"
)

func newTableSnapshotsCommand(g *globalOptions, o *tableOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "snapshots [TABLE]",
		Short: "List the snapshots of a table and how far each job got",
		Long: `List the snapshots of a table that have not expired, oldest first, and how far each firn job got: the next
offset of every partition that is not in the table. Snapshots that were rolled back are marked. With --json the result
is an array.`,
		Example: "  firn table snapshots db.orders --job orders.yaml",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), g, args, func(t *table.Table, _ target) error {
				snapshots, err := t.Snapshots()
				if err != nil {
					return err
				}
				if g.JSON {
					return printJSON(g.Stdout, snapshots)
				}
				return printSnapshots(g.Stdout, snapshots)
			})
		},
	}
}

func printSnapshots(w io.Writer, snapshots []table.SnapshotInfo) error {
	out := bufio.NewWriter(w)
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	t := &lines{w: columns}
	t.printf("SNAPSHOT\tTIME\tOPERATION\tROWS\tFILES\tBYTES\tTOTAL ROWS\tJOBS\tSTATE\n")
	newest := map[string]record.Floor{}
	for _, s := range snapshots {
		jobs := slices.Sorted(maps.Keys(s.Floors))
		if s.Live {
			maps.Copy(newest, s.Floors)
		}
		t.printf("%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.ID, s.Time.Format(time.RFC3339),
			orDash(s.Operation), change(s.AddedRows, s.DeletedRows), change(s.AddedFiles, s.DeletedFiles),
			humanize.Bytes(uint64(max(s.AddedBytes, 0))), known(s.TotalRows), orDash(strings.Join(jobs, ",")), state(s))
	}
	l := &lines{w: out, err: errors.Join(t.err, columns.Flush())}
	for _, job := range slices.Sorted(maps.Keys(newest)) {
		printFloor(l, job, newest[job])
	}
	return errors.Join(l.err, out.Flush())
}

func change(added, deleted int64) string {
	text := fmt.Sprintf("+%d", added)
	if deleted > 0 {
		text += fmt.Sprintf(" -%d", deleted)
	}
	return text
}

func state(s table.SnapshotInfo) string {
	words := slices.Clone(s.Refs)
	switch {
	case s.Current:
		words = append(words, "current")
	case !s.Live && len(s.Refs) == 0:
		words = append(words, "not live")
	}
	return orDash(strings.Join(words, ","))
}

func printFloor(l *lines, job string, floor record.Floor) {
	l.printf("job %s: next offsets not in the table\n", job)
	for _, topic := range slices.Sorted(maps.Keys(floor)) {
		t := floor[topic]
		l.printf("  %s (topic id %s, cluster %s):", topic, orDash(t.TopicID), orDash(t.ClusterID))
		for _, p := range slices.Sorted(maps.Keys(t.Next)) {
			l.printf(" %d:%d", p, t.Next[p])
		}
		l.printf("\n")
	}
}
