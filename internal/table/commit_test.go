package table

import (
	"strconv"
	"testing"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCommit(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		k := committer(t, c, o.ident)
		a, b := flush(table, 0, 10), flush(table, 10, 25)
		out := commit(t, k, a, b)
		want := Outcome{Floor: floorAt(25), Committed: ids(a, b), Attempts: 1}
		if diff := cmp.Diff(want, out, cmpopts.IgnoreFields(Outcome{}, "SnapshotID")); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(floorAt(25), floorOf(t, committer(t, o.again(t), o.ident))); diff != "" {
			t.Errorf("floor that another process reads (-want +got):\n%s", diff)
		}
		if got := rows(t, c, o.ident); got != 25 {
			t.Errorf("%d rows, want 25", got)
		}
		checkSummary(t, c, o.ident, out.SnapshotID, a, b)
	})
}

// checkSummary holds the snapshot and the mirror to the format that other programs may read.
func checkSummary(t *testing.T, c *Catalog, ident string, snapshot int64, a, b record.Sealed) {
	t.Helper()
	table, err := c.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	head := table.inner.CurrentSnapshot()
	if head.SnapshotID != snapshot {
		t.Errorf("head is %d, outcome names %d", head.SnapshotID, snapshot)
	}
	for key, want := range map[string]string{
		"firn.job.offsets": `{"events":{"cluster":"cluster","topic_id":"topic-1","next":{"0":25}}}`,
		"firn.job.ranges":  `{"events":{"0":[[0,25]]}}`,
		"firn.job.counts":  `{"rows":25,"rejected":0,"tombstones":0,"holes":0,"expired":0}`,
		"firn.job.sealed":  a.ID + "," + b.ID,
		"engine-name":      "firn",
	} {
		if got := summary(head, key); got != want {
			t.Errorf("summary %s is %s, want %s", key, got, want)
		}
	}
	want := `{"table":"` + table.UUID() + `","floor":` + summary(head, "firn.job.offsets") +
		`,"snapshot":` + strconv.FormatInt(head.SnapshotID, 10) + `,"sequence":2}`
	if got := table.Property("firn.job.offsets"); got != want {
		t.Errorf("mirror is %s, want %s", got, want)
	}
}

// C01, C02, C08, C13: what is in the table already, by whatever process, does not come in again.
func TestCommitAgain(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		a, b := flush(table, 0, 10), flush(table, 10, 25)
		first := commit(t, committer(t, c, o.ident), a)
		out := commit(t, committer(t, o.again(t), o.ident), a, b)
		if diff := cmp.Diff(ids(a, b), out.Committed); diff != "" {
			t.Errorf("committed (-want +got):\n%s", diff)
		}
		out = commit(t, committer(t, o.again(t), o.ident), a)
		want := Outcome{SnapshotID: first.SnapshotID, Floor: floorAt(25), Committed: ids(a)}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("committing only what is there (-want +got):\n%s", diff)
		}
		if got := rows(t, c, o.ident); got != 25 {
			t.Errorf("%d rows, want 25", got)
		}
	})
}

// C03, C14, C34: a zombie that wrote the same range again, under other file names, is rejected, as is one that would
// leave a gap.
func TestCommitRejects(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		commit(t, committer(t, c, o.ident), flush(table, 0, 10))
		zombie, overlap, gap := flush(table, 0, 10), flush(table, 5, 15), flush(table, 11, 20)
		out := commit(t, committer(t, o.again(t), o.ident), zombie, overlap, gap)
		want := Outcome{Floor: floorAt(10), Rejected: ids(zombie, overlap, gap)}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		if got := rows(t, c, o.ident); got != 10 {
			t.Errorf("%d rows, want 10", got)
		}
	})
}

// Offsets that hold no row, such as dead letters, move the floor in a snapshot without files (C30).
func TestCommitWithoutFiles(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		k := committer(t, c, o.ident)
		empty := flush(table, 0, 10)
		empty.Files, empty.Counts = nil, record.Counts{Tombstones: 10}
		for i, s := range []record.Sealed{empty, flush(table, 10, 20)} {
			if out := commit(t, k, s); out.SnapshotID == 0 || len(out.Committed) != 1 {
				t.Errorf("commit %d: %+v", i, out)
			}
		}
		again := flush(table, 20, 30)
		again.Files, again.Counts = nil, record.Counts{Tombstones: 10}
		commit(t, k, again)
		if diff := cmp.Diff(floorAt(30), floorOf(t, committer(t, o.again(t), o.ident))); diff != "" {
			t.Errorf("floor (-want +got):\n%s", diff)
		}
		fresh, err := c.Load(t.Context(), o.ident)
		if err != nil {
			t.Fatal(err)
		}
		if p := fresh.Property("schema.name-mapping.default"); p != "" {
			t.Errorf("the table got a name mapping: %s", p)
		}
		if got := rows(t, c, o.ident); got != 10 {
			t.Errorf("%d rows, want 10", got)
		}
	})
}

// C17, C78: a topic that was made anew starts another range of offsets, once the floor says so.
func TestCommitRecreatedTopic(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	k := committer(t, c, "db.events")
	commit(t, k, flush(table, 0, 10))
	again := record.Identity{ClusterID: "cluster", TopicID: "topic-2"}
	second := flush(table, 0, 4)
	second.Topics[0].Identity = again
	if out := commit(t, k, second); len(out.Rejected) != 1 {
		t.Errorf("of another topic, before the floor changed: %+v", out)
	}
	setFloor(t, k, record.Floor{"events": {Identity: again, Next: map[int32]int64{0: 0}}})
	out := commit(t, k, second, flush(table, 10, 20))
	want := record.Floor{"events": {Identity: again, Next: map[int32]int64{0: 4}}}
	if diff := cmp.Diff(want, out.Floor); diff != "" {
		t.Errorf("floor (-want +got):\n%s", diff)
	}
	if got := rows(t, c, "db.events"); got != 14 {
		t.Errorf("%d rows, want 14", got)
	}
}

// C09: a flush written before the partitioning changed still fits: its files stay under the spec that they were written
// for.
func TestCommitOldSpec(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		old, err := startTable(t, c, o.ident).Refresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before := flush(old, 0, 10)
		tx := old.inner.NewTransaction()
		err = tx.UpdateSpec(true).AddField("id", iceberg.BucketTransform{NumBuckets: 4}, "id_bucket").Commit()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		table, err := old.Refresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(table.Partition()) != 1 || table.SpecID() == old.SpecID() {
			t.Fatalf("spec %d with %v", table.SpecID(), table.Partition())
		}
		after := flush(table, 10, 20)
		after.Files[0].Partition = []record.PartitionValue{value(table.Partition()[0], int32(3))}
		commit(t, committer(t, c, o.ident), before, after)
		if got := rows(t, c, o.ident); got != 20 {
			t.Errorf("%d rows, want 20", got)
		}
	})
}

func TestCommitBadInput(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	for name, spoil := range map[string]func(*record.Sealed){
		"no id":            func(s *record.Sealed) { s.ID = "" },
		"comma in the id":  func(s *record.Sealed) { s.ID = "a,b" },
		"no range":         func(s *record.Sealed) { s.Ranges = nil },
		"empty range":      func(s *record.Sealed) { s.Ranges[0].To = s.Ranges[0].From },
		"negative offset":  func(s *record.Sealed) { s.Ranges[0].From = -1 },
		"no path":          func(s *record.Sealed) { s.Files[0].Path = "" },
		"no rows":          func(s *record.Sealed) { s.Files[0].Rows = 0 },
		"unknown spec":     func(s *record.Sealed) { s.Files[0].SpecID = 7 },
		"partition values": func(s *record.Sealed) { s.Files[0].Partition = make([]record.PartitionValue, 1) },
		"file twice":       func(s *record.Sealed) { s.Files = append(s.Files, s.Files[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			s := flush(table, 0, 10)
			spoil(&s)
			if out, err := committer(t, c, "db.events").Commit(t.Context(), []record.Sealed{s}); err == nil {
				t.Errorf("committed: %+v", out)
			}
		})
	}
	if got := rows(t, c, "db.events"); got != 0 {
		t.Errorf("%d rows, want none", got)
	}
}

// A fold that breaks its promise is stopped before it does harm (invariant: positions never move back).
func TestCommitBadFold(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	commit(t, committer(t, c, "db.events"), flush(table, 0, 10))
	for name, bad := range map[string]Fold{
		"moves back":   func(record.Floor, []record.Sealed) (record.Floor, []int) { return floorAt(5), []int{0} },
		"forgets":      func(record.Floor, []record.Sealed) (record.Floor, []int) { return record.Floor{}, []int{0} },
		"out of range": func(f record.Floor, _ []record.Sealed) (record.Floor, []int) { return f, []int{1} },
		"twice":        func(f record.Floor, _ []record.Sealed) (record.Floor, []int) { return f, []int{0, 0} },
	} {
		t.Run(name, func(t *testing.T) {
			k, err := NewCommitter(c, "db.events", "job", CommitterOptions{Fold: bad})
			if err != nil {
				t.Fatal(err)
			}
			if out, err := k.Commit(t.Context(), []record.Sealed{flush(table, 0, 5)}); err == nil {
				t.Errorf("committed: %+v", out)
			}
		})
	}
}
