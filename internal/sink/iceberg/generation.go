package iceberg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
	writer  *Writer
	id      string // in the names of its files
	loads   *loads
	planned map[string][]int // by key: the writers that share a partition value from the start

	mu         sync.Mutex // guards the fields below
	partitions map[string]*partition
	files      int               // data files begun
	closed     []*dataFile       // full, or closed early, and not stored yet
	sealed     []record.DataFile // stored
	described  int64             // bytes of the writer's buffered ones that are for sealed
}

// dataFile is one data file on its way to the store. Its pages are encoded as they fill, and are written from where
// they lie: an encoded copy would double the memory of a flush.
type dataFile struct {
	path      string
	partition []record.PartitionValue
	rows      *parquet.File // nil once stored or let go
	held      int64         // what of the writer's buffered bytes is this file's
	begun     int64         // the writer's clock at the first row
	written   int64         // and at the last
	encoded   int64         // its size when that was counted last
}

func newGeneration(w *Writer, planned map[string][]int) *generation {
	return &generation{
		writer: w, id: w.options.NewID(), partitions: map[string]*partition{}, planned: planned,
		loads: newLoads(w.options.Writers),
	}
}

// partition finds or makes the partition of a key; value is called only to make it.
func (g *generation) partition(key string, value func() []record.PartitionValue) *partition {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.partitions[key]
	if p == nil {
		p = &partition{generation: g, key: key, value: value()}
		p.lanes.Store(&[]*lane{})
		switch planned := g.planned[key]; {
		case len(planned) > 0:
			p.extend(planned...)
		case g.writer.options.Distribution != DistributionNone:
			p.extend(len(g.partitions) % g.writer.options.Writers)
		}
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

// all is the lanes that there are now.
func (g *generation) all() []*lane {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]*lane, 0, len(g.partitions))
	for _, p := range g.partitions {
		out = append(out, *p.lanes.Load()...)
	}
	return out
}

// Seal stores every file of the generation. After an error it may be called again and goes on where it stopped.
func (g *generation) Seal(ctx context.Context) ([]record.DataFile, error) {
	g.closeAll()
	if err := g.storeClosed(ctx); err != nil {
		return nil, err
	}
	return g.handOver(), nil
}

// handOver gives the descriptions of the sealed files to the caller.
func (g *generation) handOver() []record.DataFile {
	g.mu.Lock()
	g.writer.buffered.Add(-g.described)
	g.described = 0
	sealed := g.sealed
	g.mu.Unlock()
	g.writer.notify()
	return sealed
}

// storeClosed stores the closed files. What could not be stored stays closed.
func (g *generation) storeClosed(ctx context.Context) error {
	g.mu.Lock()
	closed := slices.Clone(g.closed)
	g.mu.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, g.writer.options.SealersMax))
	sending := newSending(g.writer.options.SealBytesMax)
	for _, f := range closed {
		group.Go(func() error {
			done, err := sending.begin(ctx, f.rows.EncodedBytes())
			if err != nil {
				return err
			}
			defer done()
			return g.seal(ctx, f)
		})
	}
	err := group.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = slices.DeleteFunc(g.closed, func(f *dataFile) bool { return f.rows == nil })
	return err
}

// seal stores one file and lets its rows go.
func (g *generation) seal(ctx context.Context, f *dataFile) error {
	described, err := g.put(ctx, f)
	if err != nil {
		return err
	}
	described.Path, described.SpecID, described.Partition = f.path, g.writer.target.SpecID, f.partition
	if keep := g.writer.options.Keep; keep != nil {
		keep(f.path, described.SizeBytes, func(w io.Writer) error {
			_, err := f.rows.Finish(w)
			return err
		})
	}
	g.note(described)
	g.writer.release(f)
	return nil
}

// note keeps the description of a sealed file for the commit.
func (g *generation) note(described record.DataFile) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sealed = append(g.sealed, described)
	g.described += g.writer.describedBytes
	g.writer.buffered.Add(g.writer.describedBytes)
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
	g.closeAll()
	g.mu.Lock()
	closed := g.closed
	g.partitions, g.closed = nil, nil
	g.mu.Unlock()
	for _, f := range closed {
		g.writer.release(f)
	}
	g.handOver()
}

func (g *generation) closeAll() {
	for _, l := range g.all() {
		l.mu.Lock()
		if l.open != nil {
			l.close()
		}
		l.mu.Unlock()
	}
}
