package table

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"firn/internal/fault"
	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// joined is the replacement of the files of flushes by one file.
func joined(t *Table, sealed ...record.Sealed) record.Replacement {
	r := record.Replacement{ID: uuid.NewString()}
	file := record.DataFile{
		Path: fmt.Sprintf("%s/data/%s-rollup.parquet", t.Location(), r.ID), SpecID: t.SpecID(), SchemaID: t.SchemaID(),
	}
	for _, s := range sealed {
		for _, f := range s.Files {
			r.Remove = append(r.Remove, f.Path)
			file.Rows += f.Rows
			file.SizeBytes += f.SizeBytes
			file.Partition = f.Partition
		}
	}
	r.Add = []record.DataFile{file}
	return r
}

func commitWith(t *testing.T, k *Committer, sealed []record.Sealed, r ...record.Replacement) Outcome {
	t.Helper()
	out, err := k.Commit(t.Context(), sealed, r...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReplace(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		k := committer(t, c, o.ident)
		first, second, third := flush(table, 0, 10), flush(table, 10, 30), flush(table, 30, 60)
		commit(t, k, first)
		commit(t, k, second)
		r := joined(table, first, second)
		out := commitWith(t, k, []record.Sealed{third}, r)
		if !slices.Equal(out.Replaced, []string{r.ID}) || len(out.Stale) > 0 || !slices.Equal(out.Committed, ids(third)) {
			t.Errorf("outcome %+v", out)
		}
		want := map[string]int64{r.Add[0].Path: 30, third.Files[0].Path: 30}
		if diff := cmp.Diff(want, liveFiles(t, o.again(t), o.ident)); diff != "" {
			t.Errorf("live files (-want +got):\n%s", diff)
		}
		if got := floorOf(t, committer(t, o.again(t), o.ident)); !got.Equal(floorAt(60)) {
			t.Errorf("floor %v", got)
		}
		after := reload(t, o.again(t), o.ident)
		head := after.inner.CurrentSnapshot()
		if head.SnapshotID != out.SnapshotID || head.Summary.Operation != icebergtable.OpReplace {
			t.Errorf("head %d is of operation %s, want replace of %d", head.SnapshotID, head.Summary.Operation, out.SnapshotID)
		}
		for key, want := range map[string]string{
			"total-records": "60", "total-data-files": "2", "deleted-data-files": "2", "added-data-files": "1",
			"added-records": "30", "deleted-records": "30", "total-files-size": "6000",
		} {
			if got := head.Summary.Properties[key]; got != want {
				t.Errorf("summary %s is %q, want %q", key, got, want)
			}
		}
		for _, e := range entriesOf(t, after) { // the joined rows are as old as the youngest of them
			if path := e.DataFile().FilePath(); path == r.Add[0].Path && e.SequenceNum() != 3 {
				t.Errorf("%s has sequence number %d, want 3", path, e.SequenceNum())
			}
		}
	})
}

// entriesOf is the live entries of the table's head, delete files included.
func entriesOf(t *testing.T, table *Table) []iceberg.ManifestEntry {
	t.Helper()
	files, err := table.inner.FS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []iceberg.ManifestEntry
	err = liveEntries(t.Context(), files, table.inner.CurrentSnapshot(), func(e iceberg.ManifestEntry) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A replacement whose files another writer has taken away changes nothing, and does not hold up what comes with it.
func TestReplaceStale(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	k := committer(t, c, "db.events")
	first, second, third := flush(table, 0, 10), flush(table, 10, 20), flush(table, 20, 30)
	commit(t, k, first)
	commit(t, k, second)
	mine, theirs := joined(table, first, second), joined(table, first, second)
	if out := commitWith(t, committer(t, c, "db.events"), nil, theirs); !slices.Equal(out.Replaced, []string{theirs.ID}) {
		t.Fatalf("outcome %+v", out)
	}
	out := commitWith(t, k, []record.Sealed{third}, mine, joined(table, third))
	if !slices.Equal(out.Stale, []string{mine.ID}) || len(out.Replaced) != 1 || !slices.Equal(out.Committed, ids(third)) {
		t.Errorf("outcome %+v", out)
	}
	if got := rows(t, c, "db.events"); got != 30 {
		t.Errorf("%d rows, want 30", got)
	}
	twice := joined(table, third)
	twice.Remove = []string{theirs.Add[0].Path}
	twice.Add[0].Rows = 20
	again := twice
	again.ID = uuid.NewString()
	if out := commitWith(t, k, nil, twice, again); !slices.Equal(out.Stale, []string{again.ID}) {
		t.Errorf("two replacements of one file: outcome %+v", out)
	}
}

// What would change the rows of the table is refused.
func TestReplaceOtherRows(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	k := committer(t, c, "db.events")
	first := flush(table, 0, 10)
	commit(t, k, first)
	before := liveFiles(t, c, "db.events")
	r := joined(table, first)
	r.Add[0].Rows--
	if _, err := k.Commit(t.Context(), nil, r); !errors.Is(err, errRows) {
		t.Errorf("error %v, want %v", err, errRows)
	}
	if diff := cmp.Diff(before, liveFiles(t, c, "db.events")); diff != "" {
		t.Errorf("live files (-before +after):\n%s", diff)
	}
}

// The answer to the commit of a replacement is lost: it is found in the history, and is not taken for stale, since the
// files of stale ones are deleted.
func TestReplaceUnknownOutcome(t *testing.T) {
	for name, fate := range map[string]fault.Fate{"landed": fault.Land(500), "dropped": fault.Refuse(500)} {
		t.Run(name, func(t *testing.T) {
			n := 0
			f := openFaulty(t, serveREST(t), func(int) fault.Fate {
				n++
				if n == 3 {
					return fate
				}
				return fault.Pass()
			}, CommitterOptions{})
			first, second, third := flush(f.table, 0, 10), flush(f.table, 10, 20), flush(f.table, 20, 30)
			commit(t, f.committer, first)
			commit(t, f.committer, second)
			r := joined(f.table, first, second)
			out := commitWith(t, f.committer, []record.Sealed{third}, r)
			if out.Unknown != 1 || !slices.Equal(out.Replaced, []string{r.ID}) || len(out.Stale) > 0 {
				t.Errorf("outcome %+v", out)
			}
			want := map[string]int64{r.Add[0].Path: 20, third.Files[0].Path: 10}
			if diff := cmp.Diff(want, liveFiles(t, f.direct, f.ident)); diff != "" {
				t.Errorf("live files (-want +got):\n%s", diff)
			}
		})
	}
}

// oneRow describes a data or delete file of one row in a table without partitions; an equality delete is by id.
func oneRow(t *testing.T, table *Table, content iceberg.ManifestEntryContent) *iceberg.DataFileBuilder {
	t.Helper()
	spec, err := table.spec(table.SpecID())
	if err != nil {
		t.Fatal(err)
	}
	b, err := iceberg.NewDataFileBuilder(spec, content, table.Location()+"/data/"+uuid.NewString()+".parquet",
		iceberg.ParquetFile, nil, nil, nil, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	if content == iceberg.EntryContentEqDeletes {
		b.EqualityFieldIDs([]int{1})
	}
	return b
}

// deleteRows commits a delete file as another engine does. No file is written.
func deleteRows(t *testing.T, c *Catalog, ident string, content iceberg.ManifestEntryContent) {
	t.Helper()
	table := reload(t, c, ident)
	b := oneRow(t, table, content)
	tx := table.inner.NewTransaction()
	if err := tx.NewRowDelta(nil).AddDeletes(b.Build()).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A row that was deleted while files were being joined stays deleted: an equality delete that is younger than all of
// the files still applies to the joined one, and one between them makes the replacement stale, as a position delete
// does.
func TestReplaceUnderDeletes(t *testing.T) {
	for name, test := range map[string]struct {
		between, after []iceberg.ManifestEntryContent
		stale          bool
	}{
		"no deletes":             {},
		"equality delete after":  {after: []iceberg.ManifestEntryContent{iceberg.EntryContentEqDeletes}},
		"equality delete within": {between: []iceberg.ManifestEntryContent{iceberg.EntryContentEqDeletes}, stale: true},
		"position delete within": {between: []iceberg.ManifestEntryContent{iceberg.EntryContentPosDeletes}, stale: true},
		"position delete after":  {after: []iceberg.ManifestEntryContent{iceberg.EntryContentPosDeletes}, stale: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := openCatalog(t, sqlConfig(t))
			table := startTable(t, c, "db.events")
			k := committer(t, c, "db.events")
			first, second := flush(table, 0, 10), flush(table, 10, 20)
			commit(t, k, first)
			for _, content := range test.between {
				deleteRows(t, c, "db.events", content)
			}
			commit(t, k, second)
			r := joined(table, first, second)
			for _, content := range test.after {
				deleteRows(t, c, "db.events", content)
			}
			out := commitWith(t, k, nil, r)
			if got := len(out.Stale) == 1; got != test.stale || len(out.Stale)+len(out.Replaced) != 1 {
				t.Fatalf("outcome %+v, want stale %t", out, test.stale)
			}
			if test.stale {
				return
			}
			var sequence, deleted int64
			for _, e := range entriesOf(t, reload(t, c, "db.events")) {
				if e.DataFile().ContentType() == iceberg.EntryContentData {
					sequence = e.SequenceNum()
				} else {
					deleted = e.SequenceNum()
				}
			}
			if len(test.after) > 0 && sequence >= deleted {
				t.Errorf("rows of sequence number %d escape the delete of %d", sequence, deleted)
			}
		})
	}
}

// Appends and replacements at random, beside a model of the live files: nothing is lost or doubled, in any format
// version, and the number of manifests stays small.
func TestReplaceModel(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		t.Run("format version "+version, func(t *testing.T) {
			config := sqlConfig(t)
			rapid.Check(t, func(rt *rapid.T) {
				c := openCatalog(t, config)
				ident := "db.t" + uuid.NewString()[:8]
				made, err := c.Create(t.Context(), ident, CreateConfig{
					Schema: eventSchema(), Properties: map[string]string{"format-version": version},
				})
				if err != nil {
					t.Fatal(err)
				}
				begin(t, committer(t, c, ident))
				k := committer(t, c, ident)
				model := make(map[string]int64)
				var small []record.Sealed
				next := int64(0)
				for range rapid.IntRange(1, 20).Draw(rt, "commits") {
					var sealed []record.Sealed
					if rapid.Bool().Draw(rt, "appends") {
						n := rapid.Int64Range(1, 20).Draw(rt, "rows")
						sealed = append(sealed, flush(made, next, next+n))
						next += n
					}
					var replacements []record.Replacement
					if n := rapid.IntRange(0, len(small)).Draw(rt, "joins"); n > 0 {
						r := joined(made, small[:n]...)
						replacements = append(replacements, r)
						for _, path := range r.Remove {
							delete(model, path)
						}
						model[r.Add[0].Path] = r.Add[0].Rows
						small = append([]record.Sealed{{ID: r.ID, Files: r.Add}}, small[n:]...)
					}
					for _, s := range sealed {
						model[s.Files[0].Path] = s.Files[0].Rows
						small = append(small, s)
					}
					out := commitWith(t, k, sealed, replacements...)
					if len(out.Committed) != len(sealed) || len(out.Replaced) != len(replacements) {
						rt.Fatalf("outcome %+v", out)
					}
					if rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
						k = committer(t, c, ident)
					}
				}
				if got := liveFiles(t, c, ident); !maps.Equal(model, got) {
					rt.Fatalf("live files (-want +got):\n%s", cmp.Diff(model, got))
				}
			})
		})
	}
}

// The number of manifests grows with the logarithm of the number of files, and a committer that is alone reads nothing
// again.
func TestManifestsStayFew(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	k := committer(t, c, "db.events")
	var small []record.Sealed
	most := 0
	for i := range int64(300) {
		f := flush(table, i, i+1)
		small = append(small, f)
		var r []record.Replacement
		if len(small) == 50 {
			r = append(r, joined(table, small[:40]...))
			small = small[40:]
		}
		commitWith(t, k, []record.Sealed{f}, r...)
		most = max(most, len(k.known.listed))
	}
	if got := len(liveFiles(t, c, "db.events")); got != 300-7*39 {
		t.Errorf("%d live files, want %d", got, 300-7*39)
	}
	if most > 20 {
		t.Errorf("there were %d manifests", most)
	}
}
