package table

import (
	"slices"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
)

// goneOf is the ids of the snapshots that go from a table of 10 in a line, an hour after they were made.
func goneOf(t *testing.T, h history, p ExpirePolicy, change func(b *icebergtable.MetadataBuilder) error) []int64 {
	t.Helper()
	h.last = 10
	if h.head == 0 {
		h.head = 10
	}
	b, err := icebergtable.MetadataBuilderFromBase(h.metadata(t), "")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		if err := change(b); err != nil {
			t.Fatal(err)
		}
	}
	m, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return planExpiry(m, p, time.Now().Add(time.Hour)).ids()
}

func TestPlanExpiry(t *testing.T) {
	properties := func(key, value string) func(*icebergtable.MetadataBuilder) error {
		return func(b *icebergtable.MetadataBuilder) error {
			return b.SetProperties(iceberg.Properties{key: value})
		}
	}
	ref := func(name string, id int64, kind icebergtable.RefType) func(*icebergtable.MetadataBuilder) error {
		return func(b *icebergtable.MetadataBuilder) error { return b.SetSnapshotRef(name, id, kind) }
	}
	const number, age = icebergtable.MinSnapshotsToKeepKey, icebergtable.MaxSnapshotAgeMsKey
	old3 := ExpirePolicy{SnapshotsMax: 3, OlderThan: time.Minute}
	keep3 := ExpirePolicy{SnapshotsMax: 3}
	const forever = "9223372036854775807" // as others write it
	upTo7 := []int64{1, 2, 3, 4, 5, 6, 7}
	for name, c := range map[string]struct {
		history
		policy ExpirePolicy
		change func(*icebergtable.MetadataBuilder) error
		want   []int64
	}{
		"by number":            {policy: keep3, want: upTo7},
		"all are young":        {policy: ExpirePolicy{SnapshotsMax: 3, OlderThan: 2 * time.Hour}, want: []int64{}},
		"all are old enough":   {policy: old3, want: upTo7},
		"table keeps a number": {policy: keep3, change: properties(number, "9"), want: []int64{1}},
		"table keeps fewer":    {policy: keep3, change: properties(number, "1"), want: upTo7},
		"table keeps for ever": {policy: keep3, change: properties(age, forever), want: []int64{}},
		"table keeps a minute": {policy: keep3, change: properties(age, "60000"), want: upTo7},
		"a tag":                {policy: keep3, change: ref("tag", 4, icebergtable.TagRef), want: []int64{1, 2, 3, 5, 6, 7}},
		"a branch":             {policy: keep3, change: ref("branch", 4, icebergtable.BranchRef), want: []int64{5, 6, 7}},
		"rolled back":          {history: history{head: 5}, policy: keep3, want: []int64{1, 2}},
		"rolled back long ago": {history: history{head: 5}, policy: old3, want: []int64{1, 2, 6, 7, 8, 9, 10}},
		"main's own retention": {policy: keep3, change: func(b *icebergtable.MetadataBuilder) error {
			return b.SetSnapshotRef(mainBranch, 10, icebergtable.BranchRef, icebergtable.WithMinSnapshotsToKeep(8))
		}, want: []int64{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			got := goneOf(t, c.history, c.policy, c.change)
			slices.Sort(got)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("go (-want +got):\n%s", d)
			}
		})
	}
}

// The floor of a job whose snapshot goes is copied; the one that cannot be read keeps its snapshot.
func TestPlanExpiryFloors(t *testing.T) {
	h := history{last: 10, head: 10, floors: map[int64]int64{2: 20, 4: 40}}
	m := h.metadata(t)
	e := planExpiry(m, ExpirePolicy{SnapshotsMax: 3}, time.Now().Add(time.Hour))
	want := iceberg.Properties{offsetsKey("job"): jsonText(mirror{
		Table: m.TableUUID().String(), Floor: floorAt(40), Snapshot: 4, Sequence: 4,
	})}
	if d := cmp.Diff(want, e.mirrors(m.TableUUID().String())); d != "" {
		t.Errorf("properties (-want +got):\n%s", d)
	}
	e = planExpiry(m, ExpirePolicy{SnapshotsMax: 8}, time.Now().Add(time.Hour))
	if got := e.mirrors(m.TableUUID().String()); len(e.gone) != 2 || len(got) != 0 {
		t.Errorf("%v go, and the properties are %v", e.ids(), got)
	}
}

func TestPlanExpiryUnreadableFloor(t *testing.T) {
	got := goneOf(t, history{}, ExpirePolicy{SnapshotsMax: 3}, func(b *icebergtable.MetadataBuilder) error {
		for id := int64(11); id < 15; id++ {
			s := &icebergtable.Snapshot{
				SnapshotID: id, SequenceNumber: id, TimestampMs: time.Now().UnixMilli() + 1000, ParentSnapshotID: new(id - 1),
				Summary: &icebergtable.Summary{Operation: icebergtable.OpAppend, Properties: map[string]string{}},
			}
			if id == 11 {
				s.Summary.Properties[offsetsKey("other")] = "{"
			}
			if err := b.AddSnapshot(s); err != nil {
				return err
			}
		}
		return b.SetSnapshotRef(mainBranch, 14, icebergtable.BranchRef)
	})
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(got, want) {
		t.Errorf("%v go, want %v", got, want)
	}
}

// An expiry that lost to a commit is sent again where nothing about it has changed.
func TestExpiryOnTop(t *testing.T) {
	m := history{last: 10, head: 10}.metadata(t)
	e := planExpiry(m, ExpirePolicy{SnapshotsMax: 3}, time.Now().Add(time.Hour))
	next := func(change func(b *icebergtable.MetadataBuilder) error) icebergtable.Metadata {
		b, err := icebergtable.MetadataBuilderFromBase(m, "")
		if err == nil {
			err = change(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		built, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return built
	}
	remove := func(id int64) func(b *icebergtable.MetadataBuilder) error {
		return func(b *icebergtable.MetadataBuilder) error { return b.RemoveSnapshots([]int64{id}, false) }
	}
	commit := func(engine string, parent int64) func(b *icebergtable.MetadataBuilder) error {
		return func(b *icebergtable.MetadataBuilder) error {
			return b.AddSnapshot(&icebergtable.Snapshot{
				SnapshotID: 11, SequenceNumber: 11, TimestampMs: time.Now().UnixMilli() + 1000, ParentSnapshotID: &parent,
				Summary: &icebergtable.Summary{
					Operation: icebergtable.OpAppend, Properties: map[string]string{"engine-name": engine},
				},
			})
		}
	}
	for name, c := range map[string]struct {
		change func(b *icebergtable.MetadataBuilder) error
		kept   int // 0: decided anew
	}{
		"nothing":          {func(*icebergtable.MetadataBuilder) error { return nil }, 3},
		"a commit":         {commit("firn", 10), 4},
		"another's commit": {commit("spark", 10), 0},
		"on one that goes": {commit("firn", 5), 0},
		"one is gone":      {remove(1), 0},
		"a tag on one": {func(b *icebergtable.MetadataBuilder) error {
			return b.SetSnapshotRef("tag", 2, icebergtable.TagRef)
		}, 0},
		"a kept one is gone": {remove(8), 2},
	} {
		t.Run(name, func(t *testing.T) {
			got := e.onTop(next(c.change))
			switch {
			case got == nil && c.kept > 0, got != nil && (len(got.kept) != c.kept || !slices.Equal(got.ids(), e.ids())):
				t.Errorf("got %+v", got)
			}
		})
	}
}
