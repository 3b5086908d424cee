package wire

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"firn/internal/decode"
	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/table"
	"firn/internal/upkeep"

	"github.com/apache/iceberg-go"
	icebergsql "github.com/apache/iceberg-go/catalog/sql"
	icebergtable "github.com/apache/iceberg-go/table"
)

// shop is a table of real files, in two partitions, beside which others work.
type shop struct {
	*testing.T
	config  table.CatalogConfig
	catalog *table.Catalog
	rows    []string // that must be there
	next    int
}

const shopIdent = "db.orders"

func openShop(t *testing.T, version string) *shop {
	t.Helper()
	dir := t.TempDir()
	s := &shop{T: t, config: table.CatalogConfig{
		Name: "test", Type: "sql", URI: filepath.Join(dir, "catalog.db"), Warehouse: filepath.Join(dir, "warehouse"),
	}}
	var err error
	if s.catalog, err = table.OpenCatalog(t.Context(), s.config, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.catalog.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = s.catalog.Create(t.Context(), shopIdent, table.CreateConfig{
		Schema: &record.Schema{Fields: []record.Field{
			{Name: "id", Required: true, Type: record.Type{Kind: record.KindLong}},
			{Name: "kind", Type: record.Type{Kind: record.KindString}},
		}},
		Partition: []string{"kind"}, Properties: map[string]string{"format-version": version},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) table() *table.Table {
	s.Helper()
	t, err := s.catalog.Load(s.Context(), shopIdent)
	if err != nil {
		s.Fatal(err)
	}
	return t
}

// store writes a Parquet file of rows.
func (s *shop) store(t *table.Table, schema *record.Schema, path string, rows []string) record.DataFile {
	s.Helper()
	decoder, err := decode.NewJSON(schema, decode.DefaultJSONOptions())
	if err != nil {
		s.Fatal(err)
	}
	block := &record.Block{}
	for _, row := range rows {
		block.Records = append(block.Records, record.Record{Value: []byte(row)})
	}
	batch := record.NewBatch(schema)
	decoder.Decode(block, batch)
	file, err := parquet.NewFile(schema, parquet.DefaultOptions())
	if err != nil {
		s.Fatal(err)
	}
	if err := file.Append(batch.Columns, nil); err != nil {
		s.Fatal(err)
	}
	var content bytes.Buffer
	f, err := file.Finish(&content)
	if err != nil {
		s.Fatal(err)
	}
	w, err := t.Store().Create(s.Context(), path)
	if err != nil {
		s.Fatal(err)
	}
	_, err = w.Write(content.Bytes())
	if err := errors.Join(err, w.Close()); err != nil {
		s.Fatal(err)
	}
	f.Path, f.SpecID, f.SchemaID = path, t.SpecID(), t.SchemaID()
	return f
}

// append commits a file of n rows of a kind, as a job does.
func (s *shop) append(kind string, n int) record.DataFile {
	s.Helper()
	t := s.table()
	var rows []string
	for range n {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"kind":"%s"}`, s.next, kind))
		s.next++
	}
	s.rows = append(s.rows, rows...)
	p := t.Partition()[0]
	partition := []record.PartitionValue{{FieldID: p.FieldID, Type: p.Result, Value: []byte(kind)}}
	path, err := t.DataPath(partition, fmt.Sprintf("%d.parquet", s.next))
	if err != nil {
		s.Fatal(err)
	}
	f := s.store(t, t.Schema(), path, rows)
	f.Partition = partition
	accept := func(record.Floor, []record.Sealed) (record.Floor, []int) {
		return record.Floor{"orders": {Next: map[int32]int64{0: int64(s.next)}}}, []int{0}
	}
	k, err := table.NewCommitter(s.catalog, shopIdent, "job", table.CommitterOptions{Fold: accept})
	if err != nil {
		s.Fatal(err)
	}
	source := record.TopicPartition{Topic: "orders"}
	out, err := k.Commit(s.Context(), []record.Sealed{{
		ID: newID(), Files: []record.DataFile{f}, Topics: []record.TopicMark{{Topic: "orders"}},
		Ranges: []record.Range{{TopicPartition: source, From: int64(s.next - n), To: int64(s.next)}},
		Counts: record.Counts{Rows: int64(n)},
	}})
	if err != nil || len(out.Committed) != 1 {
		s.Fatal(out, err)
	}
	return f
}

// deleteRow commits a delete of a row by its id, or by its position as the first of a file, as another engine does.
func (s *shop) deleteRow(id int, from *record.DataFile) {
	s.Helper()
	t := s.table()
	schema := &record.Schema{ID: t.SchemaID(), Fields: t.Schema().Fields[:1]}
	content, row := iceberg.EntryContentEqDeletes, fmt.Sprintf(`{"id":%d}`, id)
	if from != nil {
		content, row = iceberg.EntryContentPosDeletes, fmt.Sprintf(`{"file_path":%q,"pos":0}`, from.Path)
		schema = &record.Schema{Fields: []record.Field{
			{ID: 2147483546, Name: "file_path", Required: true, Type: record.Type{Kind: record.KindString}},
			{ID: 2147483545, Name: "pos", Required: true, Type: record.Type{Kind: record.KindLong}},
		}}
	}
	f := s.store(t, schema, fmt.Sprintf("%s/data/delete-%s.parquet", t.Location(), newID()), []string{row})
	foreign := s.foreign()
	b, err := iceberg.NewDataFileBuilder(foreign.Spec(), content, f.Path, iceberg.ParquetFile,
		map[int]any{t.Partition()[0].FieldID: "a"}, nil, nil, 1, f.SizeBytes)
	if err != nil {
		s.Fatal(err)
	}
	if from == nil {
		b.EqualityFieldIDs([]int{1})
	}
	tx := foreign.NewTransaction()
	if err := tx.NewRowDelta(nil).AddDeletes(b.Build()).Commit(s.Context()); err != nil {
		s.Fatal(err)
	}
	if _, err := tx.Commit(s.Context()); err != nil {
		s.Fatal(err)
	}
	s.rows = slices.DeleteFunc(s.rows, func(row string) bool {
		return strings.HasPrefix(row, fmt.Sprintf(`{"id":%d,`, id))
	})
}

// foreign is the table as the library has it.
func (s *shop) foreign() *icebergtable.Table {
	s.Helper()
	db, err := sql.Open("sqlite", s.config.URI)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := db.Close(); err != nil {
			s.Error(err)
		}
	})
	c, err := icebergsql.NewCatalog("test", db, icebergsql.SQLite, iceberg.Properties{"warehouse": s.config.Warehouse})
	if err != nil {
		s.Fatal(err)
	}
	t, err := c.LoadTable(s.Context(), strings.Split(shopIdent, "."))
	if err != nil {
		s.Fatal(err)
	}
	return t
}

// compact runs one pass; commit is in place of the committer's, unless nil.
func (s *shop) compact(
	commit func(do func() (upkeep.Committed, error)) (upkeep.Committed, error),
) (upkeep.Compacted, table.Joinable, error) {
	s.Helper()
	t := s.table()
	found, err := t.Joinable(s.Context(), 1<<20)
	if err != nil {
		s.Fatal(err)
	}
	k, err := t.Upkeep(table.CommitterOptions{})
	if err != nil {
		s.Fatal(err)
	}
	c, err := Compaction(t, k, 2<<20, 2, slog.New(slog.DiscardHandler))
	if err != nil {
		s.Fatal(err)
	}
	c.Progress = func(int) {}
	if inner := c.Commit; commit != nil {
		c.Commit = func(ctx context.Context, all []record.Replacement) (upkeep.Committed, error) {
			return commit(func() (upkeep.Committed, error) { return inner(ctx, all) })
		}
	}
	out, err := c.Run(s.Context(), upkeep.Work{
		Joins:       upkeep.PlanCompaction(candidates(found.Groups), 2<<20, c.Columns),
		Rewrites:    upkeep.PlanRewrites(candidates(found.Rewritable), 2<<20, c.Columns),
		DropDeletes: len(found.Deletes) > 0,
	})
	return out, found, err
}

func candidates(groups [][]table.SmallFile) (out [][]upkeep.Candidate) {
	for _, g := range groups {
		var group []upkeep.Candidate
		for _, f := range g {
			group = append(group, upkeep.Candidate{Path: f.Path, Bytes: f.Bytes})
		}
		out = append(out, group)
	}
	return out
}

// check reads the table: the rows that must be there, each once, in so many data files.
func (s *shop) check(files int) {
	s.Helper()
	t := s.table()
	read, err := t.Peek(s.Context(), table.PeekOptions{Limit: 100_000})
	if err != nil {
		s.Fatal(err)
	}
	var got []string
	for _, row := range read.Values {
		got = append(got, fmt.Sprintf(`{"id":%s,"kind":%s}`, row[0], row[1]))
	}
	want := slices.Sorted(slices.Values(s.rows))
	if slices.Sort(got); !slices.Equal(got, want) {
		s.Errorf("%d rows, want %d", len(got), len(want))
	}
	live, err := t.Files(s.Context(), table.FilesOptions{})
	if err != nil {
		s.Fatal(err)
	}
	live = slices.DeleteFunc(live, func(f table.FileInfo) bool { return f.Content != "data" })
	if len(live) != files {
		s.Errorf("%d data files, want %d", len(live), files)
	}
}

// stored is the number of joined files below the table, visible or not.
func (s *shop) stored() (n int) {
	s.Helper()
	err := filepath.WalkDir(s.config.Warehouse, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "-rollup.parquet") {
			n++
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return n
}

func TestCompaction(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		s := openShop(t, version)
		for i := range 12 {
			s.append([]string{"a", "b"}[i%2], 1+i)
		}
		out, found, err := s.compact(nil)
		want := upkeep.Compacted{FilesIn: 12, FilesOut: 2, Bytes: out.Bytes, Commits: 1}
		if got, _ := json.Marshal(out); err != nil || string(got) != marshal(t, want) || len(found.Left) > 0 {
			t.Fatalf("format version %s: %s, left %v, error %v", version, got, found.Left, err)
		}
		s.check(2)
		if out, _, err := s.compact(nil); err != nil || out.FilesIn != 0 {
			t.Errorf("format version %s, compacting again: %+v, error %v", version, out, err)
		}
		s.append("a", 3) // the job goes on
		s.check(3)
		for key := range s.table().FloorKeys() {
			if key != "firn.job.offsets" {
				t.Errorf("there is a floor %s", key)
			}
		}
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Others work between the making of the files and the commit.
func TestCompactionBesideOthers(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile         func(s *shop, first record.DataFile)
		replaced, stale   int
		dataFiles, joined int
	}{
		"a job commits": {
			func(s *shop, _ record.DataFile) { s.append("a", 5) }, 4, 0, 3, 2,
		},
		"an equality delete": { // it stays effective
			func(s *shop, _ record.DataFile) { s.deleteRow(0, nil) }, 4, 0, 2, 2,
		},
		"a position delete": { // in vain for its partition
			func(s *shop, first record.DataFile) { s.deleteRow(0, &first) }, 2, 2, 3, 1,
		},
		"another compaction": {
			func(s *shop, _ record.DataFile) {
				if _, _, err := s.compact(nil); err != nil {
					s.Error(err)
				}
			}, 0, 4, 2, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openShop(t, "2")
			first := s.append("a", 2)
			s.append("a", 3)
			s.append("b", 4)
			s.append("b", 5)
			out, _, err := s.compact(func(do func() (upkeep.Committed, error)) (upkeep.Committed, error) {
				test.meanwhile(s, first)
				return do()
			})
			if err != nil || out.FilesIn != test.replaced || out.Stale != test.stale {
				t.Errorf("%+v, error %v", out, err)
			}
			s.check(test.dataFiles)
			if got := s.stored(); got != test.joined {
				t.Errorf("%d joined files are stored, want %d", got, test.joined)
			}
		})
	}
}

// Killed before the commit, or without an answer to it: the table is as it was, and the files are orphans.
func TestCompactionThatIsKilled(t *testing.T) {
	s := openShop(t, "2")
	s.append("a", 2)
	s.append("a", 3)
	killed := errors.New("killed")
	_, _, err := s.compact(func(func() (upkeep.Committed, error)) (upkeep.Committed, error) {
		return upkeep.Committed{}, killed
	})
	if !errors.Is(err, killed) {
		t.Errorf("error %v", err)
	}
	s.check(2)
	if got := s.stored(); got != 1 {
		t.Errorf("%d joined files are stored, want 1", got)
	}
	if out, _, err := s.compact(nil); err != nil || out.FilesIn != 2 {
		t.Errorf("after that: %+v, error %v", out, err)
	}
	s.check(1)
}

// Files whose rows delete files take away are written anew without them, and younger ones are joined.
func TestCompactionOfDeletedRows(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		s := openShop(t, version)
		s.append("a", 2)
		s.append("a", 3)
		s.deleteRow(1, nil)
		s.append("a", 4)
		s.append("a", 5)
		out, found, err := s.compact(nil)
		if err != nil || out.FilesIn != 4 || out.Rewritten != 2 || out.Deleted != 1 || len(found.Left) > 0 {
			t.Errorf("%+v, left %v, error %v", out, found.Left, err)
		}
		s.check(2)
		s.checkDeletes(0)
		if out, _, err = s.compact(nil); err != nil || out.FilesIn != 2 || out.Rewritten != 0 {
			t.Errorf("the next pass: %+v, error %v", out, err)
		}
		s.check(1)
	}
}

// checkDeletes wants so many delete files to be live.
func (s *shop) checkDeletes(n int) {
	s.Helper()
	live, err := s.table().Files(s.Context(), table.FilesOptions{})
	if err != nil {
		s.Fatal(err)
	}
	live = slices.DeleteFunc(live, func(f table.FileInfo) bool { return f.Content == "data" })
	if len(live) != n {
		s.Errorf("%d delete files are live, want %d: %+v", len(live), n, live)
	}
}

// A file that cannot be read is said, and holds up no other.
func TestCompactionOfABadFile(t *testing.T) {
	s := openShop(t, "2")
	bad := s.append("a", 2)
	s.append("a", 3)
	s.append("b", 4)
	s.append("b", 5)
	if err := s.table().Store().Remove(t.Context(), bad.Path); err != nil {
		t.Fatal(err)
	}
	out, _, err := s.compact(nil)
	if err != nil || out.FilesIn != 2 || len(out.Failed) != 1 || out.Failed[0].Files != 2 {
		t.Errorf("%+v, error %v", out, err)
	}
}
