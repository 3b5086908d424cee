package bench

import (
	"bytes"
	"fmt"
	"html/template"
)

// The layout of a chart of the report, in pixels.
const (
	rangeWidth  = 460
	rangeNames  = 110
	rangeValues = 60
	rangeStep   = 28
	rangeHigh   = 16
)

// rangeChart has a bar for the median of each system's runs, a line from the smallest to the largest, and a dot for
// each run. The colours are those of the page.
func rangeChart(title string, details []Result, measure string) template.HTML {
	var shown []Result
	largest := 1e-9
	for _, r := range details {
		if r.Measure == measure {
			shown = append(shown, r)
			largest = max(largest, percentile(r.Runs, 1))
		}
	}
	var body bytes.Buffer
	scale := (rangeWidth - rangeNames - rangeValues) / largest
	for i, r := range shown {
		rangeBar(&body, &r, rangeStep*(i+1), scale)
	}
	high := rangeStep * (len(shown) + 1)
	//nolint:gosec // all text in it is escaped
	return template.HTML(fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "+
		"height=\"%d\" role=\"img\" aria-label=\"%s\">\n<text x=\"0\" y=\"15\" class=\"title\">%s</text>\n"+
		"<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"axis\"/>\n%s</svg>", rangeWidth, high, rangeWidth, high,
		escaped(title), escaped(title), rangeNames, rangeStep-4, rangeNames, high, body.Bytes()))
}

func rangeBar(out *bytes.Buffer, r *Result, y int, scale float64) {
	class := "rival"
	switch r.System {
	case firnName:
		class = "own"
	case floorName:
		class = "floor"
	}
	at := func(v float64) float64 { return rangeNames + v*scale }
	middle := y + rangeHigh/2
	least, most := percentile(r.Runs, 0), percentile(r.Runs, 1)
	fmt.Fprintf(out, "<text x=\"0\" y=\"%d\">%s</text>\n", middle+4, escaped(r.System))
	fmt.Fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\" class=\"%s\"/>\n", rangeNames, y,
		max(1, r.Median*scale), rangeHigh, class)
	if len(r.Runs) > 1 {
		fmt.Fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"range\"/>\n", at(least), middle, at(most),
			middle)
		for _, v := range r.Runs {
			fmt.Fprintf(out, "<circle cx=\"%.1f\" cy=\"%d\" r=\"2.5\" class=\"dot\"/>\n", at(v), middle)
		}
	}
	fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", at(most)+8, middle+4, number(r.Median))
}
