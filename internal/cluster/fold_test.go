package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

var (
	here  = record.Identity{ClusterID: "c1", TopicID: "t1"}
	again = record.Identity{ClusterID: "c1", TopicID: "t2"}
)

func rng(p int32, from, to int64) record.Range {
	return record.Range{TopicPartition: record.TopicPartition{Topic: "orders", Partition: p}, From: from, To: to}
}

func sealed(id record.Identity, ranges ...record.Range) record.Sealed {
	return record.Sealed{Topics: []record.TopicMark{{Topic: "orders", Identity: id}}, Ranges: ranges}
}

func floorAt(id record.Identity, next map[int32]int64) record.Floor {
	return record.Floor{"orders": {Identity: id, Next: next}}
}

func TestFold(t *testing.T) {
	f := func(name string, floor record.Floor, in []record.Sealed, want record.Floor, accepted ...int) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			before := floor.Clone()
			next, got := Fold(floor, in)
			if d := cmp.Diff(accepted, got); d != "" {
				t.Errorf("accepted: %s", d)
			}
			if d := cmp.Diff(want, next); d != "" {
				t.Errorf("next: %s", d)
			}
			if d := cmp.Diff(before, floor); d != "" {
				t.Errorf("the floor given was changed: %s", d)
			}
		})
	}
	at := floorAt(here, map[int32]int64{0: 10, 1: 5})
	f("tiles", at, []record.Sealed{sealed(here, rng(0, 10, 20)), sealed(here, rng(0, 20, 25), rng(1, 5, 6))},
		floorAt(here, map[int32]int64{0: 25, 1: 6}), 0, 1)
	f("duplicate", at, []record.Sealed{sealed(here, rng(0, 10, 20)), sealed(here, rng(0, 10, 20))}, // C01
		floorAt(here, map[int32]int64{0: 20, 1: 5}), 0)
	f("gap", at, []record.Sealed{sealed(here, rng(0, 11, 20))}, at)
	f("overlap rejects the whole", at, []record.Sealed{sealed(here, rng(1, 5, 9), rng(0, 9, 20))}, at)
	f("what follows a rejected one is still taken", at,
		[]record.Sealed{sealed(here, rng(0, 9, 20)), sealed(here, rng(1, 5, 9))},
		floorAt(here, map[int32]int64{0: 10, 1: 9}), 1)
	f("partition never read", at, []record.Sealed{sealed(here, rng(7, 0, 120))}, at)
	f("topic never read", record.Floor{}, []record.Sealed{sealed(here, rng(0, 0, 4))}, record.Floor{})
	f("topic made again", at, []record.Sealed{sealed(again, rng(0, 10, 14))}, at) // C17, C78
	f("old incarnation after the new one", floorAt(again, map[int32]int64{0: 4}),
		[]record.Sealed{sealed(here, rng(0, 4, 9))}, floorAt(again, map[int32]int64{0: 4}))
	f("one partition twice", at, []record.Sealed{sealed(here, rng(0, 10, 12), rng(0, 12, 14))}, at)
	f("backwards", at, []record.Sealed{sealed(here, rng(0, 10, 9))}, at)
	// These would fit twice: what makes a duplicate known is that the floor moves over its ranges.
	f("an empty range", at, []record.Sealed{sealed(here, rng(0, 10, 10))}, at)
	f("an empty range beside another", at, []record.Sealed{sealed(here, rng(0, 10, 10), rng(1, 5, 9))}, at)
	f("no range", at, []record.Sealed{sealed(here), {}}, at)
	f("range of an unmarked topic", at, []record.Sealed{{Ranges: []record.Range{rng(0, 10, 12)}}}, at)
}
