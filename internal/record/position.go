package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// TopicPartition names a partition of a Kafka topic (and, for other sources, their unit of ordered reading).
type TopicPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

func (tp TopicPartition) String() string { return fmt.Sprintf("%s/%d", tp.Topic, tp.Partition) }

// Compare orders by topic, then partition.
func (tp TopicPartition) Compare(o TopicPartition) int {
	return cmp.Or(cmp.Compare(tp.Topic, o.Topic), cmp.Compare(tp.Partition, o.Partition))
}

// Range is the offsets [From, To) of a topic partition.
type Range struct {
	TopicPartition
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Len is the number of offsets, which is at least the number of records.
func (r Range) Len() int64 { return r.To - r.From }

// Identity tells a source apart from another with the same names, so that a re-created topic or another cluster whose
// offsets start again is never mistaken for the old one (cases C17, C78).
type Identity struct {
	ClusterID string `json:"cluster"`
	TopicID   string `json:"topic_id"` // a UUID; empty when the broker has none (before Kafka 2.8)
}

// TopicFloor is where one topic stands.
type TopicFloor struct {
	Identity
	Next map[int32]int64 `json:"next"` // partition -> next offset that is not in the table
}

// Floor is the position of a whole source: topic -> where it stands. It is the next offset not in the table, for each
// partition known; a partition that is not in it was never read. A Floor is a value to be cloned, not shared.
type Floor map[string]TopicFloor

// Next is the floor of one topic partition, or false when it was never read.
func (f Floor) Next(tp TopicPartition) (int64, bool) {
	n, ok := f[tp.Topic].Next[tp.Partition]
	return n, ok
}

// Partitions are the topic partitions of the floor, in order.
func (f Floor) Partitions() []TopicPartition {
	var all []TopicPartition
	for topic, t := range f {
		for p := range t.Next {
			all = append(all, TopicPartition{topic, p})
		}
	}
	slices.SortFunc(all, TopicPartition.Compare)
	return all
}

// Equal tells whether two floors are the same position of the same source.
func (f Floor) Equal(o Floor) bool {
	return maps.EqualFunc(f, o, func(a, b TopicFloor) bool {
		return a.Identity == b.Identity && maps.Equal(a.Next, b.Next)
	})
}

// Clone is a deep copy.
func (f Floor) Clone() Floor {
	c := make(Floor, len(f))
	for topic, t := range f {
		next := maps.Clone(t.Next)
		if next == nil {
			next = map[int32]int64{}
		}
		c[topic] = TopicFloor{Identity: t.Identity, Next: next}
	}
	return c
}

// Split is one topic partition that a source offers, with the bounds of its log at the time of asking.
type Split struct {
	TopicPartition
	Identity
	Earliest      int64 // first offset still kept
	LastStable    int64 // end for a read-committed reader
	HighWatermark int64 // end of the log
}
