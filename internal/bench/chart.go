package bench

import (
	"bytes"
	"encoding/xml"
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

// throughputChart compares firn with its rivals, bucketed and not.
func throughputChart(results []Result) (*chart, error) {
	c := &chart{title: "MB of JSON for each second of CPU, Kafka to Iceberg"}
	for _, g := range []struct {
		title     string
		partition string
		intervals []time.Duration
	}{
		{"64 buckets, zstd", bucketed, []time.Duration{rivalCommits, time.Second}},
		{"no partitions, zstd", "", []time.Duration{rivalCommits}},
	} {
		group := barGroup{title: g.title}
		var rivals []chartBar
		for _, interval := range g.intervals {
			m := moveCase{partition: g.partition, compression: "zstd", commitInterval: interval}
			r, err := findResult(results, "kafka-to-iceberg, "+m.String())
			if err != nil {
				return nil, err
			}
			group.bars = append(group.bars, chartBar{fmt.Sprintf("firn, commits every %s", interval), r.Value, true})
			rivals = rivalBars(r)
		}
		group.bars = append(group.bars, rivals...)
		c.groups = append(c.groups, group)
	}
	c.notes = chartNotes(&results[0])
	return c, nil
}

func findResult(results []Result, name string) (*Result, error) {
	i := slices.IndexFunc(results, func(r Result) bool { return r.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("drawing the chart: the figure has no result %q; measure it again", name)
	}
	return &results[i], nil
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

func chartNotes(r *Result) []string {
	runs := "one run"
	if len(r.Runs) > 1 {
		runs = fmt.Sprintf("median of %d runs", len(r.Runs))
	}
	notes := []string{
		fmt.Sprintf("firn: %s, start-up included. Rivals: the best of one or two runs, commits every %s,", runs,
			rivalCommits),
		"start-up and warm-up left out. Dataflow: public figures, other machines, per vCPU.",
	}
	if r.LoadAtStart != nil && *r.LoadAtStart > BusyLoad {
		notes = append(notes, fmt.Sprintf("firn was measured while the machine was busy (load average %.1f).",
			*r.LoadAtStart))
	}
	return notes
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
