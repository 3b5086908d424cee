package deletes

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"

	"firn/internal/parquet"
	"firn/internal/record"
)

// golden is the tables of testdata: histories that Spark and Iceberg's own Java library wrote, and the rows that Spark
// reads in every snapshot.
type golden struct {
	files  map[string][]byte // by path below the folder of tables
	states map[string]goldenTable
}

type goldenTable struct {
	Location  string `json:"location"`
	Snapshots []struct {
		ID      string           `json:"id"`
		State   []map[string]any `json:"state"`
		Lineage []map[string]any `json:"lineage"`
	} `json:"snapshots"`
}

func openGolden(t *testing.T) *golden {
	t.Helper()
	packed, err := os.Open("testdata/tables.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	g := &golden{files: make(map[string][]byte)}
	for in := tar.NewReader(unzipped); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if g.files[path.Join("/golden/out", h.Name)], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	states, err := os.ReadFile("testdata/states.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(states, &g.states); err != nil {
		t.Fatal(err)
	}
	return g
}

// goldenFS has the tables where their metadata say that they are.
type goldenFS struct {
	icebergio.LocalFS
	*golden
}

type goldenFile struct{ *bytes.Reader }

func (goldenFile) Close() error               { return nil }
func (goldenFile) Stat() (os.FileInfo, error) { return nil, errors.ErrUnsupported }

func (f goldenFS) Open(name string) (icebergio.File, error) {
	b, ok := f.files[strings.TrimPrefix(name, "file:")]
	if !ok {
		return nil, fmt.Errorf("opening %s: %w", name, os.ErrNotExist)
	}
	return goldenFile{bytes.NewReader(b)}, nil
}

func (f goldenFS) ReadFile(name string) ([]byte, error) {
	return f.files[strings.TrimPrefix(name, "file:")], nil
}

// Every snapshot of every table has the rows that Spark reads, with the ids that it says they have.
func TestGolden(t *testing.T) {
	g := openGolden(t)
	files := goldenFS{golden: g}
	for name, want := range g.states {
		hint := g.files[want.Location+"/metadata/version-hint.text"]
		metadata := fmt.Sprintf("%s/metadata/v%s.metadata.json", want.Location, bytes.TrimSpace(hint))
		source, err := table.NewFromLocation(t.Context(), []string{"db", name}, metadata,
			func(context.Context) (icebergio.IO, error) { return files, nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range want.Snapshots {
			id, err := strconv.ParseInt(s.ID, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			read := goldenRead{T: t, files: files, table: source, snapshot: source.SnapshotByID(id)}
			read.list()
			if diff := cmp.Diff(texts(s.State), read.rows(false)); diff != "" {
				t.Errorf("%s, snapshot %s: rows (-want +got):\n%s", name, s.ID, diff)
			}
			if s.Lineage == nil {
				continue
			}
			if diff := cmp.Diff(texts(s.Lineage), read.rows(true)); diff != "" {
				t.Errorf("%s, snapshot %s: rows with lineage (-want +got):\n%s", name, s.ID, diff)
			}
		}
	}
}

func texts(rows []map[string]any) []string {
	out := []string{}
	for _, row := range rows {
		b, _ := json.Marshal(row)
		out = append(out, string(b))
	}
	slices.Sort(out)
	return out
}

// goldenRead reads one snapshot, by the plain words of the specification.
type goldenRead struct {
	*testing.T
	files    goldenFS
	table    *table.Table
	snapshot *table.Snapshot
	data     []iceberg.ManifestEntry
	deletes  []iceberg.ManifestEntry
}

func (r *goldenRead) list() {
	r.Helper()
	manifests, err := r.snapshot.Manifests(r.files)
	if err != nil {
		r.Fatal(err)
	}
	for _, m := range manifests {
		for e, err := range m.Entries(r.files, true) {
			if err != nil {
				r.Fatal(err)
			}
			if e.DataFile().ContentType() == iceberg.EntryContentData {
				r.data = append(r.data, e)
			} else {
				r.deletes = append(r.deletes, e)
			}
		}
	}
}

// applies is section "Scan Planning" of the specification.
func (r *goldenRead) applies(d, data iceberg.ManifestEntry) bool {
	f, of := d.DataFile(), data.DataFile()
	near := f.SpecID() == of.SpecID() && fmt.Sprint(f.Partition()) == fmt.Sprint(of.Partition())
	spec := r.table.Metadata().PartitionSpecByID(int(f.SpecID()))
	switch {
	case f.ContentType() == iceberg.EntryContentEqDeletes:
		return (near || spec.IsUnpartitioned()) && data.SequenceNum() < d.SequenceNum()
	case f.ReferencedDataFile() != nil:
		return *f.ReferencedDataFile() == of.FilePath()
	default:
		return near && data.SequenceNum() <= d.SequenceNum()
	}
}

func (r *goldenRead) describe(e iceberg.ManifestEntry) record.DeleteFile {
	f := e.DataFile()
	d := record.DeleteFile{Path: f.FilePath(), SizeBytes: f.FileSizeBytes(), Rows: f.Count(), Sequence: e.SequenceNum(),
		EqualityIDs: f.EqualityFieldIDs()}
	if f.ContentType() == iceberg.EntryContentEqDeletes {
		d.Content = record.DeleteEquality
	} else if f.FileFormat() == iceberg.PuffinFile {
		d.Content, d.Offset, d.Length = record.DeleteVector, *f.ContentOffset(), *f.ContentSizeInBytes()
	}
	return d
}

func (r *goldenRead) fields() []record.Field {
	s := r.table.Schema()
	for _, old := range r.table.Metadata().Schemas() {
		if r.snapshot.SchemaID != nil && old.ID == *r.snapshot.SchemaID {
			s = old
		}
	}
	var fields []record.Field
	for _, f := range s.Fields() {
		fields = append(fields, goldenField(f))
	}
	return fields
}

func goldenField(f iceberg.NestedField) record.Field {
	kinds := map[string]record.Kind{
		"int": record.KindInt, "long": record.KindLong, "string": record.KindString, "double": record.KindDouble,
		"float": record.KindFloat,
	}
	return column(f.ID, f.Name, kinds[f.Type.String()])
}

func (r *goldenRead) field(id int) (record.Field, error) {
	for _, s := range slices.Backward(r.table.Metadata().Schemas()) {
		if f, ok := s.FindFieldByID(id); ok {
			return goldenField(f), nil
		}
	}
	return record.Field{}, fmt.Errorf("no field %d", id)
}

func (r *goldenRead) open(_ context.Context, path string) (Content, error) { return r.files.Open(path) }

// rows is the live rows as JSON.
func (r *goldenRead) rows(lineage bool) []string {
	r.Helper()
	out := []string{}
	for _, e := range r.data {
		f := e.DataFile()
		b := r.files.golden.files[strings.TrimPrefix(f.FilePath(), "file:")]
		d := Data{Path: f.FilePath(), Bytes: bytes.NewReader(b), SizeBytes: int64(len(b)), Rows: f.Count(),
			Sequence: e.SequenceNum()}
		for _, x := range r.deletes {
			if r.applies(x, e) {
				d.Deletes = append(d.Deletes, r.describe(x))
			}
		}
		found, err := Find(r.Context(), Config{Open: r.open, Field: r.field}, []Data{d})
		if err != nil {
			r.Fatal(err)
		}
		first := int64(0)
		if lineage {
			first = *f.FirstRowID()
		}
		out = append(out, r.live(&d, &found[0], lineage, first)...)
	}
	slices.Sort(out)
	return out
}

func (r *goldenRead) live(d *Data, deleted *Rows, lineage bool, firstRowID int64) (out []string) {
	r.Helper()
	s := &record.Schema{Fields: r.fields()}
	if lineage {
		s = parquet.LineageSchema(s)
	}
	f := finder{Config: Config{Pool: parquet.NewPool(0)}}
	err := f.each(r.Context(), d.Bytes, d.SizeBytes, s, nil, func(b *record.Batch, first int64) error {
		for _, i := range deleted.Others(nil, first, b.Rows) {
			row := make(map[string]any)
			for j := range b.Columns {
				row[s.Fields[j].Name] = goldenValue(&b.Columns[j], int(i))
			}
			if lineage && row["_row_id"] == nil {
				row["_row_id"] = firstRowID + first + int64(i)
			}
			if lineage && row["_last_updated_sequence_number"] == nil {
				row["_last_updated_sequence_number"] = d.Sequence
			}
			out = append(out, texts([]map[string]any{row})[0])
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return out
}

func goldenValue(c *record.Column, i int) any {
	if !c.Valid[i] {
		return nil
	}
	switch c.Field.Type.Kind {
	case record.KindInt:
		return c.Ints32[i]
	case record.KindLong:
		return c.Ints64[i]
	case record.KindDouble:
		return c.Floats64[i]
	case record.KindFloat:
		return c.Floats32[i]
	default:
		return string(c.Bytes[i])
	}
}
