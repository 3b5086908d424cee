package table

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
)

// Joinable is the data files of a table's head by what can be done to make fewer or plainer ones of them.
type Joinable struct {
	// Groups is small files of one partition, oldest first, which can be joined with each other as they are. Each has two
	// or more.
	Groups [][]SmallFile
	// Rewritable is files of one partition, oldest first, whose rows have to be read and written anew: those of any size
	// to which delete files may apply, and small ones of other columns than the table's schema.
	Rewritable [][]SmallFile
	// Deletes is the delete files that no data file needs any more once all of Rewritable are written anew.
	Deletes []record.DeleteFile
	// Left is files that nothing can be done with.
	Left []LeftFile
}

// SmallFile is a data file to be joined or written anew.
type SmallFile struct {
	Path     string
	Bytes    int64
	Deletes  int // delete files that may apply to it
	sequence int64
}

// LeftFile is a data file that is left alone.
type LeftFile struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Reason string `json:"reason"`
}

// Joinable looks for data files smaller than sizeBytesMax, and for those of any size with deletes. It reads every
// manifest, one at a time; some 200 bytes a file are in memory, and some 500 a delete file.
func (t *Table) Joinable(ctx context.Context, sizeBytesMax int64) (Joinable, error) {
	files, err := t.inner.FS(ctx)
	if err != nil {
		return Joinable{}, fmt.Errorf("opening the store of %s: %w", t.ident, err)
	}
	l := t.newJoinLister(sizeBytesMax)
	if err := l.list(ctx, files); err != nil {
		return Joinable{}, fmt.Errorf("listing data files of %s: %w", t.ident, err)
	}
	return l.joinable(), nil
}

// joinLister sorts files by what can be done with them.
type joinLister struct {
	table    *Table
	bytesMax int64
	columns  columnSet
	defaults string       // a column with an initial default, if there is one
	specs    map[int]bool // by id: whether it can be understood
	deletes  *deleteIndex
	needed   map[*deleteEntry]bool // by files that are left
	groups   map[string][]SmallFile
	deleted  map[string][]SmallFile // files that deletes may apply to
	others   map[string][]SmallFile // small files of other columns
	left     []LeftFile
}

func (t *Table) newJoinLister(bytesMax int64) *joinLister {
	return &joinLister{
		table: t, bytesMax: bytesMax, columns: t.columnSet(), defaults: t.initialDefault(), specs: make(map[int]bool),
		deletes: newDeleteIndex(t), needed: make(map[*deleteEntry]bool), groups: make(map[string][]SmallFile),
		deleted: make(map[string][]SmallFile), others: make(map[string][]SmallFile),
	}
}

// list is told of delete files first, and so knows what applies to each data file.
func (l *joinLister) list(ctx context.Context, files icebergio.IO) error {
	head := l.table.inner.CurrentSnapshot()
	if head == nil {
		return nil
	}
	return liveEntries(ctx, files, head, func(e iceberg.ManifestEntry) error {
		if e.DataFile().ContentType() == iceberg.EntryContentData {
			l.data(e)
		} else {
			l.deletes.add(e)
		}
		return nil
	})
}

func (l *joinLister) data(e iceberg.ManifestEntry) {
	f := e.DataFile()
	small := f.FileSizeBytes() < l.bytesMax
	applying := l.deletes.applying(f, e.SequenceNum())
	if !small && len(applying) == 0 {
		return
	}
	file, key := SmallFile{f.FilePath(), f.FileSizeBytes(), len(applying), e.SequenceNum()}, partitionKey(f)
	whole := l.columns.has(f)
	reason := l.obstacle(f)
	if reason == "" && (!whole || len(applying) > 0) {
		reason = l.unreadable(applying)
	}
	switch {
	case reason != "":
		l.left = append(l.left, LeftFile{f.FilePath(), f.FileSizeBytes(), reason})
		for _, d := range applying {
			l.needed[d] = true
		}
	case len(applying) > 0:
		l.deleted[key] = append(l.deleted[key], file)
	case !whole:
		l.others[key] = append(l.others[key], file)
	default:
		l.groups[key] = append(l.groups[key], file)
	}
}

// obstacle is why a file can be neither joined nor written anew, or "".
func (l *joinLister) obstacle(f iceberg.DataFile) string {
	spec := int(f.SpecID())
	known, looked := l.specs[spec]
	if !looked {
		known = l.table.fieldsOf(spec) != nil
		l.specs[spec] = known
	}
	switch {
	case f.FileFormat() != iceberg.ParquetFile:
		return "it is not Parquet"
	case !known:
		return "the columns of its partition spec are gone"
	case l.table.FormatVersion() >= 3 && f.FirstRowID() == nil:
		return "the ids of its rows are not known"
	default:
		return ""
	}
}

// unreadable is why the rows of a file cannot be read, or "".
func (l *joinLister) unreadable(applying []*deleteEntry) string {
	if l.defaults != "" {
		return "column " + l.defaults + " has an initial default, which is not read"
	}
	for _, d := range applying {
		if !d.parquet {
			return "a delete file that may apply to it is not Parquet"
		}
	}
	return ""
}

// initialDefault is a column that is not null in files that do not have it, or "".
func (t *Table) initialDefault() string {
	for _, id := range t.inner.Schema().FieldIDs() {
		if f, ok := t.inner.Schema().FindFieldByID(id); ok && f.InitialDefault != nil {
			return f.Name
		}
	}
	return ""
}

func (l *joinLister) joinable() Joinable {
	out := Joinable{Left: append([]LeftFile{}, l.left...)}
	for key, others := range l.others { // alone, one has nothing to be joined with
		if len(others)+len(l.deleted[key])+len(l.groups[key]) > 1 {
			l.deleted[key] = append(l.deleted[key], others...)
		}
	}
	for _, d := range l.deletes.all {
		if !l.needed[d] {
			out.Deletes = append(out.Deletes, d.DeleteFile)
		}
	}
	out.Groups, out.Rewritable = sortGroups(l.groups, 2), sortGroups(l.deleted, 1)
	slices.SortFunc(out.Left, func(a, b LeftFile) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// sortGroups is the groups of so many files at least.
func sortGroups(groups map[string][]SmallFile, least int) [][]SmallFile {
	var out [][]SmallFile
	for _, g := range groups {
		if len(g) < least {
			continue
		}
		slices.SortFunc(g, func(a, b SmallFile) int {
			return cmp.Or(cmp.Compare(a.sequence, b.sequence), cmp.Compare(a.Path, b.Path))
		})
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b []SmallFile) int { return cmp.Compare(a[0].Path, b[0].Path) })
	return out
}

// Rewritable is data files as they are in one snapshot.
type Rewritable struct {
	SnapshotID int64
	Files      map[string]record.DeletableFile // by path, those that are live
}

// Rewritable describes live data files with the delete files that may apply to them. It reads every manifest, one at a
// time.
func (t *Table) Rewritable(ctx context.Context, paths map[string]bool) (Rewritable, error) {
	out := Rewritable{Files: make(map[string]record.DeletableFile, len(paths))}
	head := t.inner.CurrentSnapshot()
	if head == nil {
		return out, nil
	}
	out.SnapshotID = head.SnapshotID
	files, err := t.inner.FS(ctx)
	if err != nil {
		return out, fmt.Errorf("opening the store of %s: %w", t.ident, err)
	}
	deletes := newDeleteIndex(t)
	err = liveEntries(ctx, files, head, func(e iceberg.ManifestEntry) error {
		f := e.DataFile()
		if f.ContentType() != iceberg.EntryContentData {
			deletes.add(e)
			return nil
		}
		if !paths[f.FilePath()] {
			return nil
		}
		d, err := t.describeEntry(e)
		if err != nil {
			return err
		}
		file := record.DeletableFile{DataFile: d, Sequence: e.SequenceNum()}
		for _, d := range deletes.applying(f, e.SequenceNum()) {
			file.Deletes = append(file.Deletes, d.DeleteFile)
		}
		out.Files[f.FilePath()] = file
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("describing data files of %s: %w", t.ident, err)
	}
	return out, nil
}

// describeEntry is a data file with its lineage, where the table has it.
func (t *Table) describeEntry(e iceberg.ManifestEntry) (record.DataFile, error) {
	f := e.DataFile()
	d, err := t.describe(f, t.fieldsOf(int(f.SpecID())))
	if err != nil {
		return d, fmt.Errorf("data file %s: %w", f.FilePath(), err)
	}
	if first := f.FirstRowID(); first != nil {
		d.Lineage = record.Lineage{FirstRowID: *first, SequenceNumber: e.SequenceNum()}
	}
	return d, nil
}
