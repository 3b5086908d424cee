package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Names of the figures that sum up kafka-to-iceberg. The first two are followed by the id of a case; a ratio is of zstd
// unless it says otherwise.
const (
	figureSpeed = "mb_per_cpu_s_"
	figureRatio = "ratio_best_rival_"
	figureFloor = "floor_share"
	figurePeak  = "peak_rss_mib"
)

const (
	floorShareGoal = 75   // percent
	peakGoal       = 1024 // MiB
	// floorCase is the case whose speed is compared with the floor's.
	floorCase = "bucket64_zstd"
)

const (
	speedGoalReason = "what a trial of the design reached, with the cost of receiving and of files added " +
		"(docs/decisions/20261129-own-decoder-and-page-writer.md)"
	ratioGoalReason = "a multiple that decides what a machine costs"
	floorGoalReason = "decoding, routing, encoding and committing should cost a quarter of what cannot be avoided"
	peakGoalReason  = "the default memory limit of a job"
)

// Summarize puts the figures that sum up details, the results of single systems, before them. Details are taken from
// any results of kafka-to-iceberg; what summed them up before is dropped.
func Summarize(results []Result) []Result {
	details := slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.System == "" })
	var sums []Result
	for _, c := range moveCases() {
		sums = append(sums, summarizeCase(c, details)...)
	}
	if peak := peakOf(details); peak != nil {
		sums = append(sums, *peak)
	}
	return append(sums, details...)
}

func summarizeCase(c moveCase, details []Result) []Result {
	own := findDetail(details, c.id, firnName, measureCPU)
	if own == nil {
		return nil
	}
	rivals := rivalSpeeds(c.id, details)
	speed := headline(own, figureSpeed+c.id, unitPerCPU, own.Runs)
	if c.speedGoal > 0 {
		speed.Goal, speed.GoalReason = c.speedGoal, speedGoalReason
	}
	speed.against(knownRivals(rivals, c))
	sums := []Result{speed}
	if ratio := ratioToBest(c, own, rivals); ratio != nil {
		sums = append(sums, *ratio)
	}
	if share := floorShare(c, own, rivals, details); share != nil {
		sums = append(sums, *share)
	}
	return sums
}

// headline is a figure with all that it shares with the detail that it sums up.
func headline(detail *Result, name, unit string, runs []float64) Result {
	r := *detail
	r.Name, r.Unit, r.Runs = name, unit, slices.Clone(runs)
	r.Value, r.Median = median(runs), median(runs)
	r.Case, r.System, r.Measure = "", "", ""
	return r
}

// rivalSpeeds are the speeds of the rivals that took part in a case, best first.
func rivalSpeeds(caseID string, details []Result) []Result {
	var rivals []Result
	for _, r := range details {
		if r.Case == caseID && r.Measure == measureCPU && isRival(r.System) {
			rivals = append(rivals, r)
		}
	}
	slices.SortStableFunc(rivals, func(a, b Result) int { return cmp.Compare(b.Value, a.Value) })
	return rivals
}

// rivalTurn is how a rival of the same command was measured.
const rivalTurn = "measured in turn with firn by the same command, start-up and warm-up left out: " +
	"docs/figures/README.md"

// rivalSource says how a rival was measured, above all when that is worth little.
func rivalSource(r *Result) string {
	if strings.Contains(r.Conditions, coldRemark) {
		return coldRemark
	}
	return rivalTurn
}

// knownRivals are those that took part, or those of earlier measurements when none did.
func knownRivals(rivals []Result, c moveCase) []Rival {
	if len(rivals) == 0 {
		return c.known
	}
	list := make([]Rival, len(rivals))
	for i, r := range rivals {
		list[i] = Rival{r.System, r.Value, rivalSource(&rivals[i])}
	}
	return list
}

// ratioToBest is how many times as fast as the best rival firn is, run by run; nil when there was no rival.
func ratioToBest(c moveCase, own *Result, rivals []Result) *Result {
	if len(rivals) == 0 {
		return nil
	}
	ratios := pairs(own.Runs, rivals[0].Runs)
	if len(ratios) == 0 {
		return nil
	}
	r := headline(own, figureRatio+strings.TrimSuffix(c.id, "_zstd"), "times", ratios)
	r.Conditions += fmt.Sprintf("; divided by %s of the same round, %s; the median of these ratios",
		rivals[0].System, rivalSource(&rivals[0]))
	r.Rival = &Rival{rivals[0].System, 1, "itself"}
	for _, other := range rivals[1:] {
		theirs := r.Value / max(median(pairs(own.Runs, other.Runs)), 1e-9)
		r.OtherRivals = append(r.OtherRivals, Rival{other.System, theirs, "its speed as a multiple of the best rival's"})
	}
	if c.ratioGoal > 0 {
		r.Goal, r.GoalReason = c.ratioGoal, ratioGoalReason
	}
	return &r
}

// floorShare is firn's speed as a part of the floor's, run by run; nil where the floor did not run.
func floorShare(c moveCase, own *Result, rivals, details []Result) *Result {
	floor := findDetail(details, c.id, floorName, measureCPU)
	if floor == nil {
		return nil
	}
	name := figureFloor
	if c.id != floorCase {
		name += "_" + c.id
	}
	runs := pairs(own.Runs, floor.Runs)
	if len(runs) == 0 {
		return nil
	}
	for i := range runs {
		runs[i] *= 100
	}
	r := headline(own, name, "%", runs)
	r.Conditions += fmt.Sprintf("; as a part of the floor's %s %s", number(floor.Value), floor.Unit)
	if c.id == floorCase {
		r.Goal, r.GoalReason = floorShareGoal, floorGoalReason
	}
	if len(rivals) > 0 {
		r.Rival = &Rival{rivals[0].System, 100 * median(pairs(rivals[0].Runs, floor.Runs)), rivalSource(&rivals[0])}
	}
	return &r
}

// peakOf is the most memory that firn took in any run of any case; nil when it was not measured. The runs are the
// largest of each case.
func peakOf(details []Result) *Result {
	var peaks []float64
	var largest *Result
	for i := range details {
		r := &details[i]
		if r.System != firnName || r.Measure != measurePeak {
			continue
		}
		peaks = append(peaks, percentile(r.Runs, 1))
		if largest == nil || percentile(r.Runs, 1) > percentile(largest.Runs, 1) {
			largest = r
		}
	}
	if largest == nil {
		return nil
	}
	r := headline(largest, figurePeak, "MiB", peaks)
	r.Value, r.Goal, r.GoalReason = slices.Max(peaks), peakGoal, peakGoalReason
	r.Conditions = "the most of any run; the runs are the most of each case; of the one with the most: " + r.Conditions
	r.against(rivalPeaks(details))
	return &r
}

// rivalPeaks is the most memory of each rival in any run, least first.
func rivalPeaks(details []Result) []Rival {
	most := map[string]float64{}
	for _, r := range details {
		if r.Measure == measurePeak && isRival(r.System) {
			most[r.System] = max(most[r.System], percentile(r.Runs, 1))
		}
	}
	var list []Rival
	for name, value := range most {
		list = append(list, Rival{name, value, rivalTurn})
	}
	slices.SortFunc(list, func(a, b Rival) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Merge puts new results of kafka-to-iceberg in the place of older ones of the same cases. Those of other cases stay,
// each with its own command, commit and date.
func Merge(old, results []Result) []Result {
	measured := map[string]bool{}
	for _, r := range results {
		measured[r.Case] = true
	}
	details := slices.DeleteFunc(slices.Clone(old), func(r Result) bool { return r.System == "" || measured[r.Case] })
	details = append(details, slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.System == "" })...)
	order := map[string]int{}
	for i, c := range moveCases() {
		order[c.id] = i
	}
	slices.SortStableFunc(details, func(a, b Result) int { return cmp.Compare(order[a.Case], order[b.Case]) })
	return Summarize(details)
}
