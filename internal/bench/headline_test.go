package bench

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSummaryNames: the names by which figures are looked up.
func TestSummaryNames(t *testing.T) {
	var names []string
	for _, r := range charted(0) {
		if r.System == "" {
			names = append(names, r.Name)
		}
	}
	want := []string{
		"mb_per_cpu_s_bucket64_zstd", "ratio_best_rival_bucket64", "floor_share",
		"mb_per_cpu_s_unpartitioned_zstd", "ratio_best_rival_unpartitioned", "floor_share_unpartitioned_zstd",
		"mb_per_cpu_s_bucket64_none", "ratio_best_rival_bucket64_none", "floor_share_bucket64_none",
		"mb_per_cpu_s_bucket64_zstd_1s", "floor_share_bucket64_zstd_1s",
		"mb_per_cpu_s_wide_zstd", "ratio_best_rival_wide", "floor_share_wide_zstd",
		"peak_rss_mib",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestSummaryGoals(t *testing.T) {
	results := charted(0)
	for name, goal := range map[string]float64{
		"mb_per_cpu_s_bucket64_zstd": 340, "mb_per_cpu_s_unpartitioned_zstd": 370, "mb_per_cpu_s_bucket64_none": 600,
		"mb_per_cpu_s_wide_zstd": 180, "ratio_best_rival_bucket64": 5, "ratio_best_rival_unpartitioned": 3.3,
		"ratio_best_rival_wide": 5, "ratio_best_rival_bucket64_none": 0, "floor_share": 75, "peak_rss_mib": 1024,
	} {
		r := findResult(results, name)
		if r == nil || r.Goal != goal || (goal > 0) != (r.GoalReason != "") {
			t.Errorf("%s: %+v, want goal %v", name, r, goal)
		}
	}
}

// TestRatiosArePairs: the ratio is the median of the ratios of a round, not that of medians, to the rival that is best.
func TestRatiosArePairs(t *testing.T) {
	m := &mover{session: &session{}, broker: &broker{}}
	c := moveCases()[0]
	runs := func(name string, speeds ...float64) *entrantRuns {
		e := &entrantRuns{name: name}
		for _, s := range speeds {
			e.runs = append(e.runs, measured{mbPerCPUSecond: s, peakMiB: 2 * s})
		}
		return e
	}
	results := Summarize(m.results(c, []*entrantRuns{
		runs(firnName, 100, 300, 200), runs(floorName, 200, 400, 400), runs("Slow", 10, 10, 10), runs("Fast", 50, 60, 20),
	}))
	ratio := findResult(results, "ratio_best_rival_bucket64")
	if diff := cmp.Diff([]float64{2, 5, 10}, ratio.Runs); diff != "" || ratio.Value != 5 || ratio.Rival.Name != "Fast" {
		t.Errorf("%s of %+v:\n%s", ratio.Name, ratio, diff)
	}
	if len(ratio.OtherRivals) != 1 || ratio.OtherRivals[0].Value != 5.0/20 {
		t.Errorf("others %+v", ratio.OtherRivals)
	}
	share := findResult(results, "floor_share")
	if diff := cmp.Diff([]float64{50, 75, 50}, share.Runs); diff != "" || share.Value != 50 || share.Rival.Value != 15 {
		t.Errorf("%+v, rival %+v:\n%s", share, share.Rival, diff)
	}
	speed := findResult(results, "mb_per_cpu_s_bucket64_zstd")
	if speed.Value != 200 || speed.Rival.Name != "Fast" || speed.Rival.Value != 50 || len(speed.OtherRivals) != 1 {
		t.Errorf("%+v", speed)
	}
	peak := findResult(results, "peak_rss_mib")
	if peak.Value != 600 || peak.Rival.Name != "Slow" || peak.Rival.Value != 20 || !peak.LowerIsBetter {
		t.Errorf("%+v", peak)
	}
}

// TestRivalThatWasNotWarm: a ratio to it says so.
func TestRivalThatWasNotWarm(t *testing.T) {
	m := &mover{session: &session{}, broker: &broker{}}
	cold := exampleRuns("Flink", 10)
	cold.runs[1].remark = coldRemark
	results := Summarize(m.results(moveCases()[0], []*entrantRuns{exampleRuns(firnName, 100), cold}))
	if r := findResult(results, "ratio_best_rival_bucket64"); !strings.Contains(r.Conditions, coldRemark) {
		t.Errorf("conditions %q", r.Conditions)
	}
	var out bytes.Buffer
	if err := Print(&out, results); err != nil || !strings.Contains(out.String(), "bucket64 is worth nothing: NOT in a") {
		t.Errorf("%v, printed:\n%s", err, &out)
	}
	if r := findResult(results, "mb_per_cpu_s_bucket64_zstd"); r.Rival.Source != coldRemark {
		t.Errorf("rival %+v", r.Rival)
	}
}

// TestNoRoundOfBoth: a rival or a floor without a run of firn's rounds gives no ratio.
func TestNoRoundOfBoth(t *testing.T) {
	none := exampleRuns("Flink", 10)
	own := exampleRuns(firnName, 100)
	own.runs = own.runs[:1]
	none.runs[0].mbPerCPUSecond = 0
	m := &mover{session: &session{}, broker: &broker{}}
	results := Summarize(m.results(moveCases()[0], []*entrantRuns{own, none}))
	if r := findResult(results, "ratio_best_rival_bucket64"); r != nil {
		t.Errorf("%+v", r)
	}
	if page, err := reportPage(results, nil); err != nil || len(page) == 0 {
		t.Error(err)
	}
}

// TestWithoutRivals: earlier figures of them stand in, and there is no ratio of a round.
func TestWithoutRivals(t *testing.T) {
	m := &mover{session: &session{}, broker: &broker{}}
	results := Summarize(m.results(moveCases()[0], []*entrantRuns{exampleRuns(firnName, 100)}))
	if r := findResult(results, "mb_per_cpu_s_bucket64_zstd"); r.Rival == nil || r.Rival.Source != rivalRun {
		t.Errorf("rival %+v", r.Rival)
	}
	for _, name := range []string{"ratio_best_rival_bucket64", "floor_share"} {
		if findResult(results, name) != nil {
			t.Errorf("there is %s", name)
		}
	}
}

// TestMerge: a case that is measured again takes the place of the older one, and all is summed up anew.
func TestMerge(t *testing.T) {
	old := charted(0)
	m := &mover{session: &session{}, broker: &broker{}}
	again := Summarize(m.results(moveCases()[0], []*entrantRuns{exampleRuns(firnName, 1234)}))
	merged := Merge(old, again)
	if r := findResult(merged, "mb_per_cpu_s_bucket64_zstd"); r.Value != 1234 {
		t.Errorf("%+v", r)
	}
	if findResult(merged, "ratio_best_rival_bucket64") != nil {
		t.Error("the ratio of the older measurement stayed")
	}
	if r := findResult(merged, "mb_per_cpu_s_wide_zstd"); r == nil || r.Value != 500 {
		t.Errorf("the other case: %+v", r)
	}
	if !slices.EqualFunc(merged, Merge(merged, nil), func(a, b Result) bool { return cmp.Equal(a, b) }) {
		t.Error("merging nothing changed something")
	}
	first := slices.IndexFunc(merged, func(r Result) bool { return r.System != "" })
	if merged[first].Case != moveCases()[0].id {
		t.Errorf("the first detail is of %s", merged[first].Case)
	}
}
