package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"firn/internal/table"
)

// cellRunesMax keeps a row on a screen; --json has the whole values.
const cellRunesMax = 40

// printRows prints rows in columns.
func printRows(w io.Writer, r table.Rows) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = c.Name
	}
	fmt.Fprintln(t, strings.Join(names, "\t"))
	for _, row := range r.Values {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(r.Text(v))
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// cell cuts a long value and shows characters that would break the columns as escapes.
func cell(text string) string {
	text = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(text)
	if runes := []rune(text); len(runes) > cellRunesMax {
		return string(runes[:cellRunesMax-3]) + "..."
	}
	return text
}
