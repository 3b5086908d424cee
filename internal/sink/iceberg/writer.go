package iceberg

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"firn/internal/parquet"
	"firn/internal/pipeline"
	"firn/internal/record"
	"firn/internal/table"
)

// Target is the table that a Writer writes to, as the writer needs it.
type Target struct {
	Schema    *record.Schema
	Partition []table.PartitionField
	SpecID    int
	// Create makes a new object. The object exists, durable, once Close of what it returns gave nil.
	Create func(ctx context.Context, path string) (io.WriteCloser, error)
	// DataPath is where a data file of a partition value goes.
	DataPath func(partition []record.PartitionValue, file string) (string, error)
}

// Options are the settings of a Writer.
type Options struct {
	Parquet       parquet.Options
	FileBytesMax  int64 // a file that has reached it is followed by another of the same partition value
	SealersMax    int   // files stored at once
	SealBytesMax  int64 // of files stored at once, though two always may be
	StoreTriesMax int   // attempts to store one file
	NewID         func() string
	// Keep is offered the bytes of each file that was stored, which write writes before it returns; nil: nobody wants
	// them. It does not wait for a disk.
	Keep func(path string, sizeBytes int64, write func(io.Writer) error)

	Distribution  Distribution
	Writers       int   // goroutines that write at once; 0 is 1
	SplitBytesMin int64 // for each file of a partition value that is split; 0 is the default
}

// Writer splits batches by partition value into files. It implements pipeline.Writer and is safe for concurrent use.
type Writer struct {
	target    Target
	options   Options
	terms     []term
	splitters sync.Pool
	joins     sync.Pool // of *bufio.Writer
	files     filePool
	numbers   workerNumbers

	fileBytes      int64 // what an open file holds beside its buffers
	describedBytes int64 // what the description of a sealed file holds
	buffered       atomic.Int64
	clock          atomic.Int64 // all bytes that were ever buffered: the time by which files are old

	mu      sync.Mutex // guards the fields below
	current *generation
	freed   func() // called when bytes are freed
}

var _ pipeline.Writer = (*Writer)(nil)

// NewWriter checks that firn can write the table.
func NewWriter(target Target, o Options) (*Writer, error) {
	terms, err := newTerms(target.Schema, target.Partition)
	if err != nil {
		return nil, err
	}
	o.Writers, o.SplitBytesMin = max(1, o.Writers), cmp.Or(o.SplitBytesMin, splitBytesMin)
	w := &Writer{target: target, options: o, terms: terms, freed: func() {}}
	columns := int64(leaves(target.Schema.Fields))
	w.fileBytes = fileBytes + columns*leafBytes
	w.describedBytes = fileBytes + columns*describedLeafBytes
	w.splitters.New = func() any { return newSplitter(terms) }
	w.joins.New = func() any { return bufio.NewWriterSize(nil, joinBytes) }
	w.files.make = func() (*parquet.File, error) { return parquet.NewFile(target.Schema, o.Parquet) }
	first, err := w.files.take()
	if err != nil {
		return nil, fmt.Errorf("preparing data files: %w", err)
	}
	w.files.give(first)
	w.current = newGeneration(w, nil)
	return w, nil
}

// What a file holds beside its buffers, as measured: its name, partition value and encoder, or its description. It
// matters where there are thousands of partition values with few rows each.
const (
	fileBytes          = 1 << 10
	leafBytes          = 1200 // for each column of an open file
	describedLeafBytes = 400  // for each column of a sealed file
)

// leaves counts the columns that hold values.
func leaves(fields []record.Field) (n int) {
	for _, f := range fields {
		n += max(1, leaves(f.Type.Fields))
	}
	return n
}

// joinBytes joins what is written to a store piece by piece, such as the headers of pages.
const joinBytes = 64 << 10

// Write copies the rows of the batch into the open files of their partition values. Files that another worker has in
// hand come last, so that workers seldom wait for each other.
func (w *Writer) Write(_ context.Context, b *record.Batch) error {
	g := w.generation()
	s := w.splitters.Get().(*splitter)
	worker := w.numbers.take()
	defer func() {
		w.numbers.give(worker)
		s.forget()
		w.splitters.Put(s)
	}()
	s.busy = s.busy[:0]
	for _, rows := range s.split(b.Columns, b.Rows) {
		p := s.find(g, rows)
		written, err := p.append(worker, b.Columns, rows.rows, false)
		if err != nil {
			return fmt.Errorf("encoding rows: %w", err)
		}
		if !written {
			s.busy = append(s.busy, delayed{p, rows.rows})
		}
	}
	for _, d := range s.busy {
		if _, err := d.partition.append(worker, b.Columns, d.rows, true); err != nil {
			return fmt.Errorf("encoding rows: %w", err)
		}
	}
	return nil
}

// delayed is rows whose files were in other hands.
type delayed struct {
	partition *partition
	rows      []int32
}

// workerNumbers numbers those who write at the same time, from 0, the lowest free number first.
type workerNumbers struct {
	mu   sync.Mutex // guards used
	used []bool
}

func (n *workerNumbers) take() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := slices.Index(n.used, false); i >= 0 {
		n.used[i] = true
		return i
	}
	n.used = append(n.used, true)
	return len(n.used) - 1
}

func (n *workerNumbers) give(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.used[number] = false
}

func (w *Writer) generation() *generation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current
}

// Rotate implements pipeline.Writer.
func (w *Writer) Rotate() pipeline.Flush {
	next := newGeneration(w, w.generation().assignment())
	w.mu.Lock()
	defer w.mu.Unlock()
	done := w.current
	w.current = next
	return done
}

// BufferedBytes implements pipeline.Writer.
func (w *Writer) BufferedBytes() int64 { return w.buffered.Load() }

// OnFreed implements pipeline.Writer.
func (w *Writer) OnFreed(freed func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.freed = freed
}

// hold counts what a file holds now in place of what it held.
func (w *Writer) hold(f *dataFile, bytes int64) {
	w.buffered.Add(bytes - f.held)
	w.clock.Add(max(0, bytes-f.held))
	f.held = bytes
}

// release lets the rows of a file go, unless that was done.
func (w *Writer) release(f *dataFile) {
	if f.rows == nil {
		return
	}
	w.hold(f, 0)
	w.files.give(f.rows)
	f.rows = nil
	w.notify()
}

// notify says that bytes were freed. The caller holds no lock.
func (w *Writer) notify() {
	w.mu.Lock()
	freed := w.freed
	w.mu.Unlock()
	freed()
}

// filePool keeps encoders with their buffers between flushes: with a commit a second and a file a partition value
// their making would otherwise dominate.
type filePool struct {
	make func() (*parquet.File, error)
	mu   sync.Mutex // guards free
	free []*parquet.File
}

func (p *filePool) take() (*parquet.File, error) {
	if f := p.idle(); f != nil {
		return f, nil
	}
	return p.make()
}

// idle takes an encoder out of the pool, or returns nil when it is empty.
func (p *filePool) idle() *parquet.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return nil
	}
	f := p.free[n-1]
	p.free[n-1] = nil
	p.free = p.free[:n-1]
	return f
}

// filesKeptMax bounds the pool: beyond it encoders go to the garbage collector.
const filesKeptMax = 256

func (p *filePool) give(f *parquet.File) {
	f.Reset()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < filesKeptMax {
		p.free = append(p.free, f)
	}
}
