package bench

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport: the page is well-formed, needs nothing from elsewhere, and has what was measured.
func TestReport(t *testing.T) {
	folder := t.TempDir()
	if _, err := WriteFigure(folder, ChartedBenchmark, charted(9)); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteFigure(folder, "freshness", example()[1:]); err != nil {
		t.Fatal(err)
	}
	path, err := WriteReport(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(folder, "kafka-to-iceberg.html"); path != want {
		t.Errorf("written to %s, want %s", path, want)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	count := countElements(t, string(text))
	// A table of all figures, one of freshness, one of each case, and one of the ratios of those that have rivals.
	if want := 2 + 5 + 4; count["table"] != want || count["svg"] != 2*5 {
		t.Errorf("%d tables and %d charts, want %d and 10", count["table"], count["svg"], want)
	}
	if want := 2 * (5*2 + 4*2); count["rect"] != want { // firn and floor in each case, two rivals in four
		t.Errorf("%d bars, want %d", count["rect"], want)
	}
	for _, part := range []string{
		"<code>mb_per_cpu_s_bucket64_zstd</code>", "<code>ratio_best_rival_wide</code>", "<code>floor_share</code>",
		"<code>peak_rss_mib</code>", `<td class="bad">not reached</td>`, `<td class="good">reached</td>`, "load average 9.0",
		"Kafka Connect</td><td>10.0x</td><td>10.0x</td><td>10.0x</td>", "round 3",
		"prefers-color-scheme: dark", "freshness, P50",
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%q is not in the report", part)
		}
	}
	for _, part := range []string{"<script", "src=", "href=", "url(", "@import"} {
		if strings.Contains(string(text), part) {
			t.Errorf("%q is in the report", part)
		}
	}
}

// countElements parses a page, and counts its elements by name.
func countElements(t *testing.T, text string) map[string]int {
	t.Helper()
	count := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "<!DOCTYPE html>\n")))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

func TestReportElsewhere(t *testing.T) {
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "new", "page.html")
	if _, err := WriteFigure(folder, ChartedBenchmark, charted(0)); err != nil {
		t.Fatal(err)
	}
	path, err := WriteReport(folder, elsewhere)
	if err != nil || path != elsewhere {
		t.Errorf("written to %s, %v", path, err)
	}
	text, err := os.ReadFile(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "busy (load") {
		t.Error("a quiet machine is called busy")
	}
}

// TestReportEscapes: what comes from the machine or the command line cannot become markup.
func TestReportEscapes(t *testing.T) {
	results := charted(0)
	for i := range results {
		results[i].Command, results[i].Machine.CPU = "firn <b>&", `<i>"x"`
		if results[i].System == "Flink" {
			results[i].System = "<Flink> & \"co\""
		}
	}
	page, err := reportPage(results, nil)
	if err != nil {
		t.Fatal(err)
	}
	if count := countElements(t, string(page)); count["b"]+count["i"]+count["Flink"] != 0 {
		t.Errorf("elements %v", count)
	}
}

func TestReportOfNothing(t *testing.T) {
	if _, err := WriteReport(t.TempDir(), ""); err == nil {
		t.Error("no error")
	}
	if _, err := reportPage(nil, nil); err == nil {
		t.Error("no error of an empty figure")
	}
}
