package bench

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed templates/report.html
var reportText string

// WriteReport makes a page of the figure kafka-to-iceberg of the folder, and of freshness where it is there. It goes to
// the path, or beside the figure when that is empty. It returns the path. The page needs nothing from elsewhere.
func WriteReport(folder, path string) (string, error) {
	results, err := ReadFigure(folder, ChartedBenchmark)
	if err != nil {
		return "", err
	}
	fresh, err := ReadFigure(folder, "freshness")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	page, err := reportPage(results, fresh)
	if err != nil {
		return "", err
	}
	if path == "" {
		path = filepath.Join(folder, ChartedBenchmark+".html")
	}
	return writeFile(filepath.Dir(path), filepath.Base(path), page)
}

// page is what the template shows.
type page struct {
	Date, Commit, Machine, Busy string
	Headlines, Freshness        []pageFigure
	Cases                       []pageCase
}

// pageFigure is one result.
type pageFigure struct {
	Name, Value, Range, Unit, Goal, Verdict, Class, Rival, Times string
}

// pageCase is what was measured of a case.
type pageCase struct {
	ID, Title, Command  string
	Charts              []template.HTML
	Systems, Conditions []string
	Rows                []pageRow
	Rounds              []int
	Ratios              []pageRatio
}

type pageRow struct {
	Name  string     // with its unit, where that says more
	Cells []pageCell // by system
}

type pageCell struct{ Median, Range string }

type pageRatio struct {
	Name, Median string
	Runs         []string
}

func reportPage(results, fresh []Result) ([]byte, error) {
	if len(results) == 0 {
		return nil, errors.New("writing the report: the figure is empty")
	}
	shown, err := template.New("report").Parse(reportText)
	if err != nil {
		return nil, fmt.Errorf("reading the template of the report: %w", err)
	}
	var out bytes.Buffer
	if err := shown.Execute(&out, newPage(results, fresh)); err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	return out.Bytes(), nil
}

func newPage(results, fresh []Result) page {
	newest := slices.MaxFunc(results, func(a, b Result) int { return a.Date.Compare(b.Date) })
	p := page{
		Date: newest.Date.Format(time.DateOnly), Commit: newest.Commit, Machine: newest.Machine.String(),
		Busy: busyText(results),
	}
	for i := range results {
		if results[i].System == "" {
			p.Headlines = append(p.Headlines, newPageFigure(&results[i]))
		}
	}
	for _, c := range moveCases() {
		if details := detailsOf(results, c.id); len(details) > 0 {
			p.Cases = append(p.Cases, newPageCase(c, details))
		}
	}
	for i := range fresh {
		p.Freshness = append(p.Freshness, newPageFigure(&fresh[i]))
	}
	return p
}

// busyText says whether something was measured while the machine was busy.
func busyText(results []Result) string {
	var most float64
	for _, r := range results {
		if r.LoadAtStart != nil {
			most = max(most, *r.LoadAtStart)
		}
	}
	if most <= BusyLoad {
		return ""
	}
	return fmt.Sprintf("Some of this was measured while the machine was busy (load average %.1f): the figures are worse "+
		"than they would be.", most)
}

func detailsOf(results []Result, caseID string) []Result {
	return slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.Case != caseID || r.System == "" })
}

func newPageFigure(r *Result) pageFigure {
	f := pageFigure{
		Name: r.Name, Value: number(r.Value), Range: rangeText(r.Runs), Unit: r.Unit, Rival: rivalText(r.Rival),
		Times: times(r.RivalRatio()), Goal: orDash(r.Goal > 0, number(r.Goal)),
	}
	switch ratio := r.GoalRatio(); {
	case ratio > 0 && strings.Contains(r.Conditions, coldRemark):
		f.Verdict, f.Class = "rival not warm", "bad"
	case ratio >= 1:
		f.Verdict, f.Class = "reached", "good"
	case ratio > 0:
		f.Verdict, f.Class = "not reached", "bad"
	}
	return f
}

// rangeText is from the smallest to the largest run; empty of one.
func rangeText(runs []float64) string {
	if len(runs) < 2 {
		return ""
	}
	return number(slices.Min(runs)) + " to " + number(slices.Max(runs))
}

func newPageCase(c moveCase, details []Result) pageCase {
	title := c.String()
	p := pageCase{ID: c.id, Title: strings.ToUpper(title[:1]) + title[1:], Command: details[0].Command}
	for _, r := range details {
		if !slices.Contains(p.Systems, r.System) {
			p.Systems = append(p.Systems, r.System)
			p.Conditions = append(p.Conditions, r.System+": "+r.Conditions)
		}
	}
	for _, m := range measures() {
		row := pageRow{Name: m.name}
		if strings.HasPrefix(m.unit, "M") && !strings.HasPrefix(m.name, "M") {
			row.Name += ", " + m.unit
		}
		for _, system := range p.Systems {
			row.Cells = append(row.Cells, newPageCell(findDetail(details, c.id, system, m.name)))
		}
		p.Rows = append(p.Rows, row)
	}
	p.Charts = []template.HTML{
		rangeChart("MB of JSON per CPU-second: more is better", details, measureCPU),
		rangeChart("Peak memory, MiB: less is better", details, measurePeak),
	}
	p.Ratios = pageRatios(c, details)
	for i := range p.longestRatio() {
		p.Rounds = append(p.Rounds, i+1)
	}
	return p
}

func newPageCell(r *Result) pageCell {
	if r == nil {
		return pageCell{Median: "-"}
	}
	text := rangeText(r.Runs)
	if text != "" {
		text = "(" + text + ")"
	}
	if r.Measure == measureFiles || r.Measure == measureCommits {
		return pageCell{fmt.Sprintf("%.0f", r.Median), text}
	}
	return pageCell{number(r.Median), text}
}

// pageRatios are firn's speed by that of each rival, pair by pair.
func pageRatios(c moveCase, details []Result) []pageRatio {
	own := findDetail(details, c.id, firnName, measureCPU)
	if own == nil {
		return nil
	}
	var list []pageRatio
	for _, rival := range rivalSpeeds(c.id, details) {
		ratios := pairs(own.Runs, rival.Runs)
		r := pageRatio{Name: rival.System, Median: times(median(ratios))}
		for _, ratio := range ratios {
			r.Runs = append(r.Runs, times(ratio))
		}
		list = append(list, r)
	}
	return list
}

func (p *pageCase) longestRatio() int {
	longest := 0
	for _, r := range p.Ratios {
		longest = max(longest, len(r.Runs))
	}
	return longest
}
