package wire

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/table"
	"firn/internal/upkeep"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/google/go-cmp/cmp"
)

// deleteVector commits a deletion vector of some rows of a file of partition a.
func (s *shop) deleteVector(path string, positions ...int64) {
	s.Helper()
	s.deleteVectors(map[string][]int64{path: positions})
}

// deleteVectors commits vectors of several files, in one Puffin file and one manifest.
func (s *shop) deleteVectors(positions map[string][]int64) {
	s.Helper()
	foreign := s.foreign()
	files, err := foreign.FS(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	spec := foreign.Spec()
	w := dv.NewDVWriter(files.(icebergio.WriteFileIO), func(int32) *iceberg.PartitionSpec { return &spec })
	for path, rows := range positions {
		partition := map[int]any{s.table().Partition()[0].FieldID: "a"}
		if err := w.Add(path, rows, int32(spec.ID()), partition); err != nil {
			s.Fatal(err)
		}
	}
	made, err := w.Flush(s.Context(), fmt.Sprintf("%s/data/vector-%s.puffin", foreign.Location(), newID()))
	if err != nil {
		s.Fatal(err)
	}
	tx := foreign.NewTransaction()
	delta := tx.NewRowDelta(nil).AddDeletes(made...)
	if err := errors.Join(delta.Commit(s.Context()), second(tx.Commit(s.Context()))); err != nil {
		s.Fatal(err)
	}
}

func second(_ *icebergtable.Table, err error) error { return err }

// forget takes a row out of those that must be there.
func (s *shop) forget(id int) {
	s.rows = slices.DeleteFunc(s.rows, func(row string) bool {
		return strings.HasPrefix(row, fmt.Sprintf(`{"id":%d,`, id))
	})
}

// evolve changes the schema, as another engine does.
func (s *shop) evolve(change func(*icebergtable.UpdateSchema) *icebergtable.UpdateSchema) {
	s.Helper()
	tx := s.foreign().NewTransaction()
	if err := errors.Join(change(tx.UpdateSchema(true, false)).Commit(), second(tx.Commit(s.Context()))); err != nil {
		s.Fatal(err)
	}
}

func addColumn(u *icebergtable.UpdateSchema) *icebergtable.UpdateSchema {
	return u.AddColumn([]string{"n"}, iceberg.PrimitiveTypes.Int32, "", false, nil)
}

// Others work between the reading of files with deletes and the commit of what was written anew.
func TestRewriteBesideOthers(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile        func(s *shop, first record.DataFile)
		stale            bool
		dataFiles, files int // data files, and delete files, that are live afterwards
	}{
		"nothing": {func(*shop, record.DataFile) {}, false, 1, 0},
		"a job commits": {
			func(s *shop, _ record.DataFile) { s.append("a", 5) }, false, 2, 0,
		},
		"an equality delete": { // it applies to what was written anew
			func(s *shop, _ record.DataFile) { s.deleteRow(3, nil) }, false, 1, 1,
		},
		"a position delete": {
			func(s *shop, first record.DataFile) { s.deleteRow(0, &first) }, true, 2, 2,
		},
		"a new column": {
			func(s *shop, _ record.DataFile) { s.evolve(addColumn) }, false, 1, 0,
		},
		"another compaction": {
			func(s *shop, _ record.DataFile) {
				if _, _, err := s.compact(nil); err != nil {
					s.Error(err)
				}
			}, true, 1, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openShop(t, "2")
			first := s.append("a", 3)
			s.append("a", 4)
			s.deleteRow(1, nil)
			out, _, err := s.compact(func(do func() (upkeep.Committed, error)) (upkeep.Committed, error) {
				test.meanwhile(s, first)
				return do()
			})
			stale := 0
			if test.stale {
				stale = 2
			}
			if err != nil || out.Stale != stale || out.Rewritten != 2-stale {
				t.Errorf("%+v, error %v", out, err)
			}
			s.check(test.dataFiles)
			s.checkDeletes(test.files)
			if _, _, err := s.compact(nil); err != nil {
				t.Error(err)
			}
			s.checkDeletes(0)
		})
	}
}

// Small files of older schemas are written anew where they have company, and those of other types where a join finds
// them.
func TestRewriteOfOldSchemas(t *testing.T) {
	s := openShop(t, "2")
	s.append("a", 2)
	s.append("b", 2)
	s.evolve(addColumn)
	s.append("a", 3)
	out, found, err := s.compact(nil)
	if err != nil || out.Rewritten != 1 || len(found.Left) > 0 {
		t.Errorf("%+v, left %v, error %v", out, found.Left, err)
	}
	s.check(3)
	s.evolve(func(u *icebergtable.UpdateSchema) *icebergtable.UpdateSchema {
		return u.UpdateColumn([]string{"n"}, icebergtable.ColumnUpdate{
			FieldType: iceberg.Optional[iceberg.Type]{Valid: true, Val: iceberg.PrimitiveTypes.Int64},
		})
	})
	if out, _, err = s.compact(nil); err != nil || out.Rewritten != 2 || len(out.Failed) > 0 {
		t.Errorf("of other types: %+v, error %v", out, err)
	}
	s.check(2)
}

// Files of which all rows are deleted go.
func TestRewriteOfNothing(t *testing.T) {
	s := openShop(t, "2")
	s.append("a", 1)
	s.append("b", 1)
	s.deleteRow(0, nil)
	if out, _, err := s.compact(nil); err != nil || out.FilesIn != 1 || out.FilesOut != 0 || out.DeletesDropped != 1 {
		t.Errorf("%+v, error %v", out, err)
	}
	s.check(1)
	s.checkDeletes(0)
	s.deleteRow(0, nil) // of a row that is not there
	if out, _, err := s.compact(nil); err != nil || out.FilesIn != 0 || out.DeletesDropped != 1 {
		t.Errorf("a delete of nothing: %+v, error %v", out, err)
	}
}

// A delete file that is gone is said, and changes nothing.
func TestRewriteWithoutADeleteFile(t *testing.T) {
	s := openShop(t, "2")
	s.append("a", 2)
	s.deleteRow(0, nil)
	live, err := s.table().Files(t.Context(), table.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range live {
		if f.Content != "data" {
			if err := s.table().Store().Remove(t.Context(), f.Path); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, _, err := s.compact(nil)
	if err != nil || out.FilesIn != 0 || len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Error, "delete") {
		t.Errorf("%+v, error %v", out, err)
	}
	if n := s.stored(); n != 0 {
		t.Errorf("%d files are stored", n)
	}
}

// lineage is the row id and the sequence number of each row, by its id.
func (s *shop) lineage() map[int64][2]int64 {
	s.Helper()
	t, all := s.table(), make(map[int64][2]int64)
	paths := make(map[string]bool)
	files, err := t.Files(s.Context(), table.FilesOptions{})
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range files {
		paths[f.Path] = true
	}
	live, err := t.Rewritable(s.Context(), paths)
	if err != nil {
		s.Fatal(err)
	}
	schema := parquet.LineageSchema(t.Schema())
	for _, f := range live.Files {
		file, err := t.Store().Open(s.Context(), f.Path)
		if err != nil {
			s.Fatal(err)
		}
		footer, err := parquet.ReadFooter(file, f.SizeBytes)
		if err != nil {
			s.Fatal(err)
		}
		r, err := parquet.NewRowReader(file, footer, schema, parquet.RowReaderOptions{})
		if err != nil {
			s.Fatal(err)
		}
		b := record.NewBatch(schema)
		for {
			first, err := r.Next(b)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				s.Fatal(err)
			}
			for i := range b.Rows {
				l := [2]int64{f.Lineage.FirstRowID + first + int64(i), f.Lineage.SequenceNumber}
				for j, c := range b.Columns[len(b.Columns)-2:] {
					if c.Valid[i] {
						l[j] = c.Ints64[i]
					}
				}
				all[b.Columns[0].Ints64[i]] = l
			}
		}
		r.Close()
		if err := file.Close(); err != nil {
			s.Fatal(err)
		}
	}
	return all
}

// Rows keep their ids and sequence numbers, and deletion vectors go with their files.
func TestRewriteKeepsLineage(t *testing.T) {
	s := openShop(t, "3")
	first := s.append("a", 5)
	s.append("a", 4)
	s.append("a", 2)
	before := s.lineage()
	s.deleteVector(first.Path, 1, 3)
	s.deleteRow(6, nil)
	s.forget(1)
	s.forget(3)
	for range 2 {
		out, _, err := s.compact(nil)
		if err != nil || out.FilesIn == 0 || len(out.Failed) > 0 {
			t.Fatalf("%+v, error %v", out, err)
		}
		s.checkDeletes(0)
		after := s.lineage()
		for _, id := range []int64{1, 3, 6} {
			delete(before, id)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("row ids and sequence numbers (-before +after):\n%s", diff)
		}
		s.append("a", 1)
		s.deleteRow(s.next-1, nil)
	}
	s.check(2)
}

// Of vectors in one manifest and one file, those stay whose data files do.
func TestRewriteOfOneOfTwoFiles(t *testing.T) {
	s := openShop(t, "3")
	first, other := s.append("a", 4), s.append("a", 4)
	s.deleteVectors(map[string][]int64{first.Path: {0, 1}, other.Path: {3}})
	for _, id := range []int{0, 1, 7} {
		s.forget(id)
	}
	k, err := s.table().Upkeep(table.CommitterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compaction(s.table(), k, 1<<20, 1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Progress = func(int) {}
	for left, f := range []record.DataFile{other, first} {
		rewrite := [][]upkeep.Candidate{{{Path: f.Path, Bytes: f.SizeBytes}}}
		out, err := c.Run(t.Context(), upkeep.Work{Rewrites: rewrite})
		if err != nil || out.Deleted != int64(1+left) || out.DeletesDropped != 1 {
			t.Errorf("%+v, error %v", out, err)
		}
		s.check(2)
		s.checkDeletes(1 - left)
	}
}

// Appends, deletes of all kinds and compactions at random: the rows are always those of the model, as the library reads
// them.
func TestRewriteAtRandom(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		rng := rand.New(rand.NewPCG(7, uint64(version[0])))
		s := openShop(t, version)
		live := make(map[string][]int) // ids of rows by file, as far as they are as they were written
		for range 40 {
			switch rng.IntN(6) {
			case 0, 1:
				from := s.next
				f := s.append("a", 1+rng.IntN(5))
				for id := from; id < s.next; id++ {
					live[f.Path] = append(live[f.Path], id)
				}
			case 2, 3:
				s.deleteRow(rng.IntN(s.next+1), nil)
			case 4:
				for path, ids := range live {
					s.deleteFirst(version, path, ids[0])
					delete(live, path)
					break
				}
			default:
				out, _, err := s.compact(nil)
				if err != nil || len(out.Failed) > 0 || out.Stale+out.Gone > 0 {
					t.Fatalf("%+v, error %v", out, err)
				}
				clear(live)
			}
			s.checkRows()
		}
		if _, _, err := s.compact(nil); err != nil {
			t.Fatal(err)
		}
		s.checkRows()
		s.checkDeletes(0)
		s.checkHistory()
	}
}

// checkHistory has the job's history be without fault, and old snapshots expire with the files that only they needed.
func (s *shop) checkHistory() {
	s.Helper()
	t := s.table()
	report, err := t.Audit(s.Context(), "job", table.AuditOptions{Store: true})
	report.Faults = slices.DeleteFunc(report.Faults, func(f table.AuditFault) bool {
		return f.Code == table.FaultMissing // the shop's job never says where it begins
	})
	if err != nil || len(report.Faults) > 0 {
		s.Errorf("faults %+v, error %v", report.Faults, err)
	}
	k, err := t.Upkeep(table.CommitterOptions{})
	if err != nil {
		s.Fatal(err)
	}
	for more := true; more; {
		out, err := k.Expire(s.Context(), table.ExpirePolicy{SnapshotsMax: 1, Batch: 1})
		if err != nil {
			s.Fatal(err)
		}
		more = out.More
	}
	if _, err := k.Sweep(s.Context(), table.SweepPolicy{DeleteAfter: time.Nanosecond}); err != nil {
		s.Fatal(err)
	}
	s.checkRows()
	err = filepath.WalkDir(s.config.Warehouse, func(path string, _ fs.DirEntry, err error) error {
		if name := filepath.Base(path); strings.HasPrefix(name, "delete-") || strings.HasPrefix(name, "vector-") {
			s.Errorf("delete file %s is still there", name)
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
}

// deleteFirst deletes the first row of a file by its position.
func (s *shop) deleteFirst(version, path string, id int) {
	s.Helper()
	if version == "2" {
		s.deleteRow(id, &record.DataFile{Path: path})
		return
	}
	s.deleteVector(path, 0)
	s.forget(id)
}

// checkRows reads the table.
func (s *shop) checkRows() {
	s.Helper()
	files, err := s.table().Files(s.Context(), table.FilesOptions{})
	if err != nil {
		s.Fatal(err)
	}
	s.check(len(slices.DeleteFunc(files, func(f table.FileInfo) bool { return f.Content != "data" })))
	if s.Failed() {
		s.FailNow()
	}
}

// TestOtherReadersOfRewritten lets PyIceberg and DuckDB read a table of which a part was written anew.
func TestOtherReadersOfRewritten(t *testing.T) {
	python := os.Getenv("FIRN_PYTHON")
	if python == "" {
		t.Skip("FIRN_PYTHON does not name a python3 with pyiceberg and duckdb")
	}
	for _, version := range []string{"2", "3"} {
		s := openShop(t, version)
		first := s.append("a", 5)
		s.append("a", 4)
		s.append("b", 3)
		s.deleteFirst(version, first.Path, 0)
		s.deleteRow(7, nil)
		s.evolve(addColumn)
		s.append("b", 2)
		if out, _, err := s.compact(nil); err != nil || out.Deleted != 2 || out.Rewritten != 3 {
			t.Fatalf("%+v, error %v", out, err)
		}
		s.check(3)
		out, err := exec.Command(python, "testdata/read_ids.py", s.table().MetadataLocation()).CombinedOutput()
		ids := "[1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13]\n"
		if err != nil || string(out) != ids+ids {
			t.Errorf("format version %s: error %v, read\n%s", version, err, out)
		}
	}
}
