package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

func splitOf(topic string, partition int32, id, cluster string) record.Split {
	return record.Split{
		TopicPartition: record.TopicPartition{Topic: topic, Partition: partition},
		Identity:       record.Identity{TopicID: id, ClusterID: cluster}, Earliest: 3, LastStable: 9, HighWatermark: 9,
	}
}

func TestPlan(t *testing.T) {
	was := record.Identity{TopicID: "1", ClusterID: "c"}
	floor := record.Floor{"a": {Identity: was, Next: map[int32]int64{0: 5, 1: 7}}}
	a := func(p int32) record.TopicPartition { return record.TopicPartition{Topic: "a", Partition: p} }
	for _, c := range []struct {
		name   string
		splits []record.Split
		want   plan
	}{
		{"as before", []record.Split{splitOf("a", 0, "1", "c"), splitOf("a", 1, "1", "c")}, plan{}},
		{"one without a leader", []record.Split{splitOf("a", 1, "1", "c")}, plan{}},
		{"nothing there", nil, plan{missing: []string{"a"}}},
		{"a partition more", []record.Split{splitOf("a", 0, "1", "c"), splitOf("a", 2, "1", "c")},
			plan{fresh: []record.TopicPartition{a(2)}, added: []record.TopicPartition{a(2)}}},
		{"made again, one without a leader", []record.Split{splitOf("a", 1, "2", "c")},
			plan{
				fresh: []record.TopicPartition{a(1)}, added: []record.TopicPartition{a(1)},
				restarts: []restart{{"a", was, record.Identity{TopicID: "2", ClusterID: "c"}}},
			}},
		{"another cluster", []record.Split{splitOf("a", 1, "1", "d")},
			plan{
				fresh:    []record.TopicPartition{a(1)},
				restarts: []restart{{"a", was, record.Identity{TopicID: "1", ClusterID: "d"}}},
			}},
		{"a topic more", []record.Split{splitOf("a", 0, "1", "c"), splitOf("b", 0, "3", "c")},
			plan{fresh: []record.TopicPartition{{Topic: "b"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, newPlan(floor, c.splits), cmp.AllowUnexported(plan{}, restart{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// The floor of a topic that was made again holds nothing of the old one, partitions without a leader included.
func TestStartsOfATopicThatWasMadeAgain(t *testing.T) {
	floor := record.Floor{"a": {
		Identity: record.Identity{TopicID: "1", ClusterID: "c"}, Next: map[int32]int64{0: 5, 1: 7},
	}}
	splits := []record.Split{splitOf("a", 1, "2", "c")}
	next := withStarts(floor, splits, map[record.TopicPartition]int64{{Topic: "a", Partition: 1}: 3})
	want := record.Floor{"a": {Identity: record.Identity{TopicID: "2", ClusterID: "c"}, Next: map[int32]int64{1: 3}}}
	if d := cmp.Diff(want, next); d != "" {
		t.Error(d)
	}
	if floor["a"].TopicID != "1" || len(floor["a"].Next) != 2 {
		t.Errorf("the floor itself was changed: %v", floor)
	}
}
