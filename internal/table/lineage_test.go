package table

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rowIDs is the first row id of each live data file by path, as a reader has it.
func rowIDs(t *testing.T, table *Table) map[string]int64 {
	t.Helper()
	ids := make(map[string]int64)
	for _, e := range entriesOf(t, table) {
		id := e.DataFile().FirstRowID()
		if id == nil {
			t.Fatalf("file %s has no first row id", e.DataFile().FilePath())
		}
		ids[e.DataFile().FilePath()] = *id
	}
	return ids
}

// Row ids are given once and stay, however often manifests are merged or written again, and no two rows have the same
// (specification, "Row Lineage").
func TestRowIDsStay(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table, err := c.Create(t.Context(), "db.events", CreateConfig{
		Schema: eventSchema(), Properties: map[string]string{"format-version": "3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	k := committer(t, c, "db.events")
	begin(t, k)
	given := make(map[string]int64)
	taken := make(map[int64]string)
	for i := range int64(60) {
		a, b := flush(table, 10*i, 10*i+4), flush(table, 10*i+4, 10*i+10)
		out := commit(t, k, a, b)
		if i%13 == 12 {
			commitWith(t, k, nil, joined(table, a, b))
			delete(given, a.Files[0].Path)
			delete(given, b.Files[0].Path)
		}
		now := rowIDs(t, reload(t, c, "db.events"))
		for path, id := range given {
			if now[path] != id {
				t.Fatalf("commit %d: file %s has first row id %d, want %d", i, path, now[path], id)
			}
		}
		for path, l := range out.Lineage {
			if i%13 != 12 && now[path] != l.FirstRowID {
				t.Fatalf("commit %d said that file %s has first row id %d, and it is %d", i, path, l.FirstRowID, now[path])
			}
		}
		if len(out.Lineage) != 2 {
			t.Fatalf("commit %d said the lineage of %d files", i, len(out.Lineage))
		}
		for path, id := range now {
			if other, twice := taken[id]; twice && other != path {
				t.Fatalf("commit %d: files %s and %s begin with row id %d", i, path, other, id)
			}
			taken[id] = path
		}
		given = now
	}
	if diff := cmp.Diff(given, rowIDs(t, reload(t, c, "db.events"))); diff != "" {
		t.Error(diff)
	}
}
