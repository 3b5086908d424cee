package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"firn/internal/deletes"
	"firn/internal/parquet"
	"firn/internal/record"
)

// Head is data files as they are in one snapshot of a table.
type Head struct {
	SnapshotID int64
	Files      map[string]record.DeletableFile // by path, those that are live
	// Field is the column of an equality delete: see deletes.Config.
	Field func(id int) (record.Field, error)
}

const (
	// rewriteBatchFiles of full size are written anew and then committed at once.
	rewriteBatchFiles = 16
	// rewriteBytesMax bounds the files that are written anew at once: their bytes are in memory until they are stored. So
	// one of them has rewriteFileBytesMax at most, whatever size is asked for.
	rewriteBytesMax     = 1 << 30
	rewriteFileBytesMax = 512 << 20
)

// rewriteBatch writes some anew and commits them at once.
func (c *compacting) rewriteBatch(ctx context.Context, all [][]Candidate) error {
	head, err := c.Head(ctx, pathsOf(all))
	if err != nil {
		return err
	}
	c.deletes.learn(&head)
	pool := parquet.NewPool(rewriteIdleBytes)
	atOnce := min(c.Config.Parallel, int(rewriteBytesMax/max(1, c.FileBytes)))
	made, err := c.several(ctx, all, atOnce, func(ctx context.Context, files []Candidate) (record.Replacement, error) {
		w := rewriter{compacting: c, head: &head, pool: pool}
		return w.rewrite(ctx, files)
	})
	return c.finish(ctx, made, err)
}

// rewriteIdleBytes is what is kept of buffers from one file to the next.
const rewriteIdleBytes = 64 << 20

// dropDeletes commits nothing but that delete files go.
func (c *compacting) dropDeletes(ctx context.Context) error {
	head, err := c.Head(ctx, nil)
	if err != nil {
		return err
	}
	return c.commit(ctx, []record.Replacement{
		{ID: c.Config.NewID(), Rewrite: &record.Rewrite{SnapshotID: head.SnapshotID}},
	})
}

// rewriter reads the rows of some files of one partition, and writes those that are not deleted.
type rewriter struct {
	*compacting
	head   *Head
	pool   *parquet.Pool
	id     string
	parts  []*part
	schema *record.Schema // of what is written, columns of row lineage included
	file   *parquet.File  // the open one
	added  []record.DataFile
	each   int64 // rows of a file
	left   int64 // rows that are not written
	chosen []int32
}

func (w *rewriter) rewrite(ctx context.Context, files []Candidate) (record.Replacement, error) {
	if w.parts = w.rollup.asParts(files, w.head.Files); w.parts == nil {
		return record.Replacement{}, errGone
	}
	w.id = w.Config.NewID()
	opened := w.rollup.open(ctx, w.parts)
	out, err := w.write(ctx, opened)
	opened.close()
	w.rollup.kept.release(paths(w.parts)...)
	if fault := opened.err(); fault != nil {
		err = fault
	}
	if err != nil {
		w.giveUp(record.Replacement{Add: w.added})
		return out, fmt.Errorf("writing %d files anew, the first of which is %s: %w", len(files), files[0].Path, err)
	}
	return out, nil
}

// write finds the deleted rows, and writes the others.
func (w *rewriter) write(ctx context.Context, opened *contents) (record.Replacement, error) {
	out := record.Replacement{
		ID: w.id, Remove: paths(w.parts), Rewrite: &record.Rewrite{SnapshotID: w.head.SnapshotID},
	}
	if err := opened.err(); err != nil {
		return out, err
	}
	keys, data := make(map[string]bool), make([]deletes.Data, len(w.parts))
	for i, p := range opened.parts {
		live := w.head.Files[w.parts[i].path]
		data[i] = deletes.Data{
			Path: live.Path, Bytes: p.Bytes, SizeBytes: p.SizeBytes, Rows: live.Rows, Sequence: live.Sequence,
			Deletes: live.Deletes,
		}
		for _, d := range live.Deletes {
			keys[d.Key()] = true
		}
	}
	out.Rewrite.Deletes = slices.Sorted(maps.Keys(keys))
	found, err := deletes.Find(ctx, deletes.Config{Open: w.deletes.Open, Field: w.head.Field, Pool: w.pool}, data)
	if err != nil {
		return out, err
	}
	if err := w.begin(data, found, out.Rewrite); err != nil {
		return out, err
	}
	for i := range data {
		if err := w.copy(ctx, &data[i], &found[i]); err != nil {
			return out, fmt.Errorf("%s: %w", data[i].Path, err)
		}
	}
	if w.file.Rows() > 0 {
		err = w.store(ctx)
	}
	out.Add = w.added
	return out, err
}

// begin decides on the sizes, and opens the first file.
func (w *rewriter) begin(data []deletes.Data, found []deletes.Rows, r *record.Rewrite) (err error) {
	var bytes, rows int64
	for i := range data {
		bytes, rows = bytes+data[i].SizeBytes, rows+data[i].Rows
		r.Deleted += found[i].Count()
	}
	w.left = rows - r.Deleted
	bytes = int64(float64(bytes) * float64(w.left) / float64(max(1, rows)))
	count := max(1, (bytes+w.FileBytes/2)/w.FileBytes)
	w.each = (w.left + count - 1) / count
	w.schema = w.Config.Schema(w.parts[0].group.like.SchemaID)
	if w.Config.RowLineage {
		w.schema = parquet.LineageSchema(w.schema)
	}
	options := w.Config.Parquet
	options.Pool = w.pool
	w.file, err = parquet.NewFile(w.schema, options)
	return err
}

// copy reads a file, and appends its rows but for those that were found to be deleted.
func (w *rewriter) copy(ctx context.Context, d *deletes.Data, deleted *deletes.Rows) error {
	footer, err := parquet.ReadFooter(d.Bytes, d.SizeBytes)
	if err != nil {
		return err
	}
	if footer.Rows != d.Rows {
		return fmt.Errorf("it has %d rows and is described to have %d: the description is another file's", footer.Rows,
			d.Rows)
	}
	reader, err := parquet.NewRowReader(d.Bytes, footer, w.schema, parquet.RowReaderOptions{Pool: w.pool})
	if err != nil {
		return err
	}
	defer reader.Close()
	lineage := w.head.Files[d.Path].Lineage
	b := record.NewBatch(w.schema)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, err := reader.Next(b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if w.Config.RowLineage {
			fillLineage(b, lineage, first)
		}
		if err := w.append(ctx, b, first, deleted); err != nil {
			return err
		}
	}
}

// fillLineage gives the rows the ids and sequence numbers that they have by their place (Iceberg specification, "Row
// Lineage"), where the file does not say it.
func fillLineage(b *record.Batch, l record.Lineage, first int64) {
	n := len(b.Columns)
	ids, sequences := &b.Columns[n-2], &b.Columns[n-1]
	for i := range b.Rows {
		if !ids.Valid[i] {
			ids.Valid[i], ids.Ints64[i] = true, l.FirstRowID+first+int64(i)
		}
		if !sequences.Valid[i] {
			sequences.Valid[i], sequences.Ints64[i] = true, l.SequenceNumber
		}
	}
}

// append appends the live rows of a batch, and stores the file when it is large enough and enough rows are left.
func (w *rewriter) append(ctx context.Context, b *record.Batch, first int64, deleted *deletes.Rows) error {
	w.chosen = w.chosen[:0]
	rows, n := []int32(nil), b.Rows
	if deleted.Any(first, b.Rows) {
		w.chosen = deleted.Others(w.chosen, first, b.Rows)
		rows, n = w.chosen, len(w.chosen)
	}
	if n == 0 {
		return nil
	}
	if err := w.file.Append(b.Columns, rows); err != nil {
		return err
	}
	w.left -= int64(n)
	if w.left > 0 && (w.file.Rows() >= w.each || w.file.EncodedBytes() >= max(largest*w.FileBytes, largestMin)) {
		return w.store(ctx)
	}
	return nil
}

// largest is how many times too large a file may become, where its bytes are more than those that were read. What open
// pages will take is not known, which is why there is a least size for that.
const (
	largest    = 2
	largestMin = 16 << 20
)

// store stores the open file, and empties it.
func (w *rewriter) store(ctx context.Context) error {
	to, err := w.rollup.place(w.parts[0], fmt.Sprintf("%s-%d%s", w.id, len(w.added), suffix))
	if err != nil {
		return err
	}
	d, err := w.rollup.store(ctx, w.parts[0], to, func(_ context.Context, out io.Writer) (record.DataFile, error) {
		return w.file.Finish(out)
	})
	if err != nil {
		return err
	}
	w.added = append(w.added, d)
	w.file.Reset()
	return nil
}
