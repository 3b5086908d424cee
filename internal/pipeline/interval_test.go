package pipeline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

func rangeOf(topic string, partition int32, from, to int64) record.Range {
	return record.Range{TopicPartition: record.TopicPartition{Topic: topic, Partition: partition}, From: from, To: to}
}

func intervalOf(counts record.Counts, ranges ...record.Range) *interval {
	v := newInterval()
	for _, r := range ranges {
		v.add(&record.Block{TopicPartition: r.TopicPartition, Range: r}, record.Counts{}, nil)
	}
	v.counts = counts
	return v
}

func TestJoinedOrdersAndJoinsRanges(t *testing.T) {
	v := intervalOf(record.Counts{Rows: 10, Rejected: 1, Tombstones: 1, Holes: 1, Expired: 2},
		rangeOf("b", 0, 7, 9), rangeOf("a", 1, 5, 9), rangeOf("a", 0, 0, 2), rangeOf("a", 1, 9, 10), rangeOf("a", 1, 0, 5),
		rangeOf("a", 1, 10, 11))
	got, err := v.joined()
	want := []record.Range{rangeOf("a", 0, 0, 2), rangeOf("a", 1, 0, 11), rangeOf("b", 0, 7, 9)}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
}

// Invariant 4: whatever does not add up must not be committed.
func TestJoinedRefusesWhatDoesNotAddUp(t *testing.T) {
	f := func(name string, v *interval, want string) {
		t.Run(name, func(t *testing.T) {
			if _, err := v.joined(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	f("a gap", intervalOf(record.Counts{Rows: 4}, rangeOf("a", 0, 0, 2), rangeOf("a", 0, 3, 5)),
		"a/0: a block ends at offset 2 and the next begins at 3")
	f("an overlap", intervalOf(record.Counts{Rows: 4}, rangeOf("a", 0, 2, 4), rangeOf("a", 0, 1, 3)),
		"a/0: a block ends at offset 3 and the next begins at 2")
	f("twice the same", intervalOf(record.Counts{Rows: 4}, rangeOf("a", 0, 2, 4), rangeOf("a", 0, 2, 4)),
		"a/0: a block ends at offset 4 and the next begins at 2")
	f("a record that is missing", intervalOf(record.Counts{Rows: 1}, rangeOf("a", 0, 0, 2)),
		"2 offsets were read and 1 are accounted for")
	f("a record too many", intervalOf(record.Counts{Rows: 2, Holes: 1}, rangeOf("a", 0, 0, 2)),
		"2 offsets were read and 3 are accounted for")
}
