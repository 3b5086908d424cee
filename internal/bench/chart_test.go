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

// charted is results that the chart is drawn from: of firn, the floor and two rivals.
func charted(load float64) []Result {
	m := &mover{session: &session{load: &load}, broker: &broker{kind: "a Kafka broker"}}
	var details []Result
	for i, c := range moveCases() {
		speed := float64(100 * (i + 1))
		entrants := []*entrantRuns{exampleRuns(firnName, speed), exampleRuns(floorName, 2*speed)}
		if c.rivals {
			entrants = append(entrants, exampleRuns("Kafka Connect", speed/10), exampleRuns("Flink", speed/5))
		}
		details = append(details, m.results(c, entrants)...)
	}
	return Summarize(details)
}

// exampleRuns are three runs of a system, the second at the speed.
func exampleRuns(name string, speed float64) *entrantRuns {
	e := &entrantRuns{name: name, conditions: "of a test"}
	for i := range 3 {
		factor := 0.9 + float64(i)/10
		e.runs = append(e.runs, measured{
			mbPerCPUSecond: speed * factor, mbPerSecond: 2 * speed * factor, peakMiB: 500 * factor,
			files: dataFiles{1, 2, 3}, commits: 4, mbPerCommit: 250,
		})
	}
	return e
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
	want := len(moveCases()) + 2*4 // two rivals in each case but the one of 1 s
	if bars != want {
		t.Errorf("%d bars, want %d", bars, want)
	}
	if room := float64(chartWidth - 2*chartMargin - chartNames - chartValues); longest != room {
		t.Errorf("the longest bar has %v pixels, want %v", longest, room)
	}
	for _, part := range []string{
		"prefers-color-scheme: dark", "64 buckets, zstd", ">Kafka Connect<", ">Flink<", ">300<",
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
