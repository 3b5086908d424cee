package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"firn/internal/advise"
)

func printAdvice(g *globalOptions, ident string, m measured, a advise.Advice, fields []string) error {
	if g.JSON {
		return printAdviceJSON(g, ident, m, a, fields)
	}
	out := bufio.NewWriter(g.Stdout)
	l := &lines{w: out}
	row := m.rate.BytesPerSecond / m.rate.RowsPerSecond
	l.printf("%s: %s/s of data files (peak %s/s), %s rows/s of %s, from %s\n", ident, bytesText(m.rate.BytesPerSecond),
		bytesText(m.rate.Peak), humanize.CommafWithDigits(m.rate.RowsPerSecond, 1), bytesText(row), m.from)
	for _, f := range m.load.Filters {
		l.printf("filter %s: %s\n", f.Column, filterText(f))
	}
	if len(m.load.Filters) == 0 {
		l.printf("no --filter is given: without queries that filter by a column, buckets only cost\n")
	}
	for _, note := range m.notes {
		l.printf("%s\n", note)
	}
	printBest(l, m, a, fields)
	for _, part := range []struct {
		title string
		costs []advise.Cost
	}{{"bucket counts", a.Buckets}, {"commit intervals", a.Interval}, {"target sizes", a.Target}} {
		l.printf("\nother %s, a day\n", part.title)
		l.err = errors.Join(l.err, printCosts(out, m.load, part.costs, a.Best))
	}
	return errors.Join(l.err, out.Flush())
}

func filterText(f advise.Filter) string {
	var parts []string
	switch {
	case !f.Bucket:
		parts = append(parts, "its type has no buckets")
	case len(f.Keys.Hot) == 0:
		parts = append(parts, "no value stands out")
	default:
		parts = append(parts, fmt.Sprintf("%d values stand out, the largest has %.1f %% of the rows", len(f.Keys.Hot),
			100*f.Keys.HotShare()))
	}
	if f.Keys.Distinct > 0 {
		parts = append(parts, fmt.Sprintf("about %.0f others", f.Keys.Distinct))
	}
	if f.HeldShare < 1 {
		parts = append(parts, fmt.Sprintf("bounds of files leave %.1f %% to read", 100*f.HeldShare))
	}
	return strings.Join(parts, ", ")
}

func printBest(l *lines, m measured, a advise.Advice, fields []string) {
	c := a.Best
	l.printf("\nadvice\n")
	l.printf("  partition by     %s%s\n", fieldsText(fields), nowText(m.now, fields))
	fresh := ""
	if !c.Fresh {
		fresh = fmt.Sprintf("; --freshness %s cannot be had, this is the freshest", m.load.Freshness)
	}
	l.printf("  commit interval  %s (rows are visible within %s%s)\n", c.Interval, short(c.Freshness), fresh)
	l.printf("  target size      %s (files come out at %s on average)\n", bytesText(c.TargetBytes),
		bytesText(c.BytesAfter))
	sort := "none"
	if len(a.Sort) > 0 {
		sort = strings.Join(a.Sort, ", ") + " (for a compaction that sorts; firn keeps the order of arrival)"
	}
	l.printf("  sort order       %s\n", sort)
	if m.load.Others > 1 {
		l.printf("  a commit writes to %.1f combinations of the other partition values; each has its own files\n",
			m.load.Others)
	}
}

func fieldsText(fields []string) string {
	if len(fields) == 0 {
		return "nothing"
	}
	return strings.Join(fields, ", ")
}

func nowText(now, fields []string) string {
	if slices.Equal(now, fields) {
		return " (as now)"
	}
	return fmt.Sprintf(" (now: %s)", fieldsText(now))
}

// printCosts prints one line a choice; the advice is marked.
func printCosts(w io.Writer, l advise.Load, costs []advise.Cost, best advise.Cost) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	t := &lines{w: columns}
	t.printf("BUCKETS\tINTERVAL\tTARGET\tVISIBLE\tFILES\tROLLED UP\tMEAN\tCOMMITS\tPUTS\tGETS\tROLL-UP CPU\t")
	for _, f := range l.Filters {
		t.printf("READ BY %s\t", strings.ToUpper(f.Column))
	}
	t.printf("$\t\n")
	for _, c := range costs {
		t.printf("%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f %%\t", c.Buckets, c.Interval, bytesText(c.TargetBytes),
			short(c.Freshness), count(c.Files), count(c.FilesAfter), bytesText(c.BytesAfter), count(c.Commits),
			count(c.Puts), count(c.Gets), 100*c.RollUpCPU)
		for _, b := range c.QueryBytes {
			t.printf("%s\t", bytesText(b))
		}
		mark := ""
		if c.Buckets == best.Buckets && c.Interval == best.Interval && c.TargetBytes == best.TargetBytes {
			mark = "  <"
		}
		t.printf("%.2f%s\t\n", c.Dollars, mark)
	}
	return errors.Join(t.err, columns.Flush())
}

func bytesText(n float64) string { return humanize.Bytes(uint64(max(0, n))) }

func count(n float64) string { return humanize.Comma(int64(n + 0.5)) }

func short(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// costLine is a cost as --json prints it.
type costLine struct {
	Column          string             `json:"column,omitempty"`
	Buckets         int                `json:"buckets"`
	IntervalMs      int64              `json:"interval_ms"`
	TargetBytes     float64            `json:"target_bytes"`
	VisibleMs       int64              `json:"visible_ms"`
	FreshEnough     bool               `json:"fresh_enough"`
	Commits         float64            `json:"commits"`
	Files           float64            `json:"files"`
	FilesRolledUp   float64            `json:"files_rolled_up"`
	FileBytesMean   float64            `json:"file_bytes_mean"`
	Puts            float64            `json:"puts"`
	Gets            float64            `json:"gets"`
	CPUSeconds      float64            `json:"cpu_seconds"`
	RollUpCPUShare  float64            `json:"roll_up_cpu_share"`
	PointQueryBytes map[string]float64 `json:"point_query_bytes,omitempty"`
	Dollars         float64            `json:"dollars"`
}

func costLines(l advise.Load, costs ...advise.Cost) []costLine {
	out := make([]costLine, len(costs))
	for i, c := range costs {
		out[i] = costLine{
			Column: c.Column, Buckets: c.Buckets, IntervalMs: c.Interval.Milliseconds(), TargetBytes: c.TargetBytes,
			VisibleMs: c.Freshness.Milliseconds(), FreshEnough: c.Fresh, Commits: c.Commits, Files: c.Files,
			FilesRolledUp: c.FilesAfter, FileBytesMean: c.BytesAfter, Puts: c.Puts, Gets: c.Gets,
			CPUSeconds: c.CPUSeconds, RollUpCPUShare: c.RollUpCPU, Dollars: c.Dollars,
		}
		for k, b := range c.QueryBytes {
			if out[i].PointQueryBytes == nil {
				out[i].PointQueryBytes = map[string]float64{}
			}
			out[i].PointQueryBytes[l.Filters[k].Column] = b
		}
	}
	return out
}

func printAdviceJSON(g *globalOptions, ident string, m measured, a advise.Advice, fields []string) error {
	type alternatives struct {
		Buckets   []costLine `json:"buckets"`
		Intervals []costLine `json:"intervals"`
		Targets   []costLine `json:"targets"`
	}
	return printJSON(g.Stdout, struct {
		Table     string          `json:"table"`
		From      string          `json:"from"`
		Rate      advise.Rate     `json:"rate"`
		Filters   []advise.Filter `json:"filters,omitempty"`
		Others    float64         `json:"other_partition_values"`
		Notes     []string        `json:"notes,omitempty"`
		Now       []string        `json:"partition_now"`
		Partition []string        `json:"partition"`
		Sort      []string        `json:"sort,omitempty"`
		Best      costLine        `json:"advice"`
		Choices   alternatives    `json:"alternatives"`
	}{
		ident, m.from, m.rate, m.load.Filters, m.load.Others, m.notes, orNone(m.now), orNone(fields), a.Sort,
		costLines(m.load, a.Best)[0],
		alternatives{
			costLines(m.load, a.Buckets...), costLines(m.load, a.Interval...), costLines(m.load, a.Target...),
		},
	})
}

// orNone is an empty list in place of none, for JSON.
func orNone(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
