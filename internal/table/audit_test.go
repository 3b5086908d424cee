package table

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
)

// audited is a table with the floor at 0, ready for commits and for faults.
type audited struct {
	t     *testing.T
	c     *Catalog
	k     *Committer
	ident string
}

func newAudited(t *testing.T) audited {
	t.Helper()
	a := audited{t: t, c: openCatalog(t, sqlConfig(t)), ident: "db.events"}
	startTable(t, a.c, a.ident)
	a.k = committer(t, a.c, a.ident)
	return a
}

func (a audited) table() *Table { return reload(a.t, a.c, a.ident) }

// commit writes and commits ranges of partition 0, each in a snapshot of its own.
func (a audited) commit(offsets ...int64) {
	a.t.Helper()
	for i := 1; i < len(offsets); i++ {
		commit(a.t, a.k, written(a.t, a.table(), offsets[i-1], offsets[i]))
	}
}

// plant commits a flush past the committer, with the summary that it would have written, changed by edit.
func (a audited) plant(s record.Sealed, floor record.Floor, edit func(iceberg.Properties)) {
	a.t.Helper()
	summary := a.k.summary(staged{floor: floor, sealed: []record.Sealed{s}})
	if edit != nil {
		edit(summary)
	}
	plant(a.t, a.c, a.ident, summary, s.Files...)
}

func (a audited) audit(o AuditOptions) AuditReport {
	a.t.Helper()
	r, err := a.table().Audit(a.t.Context(), "job", o)
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

func codes(r AuditReport) string {
	var list []string
	for _, f := range r.Faults {
		list = append(list, f.Code)
	}
	return strings.Join(slices.Compact(list), " ")
}

// C01: a table that nothing is wrong with is proved, and the report says of what.
func TestAudit(t *testing.T) {
	a := newAudited(t)
	a.commit(0, 10, 25)
	mixed := written(t, a.table(), 25, 30)
	mixed.Ranges[0].To = 40
	mixed.Counts = record.Counts{Rows: 5, Rejected: 4, Tombstones: 3, Holes: 2, Expired: 1}
	commit(t, a.k, mixed)
	appendJSON(t, a.c, a.ident, `[{"id": 1000}, {"id": 1001}]`)
	r := a.audit(AuditOptions{Store: true})
	if !r.OK() {
		t.Fatalf("faults: %+v", r.Faults)
	}
	if d := cmp.Diff(SnapshotCounts{Commits: 3, Moves: 1, Foreign: 1}, r.Snapshots); d != "" {
		t.Errorf("snapshots (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]AuditRange{{"events", "cluster", "topic-1", 0, 0, 40}}, r.Ranges); d != "" {
		t.Errorf("ranges (-want +got):\n%s", d)
	}
	if d := cmp.Diff(RowBalance{Job: 30, Foreign: 2, Live: 32}, r.Rows); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if d := cmp.Diff(record.Counts{Rows: 30, Rejected: 4, Tombstones: 3, Holes: 2, Expired: 1}, r.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	if !r.From.Complete || r.Files.Live != 4 || r.Files.InStore != 4 || r.Foreign[0].AddedRows != 2 {
		t.Errorf("from %+v, files %+v, foreign %+v", r.From, r.Files, r.Foreign)
	}
	if m := r.Moves[0]; m.Was != -1 || m.Now != 0 || m.Topic != "events" {
		t.Errorf("moves %+v", r.Moves)
	}
	if d := cmp.Diff(floorAt(40), r.Floor); d != "" {
		t.Errorf("floor (-want +got):\n%s", d)
	}
}

func TestAuditFaults(t *testing.T) {
	tests := []struct {
		name  string
		plant func(a audited)
		want  string // codes
		text  string // in one of the faults
	}{
		{"a flush twice, blindly retried", func(a audited) { // C01, C13
			s := written(a.t, a.table(), 10, 20)
			commit(a.t, a.k, s)
			a.plant(s, floorAt(20), nil)
		}, "file-twice twice flush-twice file-twice", "offsets 10 to 20 were committed by snapshot"},
		{"the same rows in another file", func(a audited) { // C08
			a.commit(10, 20)
			a.plant(written(a.t, a.table(), 10, 20), floorAt(20), nil)
		}, "twice", "below the floor 20"},
		{"a file appended again by someone else", func(a audited) {
			s := written(a.t, a.table(), 10, 20)
			commit(a.t, a.k, s)
			plant(a.t, a.c, a.ident, nil, s.Files...)
		}, "file-twice", "is live twice"},
		{"a range missing", func(a audited) { // C05
			a.plant(written(a.t, a.table(), 12, 20), floorAt(20), nil)
		}, "missing", "events/0: offsets 10 to 12 are in no commit"},
		{"a range missing in the middle", func(a audited) {
			s := written(a.t, a.table(), 10, 20)
			a.plant(s, floorAt(22), func(p iceberg.Properties) {
				p["firn.job.ranges"] = `{"events":{"0":[[10,15],[17,22]]}}`
			})
		}, "missing", "offsets 15 to 17 are in no commit"},
		{"ranges that overlap in one commit", func(a audited) {
			s := written(a.t, a.table(), 10, 22)
			a.plant(s, floorAt(20), func(p iceberg.Properties) {
				p["firn.job.ranges"] = `{"events":{"0":[[10,17],[15,20]]}}`
			})
		}, "twice", "offsets 15 to 17 were committed"},
		{"the floor ahead of the ranges", func(a audited) { // C04
			a.plant(written(a.t, a.table(), 10, 20), floorAt(30), nil)
		}, "floor", "the ranges end at 20, and the floor is 30"},
		{"another partition moved without a range", func(a audited) {
			floor := floorAt(20)
			floor["events"].Next[1] = 7
			a.plant(written(a.t, a.table(), 10, 20), floor, nil)
		}, "missing", "the floor of events/1 moved from none to 7 without a range"},
		{"a partition that began unsaid", func(a audited) {
			tp := record.TopicPartition{Topic: "events", Partition: 3}
			s := flushOf(a.table(), tp, 5, 9)
			floor := floorAt(10)
			floor["events"].Next[3] = 9
			a.plant(s, floor, nil)
		}, "missing", "events/3: a range starts at 5, and no snapshot says that reading began there"},
		{"the floor lost a partition", func(a audited) {
			tp := record.TopicPartition{Topic: "orders", Partition: 0}
			floor := floorAt(10)
			floor["orders"] = record.TopicFloor{Identity: source, Next: map[int32]int64{0: 0}}
			setFloor(a.t, a.k, floor)
			delete(floor, "events")
			floor["orders"].Next[0] = 4
			a.plant(flushOf(a.table(), tp, 0, 4), floor, nil)
		}, "floor", "the floor of events/0 moved from 10 to none without a range"},
		{"counts that do not cover the offsets", func(a audited) {
			s := written(a.t, a.table(), 10, 20)
			s.Counts.Holes = 5
			a.plant(s, floorAt(20), nil)
		}, "counts", "the ranges have 10 offsets, and 15 are accounted for"},
		{"rows that are not in the files", func(a audited) { // C11
			s := written(a.t, a.table(), 10, 20)
			s.Counts = record.Counts{Rows: 9, Rejected: 1}
			a.plant(s, floorAt(20), nil)
		}, "rows", "9 rows are stated, and the files added have 10"},
		{"a commit whose files are gone from it", func(a audited) { // C09
			s := written(a.t, a.table(), 10, 20)
			s.Files = nil
			a.plant(s, floorAt(20), nil)
		}, "rows", "10 rows are stated, and the files added have 0"},
		{"a file missing in the store", func(a audited) { // C15
			s := written(a.t, a.table(), 10, 20)
			commit(a.t, a.k, s)
			if err := a.table().Store().Remove(a.t.Context(), s.Files[0].Path); err != nil {
				a.t.Fatal(err)
			}
		}, "file-missing", "is not in the store"},
		{"a file cut short in the store", func(a audited) {
			s := written(a.t, a.table(), 10, 20)
			commit(a.t, a.k, s)
			if err := os.Truncate(strings.TrimPrefix(s.Files[0].Path, "file://"), 7); err != nil {
				a.t.Fatal(err)
			}
		}, "file-size", "has 7 bytes in the store"},
		{"a summary that cannot be read", func(a audited) {
			a.plant(written(a.t, a.table(), 10, 20), floorAt(20), func(p iceberg.Properties) {
				p["firn.job.counts"] = "{"
			})
			a.commit(20, 30)
		}, "unreadable", "firn.job.counts"},
		{"a floor that cannot be read", func(a audited) {
			plant(a.t, a.c, a.ident, iceberg.Properties{"firn.job.offsets": "[]"})
		}, "unreadable", "firn.job.offsets"},
		{"files that move the floor without ranges", func(a audited) {
			plant(a.t, a.c, a.ident, iceberg.Properties{"firn.job.offsets": jsonText(floorAt(20))},
				written(a.t, a.table(), 10, 20).Files...)
		}, "floor", "moved from 10 to 20 beside files that have no ranges"},
		{"a floor set back and read again", func(a audited) { // C03, C10
			setFloor(a.t, a.k, floorAt(5))
			a.commit(5, 12)
		}, "twice", "offsets 5 to 10 were committed by snapshot"},
		{"a rewrite that loses rows", func(a audited) {
			rewrite(a.t, a.c, a.ident, written(a.t, a.table(), 0, 9).Files[0])
		}, "rows", "a rewrite took out 10 rows and put in 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAudited(t)
			a.commit(0, 10)
			tt.plant(a)
			r := a.audit(AuditOptions{Store: tt.want == FaultFileMissing || tt.want == FaultFileSize})
			if got := codes(r); got != tt.want {
				t.Errorf("got faults %s, want %s:\n%+v", got, tt.want, r.Faults)
			}
			if !slices.ContainsFunc(r.Faults, func(f AuditFault) bool { return strings.Contains(f.Text, tt.text) }) {
				t.Errorf("no fault says %q:\n%+v", tt.text, r.Faults)
			}
		})
	}
}

// rewrite replaces all live data files by one, as a compaction does.
func rewrite(t *testing.T, c *Catalog, ident string, by record.DataFile) {
	t.Helper()
	table := reload(t, c, ident)
	file, err := table.icebergFile(by)
	if err != nil {
		t.Fatal(err)
	}
	keys := iceberg.Properties(table.FloorKeys())
	tx := table.inner.NewTransaction()
	r := tx.NewRewrite(keys)
	for _, old := range dataFiles(t, table) {
		r.DeleteFile(old)
	}
	if err := r.AddDataFile(file).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// What is no fault: compaction, other jobs, a topic made anew, offsets skipped on purpose, a rollback.
func TestAuditAllows(t *testing.T) {
	tests := []struct {
		name  string
		do    func(a audited)
		check func(r AuditReport) bool
	}{
		{"a rewrite that carries the floor", func(a audited) {
			rewrite(a.t, a.c, a.ident, written(a.t, a.table(), 0, 10).Files[0])
			a.commit(10, 20)
		}, func(r AuditReport) bool {
			return r.Snapshots.Rewrites == 1 && r.Rows == RowBalance{Job: 20, Rewritten: 10, Removed: 10, Live: 20}
		}},
		{"another job", func(a audited) {
			other, err := NewCommitter(a.c, a.ident, "other", CommitterOptions{Fold: fold})
			if err != nil {
				a.t.Fatal(err)
			}
			begin(a.t, other)
			commit(a.t, other, written(a.t, a.table(), 0, 7))
			a.commit(10, 20)
		}, func(r AuditReport) bool { return r.Snapshots.OtherJobs == 2 && r.Rows.OtherJobs == 7 }},
		{"a topic made anew", func(a audited) { // C17, C78
			anew := record.Identity{ClusterID: "cluster", TopicID: "topic-2"}
			setFloor(a.t, a.k, record.Floor{"events": {Identity: anew, Next: map[int32]int64{0: 0}}})
			s := written(a.t, a.table(), 0, 5)
			s.Topics[0].Identity = anew
			commit(a.t, a.k, s)
		}, func(r AuditReport) bool { return len(r.Ranges) == 2 && len(r.Moves) == 2 }},
		{"offsets skipped on purpose", func(a audited) { // C18
			setFloor(a.t, a.k, floorAt(15))
			a.commit(15, 20)
		}, func(r AuditReport) bool {
			return len(r.Ranges) == 2 && len(r.Moves) == 2 && r.Moves[1].Was == 10 && r.Moves[1].Now == 15
		}},
		{"a rollback, read again", func(a audited) {
			head := a.table().inner.CurrentSnapshot().SnapshotID
			a.commit(10, 20)
			rollback(a.t, a.c, a.ident, head)
			a.commit(10, 18)
		}, func(r AuditReport) bool { return len(r.Ranges) == 1 && r.Ranges[0].To == 18 && r.Rows.Live == 18 }},
		{"a rollback, not read again yet", func(a audited) {
			head := a.table().inner.CurrentSnapshot().SnapshotID
			a.commit(10, 20)
			rollback(a.t, a.c, a.ident, head)
		}, func(r AuditReport) bool { return len(r.Notes) == 1 && strings.Contains(r.Notes[0], "rolled back") }},
		{"rows deleted by someone else", func(a audited) {
			_, err := a.table().inner.Delete(a.t.Context(), iceberg.LessThan(iceberg.Reference("id"), int64(10)), nil)
			if err != nil {
				a.t.Fatal(err)
			}
		}, func(r AuditReport) bool {
			return len(r.Foreign) == 1 && r.Foreign[0].RemovedRows == 10 && r.Rows == RowBalance{Job: 10, Removed: 10}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAudited(t)
			a.commit(0, 10)
			tt.do(a)
			r := a.audit(AuditOptions{Store: true})
			if !r.OK() || !tt.check(r) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// When snapshots have expired, the proof begins later and says so; what is left of it still holds.
func TestAuditAfterExpiry(t *testing.T) {
	a := newAudited(t)
	a.commit(0, 10, 20, 30)
	keepNewest(t, a.c, a.ident, 2)
	r := a.audit(AuditOptions{Store: true})
	if !r.OK() || r.From.Complete || r.Rows.Start != 10 || r.Rows.Job != 20 || r.Ranges[0].From != 10 {
		t.Errorf("got %+v", r)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("proved from snapshot %d on", r.From.SnapshotID)
	if !strings.Contains(text.String(), want) || !strings.Contains(text.String(), "OK: every offset of the ranges") {
		t.Errorf("no %q in:\n%s", want, text.String())
	}
	a.plant(written(t, a.table(), 32, 40), floorAt(40), nil)
	if r := a.audit(AuditOptions{}); codes(r) != FaultMissing {
		t.Errorf("got %+v", r.Faults)
	}
}

// keepNewest expires all but the newest snapshots.
func keepNewest(t *testing.T, c *Catalog, ident string, keep int) {
	t.Helper()
	table := reload(t, c, ident)
	list, err := table.Snapshots()
	if err != nil {
		t.Fatal(err)
	}
	var gone []int64
	for _, s := range list[:len(list)-keep] {
		gone = append(gone, s.ID)
	}
	update := icebergtable.NewRemoveSnapshotsUpdate(gone, false)
	_, _, err = c.inner().CommitTable(t.Context(), table.inner.Identifier(), nil, []icebergtable.Update{update})
	if err != nil {
		t.Fatal(err)
	}
}

// Manifests that were merged repeat older entries: they are not taken for new ones.
func TestAuditMergedManifests(t *testing.T) {
	a := newAudited(t)
	tx := a.table().inner.NewTransaction()
	err := tx.SetProperties(iceberg.Properties{
		"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.commit(0, 10, 20, 30, 40, 50, 60)
	if r := a.audit(AuditOptions{}); !r.OK() || r.Rows.Job != 60 || r.Snapshots.Commits != 6 {
		t.Errorf("got %+v", r)
	}
}

// Format 3 commits by another call of the library.
func TestAuditFormat3(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	config := CreateConfig{Schema: eventSchema(), Properties: map[string]string{"format-version": "3"}}
	if _, err := c.Create(t.Context(), "db.events", config); err != nil {
		t.Fatal(err)
	}
	a := audited{t: t, c: c, k: committer(t, c, "db.events"), ident: "db.events"}
	begin(t, a.k)
	a.commit(0, 10, 20)
	if r := a.audit(AuditOptions{Store: true}); !r.OK() || r.Rows.Job != 20 || a.table().FormatVersion() != 3 {
		t.Errorf("got %+v", r)
	}
	rows, err := a.table().Peek(t.Context(), PeekOptions{Where: "id >= 5", Limit: 100})
	if err != nil || len(rows.Values) != 15 {
		t.Errorf("%d rows, %v, want 15", len(rows.Values), err)
	}
}

func TestAuditErrors(t *testing.T) {
	a := newAudited(t)
	_, err := a.table().Audit(t.Context(), "nope", AuditOptions{})
	if !errors.Is(err, ErrNoJob) || !strings.Contains(err.Error(), `no job "nope", its snapshots know: job`) {
		t.Errorf("got %v", err)
	}
	if _, err := createTable(t, a.c, "db.empty").Audit(t.Context(), "job", AuditOptions{}); !errors.Is(err, ErrNoJob) {
		t.Errorf("empty table: got %v", err)
	}
	if d := cmp.Diff([]string{"job"}, a.table().Jobs()); d != "" {
		t.Errorf("jobs (-want +got):\n%s", d)
	}
}

func TestAuditText(t *testing.T) {
	a := newAudited(t)
	a.commit(0, 10)
	a.plant(written(t, a.table(), 12, 20), floorAt(20), nil)
	var text strings.Builder
	if err := a.audit(AuditOptions{}).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"proved from the first snapshot on", "2 commits of the job, 1 moves of its floor", "the store was not looked at",
		"range: events/0 [0, 10) of topic id topic-1", "move: events/0 from none to 0", "FAULT missing: snapshot ",
		"FAILED: 1 faults",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
}

// Spans never overlap, whatever is added, and report exactly what was there.
func TestSpans(t *testing.T) {
	var s spans
	for _, step := range []struct {
		add   span
		twice []span
		want  spans
	}{
		{span{10, 20, 1}, nil, spans{{10, 20, 1}}},
		{span{20, 30, 2}, nil, spans{{10, 20, 1}, {20, 30, 2}}},
		{span{0, 5, 3}, nil, spans{{0, 5, 3}, {10, 20, 1}, {20, 30, 2}}},
		{span{3, 25, 4}, []span{{3, 5, 3}, {10, 20, 1}, {20, 25, 2}},
			spans{{0, 5, 3}, {5, 10, 4}, {10, 20, 1}, {20, 30, 2}}},
		{span{29, 40, 5}, []span{{29, 30, 2}}, spans{{0, 5, 3}, {5, 10, 4}, {10, 20, 1}, {20, 30, 2}, {30, 40, 5}}},
		{span{7, 7, 6}, nil, spans{{0, 5, 3}, {5, 10, 4}, {10, 20, 1}, {20, 30, 2}, {30, 40, 5}}},
	} {
		var twice []span
		s, twice = s.add(step.add)
		if !slices.Equal(s, step.want) || !slices.Equal(twice, step.twice) {
			t.Errorf("adding %v: got %v, twice %v; want %v, twice %v", step.add, s, twice, step.want, step.twice)
		}
	}
}
