package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Print writes the results as a table. A ratio above 1 is better than the goal or the rival, whichever way the figure
// counts.
func Print(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tmedian\tunit\truns\tleast\tmost\tspread\tgoal\tby\tbest rival\tby")
	for i := range results {
		r := &results[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, number(r.Value), r.Unit, len(r.Runs),
			number(percentile(r.Runs, 0)), number(percentile(r.Runs, 1)), percent(r.Runs),
			orDash(r.Goal > 0, number(r.Goal)), times(r.GoalRatio()), rivalText(r.Rival), times(r.RivalRatio()))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range append(rounds(results), remarks(results)...) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// rounds are the ratios of kafka-to-iceberg pair by pair.
func rounds(results []Result) []string {
	var lines []string
	for _, r := range results {
		if !strings.HasPrefix(r.Name, figureRatio) || len(r.Runs) < 2 {
			continue
		}
		texts := make([]string, len(r.Runs))
		for i, ratio := range r.Runs {
			texts[i] = times(ratio)
		}
		lines = append(lines, fmt.Sprintf("%s, round by round: %s", r.Name, strings.Join(texts, " ")))
	}
	if len(lines) > 0 {
		return append([]string{""}, lines...)
	}
	return nil
}

// remarks says how to read the ratios, and on what they were measured.
func remarks(results []Result) []string {
	if len(results) == 0 {
		return nil
	}
	r := &results[0]
	lines := []string{"", "by: how many times better; for figures in ms and of memory less is better. spread: largest " +
		"minus smallest run, of the median."}
	lines = append(lines, r.Command, fmt.Sprintf("commit %s, %s, %s", r.Commit, r.Date.Format(time.DateOnly),
		r.Machine))
	for _, r := range results {
		if strings.HasPrefix(r.Name, figureRatio) && strings.Contains(r.Conditions, coldRemark) {
			lines = append(lines, r.Name+" is worth nothing: "+coldRemark)
		}
	}
	if r.LoadAtStart == nil {
		return lines
	}
	load := fmt.Sprintf("load average at the start %.1f", *r.LoadAtStart)
	if *r.LoadAtStart > BusyLoad {
		load += ": the machine was busy, which makes figures worse"
	}
	return append(lines, load)
}

// BusyLoad is the load average above which figures of this kind were seen to suffer, on two cores.
const BusyLoad = 1.5

// number has three significant digits or more.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

func percent(runs []float64) string {
	return orDash(len(runs) > 1, fmt.Sprintf("%.0f %%", 100*spread(runs)))
}

func times(ratio float64) string { return orDash(ratio > 0, number(ratio)+"x") }

func rivalText(r *Rival) string {
	if r == nil {
		return "-"
	}
	return r.Name + " " + number(r.Value)
}

func orDash(is bool, text string) string {
	if !is {
		return "-"
	}
	return text
}
