package table

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"firn/internal/record"
)

// rangeAudit follows the floor of a job from snapshot to snapshot, and what its commits covered.
type rangeAudit struct {
	// known says that floor is what the last snapshot left. It is false at first when older snapshots have expired:
	// then the first one seen tells where it began.
	known bool
	floor record.Floor
	spans map[incarnation]spans
}

// incarnation is a partition of one life of a topic: offsets of another life are other records.
type incarnation struct {
	record.Identity
	record.TopicPartition
}

func newRangeAudit() rangeAudit {
	return rangeAudit{floor: record.Floor{}, spans: make(map[incarnation]spans)}
}

// move takes the floor of a snapshot without ranges, and says what changed.
func (r *rangeAudit) move(next record.Floor) []FloorMove {
	before := r.floor
	r.floor = next
	if !r.known {
		r.known = true
		return nil
	}
	var moves []FloorMove
	for _, tp := range partitionsOf(before, next) {
		was, now := offsetIn(before, tp), offsetIn(next, tp)
		anew := before[tp.Topic].Identity != next[tp.Topic].Identity
		if anew {
			if now < 0 {
				continue // of the old life only
			}
			was = -1
		}
		if was != now || anew {
			moves = append(moves, FloorMove{Topic: tp.Topic, Partition: tp.Partition, Was: was, Now: now})
		}
	}
	return moves
}

// commit takes the floor and ranges of a snapshot, and says what does not fit.
func (r *rangeAudit) commit(
	next record.Floor, ranges map[string]map[int32][][2]int64, snapshot int64,
) []AuditFault {
	if !r.known {
		r.floor, r.known = beginning(next, ranges), true
	}
	before := r.floor
	r.floor = next
	var faults []AuditFault
	all := partitionsOf(before, next)
	for topic, partitions := range ranges {
		for p := range partitions {
			all = append(all, record.TopicPartition{Topic: topic, Partition: p})
		}
	}
	slices.SortFunc(all, record.TopicPartition.Compare)
	for _, tp := range slices.Compact(all) {
		pairs := ranges[tp.Topic][tp.Partition]
		if len(pairs) == 0 {
			faults = append(faults, unmoved(tp, before, next)...)
			continue
		}
		faults = append(faults, tiled(tp, pairs, before, next)...)
		faults = append(faults, r.cover(tp, pairs, next, snapshot)...)
	}
	return faults
}

// beginning is the floor that the ranges of the first known commit started from, by their own word.
func beginning(next record.Floor, ranges map[string]map[int32][][2]int64) record.Floor {
	first := next.Clone()
	for topic, partitions := range ranges {
		for p, pairs := range partitions {
			if t, ok := first[topic]; ok && len(pairs) > 0 {
				t.Next[p] = pairs[0][0]
			}
		}
	}
	return first
}

// unmoved wants that a partition without a range stays where it was.
func unmoved(tp record.TopicPartition, before, next record.Floor) []AuditFault {
	was, now := offsetIn(before, tp), offsetIn(next, tp)
	if was == now && before[tp.Topic].Identity == next[tp.Topic].Identity {
		return nil
	}
	code := FaultMissing
	if now < was {
		code = FaultFloor
	}
	return []AuditFault{{Code: code, Text: fmt.Sprintf("the floor of %s moved from %s to %s without a range", tp,
		offsetText(was), offsetText(now))}}
}

// tiled wants that the pairs start at the floor before, follow each other, and end at the floor after.
func tiled(tp record.TopicPartition, pairs [][2]int64, before, next record.Floor) []AuditFault {
	var faults []AuditFault
	fault := func(code, format string, args ...any) {
		faults = append(faults, AuditFault{Code: code, Text: tp.String() + ": " + fmt.Sprintf(format, args...)})
	}
	at, last := offsetIn(before, tp), pairs[len(pairs)-1][1]
	switch {
	case at < 0:
		fault(FaultMissing, "a range starts at %d, and no snapshot says that reading began there", pairs[0][0])
		at = pairs[0][0]
	case before[tp.Topic].Identity != next[tp.Topic].Identity:
		fault(FaultFloor, "the topic was made anew in a commit that has ranges of it")
	}
	for _, p := range pairs {
		if p[0] > at {
			fault(FaultMissing, "offsets %d to %d are in no commit", at, p[0])
		}
		if p[0] < at {
			fault(FaultTwice, "a range starts at %d, below the floor %d", p[0], at)
		}
		if p[0] >= p[1] {
			fault(FaultFloor, "a range goes from %d to %d", p[0], p[1])
		}
		at = p[1]
	}
	if now := offsetIn(next, tp); now != last {
		fault(FaultFloor, "the ranges end at %d, and the floor is %s", last, offsetText(now))
	}
	return faults
}

// cover notes the offsets of a partition, and says which of them were there already.
func (r *rangeAudit) cover(tp record.TopicPartition, pairs [][2]int64, next record.Floor, snapshot int64) []AuditFault {
	key := incarnation{next[tp.Topic].Identity, tp}
	var faults []AuditFault
	for _, p := range pairs {
		after, overlaps := r.spans[key].add(span{p[0], p[1], snapshot})
		r.spans[key] = after
		for _, o := range overlaps {
			faults = append(faults, AuditFault{Code: FaultTwice, Text: fmt.Sprintf(
				"%s: offsets %d to %d were committed by snapshot %d already", tp, o.from, o.to, o.snapshot)})
		}
	}
	return faults
}

// list is what was covered, adjoining ranges joined.
func (r *rangeAudit) list() []AuditRange {
	var list []AuditRange
	for key, spans := range r.spans {
		for _, s := range spans {
			n := len(list)
			if n > 0 && list[n-1].is(key) && list[n-1].To == s.from {
				list[n-1].To = s.to
				continue
			}
			list = append(list, AuditRange{key.Topic, key.ClusterID, key.TopicID, key.Partition, s.from, s.to})
		}
	}
	slices.SortFunc(list, func(a, b AuditRange) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.ClusterID, b.ClusterID),
			cmp.Compare(a.TopicID, b.TopicID), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.From, b.From))
	})
	return list
}

func (x AuditRange) is(key incarnation) bool {
	return x.Topic == key.Topic && x.ClusterID == key.ClusterID && x.TopicID == key.TopicID && x.Partition == key.Partition
}

// partitionsOf is every partition of either floor, in order.
func partitionsOf(a, b record.Floor) []record.TopicPartition {
	all := make(map[record.TopicPartition]bool)
	for _, f := range []record.Floor{a, b} {
		for topic, t := range f {
			for p := range t.Next {
				all[record.TopicPartition{Topic: topic, Partition: p}] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(all), record.TopicPartition.Compare)
}

// offsetIn is the floor of a partition, or -1.
func offsetIn(f record.Floor, tp record.TopicPartition) int64 {
	if n, ok := f.Next(tp); ok {
		return n
	}
	return -1
}

// span is offsets [from, to) that a snapshot committed.
type span struct{ from, to, snapshot int64 }

// spans are in order and do not overlap.
type spans []span

// add puts in what is not covered yet, and returns what is, by whom. It takes over the receiver.
func (s spans) add(x span) (spans, []span) {
	i, _ := slices.BinarySearchFunc(s, x.from, func(y span, from int64) int { return cmp.Compare(y.to, from+1) })
	var overlaps []span
	for x.from < x.to {
		if i == len(s) || s[i].from >= x.to {
			return slices.Insert(s, i, x), overlaps
		}
		if x.from < s[i].from {
			s = slices.Insert(s, i, span{x.from, s[i].from, x.snapshot})
			i++
		}
		end := min(s[i].to, x.to)
		overlaps = append(overlaps, span{max(x.from, s[i].from), end, s[i].snapshot})
		x.from = end
		i++
	}
	return s, overlaps
}
