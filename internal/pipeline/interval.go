package pipeline

import (
	"fmt"
	"slices"
	"sync"

	"firn/internal/record"
)

// interval is what was written between two cuts: the ranges and counts that will be committed with the rows.
// It is safe for concurrent use.
type interval struct {
	mu     sync.Mutex // guards the fields below
	ranges map[record.TopicPartition][]record.Range
	counts record.Counts
	events record.EventTimes
}

func newInterval() *interval { return &interval{ranges: map[record.TopicPartition][]record.Range{}} }

// add counts a block that was written. Blocks of a topic partition may come in any order: two workers may have had
// neighbouring ones at once.
func (v *interval) add(block *record.Block, counts record.Counts, events record.EventTimes) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ranges[block.TopicPartition] = append(v.ranges[block.TopicPartition], block.Range)
	v.counts = v.counts.Add(counts)
	for _, e := range events {
		v.events = v.events.Append(e.UnixMs, e.Count)
	}
}

func (v *interval) empty() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.ranges) == 0
}

// joined is the ranges, one a topic partition, in order. It fails when those of a topic partition do not tile, or when
// the counts do not cover them: then a record would be lost without a word (invariant 4), so nothing may be committed.
func (v *interval) joined() ([]record.Range, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []record.Range
	var offsets int64
	for tp, list := range v.ranges {
		slices.SortFunc(list, func(a, b record.Range) int { return int(a.From - b.From) })
		whole := list[0]
		for _, r := range list[1:] {
			if r.From != whole.To {
				return nil, fmt.Errorf("%s: a block ends at offset %d and the next begins at %d", tp, whole.To, r.From)
			}
			whole.To = r.To
		}
		offsets += whole.Len()
		out = append(out, whole)
	}
	if n := v.counts.Offsets(); n != offsets {
		return nil, fmt.Errorf("%d offsets were read and %d are accounted for", offsets, n)
	}
	slices.SortFunc(out, func(a, b record.Range) int { return a.Compare(b.TopicPartition) })
	return out, nil
}
