package record

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func floorOf(id string, next map[int32]int64) Floor {
	return Floor{"a": {Identity: Identity{ClusterID: "c", TopicID: id}, Next: next}}
}

func TestFloorsAreEqualWhenTheyAreTheSamePosition(t *testing.T) {
	one := floorOf("1", map[int32]int64{0: 5})
	for _, c := range []struct {
		name  string
		other Floor
		want  bool
	}{
		{"itself", floorOf("1", map[int32]int64{0: 5}), true},
		{"another offset", floorOf("1", map[int32]int64{0: 6}), false},
		{"another partition", floorOf("1", map[int32]int64{1: 5}), false},
		{"one partition more", floorOf("1", map[int32]int64{0: 5, 1: 0}), false},
		{"another incarnation", floorOf("2", map[int32]int64{0: 5}), false},
		{"nothing", nil, false},
	} {
		if one.Equal(c.other) != c.want || c.other.Equal(one) != c.want {
			t.Errorf("%s: equal is not %t both ways", c.name, c.want)
		}
	}
	if !(Floor{}).Equal(nil) {
		t.Error("an empty floor is not the one of nothing")
	}
}

func TestCloneSharesNothing(t *testing.T) {
	one := floorOf("1", map[int32]int64{0: 5})
	two := one.Clone()
	two["a"].Next[0] = 9
	two["b"] = TopicFloor{}
	if d := cmp.Diff(floorOf("1", map[int32]int64{0: 5}), one); d != "" {
		t.Errorf("the original was changed: %s", d)
	}
	floorOf("1", nil).Clone()["a"].Next[0] = 1 // a clone can be written to
	if next, ok := one.Next(TopicPartition{Topic: "a"}); next != 5 || !ok {
		t.Errorf("next %d, %t", next, ok)
	}
	if _, ok := one.Next(TopicPartition{Topic: "b"}); ok {
		t.Error("a topic that was never read has a floor")
	}
}

func TestOrderOfTopicPartitions(t *testing.T) {
	want := []TopicPartition{{"a", 0}, {"a", 2}, {"a", 10}, {"b", 1}}
	got := []TopicPartition{want[3], want[2], want[0], want[1]}
	slices.SortFunc(got, TopicPartition.Compare)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if text := want[2].String(); text != "a/10" {
		t.Error(text)
	}
}

func TestCountsAddUp(t *testing.T) {
	one, two := Counts{1, 2, 3, 4, 5}, Counts{10, 20, 30, 40, 50}
	if sum := one.Add(two); sum != (Counts{11, 22, 33, 44, 55}) || sum.Offsets() != 165 {
		t.Errorf("%+v, %d offsets", sum, sum.Offsets())
	}
}

func TestEventTimesAreRuns(t *testing.T) {
	var e EventTimes
	for _, at := range []int64{7, 7, 7, 3, 7} {
		e = e.Append(at, 2)
	}
	if d := cmp.Diff(EventTimes{{7, 6}, {3, 2}, {7, 2}}, e); d != "" {
		t.Error(d)
	}
}
