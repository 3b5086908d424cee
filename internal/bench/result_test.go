package bench

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// example is a result with all fields set, and one with none that may be missing.
func example() []Result {
	load := 0.25
	machine := Machine{CPU: "A CPU", Cores: 2, Memory: "25 GB", OS: "linux/amd64 6.1", Go: "go1.26.0"}
	date := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	return []Result{
		{
			Name: "kafka-to-iceberg, a case", Value: 200, Unit: unitPerCPU, Goal: 400, GoalReason: "because",
			Rival:       &Rival{"Other", 50, "measured elsewhere"},
			OtherRivals: []Rival{{"Third", 25, "read somewhere"}},
			Runs:        []float64{190, 200, 210}, Median: 200, Conditions: "on a table", Command: "firn bench x --runs 3",
			Commit: "c0ffee", Machine: machine, LoadAtStart: &load, Date: date,
		},
		{
			Name: "freshness, P50", Value: 800, Unit: "ms", LowerIsBetter: true, Runs: []float64{800}, Median: 800,
			Conditions: "at a rate", Command: "firn bench y", Commit: "c0ffee", Machine: machine, Date: date,
		},
	}
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), -update writes it anew:\n%s", path, diff)
	}
}

func TestFigure(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "figures")
	path, err := WriteFigure(folder, "example", example())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "figure.json", string(text))
	table, err := os.ReadFile(filepath.Join(folder, "example.txt"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", string(table))
	back, err := ReadFigure(folder, "example")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example(), back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*.part")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestFiguresThatCannotBeReadOrWritten(t *testing.T) {
	folder := t.TempDir()
	_, err := ReadFigure(folder, "missing")
	if err == nil || !strings.Contains(err.Error(), "reading the figure missing") {
		t.Errorf("missing: %v", err)
	}
	bad := filepath.Join(folder, "bad.json")
	if err := os.WriteFile(bad, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFigure(folder, "bad"); err == nil {
		t.Error("half a figure was read")
	}
	if _, err := WriteFigure(bad, "x", nil); err == nil {
		t.Error("a figure was written into a file")
	}
}

func TestRatios(t *testing.T) {
	higher, lower := example()[0], example()[1]
	lower.Goal, lower.Rival = 1000, &Rival{"Other", 1600, "x"}
	for _, c := range []struct {
		name        string
		result      Result
		goal, rival float64
	}{
		{"higher is better", higher, 0.5, 4},
		{"lower is better", lower, 1.25, 2},
		{"neither goal nor rival", Result{Value: 3}, 0, 0},
		{"no value", Result{Goal: 3, Rival: &Rival{Value: 4}}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.result.GoalRatio(); got != c.goal {
				t.Errorf("goal: %v, want %v", got, c.goal)
			}
			if got := c.result.RivalRatio(); got != c.rival {
				t.Errorf("rival: %v, want %v", got, c.rival)
			}
		})
	}
}
