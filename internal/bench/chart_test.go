package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
)

// charted is results that the chart is drawn from.
func charted(load float64) []Result {
	var results []Result
	for i, c := range moveCases() {
		r := example()[0]
		r.Name, r.Value, r.LoadAtStart = "kafka-to-iceberg, "+c.String(), float64(100*(i+1)), &load
		r.Rival, r.OtherRivals = nil, nil
		r.against(c.rivals)
		results = append(results, r)
	}
	return results
}

func TestChart(t *testing.T) {
	folder := t.TempDir()
	if _, err := WriteFigure(folder, ChartedBenchmark, charted(0.5)); err != nil {
		t.Fatal(err)
	}
	path, err := WriteChart(folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bars, longest := readBars(t, text)
	want := 3 + len(bucketedRivals()) + len(unpartitionedRivals())
	if bars != want {
		t.Errorf("%d bars, want %d", bars, want)
	}
	if room := float64(chartWidth - 2*chartMargin - chartNames - chartValues); longest != room {
		t.Errorf("the longest bar has %v pixels, want %v", longest, room)
	}
	for _, part := range []string{
		"prefers-color-scheme: dark", "64 buckets, zstd", ">Kafka Connect<", ">Dataflow<", ">300<",
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%q is not in the chart", part)
		}
	}
	if strings.Contains(string(text), "busy") {
		t.Error("a quiet machine is called busy")
	}
}

// readBars parses the drawing, and gives the number of bars and the width of the longest.
func readBars(t *testing.T, svg []byte) (bars int, longest float64) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return bars, longest
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "rect" {
			continue
		}
		bars++
		for _, a := range e.Attr {
			if a.Name.Local == "width" {
				width, err := strconv.ParseFloat(a.Value, 64)
				if err != nil {
					t.Fatal(err)
				}
				longest = max(longest, width)
			}
		}
	}
}

func TestChartSaysThatTheMachineWasBusy(t *testing.T) {
	c, err := throughputChart(charted(9))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(c.svg(), []byte("busy (load average 9.0)")) {
		t.Error("it does not")
	}
}

func TestChartEscapes(t *testing.T) {
	c := &chart{title: `a <b> & "c"`, groups: []barGroup{{"<g>", []chartBar{{"<n>", 1, true}}}}, notes: []string{"<&>"}}
	readBars(t, c.svg())
}

func TestChartOfWhatIsNotThere(t *testing.T) {
	folder := t.TempDir()
	if _, err := WriteChart(folder); err == nil {
		t.Error("drawn from nothing")
	}
	if _, err := WriteFigure(folder, ChartedBenchmark, example()); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteChart(folder); err == nil || !strings.Contains(err.Error(), "measure it again") {
		t.Errorf("drawn from other results: %v", err)
	}
}
