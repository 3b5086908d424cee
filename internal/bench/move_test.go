package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// scripted moves nothing: it counts its runs, and fails in one of them.
func scripted(name string, may bool, failing int, fault error) *entrantRuns {
	e := &entrantRuns{name: name, may: may}
	n := 0
	e.move = func(context.Context, jobConfig) (measured, error) {
		n++
		if n == failing {
			return measured{}, fault
		}
		return measured{mbPerCPUSecond: float64(n)}, nil
	}
	return e
}

func testMover(t *testing.T) (*mover, *[]string) {
	t.Helper()
	rooms, err := newFolders()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rooms.remove(); err != nil {
			t.Error(err)
		}
	})
	o := tiny(t)
	o.Runs, o.Progress = 3, &Progress{}
	var said []string
	o.Log = func(text string) { said = append(said, text) }
	return &mover{session: &session{Options: o}, broker: &broker{}, rooms: rooms}, &said
}

// TestTheFirstRoundDoesNotCount, and the runs of a round stand at the same place.
func TestTheFirstRoundDoesNotCount(t *testing.T) {
	m, _ := testMover(t)
	results, err := m.rounds(t.Context(), moveCases()[0], []*entrantRuns{
		scripted(firnName, false, 0, nil), scripted("Flink", true, 0, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{firnName, "Flink"} {
		r := findDetail(results, "bucket64_zstd", system, measureCPU)
		if r == nil || !slices.Equal(r.Runs, []float64{2, 3, 4}) {
			t.Errorf("%s: %+v", system, r)
		}
	}
}

// TestARivalThatFails: the others go on without it, and what it had done stays, with the reason.
func TestARivalThatFails(t *testing.T) {
	m, said := testMover(t)
	results, err := m.rounds(t.Context(), moveCases()[0], []*entrantRuns{
		scripted(firnName, false, 0, nil), scripted("Flink", true, 3, errors.New("out of heap")),
		scripted("Spark", true, 1, errors.New("no such class")),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := findDetail(results, "bucket64_zstd", firnName, measureCPU); len(r.Runs) != 3 {
		t.Errorf("firn: %+v", r)
	}
	r := findDetail(results, "bucket64_zstd", "Flink", measureCPU)
	if r == nil || !slices.Equal(r.Runs, []float64{2}) || !strings.Contains(r.Conditions, "run 2 of 3: out of heap") {
		t.Errorf("Flink: %+v", r)
	}
	if r := findDetail(results, "bucket64_zstd", "Spark", measureCPU); r != nil {
		t.Errorf("Spark: %+v", r)
	}
	want := []string{
		"bucket64_zstd: Spark is left out: warm-up: no such class",
		"bucket64_zstd: Flink is left out: run 2 of 3: out of heap",
	}
	if !slices.Equal(*said, want) {
		t.Errorf("said %q", *said)
	}
}

// TestRunsAreKept when firn fails, or somebody interrupts.
func TestRunsAreKept(t *testing.T) {
	m, _ := testMover(t)
	broken := errors.New("broken")
	results, err := m.rounds(t.Context(), moveCases()[0], []*entrantRuns{
		scripted(floorName, false, 0, nil), scripted(firnName, false, 4, broken),
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	for system, want := range map[string][]float64{firnName: {2, 3}, floorName: {2, 3, 4}} {
		r := findDetail(results, "bucket64_zstd", system, measureCPU)
		if r == nil || !slices.Equal(r.Runs, want) {
			t.Errorf("%s: %+v", system, r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	rival := scripted("Flink", true, 2, context.Canceled)
	move := rival.move
	rival.move = func(ctx context.Context, c jobConfig) (measured, error) {
		run, err := move(ctx, c)
		if err != nil {
			cancel()
		}
		return run, err
	}
	results, err = m.rounds(ctx, moveCases()[0], []*entrantRuns{scripted(firnName, false, 0, nil), rival})
	if r := findDetail(results, "bucket64_zstd", firnName, measureCPU); err == nil || r == nil || len(r.Runs) != 1 {
		t.Errorf("interrupted in the first round: %v, %+v", err, r)
	}
}

// TestKeepAfterEachCase: what is kept is complete in itself.
func TestKeepAfterEachCase(t *testing.T) {
	o := tiny(t)
	o.Runs = 1
	o.Cases = []string{"bucket64_none", "unpartitioned_zstd"}
	var kept [][]Result
	o.Keep = func(results []Result) error {
		kept = append(kept, results)
		return nil
	}
	for _, b := range quick() {
		if b.Name != ChartedBenchmark {
			continue
		}
		if _, err := b.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) != 2 || findResult(kept[0], "mb_per_cpu_s_unpartitioned_zstd") == nil ||
		findResult(kept[0], "mb_per_cpu_s_bucket64_none") != nil ||
		findResult(kept[1], "mb_per_cpu_s_bucket64_none") == nil || findResult(kept[1], "floor_share_bucket64_none") == nil {
		t.Errorf("kept %d times", len(kept))
	}
}

func TestFoldersAreEmptiedAndDeletedInTheEnd(t *testing.T) {
	rooms, err := newFolders()
	if err != nil {
		t.Fatal(err)
	}
	first, err := rooms.next()
	if err != nil {
		t.Fatal(err)
	}
	second, err := rooms.next()
	if err != nil || second == first {
		t.Fatal(second, err)
	}
	path := filepath.Join(first, "a", "b")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("rows"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := rooms.empty(first); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
	if err := rooms.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(rooms.root); !os.IsNotExist(err) {
		t.Errorf("left: %v", err)
	}
}
