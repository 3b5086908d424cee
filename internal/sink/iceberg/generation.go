package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// dataFile is one data file on its way to the store.
type dataFile struct {
	path      string
	rows      *parquet.File // nil once encoded
	encoded   []byte        // nil once stored
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
	before := f.BufferedBytes()
	err = f.Append(columns, rows)
	p.generation.writer.buffered.Add(f.BufferedBytes() - before)
	return err
}

// openFile is the file that has room, or a new one.
func (p *partition) openFile() (*parquet.File, error) {
	w := p.generation.writer
	if n := len(p.files); n > 0 && p.files[n-1].rows.EncodedBytes() < w.options.FileBytesMax {
		return p.files[n-1].rows, nil
	}
	path, err := w.target.DataPath(p.value, p.generation.nextName())
	if err != nil {
		return nil, fmt.Errorf("naming a data file: %w", err)
	}
	f, err := w.files.take()
	if err != nil {
		return nil, err
	}
	p.files = append(p.files, &dataFile{path: path, rows: f})
	return f, nil
}

// Seal stores every file of the generation. After an error it may be called again and goes on where it stopped.
func (g *generation) Seal(ctx context.Context) ([]record.DataFile, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, g.writer.options.SealersMax))
	for _, p := range g.partitions {
		for _, f := range p.files {
			group.Go(func() error { return g.seal(ctx, p, f) })
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

// seal encodes one file and stores it, as far as that was not done yet.
func (g *generation) seal(ctx context.Context, p *partition, f *dataFile) error {
	if f.rows != nil {
		if err := g.encode(p, f); err != nil {
			return err
		}
	}
	if f.encoded == nil {
		return nil
	}
	if err := g.put(ctx, f.path, f.encoded); err != nil {
		return err
	}
	g.writer.buffered.Add(-int64(len(f.encoded)))
	f.encoded = nil
	return nil
}

func (g *generation) encode(p *partition, f *dataFile) error {
	held := f.rows.BufferedBytes()
	var encoded bytes.Buffer
	encoded.Grow(int(f.rows.EncodedBytes()) + 1<<12)
	described, err := f.rows.Finish(&encoded)
	if err != nil {
		return fmt.Errorf("encoding data file %s: %w", f.path, err)
	}
	f.described, f.encoded = described, encoded.Bytes()
	f.described.Path, f.described.SpecID, f.described.Partition = f.path, g.writer.target.SpecID, p.value
	g.writer.files.give(f.rows)
	f.rows = nil
	g.writer.buffered.Add(int64(len(f.encoded)) - held)
	return nil
}

// put stores an object, and tries again.
func (g *generation) put(ctx context.Context, path string, content []byte) error {
	attempt := func() (struct{}, error) {
		out, err := g.writer.target.Create(ctx, path)
		if err != nil {
			return struct{}{}, err
		}
		_, err = out.Write(content)
		return struct{}{}, errors.Join(err, out.Close())
	}
	wait := backoff.NewExponentialBackOff()
	wait.MaxInterval = 5 * time.Second
	_, err := backoff.Retry(ctx, attempt, backoff.WithBackOff(wait),
		backoff.WithMaxTries(uint(max(1, g.writer.options.StoreTriesMax))))
	if err != nil {
		scheme, _, _ := strings.Cut(path, ":")
		return fmt.Errorf("storing data file %s (%d bytes, %s store): %w", path, len(content), scheme, err)
	}
	return nil
}

// Discard implements pipeline.Flush.
func (g *generation) Discard() {
	w := g.writer
	for _, p := range g.partitions {
		for _, f := range p.files {
			if f.rows != nil {
				w.buffered.Add(-f.rows.BufferedBytes())
				w.files.give(f.rows)
			}
			w.buffered.Add(-int64(len(f.encoded)))
		}
	}
	g.partitions = nil
}
