package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"firn/internal/record"
)

// RowReaderOptions says how rows are read. The zero value of a field is its default.
type RowReaderOptions struct {
	// BatchRows is the most rows of a batch; 0 is 8192.
	BatchRows int
	// BatchBytes is about how many bytes the values of a batch and of the pages that hold them have; 0 is 4 MiB. A single
	// larger row makes a larger batch.
	BatchBytes int
	// WindowBytes bounds what is read ahead of all columns together; 0 is 16 MiB. A column reads 64 KiB at least.
	WindowBytes int
	// Pool is where decoders and idle buffers are; nil is a private one.
	Pool *Pool
}

const (
	batchRowsDefault   = 8192
	batchBytesDefault  = 4 << 20
	windowBytesDefault = 16 << 20
	windowBytesMin     = 64 << 10
	windowBytesMax     = 1 << 20
	// leafBytesMin is what a column may hold in opened pages, however many columns there are.
	leafBytesMin = 64 << 10
)

func (o RowReaderOptions) normalize() (RowReaderOptions, error) {
	if o.BatchRows == 0 {
		o.BatchRows = batchRowsDefault
	}
	if o.BatchBytes == 0 {
		o.BatchBytes = batchBytesDefault
	}
	if o.WindowBytes == 0 {
		o.WindowBytes = windowBytesDefault
	}
	if o.BatchRows < 0 || o.BatchBytes < 0 || o.WindowBytes < 0 || o.BatchRows > math.MaxInt32 {
		return o, fmt.Errorf("a batch of %d rows and %d bytes, %d bytes ahead, makes no sense", o.BatchRows, o.BatchBytes,
			o.WindowBytes)
	}
	if o.Pool == nil {
		o.Pool = NewPool(privateIdleBytesMax)
	}
	return o, nil
}

// RowReader reads the rows of a Parquet data file into columns, in their order. It reads pages of the columns that are
// asked for, and holds those that a batch lies in: never a whole row group. It is not safe for concurrent use.
//
// Columns are found by their field ids (Iceberg specification, "Column Projection"): their names in the file and their
// order there are not looked at. One that the file does not have is null in every row. Values of a type that Iceberg
// promotes to the column's are promoted. A null in a required column is there as a null. The file may be anything, and
// of any writer: what is damaged, or cannot be what the schema says, is an error. How many rows a file is said to have
// is not checked against its bytes, since nulls take none: compare Rows with what the table says.
type RowReader struct {
	file    io.ReaderAt
	footer  *Footer
	schema  *record.Schema
	options RowReaderOptions
	ws      *workspace
	nodes   []boundNode
	leaves  []*rowLeaf
	group   int   // the next row group
	left    int64 // rows of the open row group
	row     int64 // of the file, that comes next
	rowsMax int   // of a batch of the open row group
	err     error // that ended it
}

// NewRowReader begins to read a file whose footer was read. The schema may have any of the file's columns, and others.
// Close must be called. The file is read by the goroutine that calls Next.
func NewRowReader(file io.ReaderAt, f *Footer, s *record.Schema, o RowReaderOptions) (*RowReader, error) {
	o, err := o.normalize()
	if err != nil {
		return nil, fmt.Errorf("reading a parquet file: %w", err)
	}
	b := binder{footer: f, opened: make(map[int]*rowLeaf)}
	nodes, err := b.bindFields(s.Fields, f.nodes, boundPlace{})
	if err != nil {
		return nil, fmt.Errorf("reading a parquet file: %w", err)
	}
	r := &RowReader{file: file, footer: f, schema: s, options: o, nodes: nodes, leaves: b.leaves}
	r.ws = o.Pool.borrow()
	window := min(max(o.WindowBytes/max(1, len(r.leaves)), windowBytesMin), windowBytesMax)
	budget := max(o.BatchBytes/max(1, len(r.leaves)), leafBytesMin)
	for _, l := range r.leaves {
		l.source.pool, l.pool, l.budget, l.window = o.Pool, o.Pool, budget, window
	}
	return r, nil
}

// Next fills the batch, which is of the reader's schema, with the rows that come next, one at least, and returns the
// number of the first one in the file. What the batch holds is good until the following call of Next or Close. At the
// end it is io.EOF. An error is final.
func (r *RowReader) Next(b *record.Batch) (first int64, err error) {
	b.Reset()
	r.release()
	if r.err != nil {
		return 0, r.err
	}
	if len(b.Columns) != len(r.nodes) || b.Schema != r.schema {
		return 0, errors.New("the batch is not of the schema that is read")
	}
	first = r.row
	err = r.fill(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("reading a parquet file, from row %d on: %w", first, err)
	}
	if err != nil { // columns may be half filled
		b.Columns, b.Rows = record.NewColumns(r.schema.Fields), 0
		r.err = err
	}
	return first, err
}

// Rows is the number of rows in the file.
func (r *RowReader) Rows() int64 { return r.footer.Rows }

func (r *RowReader) fill(b *record.Batch) error {
	for r.left == 0 {
		if err := r.openGroup(); err != nil {
			return err
		}
	}
	n := int(min(int64(r.rowsMax), r.left))
	for _, l := range r.leaves {
		rows, err := l.prepare(r.ws, n)
		if err != nil {
			return l.fault(err)
		}
		n = min(n, rows)
	}
	for _, l := range r.leaves {
		if err := l.take(n); err != nil {
			return l.fault(err)
		}
	}
	for i := range r.nodes {
		if err := r.nodes[i].fill(&b.Columns[i], n); err != nil {
			return fmt.Errorf("column %s: %w", r.nodes[i].path, err)
		}
	}
	b.Rows = n
	r.row += int64(n)
	r.left -= int64(n)
	if r.left == 0 {
		return r.endGroup()
	}
	return nil
}

// openGroup begins with the next row group.
func (r *RowReader) openGroup() error {
	if r.group == len(r.footer.groups) {
		return io.EOF
	}
	g := &r.footer.groups[r.group]
	r.group++
	r.left = g.rows
	bytes := int64(0)
	for _, l := range r.leaves {
		l.open(r.file, &g.chunks[l.at])
		bytes += g.chunks[l.at].uncompressed
	}
	each := max(1, bytes/max(1, g.rows))
	r.rowsMax = int(min(max(1, int64(r.options.BatchBytes)/each), int64(r.options.BatchRows)))
	return nil
}

// endGroup checks that nothing is left of the row group.
func (r *RowReader) endGroup() error {
	for _, l := range r.leaves {
		if err := l.finish(r.ws); err != nil {
			return l.fault(err)
		}
	}
	return nil
}

// release gives back what only the last batch needed.
func (r *RowReader) release() {
	for _, l := range r.leaves {
		l.release()
	}
}

// Close gives the reader's memory back. Batches that it filled must not be used after it.
func (r *RowReader) Close() {
	if r.ws == nil {
		return
	}
	for _, l := range r.leaves {
		l.close()
	}
	r.options.Pool.giveBack(r.ws)
	r.ws, r.err = nil, errors.New("the reader is closed")
}

// LineageSchema is the schema with the columns of row lineage after its own (Iceberg specification, "Row Lineage"):
// _row_id and _last_updated_sequence_number. Where a file has none of them, or a null in one, the value follows from
// its place in the table.
func LineageSchema(s *record.Schema) *record.Schema { return withLineage(s) }

// Has tells whether the file has a column of values of the field id.
func (f *Footer) Has(id int) bool {
	return slices.ContainsFunc(f.leaves, func(l fileLeaf) bool { return l.id == id })
}
