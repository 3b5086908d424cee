package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"firn/internal/table"
)

func newTablePeekCommand(g *globalOptions, o *tableOptions) *cobra.Command {
	var p table.PeekOptions
	cmd := &cobra.Command{
		Use:   "peek [TABLE]",
		Short: "Show some rows of a table",
		Long: `Show some rows of a table, in no particular order. With --json each row is an object on a line of its own,
in which decimals are texts, so that no digit is lost.

A condition (--where) compares columns with literals:
  id = 5 AND NOT (name LIKE 'a%' OR name IS NULL)
  day BETWEEN '2026-01-01' AND '2026-01-31'      price IN (9.99, 12.50)      ratio IS NAN
  at >= '2026-01-31T10:00:00Z'                   "odd name" != X'00ff'       device.os = 'linux'
Text, dates, times, timestamps and UUIDs stand in 'single quotes'; a timestamp with a zone needs one. Comparisons with
a null do not match, as in SQL. LIKE takes a prefix with a % at its end.`,
		Example: `  firn table peek db.orders --job orders.yaml
  firn table peek db.orders --catalog-type rest --catalog-uri http://localhost:8181 --where "id > 100" --limit 5`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.Limit < 1 {
				return usageError{fmt.Errorf("--limit %d: want at least 1", p.Limit)}
			}
			return o.with(cmd.Context(), g, args, func(t *table.Table, _ target) error {
				rows, err := t.Peek(cmd.Context(), p)
				if _, ok := errors.AsType[*table.WhereError](err); ok {
					return usageError{fmt.Errorf("--where: %w", err)}
				}
				if err != nil {
					return err
				}
				return showRows(g, rows)
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&p.Limit, "limit", table.PeekLimit, "how many rows")
	f.StringVar(&p.Where, "where", "", "`condition` on the rows")
	f.StringSliceVar(&p.Columns, "columns", nil, "`columns` to show, in this order, with commas between; default all")
	f.Int64Var(&p.SnapshotID, "snapshot", 0, "`id` of the snapshot to read; default the current one")
	return cmd
}

func showRows(g *globalOptions, rows table.Rows) error {
	write := printRows
	if g.JSON {
		write = printRowsJSON
	}
	if err := write(g.Stdout, rows); err != nil {
		return err
	}
	if rows.Cut {
		_, err := fmt.Fprintf(g.Stderr, "firn: only %d rows are shown, the next would be too large to hold\n",
			len(rows.Values))
		return err
	}
	return nil
}

// printRowsJSON prints an object a line, its keys in the order of the columns.
func printRowsJSON(w io.Writer, r table.Rows) error {
	out := bufio.NewWriter(w)
	l := &lines{w: out}
	for _, row := range r.Values {
		for i, value := range row {
			name, err := json.Marshal(r.Columns[i].Name)
			if err != nil {
				return err
			}
			separator := ","
			if i == 0 {
				separator = "{"
			}
			l.printf("%s%s:%s", separator, name, value)
		}
		l.printf("}\n")
	}
	return errors.Join(l.err, out.Flush())
}
