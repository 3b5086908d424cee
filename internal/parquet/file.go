package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// File builds one Parquet file in memory, page by page and row group by row group, and writes it out at the end. It is
// not safe for concurrent use. Many may be open at once: an empty one holds some hundred bytes a column.
type File struct {
	options        Options
	layout         *layout
	leaves         []leaf
	rows           int64 // in the file
	groupRows      int64 // in the open row group
	groups         []rowGroup
	groupsHeld     int64 // memory of the finished row groups
	groupsBytes    int64 // size of the finished row groups
	err            error // why the file can only be Reset
	pageBytesLimit int
	rowGroupsMax   int
}

// rowGroup is a finished row group, a chunk a leaf.
type rowGroup struct {
	rows   int64
	chunks []chunk
}

const (
	// rowGroupsMax is what the 16-bit ordinal of a row group can count.
	rowGroupsMax = math.MaxInt16 + 1
	// blockRows are appended to all columns before the next ones, so that scratch space and row groups stay bounded
	// whatever the size of a batch.
	blockRows = 8192
)

// ErrFinished means that a file was written out and must be Reset first.
var ErrFinished = errors.New("the parquet file is finished; reset it before it is used again")

// NewFile starts a file of the schema's columns. It fails where the schema has no form in Parquet, or the options make
// no sense. The schema must not change while the file is used.
func NewFile(schema *record.Schema, o Options) (*File, error) {
	o, err := o.normalize()
	if err != nil {
		return nil, fmt.Errorf("opening a parquet file: %w", err)
	}
	l, err := newLayout(schema)
	if err != nil {
		return nil, fmt.Errorf("opening a parquet file: %w", err)
	}
	f := &File{options: o, layout: l, pageBytesLimit: pageBytesLimit, rowGroupsMax: rowGroupsMax}
	f.leaves = make([]leaf, len(l.leaves))
	for i := range f.leaves {
		f.leaves[i].leafType = l.leaves[i]
		f.leaves[i].learned = o.Pool.learnedOf(&l.leaves[i])
		f.leaves[i].setMetrics(o)
	}
	if err := f.setBlooms(); err != nil {
		return nil, fmt.Errorf("opening a parquet file: %w", err)
	}
	return f, nil
}

func (l *leaf) setMetrics(o Options) {
	m, ok := o.ColumnMetrics[l.id]
	if !ok {
		m = o.Metrics
	}
	l.metrics = m
	switch {
	case l.physical != format.ByteArray || m.length() > math.MaxInt32/4:
		l.keep = math.MaxInt32
	case l.kind == record.KindString:
		l.keep = 4 * m.length() // a code point has at most 4 bytes
	default:
		l.keep = m.length()
	}
}

// Append copies the values of the given rows, in that order, or of all rows when rows is nil. The columns are the
// schema's, in its order. Columns or rows that do not fit the schema are refused and leave the file as it was; any
// other error (a required value that is null, a decimal beyond its precision, a row too large) is final until Reset.
func (f *File) Append(columns []record.Column, rows []int32) error {
	if f.err != nil {
		return f.err
	}
	n, err := f.layout.validate(columns, rows)
	if err != nil {
		return fmt.Errorf("appending to a parquet file: %w", err)
	}
	w := f.options.Pool.borrow()
	defer f.options.Pool.giveBack(w)
	for from := 0; from < n; from += blockRows {
		block := w.block(rows, from, min(from+blockRows, n))
		if err := f.appendBlock(w, columns, block); err != nil {
			f.err = fmt.Errorf("appending to a parquet file: %w", err)
			return f.err
		}
	}
	return nil
}

// block is rows[from:to], or those numbers themselves when rows is nil.
func (w *workspace) block(rows []int32, from, to int) []int32 {
	if rows != nil {
		return rows[from:to]
	}
	w.rows = w.rows[:0]
	for row := from; row < to; row++ {
		w.rows = append(w.rows, int32(row))
	}
	return w.rows
}

func (f *File) appendBlock(w *workspace, columns []record.Column, rows []int32) error {
	if f.groupRows == 0 {
		f.beginRowGroup()
	}
	for i := range f.layout.nodes {
		if err := f.walk(w, &f.layout.nodes[i], &columns[i], vector{index: rows}, 0); err != nil {
			return err
		}
	}
	f.rows += int64(len(rows))
	f.groupRows += int64(len(rows))
	// The last row group that an ordinal can name takes the rest.
	if len(f.groups) < f.rowGroupsMax-1 && f.openBytes() >= f.options.RowGroupBytesMax {
		return f.finishRowGroup(w)
	}
	return nil
}

func (f *File) beginRowGroup() {
	for i := range f.leaves {
		l := &f.leaves[i]
		l.dict.begin(f.options.DictionaryBytesMax > 0 && l.physical != format.Boolean)
	}
}

// finishRowGroup moves the chunks out of the leaves.
func (f *File) finishRowGroup(w *workspace) error {
	if f.groupRows == 0 {
		return nil
	}
	if len(f.groups) < cap(f.groups) {
		f.groups = f.groups[:len(f.groups)+1] // with the chunks of an earlier file, empty, for their buffers
	} else {
		f.groups = append(f.groups, rowGroup{})
	}
	g := &f.groups[len(f.groups)-1]
	g.rows = f.groupRows
	if g.chunks == nil {
		g.chunks = make([]chunk, len(f.leaves))
	}
	for i := range f.leaves {
		l := &f.leaves[i]
		if err := l.finishChunk(f, w); err != nil {
			return err
		}
		g.chunks[i], l.chunk = l.chunk, g.chunks[i]
		f.groupsHeld += g.chunks[i].held()
		f.groupsBytes += g.chunks[i].size() + int64(len(g.chunks[i].bloom))
	}
	f.groupRows = 0
	return nil
}

// Rows is the number of rows appended.
func (f *File) Rows() int64 { return f.rows }

// BufferedBytes is the memory that the file's data holds, encoded or not.
func (f *File) BufferedBytes() int64 {
	held := f.groupsHeld
	for i := range f.leaves {
		held += f.leaves[i].held()
	}
	return held
}

// EncodedBytes estimates the size of the file if it were finished now.
func (f *File) EncodedBytes() int64 {
	const footerBytes, chunkBytes = 256, 192 // typical
	groups := int64(len(f.groups) + 1)
	total := f.groupsBytes + f.openBytes() + footerBytes + groups*chunkBytes*int64(len(f.leaves))
	for i := range f.leaves {
		total += f.leaves[i].bloom.estimate(f.leaves[i].page.count)
	}
	return total
}

// openBytes estimates the encoded size of the open row group.
func (f *File) openBytes() int64 {
	var total int64
	for i := range f.leaves {
		total += f.leaves[i].openBytes()
	}
	return total
}

// Finish writes the file to w and describes it: all of DataFile but path, partition and sort order, which are the
// caller's. After it nothing can be appended until Reset. It may be called again and writes the same bytes, so that
// a file that could not be stored is stored again without a copy of it.
func (f *File) Finish(w io.Writer) (record.DataFile, error) {
	if f.err != nil && !errors.Is(f.err, ErrFinished) {
		return record.DataFile{}, f.err
	}
	ws := f.options.Pool.borrow()
	defer f.options.Pool.giveBack(ws)
	f.err = ErrFinished
	if err := f.finishRowGroup(ws); err != nil { // the second time there is none to finish
		f.err = fmt.Errorf("finishing a parquet file: %w", err)
		return record.DataFile{}, f.err
	}
	out := countingWriter{w: w}
	splits, err := f.write(&out, ws)
	if err != nil {
		return record.DataFile{}, fmt.Errorf("writing a parquet file: %w", err)
	}
	d := f.describe()
	d.SizeBytes, d.SplitOffsets = out.bytes, splits
	return d, nil
}

// Reset empties the file for another one of the same schema, and keeps small buffers.
func (f *File) Reset() {
	for i := range f.groups {
		for j := range f.groups[i].chunks {
			f.groups[i].chunks[j].release(f.options.Pool)
		}
	}
	const groupsKept = 4
	if cap(f.groups) > groupsKept {
		f.groups = nil
	}
	f.groups = f.groups[:0]
	for i := range f.leaves {
		f.leaves[i].reset(f.options.Pool)
	}
	f.rows, f.groupRows, f.groupsHeld, f.groupsBytes, f.err = 0, 0, 0, 0, nil
}
