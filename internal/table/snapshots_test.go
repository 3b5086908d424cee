package table

import (
	"slices"
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
)

// C18: what a job stored in the snapshots is shown.
func TestSnapshots(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	k := committer(t, c, "db.events")
	first := commit(t, k, written(t, table, 0, 10))
	appendJSON(t, c, "db.events", `[{"id": 77}]`)
	table = reload(t, c, "db.events")
	list, err := table.Snapshots()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 {
		t.Fatalf("%d snapshots, want 3", len(list))
	}
	begin, data, foreign := list[0], list[1], list[2]
	if d := cmp.Diff(map[string]record.Floor{"job": floorAt(0)}, begin.Floors); d != "" || begin.ParentID != 0 {
		t.Errorf("first snapshot has parent %d, floors (-want +got):\n%s", begin.ParentID, d)
	}
	got := []int64{
		data.ID, data.ParentID, data.SequenceNumber, data.AddedRows, data.AddedFiles, data.TotalRows, data.TotalFiles,
	}
	if d := cmp.Diff([]int64{first.SnapshotID, begin.ID, 2, 10, 1, 10, 1}, got); d != "" {
		t.Errorf("commit (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]record.Floor{"job": floorAt(10)}, data.Floors); d != "" {
		t.Errorf("floors (-want +got):\n%s", d)
	}
	if data.AddedBytes == 0 || data.Operation != "append" || data.Current || !data.Live || data.Time.IsZero() {
		t.Errorf("commit %+v", data)
	}
	if !foreign.Current || foreign.Floors != nil || foreign.TotalRows != 11 ||
		!slices.Equal(foreign.Refs, []string{"main"}) {
		t.Errorf("head %+v", foreign)
	}
}

// A snapshot that was rolled back is listed, and is not live.
func TestSnapshotsRolledBack(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	k := committer(t, c, "db.events")
	first := commit(t, k, written(t, table, 0, 10))
	second := commit(t, k, written(t, table, 10, 20))
	rollback(t, c, "db.events", first.SnapshotID)
	list, err := reload(t, c, "db.events").Snapshots()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		wantLive := s.ID != second.SnapshotID
		if s.Live != wantLive || s.Current != (s.ID == first.SnapshotID) {
			t.Errorf("snapshot %d of %d and %d: live %v, current %v", s.ID, first.SnapshotID, second.SnapshotID, s.Live,
				s.Current)
		}
	}
}

func TestSnapshotsUnreadableFloor(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	plant(t, c, "db.events", iceberg.Properties{"firn.other.offsets": "{"}, flush(table, 0, 1).Files...)
	_, err := reload(t, c, "db.events").Snapshots()
	if err == nil || !strings.Contains(err.Error(), "firn.other.offsets") {
		t.Errorf("got %v", err)
	}
}

func TestSnapshotsOfEmptyTable(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	list, err := createTable(t, c, "db.events").Snapshots()
	if err != nil || list == nil || len(list) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
}

// plant appends files with a summary of the test's choice, as a faulty writer might.
func plant(t *testing.T, c *Catalog, ident string, summary iceberg.Properties, files ...record.DataFile) {
	t.Helper()
	table := reload(t, c, ident)
	var added []iceberg.DataFile
	for _, f := range files {
		file, err := table.icebergFile(f)
		if err != nil {
			t.Fatal(err)
		}
		added = append(added, file)
	}
	tx := table.inner.NewTransaction()
	var err error
	if len(added) == 0 {
		err = tx.AddFiles(t.Context(), nil, summary, true)
	} else {
		err = tx.AddDataFiles(t.Context(), added, summary, icebergtable.WithoutDuplicateCheck(),
			icebergtable.WithoutAutoNameMapping())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}
