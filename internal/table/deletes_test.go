package table

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func long(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }

// bounded is a data or delete file of the event schema that says what ids it has.
func bounded(
	t *testing.T, table *Table, content iceberg.ManifestEntryContent, low, high int64,
) *iceberg.DataFileBuilder {
	t.Helper()
	return oneRow(t, table, content).LowerBoundValues(map[int][]byte{1: long(low)}).
		UpperBoundValues(map[int][]byte{1: long(high)}).NullValueCounts(map[int]int64{1: 0})
}

func dataEntry(f iceberg.DataFile, sequence int64) iceberg.ManifestEntry {
	snapshot := int64(1)
	return iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshot, &sequence, &sequence, f)
}

// A delete file applies by its content, its sequence number, what it names and its bounds.
func TestDeletesApply(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := createTable(t, c, "db.events")
	data := bounded(t, table, iceberg.EntryContentData, 10, 20).Build()
	text := func(s string) map[int][]byte { return map[int][]byte{fieldFilePath: []byte(s)} }
	equality := func(low, high int64) *iceberg.DataFileBuilder {
		return bounded(t, table, iceberg.EntryContentEqDeletes, low, high)
	}
	positions := func() *iceberg.DataFileBuilder { return bounded(t, table, iceberg.EntryContentPosDeletes, 0, 0) }
	named := func(path string) iceberg.DataFile { return positions().ReferencedDataFile(path).Build() }
	for name, test := range map[string]struct {
		file     iceberg.DataFile
		sequence int64 // of the delete; the data has 5
		want     bool
	}{
		"an equality delete":                  {equality(15, 15).Build(), 6, true},
		"an equality delete of one time":      {equality(15, 15).Build(), 5, false},
		"a lower key":                         {equality(1, 9).Build(), 6, false},
		"a higher key":                        {equality(21, 30).Build(), 6, false},
		"the first key":                       {equality(1, 10).Build(), 6, true},
		"a lower key, or a null":              {equality(1, 9).NullValueCounts(map[int]int64{}).Build(), 6, false},
		"no bounds":                           {equality(1, 9).LowerBoundValues(nil).Build(), 6, true},
		"a position delete":                   {positions().Build(), 5, true},
		"an old position delete":              {positions().Build(), 4, false},
		"a position delete of the file":       {named(data.FilePath()), 5, true},
		"a position delete of another file":   {named("other"), 5, false},
		"a position delete of files before":   {positions().UpperBoundValues(text("a")).Build(), 5, false},
		"a position delete of files after it": {positions().LowerBoundValues(text("zz")).Build(), 5, false},
	} {
		x := newDeleteIndex(table)
		x.add(dataEntry(test.file, test.sequence))
		if got := len(x.applying(data, 5)) == 1; got != test.want {
			t.Errorf("%s: applies %v, want %v", name, got, test.want)
		}
	}
	nulls := bounded(t, table, iceberg.EntryContentData, 10, 20).NullValueCounts(map[int]int64{1: 2}).Build()
	x := newDeleteIndex(table)
	x.add(dataEntry(equality(1, 9).NullValueCounts(map[int]int64{1: 1}).Build(), 6))
	if len(x.applying(nulls, 5)) != 1 || len(x.applying(data, 5)) != 0 {
		t.Error("a delete of nulls applies to the file without, or not to the one with nulls")
	}
}

func TestCompareBounds(t *testing.T) {
	four := func(v int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }
	double := func(v float64) []byte { return long(int64(math.Float64bits(v))) }
	for _, c := range []struct {
		kind iceberg.Type
		a, b []byte
		want int
		ok   bool
	}{
		{iceberg.PrimitiveTypes.Int64, long(-1), long(1), -1, true},
		{iceberg.PrimitiveTypes.Int64, four(-1), long(-1), 0, true}, // before a promotion
		{iceberg.PrimitiveTypes.Int64, []byte("x"), long(-1), 0, false},
		{iceberg.PrimitiveTypes.Float64, double(2), double(-3), 1, true},
		{iceberg.PrimitiveTypes.Float64, double(2), double(math.NaN()), 0, false},
		{iceberg.PrimitiveTypes.Float64, four(int32(math.Float32bits(2))), double(2), 0, true},
		{iceberg.PrimitiveTypes.String, []byte("a"), []byte("b"), -1, true},
		{iceberg.DecimalTypeOf(9, 2), []byte{0xFF}, []byte{1, 0}, -1, true},
		{iceberg.DecimalTypeOf(9, 2), nil, []byte{1, 0}, -1, false},
		{iceberg.PrimitiveTypes.Bool, []byte{0}, []byte{1}, 0, false},
	} {
		if got, ok := compareBounds(c.kind, c.a, c.b); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %x to %x is %d, %v", c.kind, c.a, c.b, got, ok)
		}
	}
}

// rewritten is the replacement of the files of flushes by one without some rows, as of the head.
func rewritten(t *testing.T, table *Table, deleted int64, sealed ...record.Sealed) record.Replacement {
	t.Helper()
	r := joined(table, sealed...)
	paths := make(map[string]bool)
	for _, path := range r.Remove {
		paths[path] = true
	}
	live, err := table.Rewritable(t.Context(), paths)
	if err != nil || len(live.Files) != len(paths) {
		t.Fatalf("%d files are live, error %v", len(live.Files), err)
	}
	r.Rewrite = &record.Rewrite{SnapshotID: live.SnapshotID, Deleted: deleted}
	for _, f := range live.Files {
		for _, d := range f.Deletes {
			r.Rewrite.Deletes = append(r.Rewrite.Deletes, d.Key())
		}
	}
	r.Add[0].Rows -= deleted
	if r.Add[0].Rows == 0 {
		r.Add = nil
	}
	return r
}

// Rows that are written anew have the sequence number of the head that they were read from, so that an equality delete
// that comes meanwhile applies to them; what deletes by position comes meanwhile makes them stale, and so does a
// rollback. Delete files that no data file needs go with them.
func TestRewrite(t *testing.T) {
	equality, positions := iceberg.EntryContentEqDeletes, iceberg.EntryContentPosDeletes
	for name, test := range map[string]struct {
		before  []iceberg.ManifestEntryContent
		deleted int64
		after   func(t *testing.T, c *Catalog, table *Table, k *Committer)
		stale   bool
		deletes int // that are left
	}{
		"no deletes": {},
		"deletes":    {before: []iceberg.ManifestEntryContent{equality, positions}, deleted: 3},
		"of all":     {before: []iceberg.ManifestEntryContent{positions}, deleted: 20},
		"an equality delete after": {before: []iceberg.ManifestEntryContent{equality}, deleted: 1, deletes: 1,
			after: func(t *testing.T, c *Catalog, _ *Table, _ *Committer) { deleteRows(t, c, "db.events", equality) }},
		"a position delete after": {before: []iceberg.ManifestEntryContent{equality}, deleted: 1, deletes: 2, stale: true,
			after: func(t *testing.T, c *Catalog, _ *Table, _ *Committer) { deleteRows(t, c, "db.events", positions) }},
		"an append after": {before: []iceberg.ManifestEntryContent{equality}, deleted: 1,
			after: func(t *testing.T, _ *Catalog, table *Table, k *Committer) { commit(t, k, flush(table, 20, 30)) }},
		"a rollback after": {before: []iceberg.ManifestEntryContent{equality}, deleted: 1, stale: true,
			after: func(t *testing.T, c *Catalog, _ *Table, _ *Committer) { rollBack(t, c, "db.events", 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := openCatalog(t, sqlConfig(t))
			table := startTable(t, c, "db.events")
			k := committer(t, c, "db.events")
			first, second := flush(table, 0, 10), flush(table, 10, 20)
			commit(t, k, first)
			commit(t, k, second)
			for _, content := range test.before {
				deleteRows(t, c, "db.events", content)
			}
			head := reload(t, c, "db.events")
			r := rewritten(t, head, test.deleted, first, second)
			if test.after != nil {
				test.after(t, c, head, k)
			}
			out := commitWith(t, k, nil, r)
			if got := len(out.Stale) == 1; got != test.stale || len(out.Stale)+len(out.Replaced) != 1 {
				t.Fatalf("outcome %+v, want stale %t", out, test.stale)
			}
			checkRewrite(t, reload(t, c, "db.events"), r, out, head.inner.CurrentSnapshot().SequenceNumber, test.deletes)
		})
	}
}

func checkRewrite(t *testing.T, table *Table, r record.Replacement, out Outcome, sequence int64, deletes int) {
	t.Helper()
	left := 0
	for _, e := range entriesOf(t, table) {
		f := e.DataFile()
		if f.ContentType() != iceberg.EntryContentData {
			left++
		} else if len(r.Add) > 0 && f.FilePath() == r.Add[0].Path && e.SequenceNum() != sequence {
			t.Errorf("the rows have sequence number %d, want %d", e.SequenceNum(), sequence)
		}
	}
	if len(out.Replaced) == 0 {
		return
	}
	if left != deletes {
		t.Errorf("%d delete files are left, want %d", left, deletes)
	}
	summary := table.inner.CurrentSnapshot().Summary.Properties
	for key, want := range map[string]int{"total-delete-files": deletes, "removed-delete-files": out.DeletesDropped} {
		if got := summary[key]; got != fmt.Sprint(want) && (got != "" || want != 0) {
			t.Errorf("summary %s is %q, want %d", key, got, want)
		}
	}
}

// rollBack moves the main branch back to an older snapshot, as another engine does.
func rollBack(t *testing.T, c *Catalog, ident string, steps int) {
	t.Helper()
	all := slices.Collect(ancestors(reload(t, c, ident).inner.Metadata()))
	rollback(t, c, ident, all[steps].SnapshotID)
}

// Rewrites of one file, or of a file that is gone, do not both fit, and one that does not hold the rows is refused.
func TestRewriteOfGoneFiles(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	k := committer(t, c, "db.events")
	first := flush(table, 0, 10)
	commit(t, k, first)
	deleteRows(t, c, "db.events", iceberg.EntryContentPosDeletes)
	head := reload(t, c, "db.events")
	mine, theirs, wrong := rewritten(t, head, 1, first), rewritten(t, head, 1, first), rewritten(t, head, 1, first)
	wrong.Rewrite.Deleted = 2
	if _, err := k.Commit(t.Context(), nil, wrong); err == nil {
		t.Error("no error for a rewrite that lost a row")
	}
	out := commitWith(t, k, nil, theirs, mine)
	if !slices.Equal(out.Replaced, []string{theirs.ID}) || !slices.Equal(out.Stale, []string{mine.ID}) {
		t.Errorf("outcome %+v", out)
	}
	if out := commitWith(t, k, nil, mine); !slices.Equal(out.Stale, []string{mine.ID}) {
		t.Errorf("again: outcome %+v", out)
	}
	want := map[string]int64{theirs.Add[0].Path: 9}
	if diff := cmp.Diff(want, liveFiles(t, c, "db.events")); diff != "" {
		t.Errorf("live files (-want +got):\n%s", diff)
	}
}

// Delete files that nothing needs go without a file that is written anew, and once.
func TestDropDeletes(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	deleteRows(t, c, "db.events", iceberg.EntryContentEqDeletes)
	k := committer(t, c, "db.events")
	commit(t, k, flush(table, 0, 10))
	head := reload(t, c, "db.events").inner.CurrentSnapshot().SnapshotID
	for _, dropped := range []int{1, 0} {
		r := record.Replacement{ID: uuid.NewString(), Rewrite: &record.Rewrite{SnapshotID: head}}
		out := commitWith(t, k, nil, r)
		if len(out.Replaced) != 1 || out.DeletesDropped != dropped {
			t.Errorf("outcome %+v, want %d delete files dropped", out, dropped)
		}
	}
	if got := len(entriesOf(t, reload(t, c, "db.events"))); got != 1 {
		t.Errorf("%d files are live, want 1", got)
	}
}

func TestEqualityField(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	s := &record.Schema{Fields: []record.Field{
		{Name: "id", Required: true, Type: record.Type{Kind: record.KindLong}},
		{Name: "s", Type: record.Type{Kind: record.KindStruct, Fields: []record.Field{
			{Name: "x", Type: record.Type{Kind: record.KindDouble}}, {Name: "y", Type: record.Type{Kind: record.KindString}},
		}}},
	}}
	table, err := c.Create(t.Context(), "db.events", CreateConfig{Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := table.Schema().Find("id")
	y, _ := table.Schema().Find("s.y")
	got, err := table.EqualityField(id.ID)
	if err != nil || got.Required || got.ID != id.ID || got.Type.Kind != record.KindLong {
		t.Errorf("id is %+v, error %v", got, err)
	}
	got, err = table.EqualityField(y.ID)
	if err != nil || got.Name != "s" || len(got.Type.Fields) != 1 || got.Type.Fields[0].ID != y.ID {
		t.Errorf("s.y is %+v, error %v", got, err)
	}
	for _, id := range []int{99, 2} {
		if f, err := table.EqualityField(id); err == nil {
			t.Errorf("field id %d is %+v", id, f)
		}
	}
}
