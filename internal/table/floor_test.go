package table

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
)

func TestFloorOfNewTable(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		createTable(t, c, o.ident)
		if got := floorOf(t, committer(t, c, o.ident)); got == nil || len(got) != 0 {
			t.Errorf("floor %v, want an empty one", got)
		}
	})
}

// C03, C18: where a job begins is kept before anything is committed, and can be set.
func TestSetFloor(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		createTable(t, c, o.ident)
		k := committer(t, c, o.ident)
		for _, at := range []int64{100, 7, 100} {
			setFloor(t, k, floorAt(at))
			if diff := cmp.Diff(floorAt(at), floorOf(t, committer(t, o.again(t), o.ident))); diff != "" {
				t.Errorf("floor (-want +got):\n%s", diff)
			}
		}
		head := headID(t, c, o.ident)
		setFloor(t, k, floorAt(100))
		if got := headID(t, c, o.ident); got != head {
			t.Error("setting the floor to what it is made a snapshot")
		}
		_, err := k.SetFloor(t.Context(), func(record.Floor) (record.Floor, error) { return floorAt(-1), nil })
		if err == nil {
			t.Error("a negative offset was accepted")
		}
	})
}

// C27: a set floor does not overwrite what another process committed meanwhile.
func TestSetFloorConflict(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	var seen []record.Floor
	floor, err := committer(t, c, "db.events").SetFloor(t.Context(), func(f record.Floor) (record.Floor, error) {
		if seen = append(seen, f.Clone()); len(seen) == 1 {
			commit(t, committer(t, c, "db.events"), flush(table, 0, 10))
		}
		f["events"].Next[1] = 5
		return f, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]record.Floor{floorAt(0), floorAt(10)}, seen); diff != "" {
		t.Errorf("floors that change was given (-want +got):\n%s", diff)
	}
	want := record.Floor{"events": {Identity: source, Next: map[int32]int64{0: 10, 1: 5}}}
	if diff := cmp.Diff(want, floor); diff != "" {
		t.Errorf("floor (-want +got):\n%s", diff)
	}
}

func headID(t *testing.T, c *Catalog, ident string) int64 {
	t.Helper()
	table, err := c.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	return table.inner.CurrentSnapshot().SnapshotID
}

// C10: the table is rolled back by its operator. What was taken out is read again, and the log says so.
func TestFloorAfterRollback(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		running := committer(t, c, o.ident)
		first := commit(t, running, flush(table, 0, 10))
		commit(t, running, flush(table, 10, 20))
		rollback(t, c, o.ident, first.SnapshotID)
		for name, k := range map[string]*Committer{"running": running, "new": committer(t, o.again(t), o.ident)} {
			var log bytes.Buffer
			k.log = slog.New(slog.NewTextHandler(&log, nil))
			if diff := cmp.Diff(floorAt(10), floorOf(t, k)); diff != "" {
				t.Errorf("%s: floor (-want +got):\n%s", name, diff)
			}
			floorOf(t, k)
			if n := strings.Count(log.String(), "rolled back"); n != 1 {
				t.Errorf("%s: %d warnings, want 1:\n%s", name, n, log.String())
			}
		}
		again := flush(table, 10, 20)
		if out := commit(t, running, flush(table, 20, 30), again); len(out.Committed) != 1 {
			t.Errorf("after the rollback: %+v", out)
		}
		if got := rows(t, c, o.ident); got != 20 {
			t.Errorf("%d rows, want 20", got)
		}
	})
}

func rollback(t *testing.T, c *Catalog, ident string, snapshot int64) {
	t.Helper()
	table, err := c.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	tx := table.inner.NewTransaction()
	if err := tx.RollbackToSnapshot(snapshot); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// C02: foreign snapshots on top, and the one with the floor has expired: the mirror has it.
func TestFloorAfterExpiry(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		commit(t, committer(t, c, o.ident), flush(table, 0, 10))
		foreignAppend(t, c, o.ident, 5)
		if diff := cmp.Diff(floorAt(10), floorOf(t, committer(t, c, o.ident))); diff != "" {
			t.Errorf("floor under a foreign snapshot (-want +got):\n%s", diff)
		}
		expire(t, c, o.ident)
		k := committer(t, o.again(t), o.ident)
		if diff := cmp.Diff(floorAt(10), floorOf(t, k)); diff != "" {
			t.Errorf("floor after expiry (-want +got):\n%s", diff)
		}
		if out := commit(t, k, flush(table, 0, 10), flush(table, 10, 20)); len(out.Committed) != 1 {
			t.Errorf("after expiry: %+v", out)
		}
		if got := rows(t, c, o.ident); got != 25 {
			t.Errorf("%d rows, want 25", got)
		}
	})
}

// expire drops all snapshots but the head.
func expire(t *testing.T, c *Catalog, ident string) {
	t.Helper()
	table, err := c.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	tx := table.inner.NewTransaction()
	if err := tx.ExpireSnapshots(icebergtable.WithRetainLast(1), icebergtable.WithOlderThan(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh, err := table.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(fresh.inner.Metadata().Snapshots()); n != 1 {
		t.Fatalf("%d snapshots are left, want 1", n)
	}
}

// history is table metadata of snapshots 1, 2, ... in one line unless parents says otherwise; floors gives some of
// them the floor of partition 0. The mirror of the last floor is set.
type history struct {
	floors  map[int64]int64
	parents map[int64]int64 // 0: none
	last    int64
	head    int64
	expired []int64
}

func (h history) metadata(t *testing.T) icebergtable.Metadata {
	t.Helper()
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64})
	m, err := icebergtable.NewMetadata(schema, iceberg.UnpartitionedSpec, icebergtable.UnsortedSortOrder, "file:///t",
		iceberg.Properties{"format-version": "2"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := icebergtable.MetadataBuilderFromBase(m, "")
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	for id := int64(1); id <= h.last; id++ {
		s := &icebergtable.Snapshot{
			SnapshotID: id, SequenceNumber: id, TimestampMs: time.Now().UnixMilli() + id,
			Summary: &icebergtable.Summary{Operation: icebergtable.OpAppend, Properties: map[string]string{}},
		}
		parent, ok := h.parents[id]
		if !ok {
			parent = id - 1
		}
		if parent != 0 {
			s.ParentSnapshotID = &parent
		}
		if at, ok := h.floors[id]; ok {
			s.Summary.Properties[offsetsKey("job")] = jsonText(floorAt(at))
			c := mirror{Table: m.TableUUID().String(), Floor: floorAt(at), Snapshot: id, Sequence: id}
			check(b.SetProperties(iceberg.Properties{offsetsKey("job"): jsonText(c)}))
		}
		check(b.AddSnapshot(s))
	}
	check(b.SetSnapshotRef(mainBranch, h.head, icebergtable.BranchRef))
	check(b.RemoveSnapshots(h.expired, false))
	built, err := b.Build()
	check(err)
	return built
}

func TestStand(t *testing.T) {
	cases := map[string]struct {
		history
		floor record.Floor
		lost  record.Floor
		err   error
	}{
		"on the head": {
			history: history{floors: map[int64]int64{1: 10, 2: 20}, last: 2, head: 2}, floor: floorAt(20),
		},
		"under foreign snapshots": {
			history: history{floors: map[int64]int64{1: 10}, last: 3, head: 3}, floor: floorAt(10),
		},
		"no job yet": {
			history: history{last: 2, head: 2}, floor: record.Floor{},
		},
		"holder expired": {
			history: history{floors: map[int64]int64{1: 10}, last: 3, head: 3, expired: []int64{1, 2}}, floor: floorAt(10),
		},
		"rolled back to an older floor": {
			history: history{floors: map[int64]int64{1: 10, 2: 20}, last: 2, head: 1}, floor: floorAt(10), lost: floorAt(20),
		},
		"rolled back to before the job": {
			history: history{floors: map[int64]int64{2: 10}, last: 2, head: 1}, floor: record.Floor{}, lost: floorAt(10),
		},
		"rolled back, then a foreign snapshot": {
			history: history{floors: map[int64]int64{1: 10, 2: 20}, parents: map[int64]int64{3: 1}, last: 3, head: 3},
			floor:   floorAt(10), lost: floorAt(20),
		},
		"rolled back, and what was taken out has expired": {
			history: history{floors: map[int64]int64{1: 10, 2: 20}, last: 2, head: 1, expired: []int64{2}},
			floor:   floorAt(10), lost: floorAt(20),
		},
		"rolled back to before the job, and it has expired": {
			history: history{floors: map[int64]int64{2: 10}, last: 2, head: 1, expired: []int64{2}},
			floor:   record.Floor{}, lost: floorAt(10),
		},
		"rolled back to a foreign snapshot, older ones expired": {
			history: history{floors: map[int64]int64{1: 10, 3: 20}, last: 3, head: 2, expired: []int64{1}},
			err:     ErrFloorUnknown,
		},
		"rolled back, then a foreign snapshot, older ones expired": {
			history: history{
				floors: map[int64]int64{1: 10, 2: 20}, parents: map[int64]int64{3: 1}, last: 3, head: 3, expired: []int64{1},
			},
			err: ErrFloorUnknown,
		},
		"rolled back to a foreign snapshot, all others expired": {
			history: history{floors: map[int64]int64{1: 10, 3: 20}, last: 3, head: 2, expired: []int64{1, 3}},
			err:     ErrFloorUnknown,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := stand(c.metadata(t), "job")
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if diff := cmp.Diff(c.floor, s.floor); diff != "" {
				t.Errorf("floor (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.lost, s.lost); diff != "" {
				t.Errorf("lost (-want +got):\n%s", diff)
			}
		})
	}
}

// C78: a table that was copied with its properties does not inherit the floor of the other.
func TestStandCopiedProperty(t *testing.T) {
	m := history{floors: map[int64]int64{1: 10}, last: 2, head: 2, expired: []int64{1}}.metadata(t)
	b, err := icebergtable.MetadataBuilderFromBase(m, "")
	if err != nil {
		t.Fatal(err)
	}
	c := mirror{Table: "another", Floor: floorAt(10), Snapshot: 1, Sequence: 1}
	if err := b.SetProperties(iceberg.Properties{offsetsKey("job"): jsonText(c)}); err != nil {
		t.Fatal(err)
	}
	copied, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := stand(copied, "job")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.floor) != 0 {
		t.Errorf("floor %v, want an empty one", s.floor)
	}
}

func TestStandBadText(t *testing.T) {
	for _, text := range []string{"{", "null", `{"events":{"next":{"0":-1}}}`, `{"events":{"next":{"x":1}}}`} {
		if f, err := parseFloor(text); err == nil {
			t.Errorf("%s was read as %v", text, f)
		}
	}
}

func FuzzParseFloor(f *testing.F) {
	f.Add(jsonText(floorAt(10)))
	f.Add(`{"events":{"cluster":"c","topic_id":"t","next":{"0":9223372036854775807}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		floor, err := parseFloor(text)
		if err != nil {
			return
		}
		again, err := parseFloor(jsonText(floor))
		if err != nil {
			t.Fatalf("%s was written as %s, which cannot be read: %v", text, jsonText(floor), err)
		}
		if !floor.Equal(again) {
			t.Errorf("%v came back as %v", floor, again)
		}
	})
}
