package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ChartedBenchmark is the benchmark that the chart shows.
const ChartedBenchmark = "kafka-to-iceberg"

// WriteChart draws the figure kafka-to-iceberg of the folder as throughput.svg in it, and returns the path.
func WriteChart(folder string) (string, error) {
	results, err := ReadFigure(folder, ChartedBenchmark)
	if err != nil {
		return "", err
	}
	c, err := throughputChart(results)
	if err != nil {
		return "", err
	}
	return writeFile(folder, "throughput.svg", c.svg())
}

// chart is horizontal bars in groups.
type chart struct {
	title  string
	groups []barGroup
	notes  []string
}

type barGroup struct {
	title string
	bars  []chartBar
}

type chartBar struct {
	name  string
	value float64
	own   bool
}

// chartGroups are the figures of the chart: of each group the cases of firn, the rivals of the first one, and what the
// group is called.
func chartGroups() []chartGroup {
	return []chartGroup{
		{"64 buckets, zstd", []string{"bucket64_zstd", "bucket64_zstd_1s"}},
		{"no partitions, zstd", []string{"unpartitioned_zstd"}},
		{"64 buckets, not compressed", []string{"bucket64_none"}},
		{"20 mixed fields of 500 bytes, zstd", []string{"wide_zstd"}},
	}
}

type chartGroup struct {
	title string
	cases []string
}

// throughputChart compares firn with its rivals, in all cases that were measured.
func throughputChart(results []Result) (*chart, error) {
	c := &chart{title: "MB of JSON for each second of CPU, Kafka to Iceberg"}
	for _, g := range chartGroups() {
		if group := barsOf(g, results); len(group.bars) > 0 {
			c.groups = append(c.groups, group)
		}
	}
	if len(c.groups) == 0 {
		return nil, errors.New("drawing the chart: the figure has none of the cases that it shows; measure it again")
	}
	c.notes = chartNotes(results)
	return c, nil
}

// barsOf has a bar of firn for each case of a group, then one of each rival.
func barsOf(g chartGroup, results []Result) barGroup {
	group := barGroup{title: g.title}
	var rivals []chartBar
	for _, id := range g.cases {
		r := findResult(results, figureSpeed+id)
		if r == nil {
			continue
		}
		group.bars = append(group.bars, chartBar{fmt.Sprintf("firn, commits every %s", intervalOf(id)), r.Value, true})
		if rivals == nil {
			rivals = rivalBars(r)
		}
	}
	group.bars = append(group.bars, rivals...)
	return group
}

// intervalOf is the commit interval of a case.
func intervalOf(id string) time.Duration {
	for _, c := range moveCases() {
		if c.id == id {
			return c.commitInterval
		}
	}
	return 0
}

// findResult is the result of a name, nil when there is none.
func findResult(results []Result, name string) *Result {
	i := slices.IndexFunc(results, func(r Result) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &results[i]
}

func rivalBars(r *Result) []chartBar {
	var bars []chartBar
	if r.Rival != nil {
		bars = append(bars, chartBar{r.Rival.Name, r.Rival.Value, false})
	}
	for _, o := range r.OtherRivals {
		bars = append(bars, chartBar{o.Name, o.Value, false})
	}
	return bars
}

func chartNotes(results []Result) []string {
	r := &results[0]
	runs := "one run"
	if len(r.Runs) > 1 {
		runs = fmt.Sprintf("median of %d runs", len(r.Runs))
	}
	notes := []string{
		fmt.Sprintf("firn: %s, start-up included. Rivals: start-up and warm-up left out, commits every %s.", runs,
			commitEvery),
	}
	if slices.ContainsFunc(results, func(r Result) bool { return slices.Contains(rivalsOf(&r), "Dataflow") }) {
		notes = append(notes, "Dataflow: public figures, other machines, per vCPU.")
	}
	if r.LoadAtStart != nil && *r.LoadAtStart > BusyLoad {
		notes = append(notes, fmt.Sprintf("firn was measured while the machine was busy (load average %.1f).",
			*r.LoadAtStart))
	}
	return notes
}

// rivalsOf are the names of the rivals of a result.
func rivalsOf(r *Result) []string {
	var names []string
	for _, b := range rivalBars(r) {
		names = append(names, b.name)
	}
	return names
}

// The layout, in pixels.
const (
	chartWidth   = 720
	chartMargin  = 16
	chartNames   = 190 // width of the names
	chartValues  = 60  // room for the value behind the longest bar
	chartBarStep = 24
	chartBarHigh = 16
)

// chartStyle has the colours, by the reader's scheme. GitHub shows an SVG as a picture, which follows it too.
const chartStyle = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 15px; font-weight: 600 }
  .group { font-weight: 600 }
  .note { font-size: 11px; fill: #59636e }
  .own { fill: #0969da }
  .rival { fill: #aab4be }
  .axis { stroke: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .note { fill: #9198a1 }
    .own { fill: #4493f8 }
    .rival { fill: #656c76 }
    .axis { stroke: #3d444d }
  }
`

// svg draws the chart.
func (c *chart) svg() []byte {
	var body bytes.Buffer
	y := chartMargin + 14
	text := func(x, y int, class, text string) {
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, y, class, escaped(text))
	}
	text(chartMargin, y, "title", c.title)
	y += 12
	scale := float64(chartWidth-2*chartMargin-chartNames-chartValues) / c.largest()
	left := chartMargin + chartNames
	for _, g := range c.groups {
		y += chartBarStep
		text(chartMargin, y, "group", g.title)
		y += 8
		fmt.Fprintf(&body, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"axis\"/>\n", left, y, left,
			y+chartBarStep*len(g.bars))
		for _, b := range g.bars {
			class := "rival"
			if b.own {
				class = "own"
			}
			width := max(1, b.value*scale)
			text(chartMargin, y+16, "name", b.name)
			fmt.Fprintf(&body, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\" class=\"%s\"/>\n",
				left, y+4, width, chartBarHigh, class)
			text(left+int(width)+6, y+16, "value", number(b.value))
			y += chartBarStep
		}
	}
	y += 8
	for _, n := range c.notes {
		y += 15
		text(chartMargin, y, "note", n)
	}
	y += chartMargin
	return fmt.Appendf(nil, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "+
		"role=\"img\" aria-label=\"%s\">\n<style>%s</style>\n%s</svg>\n", chartWidth, y, chartWidth, y, escaped(c.title),
		chartStyle, body.Bytes())
}

// largest is the largest value, for the scale.
func (c *chart) largest() float64 {
	largest := 1e-9
	for _, g := range c.groups {
		for _, b := range g.bars {
			largest = max(largest, b.value)
		}
	}
	return largest
}

func escaped(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // a buffer takes everything
	return out.String()
}
