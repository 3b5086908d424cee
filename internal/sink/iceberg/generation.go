package iceberg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"firn/internal/parquet"
	"firn/internal/record"
)

// generation is the rows between two rotations. It implements pipeline.Flush.
type generation struct {
	writer *Writer
	id     string // in the names of its files

	mu         sync.Mutex // guards the fields below
	partitions map[string]*partition
	files      int // data files begun
}

// partition is the rows of one partition value.
type partition struct {
	generation *generation
	value      []record.PartitionValue

	mu    sync.Mutex // guards the files
	files []*dataFile
}

// dataFile is one data file on its way to the store. Its pages are encoded as they fill, and are written from where
// they lie: an encoded copy would double the memory of a flush.
type dataFile struct {
	path      string
	rows      *parquet.File // nil once stored or let go
	held      int64         // what of the writer's buffered bytes is this file's
	described record.DataFile
}

func newGeneration(w *Writer) *generation {
	return &generation{writer: w, id: w.options.NewID(), partitions: map[string]*partition{}}
}

// partition finds or makes the partition of a key; value is called only to make it.
func (g *generation) partition(key string, value func() []record.PartitionValue) *partition {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.partitions[key]
	if p == nil {
		p = &partition{generation: g, value: value()}
		g.partitions[key] = p
	}
	return p
}

// nextName is a file name that nothing else ever has, so that storing again writes the same bytes.
func (g *generation) nextName() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.files++
	return fmt.Sprintf("%s-%05d.parquet", g.id, g.files)
}

// append copies rows into the partition's last file, or all rows when rows is nil.
func (p *partition) append(columns []record.Column, rows []int32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := p.openFile()
	if err != nil {
		return err
	}
	err = f.rows.Append(columns, rows)
	w := p.generation.writer
	w.hold(f, w.fileBytes+f.rows.BufferedBytes())
	return err
}

// openFile is the file that has room, or a new one.
func (p *partition) openFile() (*dataFile, error) {
	w := p.generation.writer
	if n := len(p.files); n > 0 && p.files[n-1].rows.EncodedBytes() < w.options.FileBytesMax {
		return p.files[n-1], nil
	}
	path, err := w.target.DataPath(p.value, p.generation.nextName())
	if err != nil {
		return nil, fmt.Errorf("naming a data file: %w", err)
	}
	rows, err := w.files.take()
	if err != nil {
		return nil, err
	}
	f := &dataFile{path: path, rows: rows}
	p.files = append(p.files, f)
	return f, nil
}

// Seal stores every file of the generation. After an error it may be called again and goes on where it stopped.
func (g *generation) Seal(ctx context.Context) ([]record.DataFile, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, g.writer.options.SealersMax))
	sending := newSending(g.writer.options.SealBytesMax)
	for _, p := range g.partitions {
		for _, f := range p.files {
			group.Go(func() error {
				if f.rows == nil { // stored by an earlier call
					return nil
				}
				done, err := sending.begin(ctx, f.rows.EncodedBytes())
				if err != nil {
					return err
				}
				defer done()
				return g.seal(ctx, p, f)
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var sealed []record.DataFile
	for _, p := range g.partitions {
		for _, f := range p.files {
			sealed = append(sealed, f.described)
		}
	}
	return sealed, nil
}

// seal stores one file and lets its rows go.
func (g *generation) seal(ctx context.Context, p *partition, f *dataFile) error {
	var err error
	if f.described, err = g.put(ctx, f); err != nil {
		return err
	}
	f.described.Path, f.described.SpecID, f.described.Partition = f.path, g.writer.target.SpecID, p.value
	g.writer.release(f)
	return nil
}

// put stores a file, and tries again.
func (g *generation) put(ctx context.Context, f *dataFile) (record.DataFile, error) {
	wait := backoff.NewExponentialBackOff()
	wait.MaxInterval = 5 * time.Second
	described, err := backoff.Retry(ctx, func() (record.DataFile, error) { return g.putOnce(ctx, f) },
		backoff.WithBackOff(wait), backoff.WithMaxTries(uint(max(1, g.writer.options.StoreTriesMax))))
	if err != nil {
		scheme, _, _ := strings.Cut(f.path, ":")
		return described, fmt.Errorf("storing data file %s (%s store): %w", f.path, scheme, err)
	}
	return described, nil
}

func (g *generation) putOnce(ctx context.Context, f *dataFile) (record.DataFile, error) {
	object, err := g.writer.target.Create(ctx, f.path)
	if err != nil {
		return record.DataFile{}, err
	}
	store := &noting{Writer: object}
	joined := g.writer.joins.Get().(*bufio.Writer)
	joined.Reset(store)
	defer func() {
		joined.Reset(nil)
		g.writer.joins.Put(joined)
	}()
	described, err := f.rows.Finish(joined)
	if err != nil && store.err == nil {
		return record.DataFile{}, backoff.Permanent(errors.Join(fmt.Errorf("encoding it: %w", err), object.Close()))
	}
	if err == nil {
		err = joined.Flush()
	}
	return described, errors.Join(err, object.Close())
}

// noting keeps the error of a store, to tell it from one of the encoder, which no second try mends.
type noting struct {
	io.Writer
	err error
}

func (n *noting) Write(b []byte) (int, error) {
	written, err := n.Writer.Write(b)
	if err != nil {
		n.err = err
	}
	return written, err
}

// Discard implements pipeline.Flush.
func (g *generation) Discard() {
	for _, p := range g.partitions {
		for _, f := range p.files {
			g.writer.release(f)
		}
	}
	g.partitions = nil
}
