package table

import (
	"testing"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	"github.com/google/go-cmp/cmp"
)

// whole has a flush state the columns of its files.
func whole(s record.Sealed) record.Sealed {
	s.Files[0].ColumnSizes = map[int]int64{1: 10, 2: 10, 3: 10}
	return s
}

// Small files are in groups by partition, oldest first; those that cannot be joined as they are are to be written anew.
func TestJoinable(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startBucketed(t, c, "db.events", map[string]string{"format-version": "2"})
	k := committer(t, c, "db.events")
	flushes := []record.Sealed{
		whole(bucketed(table, 0, 2, 1)), whole(bucketed(table, 2, 4, 1)), // below a delete file of bucket 1
		bucketed(table, 4, 5, 1), whole(bucketed(table, 5, 25, 1)), // without columns, and large
		whole(bucketed(table, 25, 26, 1)), whole(bucketed(table, 26, 28, 1)), whole(bucketed(table, 28, 29, 2)),
	}
	for i, s := range flushes {
		if i == 2 {
			deleteIn(t, c, "db.events", iceberg.EntryContentEqDeletes, 1)
		}
		commit(t, k, s)
	}
	got, err := reload(t, c, "db.events").Joinable(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	path := func(i int) string { return flushes[i].Files[0].Path }
	if len(got.Groups) != 1 || len(got.Groups[0]) != 2 || got.Groups[0][0].Path != path(4) ||
		got.Groups[0][1].Path != path(5) || got.Groups[0][1].Bytes != 200 {
		t.Errorf("groups %+v", got.Groups)
	}
	if len(got.Rewritable) != 1 || len(got.Left) > 0 {
		t.Fatalf("to be written anew: %+v, left %+v", got.Rewritable, got.Left)
	}
	deletes := make(map[string]int)
	for _, f := range got.Rewritable[0] {
		deletes[f.Path] = f.Deletes
	}
	if diff := cmp.Diff(map[string]int{path(0): 1, path(1): 1, path(2): 0}, deletes); diff != "" {
		t.Errorf("to be written anew (-want +got):\n%s", diff)
	}
	if len(got.Deletes) != 1 || got.Deletes[0].Rows != 1 {
		t.Errorf("delete files that are not needed after that: %+v", got.Deletes)
	}
	live, err := reload(t, c, "db.events").Rewritable(t.Context(), map[string]bool{path(4): true, "gone": true})
	if err != nil || len(live.Files) != 1 || live.Files[path(4)].Rows != 1 {
		t.Errorf("live %+v, error %v", live, err)
	}
}

// deleteIn commits a delete file for one bucket, as another engine does. No file is written.
func deleteIn(t *testing.T, c *Catalog, ident string, content iceberg.ManifestEntryContent, bucket int32) {
	t.Helper()
	table := reload(t, c, ident)
	spec, err := table.spec(table.SpecID())
	if err != nil {
		t.Fatal(err)
	}
	b, err := iceberg.NewDataFileBuilder(spec, content, table.Location()+"/data/delete.parquet", iceberg.ParquetFile,
		map[int]any{table.Partition()[0].FieldID: bucket}, nil, nil, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	tx := table.inner.NewTransaction()
	if err := tx.NewRowDelta(nil).AddDeletes(b.EqualityFieldIDs([]int{1}).Build()).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A table without a snapshot has no files.
func TestJoinableOfNothing(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	got, err := createTable(t, c, "db.events").Joinable(t.Context(), 1000)
	if err != nil || len(got.Groups)+len(got.Left) > 0 {
		t.Errorf("%+v, error %v", got, err)
	}
}
