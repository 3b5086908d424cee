package bench

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"firn/internal/table"
)

// A table that has got hundreds of commits, with roll-ups and expiry, has small metadata.
func TestGrow(t *testing.T) {
	g, err := grow(t.Context(), 280)
	if err != nil {
		t.Fatal(err)
	}
	if g.ratio <= 0 || g.metadataKB <= 0 || g.metadataKB > 200 || g.manifests < 1 || g.manifests > 50 {
		t.Errorf("%+v", g)
	}
}

// The share of upkeep is by CPU time, and every figure has its value.
func TestFreshFigures(t *testing.T) {
	s := &session{}
	r := &freshRuns{
		bucketed: []flowed{{p50: 600, p99: 1400, cpuSeconds: 100, largeShare: 95}}, fast: []flowed{{p50: 200, p99: 500}},
		bare: []flowed{{cpuSeconds: 92}}, grown: []grown{{ratio: 1.1, metadataKB: 90, manifests: 12}},
		reencoded: []float64{160},
	}
	want := map[string]float64{
		"p50_ms": 600, "p99_ms": 1400, "p50_ms_200": 200, "p99_ms_200": 500, "bytes_share_128mb": 95, "upkeep_cpu_share": 8,
		"commit_ratio_10000_100": 1.1, "metadata_kb": 90, "live_manifests": 12, "reencode_mb_per_cpu_s": 160,
	}
	var names []string
	for _, f := range s.freshFigures(freshConfig{100, growCommits}, r) {
		names = append(names, f.Name)
		if diff := f.Value - want[f.Name]; diff > 1e-9 || diff < -1e-9 || f.GoalRatio() <= 0 {
			t.Errorf("%s is %g, want %g; goal ratio %g", f.Name, f.Value, want[f.Name], f.GoalRatio())
		}
	}
	if len(names) != len(want) || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(want) {
		t.Errorf("figures %v", names)
	}
}

// All of it, in short.
func TestFresh(t *testing.T) {
	o := tiny(t)
	results, err := freshBenchmarkOf(freshConfig{1, 30}).Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if len(r.Runs) != o.Runs || r.GoalReason == "" || r.Conditions == "" {
			t.Errorf("%+v", r)
		}
	}
	if len(results) != 10 || results[0].Value <= 0 || results[2].Value <= 0 {
		t.Errorf("%d figures, %+v", len(results), results)
	}
}

func TestLargeShare(t *testing.T) {
	for _, c := range []struct {
		files dataFiles
		want  float64
	}{{nil, 0}, {dataFiles{1, 2}, 0}, {dataFiles{128, 32}, 80}, {dataFiles{300}, 100}} {
		if got := c.files.largeShare(); got != c.want {
			t.Errorf("%v: %g %%, want %g", c.files, got, c.want)
		}
	}
}

// Rows of appends that are younger than the limit need not be in large files yet; what a replacement added must be.
func TestAppendsSince(t *testing.T) {
	at := func(id int64, seconds int, operation string) table.SnapshotInfo {
		return table.SnapshotInfo{ID: id, Time: time.Unix(int64(seconds), 0), Operation: operation}
	}
	all := []table.SnapshotInfo{
		at(1, 10, "append"), at(2, 50, "append"), at(3, 60, "replace"), at(4, 61, "append"), at(5, 100, "append"),
	}
	for age, want := range map[time.Duration]map[int64]bool{
		0: {}, time.Second: {5: true}, 40 * time.Second: {4: true, 5: true}, 50 * time.Second: {4: true, 5: true},
		51 * time.Second: {2: true, 4: true, 5: true}, time.Hour: {1: true, 2: true, 4: true, 5: true},
	} {
		if diff := cmp.Diff(want, appendsSince(all, age)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", age, diff)
		}
	}
	if got := appendsSince(nil, time.Hour); len(got) > 0 {
		t.Errorf("%v of none", got)
	}
}
