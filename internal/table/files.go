package table

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
)

// FileInfo is one live file of a table, as its manifest entry describes it.
type FileInfo struct {
	Path           string  `json:"path"`
	Content        string  `json:"content"`   // data, position deletes or equality deletes
	Format         string  `json:"format"`    // parquet, orc, avro or puffin
	Partition      string  `json:"partition"` // field=value, joined by /; empty for an unpartitioned spec
	SpecID         int     `json:"spec_id"`
	Rows           int64   `json:"rows"`
	Bytes          int64   `json:"bytes"`
	RowGroups      int     `json:"row_groups"`       // 0: not stated
	Bounds         []Bound `json:"bounds,omitempty"` // by field id
	SnapshotID     int64   `json:"snapshot_id"`      // that added the file
	SequenceNumber int64   `json:"sequence_number"`  // of its data
}

// Bound is what a file says of one column. Text bounds may be cut short and then only enclose the values.
type Bound struct {
	Column string `json:"column"` // dotted path; "field N" when the schema no longer has it
	Lower  string `json:"lower,omitempty"`
	Upper  string `json:"upper,omitempty"`
	Nulls  int64  `json:"nulls"` // -1: not stated
	Bytes  int64  `json:"bytes"` // -1: not stated
}

// FilesOptions says which files to list.
type FilesOptions struct {
	SnapshotID int64 // 0 is the current one
	Bounds     bool  // with the bounds of every column, which are most of the memory that the list takes
}

// Files lists the live files of a snapshot, delete files included, ordered by partition, sequence number and path. It
// reads every manifest of the snapshot.
func (t *Table) Files(ctx context.Context, o FilesOptions) ([]FileInfo, error) {
	s := t.inner.CurrentSnapshot()
	if o.SnapshotID != 0 {
		s = t.inner.SnapshotByID(o.SnapshotID)
	}
	if s == nil && o.SnapshotID != 0 {
		return nil, fmt.Errorf("table %s has no snapshot %d: it never had or it has expired", t.ident, o.SnapshotID)
	}
	list := []FileInfo{}
	if s == nil {
		return list, nil
	}
	fio, err := t.inner.FS(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening the store of %s: %w", t.ident, err)
	}
	err = liveEntries(ctx, fio, s, func(e iceberg.ManifestEntry) error {
		info, err := t.fileInfo(e, o.Bounds)
		list = append(list, info)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing files of %s: %w", t.ident, err)
	}
	slices.SortFunc(list, func(a, b FileInfo) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.SequenceNumber, b.SequenceNumber),
			cmp.Compare(a.Path, b.Path))
	})
	return list, nil
}

// liveEntries calls do with every entry of the snapshot's manifests that is not deleted, those of delete files first.
func liveEntries(
	ctx context.Context, fio icebergio.IO, s *icebergtable.Snapshot, do func(iceberg.ManifestEntry) error,
) error {
	manifests, err := s.Manifests(fio)
	if err != nil {
		return fmt.Errorf("reading manifest list of snapshot %d: %w", s.SnapshotID, err)
	}
	slices.SortStableFunc(manifests, func(a, b iceberg.ManifestFile) int {
		return cmp.Compare(b.ManifestContent(), a.ManifestContent())
	})
	for _, m := range manifests {
		if err := ctx.Err(); err != nil {
			return err
		}
		for e, err := range m.Entries(fio, true) {
			if err != nil {
				return fmt.Errorf("reading manifest %s: %w", m.FilePath(), err)
			}
			if err := do(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Table) fileInfo(e iceberg.ManifestEntry, bounds bool) (FileInfo, error) {
	f := e.DataFile()
	partition, err := t.partitionText(f)
	if err != nil {
		return FileInfo{}, fmt.Errorf("file %s: %w", f.FilePath(), err)
	}
	info := FileInfo{
		Path: f.FilePath(), Content: contentText(f.ContentType()), Format: strings.ToLower(string(f.FileFormat())),
		Partition: partition, SpecID: int(f.SpecID()), Rows: f.Count(), Bytes: f.FileSizeBytes(),
		RowGroups: len(f.SplitOffsets()), SnapshotID: e.SnapshotID(), SequenceNumber: e.SequenceNum(),
	}
	if bounds {
		info.Bounds = t.bounds(f)
	}
	return info, nil
}

func contentText(c iceberg.ManifestEntryContent) string {
	switch c {
	case iceberg.EntryContentPosDeletes:
		return "position deletes"
	case iceberg.EntryContentEqDeletes:
		return "equality deletes"
	default:
		return "data"
	}
}

// partitionText is the partition of a file under the spec that it was written with, each value as its transform
// prints it: day=2026-01-31/id_bucket=5.
func (t *Table) partitionText(f iceberg.DataFile) (string, error) {
	spec, err := t.spec(int(f.SpecID()))
	if err != nil {
		return "", err
	}
	values := f.Partition()
	var parts []string
	for _, field := range spec.Fields() {
		text := "null"
		if v := values[field.FieldID]; v != nil {
			text = t.transformText(field, v)
		}
		parts = append(parts, field.Name+"="+text)
	}
	return strings.Join(parts, "/"), nil
}

func (t *Table) transformText(field iceberg.PartitionField, v any) string {
	source, ok := t.fieldByID(field.SourceID())
	if !ok {
		return fmt.Sprint(v)
	}
	result := field.Transform.ResultType(source.Type)
	switch field.Transform.(type) {
	case iceberg.YearTransform, iceberg.MonthTransform, iceberg.DayTransform, iceberg.HourTransform:
		return field.Transform.ToHumanStrType(result, v)
	}
	return goText(result, v)
}

// fieldByID looks in the current schema first, then in older ones, for columns that were dropped.
func (t *Table) fieldByID(id int) (iceberg.NestedField, bool) {
	if f, ok := t.inner.Schema().FindFieldByID(id); ok {
		return f, true
	}
	for _, s := range t.inner.Metadata().Schemas() {
		if f, ok := s.FindFieldByID(id); ok {
			return f, true
		}
	}
	return iceberg.NestedField{}, false
}

// bounds is what the file says of each column it has any figure for.
func (t *Table) bounds(f iceberg.DataFile) []Bound {
	lower, upper, nulls, sizes := f.LowerBoundValues(), f.UpperBoundValues(), f.NullValueCounts(), f.ColumnSizes()
	ids := map[int]bool{}
	for id := range lower {
		ids[id] = true
	}
	for id := range nulls {
		ids[id] = true
	}
	for id := range sizes {
		ids[id] = true
	}
	sorted := make([]int, 0, len(ids))
	for id := range ids {
		sorted = append(sorted, id)
	}
	slices.Sort(sorted)
	list := make([]Bound, 0, len(sorted))
	for _, id := range sorted {
		list = append(list, t.bound(id, lower[id], upper[id], orMissing(nulls, id), orMissing(sizes, id)))
	}
	return list
}

func orMissing(m map[int]int64, id int) int64 {
	if n, ok := m[id]; ok {
		return n
	}
	return -1
}

func (t *Table) bound(id int, lower, upper []byte, nulls, bytes int64) Bound {
	b := Bound{Column: fmt.Sprintf("field %d", id), Nulls: nulls, Bytes: bytes}
	field, ok := t.fieldByID(id)
	if !ok {
		return b
	}
	if name, ok := t.inner.Schema().FindColumnName(id); ok {
		b.Column = name
	}
	if lower != nil {
		b.Lower = boundText(field.Type, lower)
	}
	if upper != nil {
		b.Upper = boundText(field.Type, upper)
	}
	return b
}

// ManifestCount is the number of manifests of the table's head.
func (t *Table) ManifestCount(ctx context.Context) (int, error) {
	head := t.inner.CurrentSnapshot()
	if head == nil {
		return 0, nil
	}
	files, err := t.inner.FS(ctx)
	if err != nil {
		return 0, fmt.Errorf("opening the store of %s: %w", t.ident, err)
	}
	manifests, err := head.Manifests(files)
	if err != nil {
		return 0, fmt.Errorf("reading the manifest list of %s: %w", t.ident, err)
	}
	return len(manifests), nil
}
