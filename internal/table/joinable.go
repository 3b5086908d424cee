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

// Joinable is the small data files of a table's head by whether they can be joined as they are.
type Joinable struct {
	// Groups is files of one partition, oldest first, which can be joined with each other. Each has two or more.
	Groups [][]SmallFile
	// Left is files that cannot be, and those of any size whose rows delete files take away.
	Left []LeftFile
}

// SmallFile is a data file to be joined.
type SmallFile struct {
	Path     string
	Bytes    int64
	sequence int64
}

// LeftFile is a data file that is left alone.
type LeftFile struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Reason string `json:"reason"`
}

// Joinable looks for data files smaller than sizeBytesMax. It reads every manifest, one at a time; some 200 bytes a
// file are in memory.
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

// joinLister sorts files by whether they can be joined.
type joinLister struct {
	table     *Table
	bytesMax  int64
	columns   map[int]int64
	specs     map[int]bool // by id: whether it can be understood
	named     map[string]bool
	positions map[string]int64 // the highest sequence number of position deletes, by partition
	equality  map[string]int64 // the same of equality deletes
	global    int64            // the same of equality deletes that apply to all partitions
	groups    map[string][]SmallFile
	left      []LeftFile
}

func (t *Table) newJoinLister(bytesMax int64) *joinLister {
	l := &joinLister{
		table: t, bytesMax: bytesMax, columns: make(map[int]int64), specs: make(map[int]bool), named: make(map[string]bool),
		positions: make(map[string]int64), equality: make(map[string]int64), groups: make(map[string][]SmallFile),
	}
	leafIDs(t.schema.Fields, l.columns)
	return l
}

// list looks at delete files first, to know what applies to each data file.
func (l *joinLister) list(ctx context.Context, files icebergio.IO) error {
	head := l.table.inner.CurrentSnapshot()
	if head == nil {
		return nil
	}
	manifests, err := head.Manifests(files)
	if err != nil {
		return fmt.Errorf("reading manifest list of snapshot %d: %w", head.SnapshotID, err)
	}
	slices.SortStableFunc(manifests, func(a, b iceberg.ManifestFile) int {
		return cmp.Compare(b.ManifestContent(), a.ManifestContent())
	})
	for _, m := range manifests {
		if err := ctx.Err(); err != nil {
			return err
		}
		for e, err := range m.Entries(files, true) {
			if err != nil {
				return fmt.Errorf("reading manifest %s: %w", m.FilePath(), err)
			}
			if e.DataFile().ContentType() == iceberg.EntryContentData {
				l.data(e)
			} else {
				l.deletes(e)
			}
		}
	}
	return nil
}

func (l *joinLister) deletes(e iceberg.ManifestEntry) {
	f, sequence := e.DataFile(), e.SequenceNum()
	key := partitionKey(f)
	if f.ContentType() == iceberg.EntryContentEqDeletes {
		l.equality[key] = max(l.equality[key], sequence)
		if spec, err := l.table.spec(int(f.SpecID())); err != nil || spec.IsUnpartitioned() {
			l.global = max(l.global, sequence)
		}
		return
	}
	if named := f.ReferencedDataFile(); named != nil {
		l.named[*named] = true
		return
	}
	l.positions[key] = max(l.positions[key], sequence)
}

func (l *joinLister) data(e iceberg.ManifestEntry) {
	f := e.DataFile()
	key := partitionKey(f)
	switch reason := l.obstacle(e); {
	case l.deleted(e, key):
		l.left = append(l.left, LeftFile{f.FilePath(), f.FileSizeBytes(), "delete files may apply to it"})
	case f.FileSizeBytes() >= l.bytesMax:
	case reason != "":
		l.left = append(l.left, LeftFile{f.FilePath(), f.FileSizeBytes(), reason})
	default:
		l.groups[key] = append(l.groups[key], SmallFile{f.FilePath(), f.FileSizeBytes(), e.SequenceNum()})
	}
}

// deleted tells whether a delete file may apply (specification, "Scan Planning").
func (l *joinLister) deleted(e iceberg.ManifestEntry, key string) bool {
	sequence := e.SequenceNum()
	position, some := l.positions[key]
	return l.named[e.DataFile().FilePath()] || some && position >= sequence || l.equality[key] > sequence ||
		l.global > sequence
}

// obstacle is why a file cannot be joined by copying, or "".
func (l *joinLister) obstacle(e iceberg.ManifestEntry) string {
	f := e.DataFile()
	spec := int(f.SpecID())
	known, looked := l.specs[spec]
	if !looked {
		known = l.table.fieldsOf(spec) != nil
		l.specs[spec] = known
	}
	switch {
	case f.FileFormat() != iceberg.ParquetFile:
		return "it is not Parquet"
	case !hasColumns(f, l.columns):
		return "its columns are not those of the table's schema, or their sizes are not stated"
	case !known:
		return "the columns of its partition spec are gone"
	case l.table.FormatVersion() >= 3 && f.FirstRowID() == nil:
		return "the ids of its rows are not known"
	default:
		return ""
	}
}

func (l *joinLister) joinable() Joinable {
	out := Joinable{Left: append([]LeftFile{}, l.left...)}
	for _, g := range l.groups {
		if len(g) < 2 {
			continue
		}
		slices.SortFunc(g, func(a, b SmallFile) int {
			return cmp.Or(cmp.Compare(a.sequence, b.sequence), cmp.Compare(a.Path, b.Path))
		})
		out.Groups = append(out.Groups, g)
	}
	slices.SortFunc(out.Groups, func(a, b []SmallFile) int { return cmp.Compare(a[0].Path, b[0].Path) })
	slices.SortFunc(out.Left, func(a, b LeftFile) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// Describe is the descriptions of live data files by path, with their lineage where the table has it. Those that are
// not live any more are not in it. It reads every manifest, one at a time.
func (t *Table) Describe(ctx context.Context, paths map[string]bool) (map[string]record.DataFile, error) {
	described := make(map[string]record.DataFile, len(paths))
	head := t.inner.CurrentSnapshot()
	if head == nil {
		return described, nil
	}
	files, err := t.inner.FS(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening the store of %s: %w", t.ident, err)
	}
	err = liveEntries(ctx, files, head, func(e iceberg.ManifestEntry) error {
		f := e.DataFile()
		if !paths[f.FilePath()] || f.ContentType() != iceberg.EntryContentData {
			return nil
		}
		d, err := t.describe(f, t.fieldsOf(int(f.SpecID())))
		if err != nil {
			return fmt.Errorf("data file %s: %w", f.FilePath(), err)
		}
		if first := f.FirstRowID(); first != nil {
			d.Lineage = record.Lineage{FirstRowID: *first, SequenceNumber: e.SequenceNum()}
		}
		described[f.FilePath()] = d
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("describing data files of %s: %w", t.ident, err)
	}
	return described, nil
}
