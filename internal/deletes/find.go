package deletes

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"firn/internal/parquet"
	"firn/internal/record"
)

// Config says how delete files are read. All fields are required unless said otherwise.
type Config struct {
	// Open reads a file. What it returns is used by one goroutine.
	Open func(ctx context.Context, path string) (Content, error)
	// Field is the column of an equality delete by its field id, from the newest schema of the table that has it: the
	// column itself, or the top-level struct that it is in with nothing else in that. No part of it may be required.
	Field func(id int) (record.Field, error)
	Pool  *parquet.Pool // nil is a private one
	// KeyBytesMax bounds the memory for keys of equality deletes: with more of them they are taken in parts, and the
	// columns of the keys are read once for each part. 0 is 128 MiB.
	KeyBytesMax int64
}

const keyBytesDefault = 128 << 20

// Content is an open file.
type Content interface {
	io.ReaderAt
	io.Closer
}

// Data is a data file, with the delete files that may apply to it: by its partition, and by its sequence number.
type Data struct {
	Path      string
	Bytes     io.ReaderAt
	SizeBytes int64
	Rows      int64
	Sequence  int64 // of its data
	Deletes   []record.DeleteFile
}

// Find finds the rows that are deleted, of each data file. The data files are of one partition value under one spec, so
// that an equality delete that may apply to one of them may apply to all that are older. Each delete file is read once,
// however many data files it applies to; only equality deletes are read again, when there are more of them than
// KeyBytesMax holds.
func Find(ctx context.Context, c Config, data []Data) ([]Rows, error) {
	if c.Pool == nil {
		c.Pool = parquet.NewPool(0)
	}
	if c.KeyBytesMax == 0 {
		c.KeyBytesMax = keyBytesDefault
	}
	f := finder{Config: c, data: data, found: make([]Rows, len(data))}
	for i := range data {
		if rows := data[i].Rows; rows < 0 || rows > fileRowsMax {
			return nil, fmt.Errorf("data file %s is said to have %d rows", data[i].Path, rows)
		}
		f.found[i] = newRows(data[i].Rows)
	}
	if err := f.find(ctx); err != nil {
		return nil, err
	}
	return f.found, nil
}

// fileRowsMax is far beyond the rows of a file: a bit for each takes 128 MB.
const fileRowsMax = 1 << 30

// finder is one call of Find.
type finder struct {
	Config
	data  []Data
	found []Rows
}

// applying is a delete file with the data files to which it may apply.
type applying struct {
	record.DeleteFile
	to []int
}

func (f *finder) find(ctx context.Context) error {
	all := make(map[string]*applying)
	for i := range f.data {
		for _, d := range f.data[i].Deletes {
			a := all[d.Key()]
			if a == nil {
				a = &applying{DeleteFile: d}
				all[d.Key()] = a
			}
			a.to = append(a.to, i)
		}
	}
	var equality []*applying
	for _, key := range slices.Sorted(maps.Keys(all)) {
		a := all[key]
		read := f.positions
		switch a.Content {
		case record.DeleteEquality:
			equality = append(equality, a)
			continue
		case record.DeleteVector:
			read = f.vector
		default:
		}
		if err := read(ctx, a); err != nil {
			return fmt.Errorf("reading delete file %s: %w", a.Path, err)
		}
	}
	return f.equality(ctx, equality)
}

// each reads rows of a Parquet file batch by batch. Columns that must be there are named by their field ids.
func (f *finder) each(
	ctx context.Context, file io.ReaderAt, size int64, s *record.Schema, must []int,
	visit func(b *record.Batch, first int64) error,
) error {
	footer, err := parquet.ReadFooter(file, size)
	if err != nil {
		return err
	}
	for _, id := range must {
		if !footer.Has(id) {
			return fmt.Errorf("it has no column of field id %d", id)
		}
	}
	r, err := parquet.NewRowReader(file, footer, s, parquet.RowReaderOptions{Pool: f.Pool})
	if err != nil {
		return err
	}
	defer r.Close()
	b := record.NewBatch(s)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, err := r.Next(b)
		if err == io.EOF { //nolint:errorlint // Next returns it as it is
			return nil
		}
		if err == nil {
			err = visit(b, first)
		}
		if err != nil {
			return err
		}
	}
}

// open opens a delete file for a moment.
func (f *finder) open(ctx context.Context, path string, read func(io.ReaderAt) error) error {
	file, err := f.Open(ctx, path)
	if err != nil {
		return err
	}
	err = read(file)
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
}
