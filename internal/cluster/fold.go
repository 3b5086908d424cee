package cluster

import "firn/internal/record"

// Fold walks the sealed in order from the floor and says which may be committed: a Sealed is accepted if and only if
// it has ranges, none is empty, and each starts exactly where its topic partition stands; it is then folded in.
// Anything else (a duplicate, an overlap by a replica that was thought dead, a gap) is rejected whole. It returns the
// position after all accepted ones and their indexes.
//
// It is deterministic and pure: from the same floor and the same sealed every replica computes the same, so that
// neither a barrier nor a clock is needed. With the commit being a compare-and-swap on the table's head it follows
// that the table holds each offset below the floor exactly once: every commit's ranges start at the floor of the head
// that it replaces, tile, and end at the floor that it sets in the same swap.
func Fold(floor record.Floor, sealed []record.Sealed) (next record.Floor, accepted []int) {
	next = floor.Clone()
	for i := range sealed {
		if fits(next, &sealed[i]) {
			advance(next, &sealed[i])
			accepted = append(accepted, i)
		}
	}
	return next, accepted
}

// fits tells whether the Sealed starts exactly at the floor in all its topic partitions. A partition without a floor
// fits nothing: where it begins must be recorded first (Committer.Init), or a late message of a replica that crashed
// could be taken for the beginning.
func fits(floor record.Floor, s *record.Sealed) bool {
	marked := make(map[string]bool, len(s.Topics))
	for _, m := range s.Topics {
		if at, known := floor[m.Topic]; !known || at.Identity != m.Identity {
			return false // another incarnation of the topic: its offsets mean other records
		}
		marked[m.Topic] = true
	}
	seen := make(map[record.TopicPartition]bool, len(s.Ranges))
	for _, r := range s.Ranges {
		at, known := floor.Next(r.TopicPartition)
		if !marked[r.Topic] || seen[r.TopicPartition] || !known || at != r.From || r.To <= r.From {
			return false
		}
		seen[r.TopicPartition] = true
	}
	return len(s.Ranges) > 0 // without one the floor does not move, and a duplicate would fit again
}

// advance moves the floor over the ranges of a Sealed that fits.
func advance(floor record.Floor, s *record.Sealed) {
	for _, r := range s.Ranges {
		floor[r.Topic].Next[r.Partition] = r.To
	}
}
