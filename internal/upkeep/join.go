package upkeep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"firn/internal/metric"
	"firn/internal/parquet"
	"firn/internal/record"
)

// writeBytes joins what is written to the store page by page.
const writeBytes = 256 << 10

// rollUp joins parts into one file and has the replacement ready.
func (r *Rollup) rollUp(ctx context.Context, parts []*part) {
	began := time.Now()
	opened := r.open(ctx, parts)
	x, joined, err := r.join(ctx, parts, opened)
	opened.close()
	r.config.Metrics.RollupWorked(metric.RollupWork{
		Duration: time.Since(began), PagesCopied: joined.PagesCopied, BytesCopied: joined.BytesCopied,
		PagesReencoded: joined.PagesReencoded, BytesReencoded: joined.BytesReencoded,
	})
	switch {
	case err == nil:
		r.trouble.succeeded()
		r.finish(x)
		r.config.Log.Debug("joined small files", "files", len(parts), "bytes", x.file.SizeBytes, "path", x.file.Path,
			"ms", time.Since(began).Milliseconds())
	case ctx.Err() != nil:
		r.giveBack(parts)
	default:
		r.failed(parts, opened, err)
	}
	r.wake()
}

// finish has a replacement ready, if its parts are still there.
func (r *Rollup) finish(x *replacement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.joining--
	for _, p := range x.parts {
		p.failed, p.limit = 0, partsMax
	}
	if fits(x.parts) {
		r.ready = append(r.ready, x)
		return
	}
	r.unneeded = append(r.unneeded, x.file.Path)
	r.backlog.putBack(x.parts)
}

// failed has parts wait, rest, or forgotten, by what went wrong.
func (r *Rollup) failed(parts []*part, opened *contents, err error) {
	var storing *storeError
	switch {
	case len(opened.missing)+len(opened.unread) > 0:
		r.trouble.failed("reading", err)
	case errors.As(err, &storing):
		r.trouble.failed("storing", err)
	default:
		r.trouble.note("joining", err)
		opened.unread = parts
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.joining--
	r.backlog.forget(opened.missing)
	for _, p := range opened.unread {
		if p.failed++; p.failed == 1 {
			continue // it may have been chance
		}
		p.limit = max(2, len(parts)/2) // it may be for one of them alone: find out which by halves
		r.backlog.lay(p, now.Add(doubled(restMin, restMax, p.failed-1)))
	}
	r.backlog.putBack(parts)
}

// storeError is an error of the store that is written to, to tell it from one of the files that are joined.
type storeError struct {
	path string
	err  error
}

func (e *storeError) Error() string { return fmt.Sprintf("storing %s: %s", e.path, e.err) }
func (e *storeError) Unwrap() error { return e.err }

// join writes the file.
func (r *Rollup) join(
	ctx context.Context, parts []*part, opened *contents,
) (x *replacement, j parquet.Joined, err error) {
	if err := opened.err(); err != nil {
		return nil, j, err
	}
	x = &replacement{id: r.config.NewID(), parts: parts}
	to, err := r.place(parts[0], x.id+suffix)
	if err != nil {
		return nil, j, err
	}
	x.file, err = r.store(ctx, parts[0], to, func(ctx context.Context, w io.Writer) (record.DataFile, error) {
		var err error
		j, err = r.write(ctx, w, opened)
		return j.File, err
	})
	if err != nil {
		return nil, j, err
	}
	return x, j, nil
}

// store has a data file written for the partition value of a part. What it began and could not finish it removes.
func (r *Rollup) store(
	ctx context.Context, like *part, to string, write func(context.Context, io.Writer) (record.DataFile, error),
) (f record.DataFile, err error) {
	writing, giveUp := context.WithCancel(ctx)
	defer giveUp()
	object, err := r.config.Create(writing, to)
	if err != nil {
		return f, &storeError{to, err}
	}
	store := &noting{Writer: object}
	w := bufio.NewWriterSize(store, writeBytes)
	f, err = write(writing, w)
	if err == nil {
		err = w.Flush()
	}
	switch {
	case store.err != nil:
		err = &storeError{to, store.err}
	case err == nil && f.SizeBytes != store.bytes:
		err = fmt.Errorf("%d bytes were made, of which %d were written; the file is not used", f.SizeBytes, store.bytes)
	}
	if err != nil {
		giveUp()
		r.abort(to, object)
		return f, err
	}
	if err := object.Close(); err != nil {
		r.unneed(to) // whether it is there or not: no commit was told of it
		return f, &storeError{to, err}
	}
	g := &like.group.like
	f.Path, f.SpecID, f.Partition, f.SchemaID = to, g.SpecID, g.Partition, g.SchemaID
	return f, nil
}

// place is where a file of the parts' partition value goes. Those of an older partition spec, whose folders the table
// no longer tells, stay together.
func (r *Rollup) place(p *part, name string) (string, error) {
	if p.group.like.SpecID != r.config.SpecID {
		return p.path[:len(p.path)-len(path.Base(p.path))] + name, nil
	}
	to, err := r.config.DataPath(p.group.like.Partition, name)
	if err != nil {
		return "", fmt.Errorf("naming a data file: %w", err)
	}
	return to, nil
}

// write joins the parts.
func (r *Rollup) write(ctx context.Context, w io.Writer, opened *contents) (parquet.Joined, error) {
	j, err := r.config.Join(ctx, w, opened.parts, parquet.JoinOptions{
		Schema: r.config.Schema(opened.parts[0].File.SchemaID), Options: r.config.Parquet,
		RowLineage: r.config.RowLineage,
	})
	if err := errors.Join(err, opened.err()); err != nil {
		return j, fmt.Errorf("joining %d files, the first of which is %s: %w", len(opened.parts),
			opened.parts[0].File.Path, err)
	}
	var rows int64
	for _, p := range opened.parts {
		rows += p.File.Rows
	}
	if j.File.Rows != rows {
		return j, fmt.Errorf("joining %d files of %d rows gave %d rows; the file is not used", len(opened.parts), rows,
			j.File.Rows)
	}
	return j, nil
}

// noting keeps the error of a store, and counts what it took.
type noting struct {
	io.Writer
	bytes int64
	err   error
}

func (n *noting) Write(b []byte) (int, error) {
	written, err := n.Writer.Write(b)
	n.bytes += int64(written)
	if err != nil {
		n.err = err
	}
	return written, err
}

// abort gives up an object that is half written. A store that cannot abort may now hold a half, which no commit knows.
func (r *Rollup) abort(to string, object io.Closer) {
	var err error
	if a, ok := object.(interface{ Abort() error }); ok {
		err = a.Abort()
	} else {
		err = object.Close()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		r.config.Log.Debug("giving up a file met an error", "path", to, "error", err)
	}
	r.unneed(to)
}

// describe is the parts in the terms of a join.
func describe(parts []*part) []record.DataFile {
	out := make([]record.DataFile, len(parts))
	for i, p := range parts {
		out[i] = p.describe()
	}
	return out
}
