package advise

import (
	"cmp"
	"math/bits"
	"slices"
	"time"
)

// BucketsMax is the largest bucket count that is tried.
const BucketsMax = 256

// intervalMin is the shortest commit interval of a job.
const intervalMin = 200 * time.Millisecond

// Advice is the cheapest choice that keeps the freshness, and what others would cost.
type Advice struct {
	Best     Cost
	Buckets  []Cost // of the same column and target, by bucket count: 1, 2, 4, ... BucketsMax
	Interval []Cost // of the same buckets, by interval
	Target   []Cost // of the same buckets and interval, by target size
	Sort     []string
}

// Targets are the sizes of files that are weighed against each other when none is asked for.
func Targets() []float64 { return []float64{128e6, 256e6, 512e6} }

// Search finds the cheapest choice. With a target size of 0 it chooses that too. What costs at most a fiftieth more is
// preferred where it is plainer.
func Search(l Load, targetBytes float64) Advice {
	targets := Targets()
	if targetBytes > 0 {
		targets = []float64{targetBytes}
	}
	var all []Cost
	for _, column := range append([]string{""}, columns(l)...) {
		most := BucketsMax
		if column == "" {
			most = 1
		}
		for n := 1; n <= most; n++ {
			for _, target := range targets {
				all = append(all, Of(l, Choice{column, n, Interval(l, n), target}))
			}
		}
	}
	best := slices.MinFunc(all, compare)
	cheapest, freshest := best.Dollars, best.Freshness
	for _, c := range all {
		const plainWorth = 1.02
		asFresh := c.Fresh || c.Freshness <= freshest
		if asFresh && c.Dollars <= cheapest*plainWorth && plain(c.Choice) > plain(best.Choice) {
			best = c
		}
	}
	if best.Buckets == 1 {
		best.Column = ""
	}
	return Advice{Best: best, Buckets: byBuckets(l, best), Interval: byInterval(l, best), Target: byTarget(l, best),
		Sort: sortOrder(l, best)}
}

// plain tells how plain a choice is: a bucket count that is a power of two can be doubled later such that each bucket
// becomes two, and the default target size needs no setting.
func plain(c Choice) (n int) {
	const targetDefault = 256e6
	if bits.OnesCount(uint(c.Buckets)) == 1 {
		n += 2
	}
	if c.TargetBytes == targetDefault {
		n++
	}
	return n
}

// compare orders costs: those that are fresh enough before all others, and the freshest when none is.
func compare(a, b Cost) int {
	switch {
	case a.Fresh != b.Fresh:
		return map[bool]int{true: -1, false: 1}[a.Fresh]
	case !a.Fresh && a.Freshness != b.Freshness:
		return cmp.Compare(a.Freshness, b.Freshness)
	}
	return cmp.Or(cmp.Compare(a.Dollars, b.Dollars), cmp.Compare(a.Buckets, b.Buckets))
}

// columns are those that can have buckets.
func columns(l Load) []string {
	var out []string
	for _, f := range l.Filters {
		if f.Bucket {
			out = append(out, f.Column)
		}
	}
	return out
}

// Interval is the longest commit interval that keeps the freshness with so many buckets: nothing saves more files. It
// is never shorter than what a commit takes, since they come one after the other.
func Interval(l Load, buckets int) time.Duration {
	late := latency(l, buckets)
	interval := max(l.Freshness-late, late, intervalMin)
	step := 100 * time.Millisecond
	if interval >= 10*time.Second {
		step = time.Second
	}
	if down := interval.Truncate(step); down >= max(late, intervalMin) {
		return down
	}
	return (interval + step - 1).Truncate(step)
}

// byBuckets are the alternatives in the number of buckets, of the best choice's column, or of the first that could
// have buckets.
func byBuckets(l Load, best Cost) []Cost {
	column := best.Column
	if all := columns(l); column == "" && len(all) > 0 {
		column = all[0]
	}
	var out []Cost
	for n := 1; n <= BucketsMax; n *= 2 {
		out = append(out, Of(l, Choice{column, n, Interval(l, n), best.TargetBytes}))
	}
	return out
}

func byInterval(l Load, best Cost) []Cost {
	var out []Cost
	for _, interval := range []time.Duration{
		intervalMin, time.Second, 5 * time.Second, 10 * time.Second, time.Minute, 10 * time.Minute,
	} {
		c := best.Choice
		c.Interval = interval
		out = append(out, Of(l, c))
	}
	return out
}

func byTarget(l Load, best Cost) []Cost {
	var out []Cost
	for _, target := range Targets() {
		c := best.Choice
		c.TargetBytes = target
		out = append(out, Of(l, c))
	}
	return out
}

// sortOrder is the filter columns that the partitioning does not serve, those with the most values first: in files
// that are sorted by it, a query reads a page in place of a file.
func sortOrder(l Load, best Cost) []string {
	var rest []Filter
	for _, f := range l.Filters {
		const servedByBounds = 0.1
		if f.HeldShare > servedByBounds && (f.Column != best.Column || best.Buckets == 1) {
			rest = append(rest, f)
		}
	}
	slices.SortStableFunc(rest, func(a, b Filter) int { return cmp.Compare(a.Keys.Read(1<<20), b.Keys.Read(1<<20)) })
	var out []string
	for _, f := range rest {
		out = append(out, f.Column)
	}
	if len(out) == 0 && best.Column != "" {
		out = []string{best.Column} // rows of a bucket by its key: a query reads a part of its files
	}
	return out
}
