package bigquery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/descriptorpb"

	"firn/internal/pipeline"
	"firn/internal/record"
)

// Mode says how rows become visible.
type Mode int

const (
	// ExactlyOnce appends to BUFFERED streams, whose rows an ExactCommitter shows once their intent is written.
	ExactlyOnce Mode = iota
	// AtLeastOnce appends to the table's default stream, whose rows are visible once they are stored.
	AtLeastOnce
)

// WriterOptions are the settings of a Writer. Start from DefaultWriterOptions.
type WriterOptions struct {
	Mode Mode
	// Lanes is how many write streams, or connections to the default stream, take rows at once. A lane that nobody
	// needs stays without a stream.
	Lanes      int
	Limits     Limits
	Connection ConnectionOptions
	// Refused gets the rows that the encoder or the server does not take; with nil the first of them is an error.
	Refused RowSink
	Log     *slog.Logger // nil discards
}

// DefaultWriterOptions is four lanes, exactly once.
func DefaultWriterOptions() WriterOptions { return WriterOptions{Lanes: 4, Limits: DefaultLimits()} }

// Writer encodes batches into requests and appends them. It implements pipeline.Writer and is safe for concurrent use,
// within what that interface says: rows of one flush are stored before those of the next.
type Writer struct {
	client     *Client
	table      TableName
	options    WriterOptions
	log        *slog.Logger
	descriptor *descriptorpb.DescriptorProto
	refusals   refusals
	lanes      []*lane
	spare      chan []byte // buffers of requests, to be used again
	buffered   atomic.Int64
	turn       atomic.Int64

	mu      sync.Mutex // guards the fields below
	current *generation
	freed   func()
}

var _ pipeline.Writer = (*Writer)(nil)

// NewWriter compiles the encoders of a table's rows: see NewEncoder. It connects to nothing. Close must be called.
func NewWriter(
	c *Client, table TableName, rows *record.Schema, schema *storagepb.TableSchema, o WriterOptions,
) (*Writer, error) {
	if o.Lanes < 1 {
		return nil, fmt.Errorf("a writer of %d lanes: there must be one at least", o.Lanes)
	}
	w := &Writer{client: c, table: table, options: o, log: o.Log, freed: func() {}}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	for range o.Lanes {
		e, err := NewEncoder(rows, schema, o.Limits)
		if err != nil {
			return nil, err
		}
		w.lanes = append(w.lanes, &lane{writer: w, encoder: e})
	}
	w.spare = make(chan []byte, 2*o.Lanes)
	w.descriptor = w.lanes[0].encoder.Descriptor()
	var err error
	if w.refusals, err = newRefusals(w.descriptor); err != nil {
		return nil, err
	}
	w.current = newGeneration(w)
	return w, nil
}

// Close ends the connections of all lanes. It waits for nothing that is on its way. It may be called twice.
func (w *Writer) Close() {
	for _, l := range w.lanes {
		l.abandon()
	}
}

// Write implements pipeline.Writer. Rows that the encoder refuses go to the dead letters at once.
func (w *Writer) Write(ctx context.Context, b *record.Batch) error {
	w.mu.Lock()
	g := w.current
	w.mu.Unlock()
	l := w.take()
	refused, err := g.parts[l].write(b)
	l.writing.Unlock()
	if err != nil || len(refused) == 0 {
		return err
	}
	if err := w.refuse(ctx, refused); err != nil {
		return err
	}
	g.parts[l].refused.Add(int64(len(refused)))
	return nil
}

// take locks the first lane that nobody writes to, so that few writers fill few requests; else it waits for one.
func (w *Writer) take() *lane {
	for _, l := range w.lanes {
		if l.writing.TryLock() {
			return l
		}
	}
	l := w.lanes[int(w.turn.Add(1))%len(w.lanes)]
	l.writing.Lock()
	return l
}

// refuse hands rows to the dead letters.
func (w *Writer) refuse(ctx context.Context, rows []RefusedRow) error {
	if w.options.Refused == nil {
		return fmt.Errorf("%w: table %s does not take a row: %s: correct the schema or the producer, or set "+
			"errors.policy to dead_letter to set such rows aside", errRefusing, w.table, reasonOf(rows[0]))
	}
	if err := w.options.Refused.Write(ctx, rows); err != nil {
		return fmt.Errorf("%w: writing %d dead letters: %w", errRefusing, len(rows), err)
	}
	return nil
}

func reasonOf(r RefusedRow) string {
	if r.Field == "" {
		return r.Reason
	}
	return r.Field + ": " + r.Reason
}

// Rotate implements pipeline.Writer.
func (w *Writer) Rotate() pipeline.Flush {
	next := newGeneration(w)
	w.mu.Lock()
	defer w.mu.Unlock()
	done := w.current
	w.current = next
	return done
}

// Spill implements pipeline.Writer. It appends the requests that are full, and when that is not enough the others.
func (w *Writer) Spill(ctx context.Context, bytesMax int64) error {
	w.mu.Lock()
	g := w.current
	w.mu.Unlock()
	if err := g.store(ctx, false); err != nil || w.buffered.Load() <= bytesMax {
		return err
	}
	return g.store(ctx, true)
}

// BufferedBytes implements pipeline.Writer.
func (w *Writer) BufferedBytes() int64 { return w.buffered.Load() }

// OnFreed implements pipeline.Writer.
func (w *Writer) OnFreed(freed func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.freed = freed
}

// release counts bytes that are not held any more. The caller holds no lock but a lane's.
func (w *Writer) release(bytes int) {
	w.buffered.Add(int64(-bytes))
	w.mu.Lock()
	freed := w.freed
	w.mu.Unlock()
	freed()
}

// buffer is an empty buffer for a request.
func (w *Writer) buffer() []byte {
	select {
	case b := <-w.spare:
		return b[:0]
	default:
		return nil
	}
}

// keep takes a buffer back; beyond a few they are left to the garbage collector.
func (w *Writer) keep(b []byte) {
	select {
	case w.spare <- b:
	default:
	}
}

// generation is the rows between two rotations. It implements pipeline.Flush.
type generation struct {
	writer *Writer
	parts  map[*lane]*part // not changed
}

func newGeneration(w *Writer) *generation {
	g := &generation{writer: w, parts: make(map[*lane]*part, len(w.lanes))}
	for _, l := range w.lanes {
		g.parts[l] = &part{lane: l}
	}
	return g
}

// store appends the requests that are full, or all, each lane on its own.
func (g *generation) store(ctx context.Context, all bool) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range g.writer.lanes {
		group.Go(func() error { return l.store(ctx, g.parts[l], all) })
	}
	return group.Wait()
}

// Seal implements pipeline.Flush: it appends what is left and waits for the answers. A DataFile is the rows of this
// flush in one write stream, named by Path: Rows of them from Offset on. Its Refused rows are in the dead letters.
func (g *generation) Seal(ctx context.Context) ([]record.DataFile, error) {
	if err := g.store(ctx, true); err != nil {
		return nil, err
	}
	var files []record.DataFile
	var refused int64
	for _, l := range g.writer.lanes {
		p := g.parts[l]
		files = append(files, p.stored...)
		refused += p.refused.Load()
	}
	if refused == 0 {
		return files, nil
	}
	if err := g.writer.options.Refused.Flush(ctx); err != nil {
		return nil, fmt.Errorf("storing dead letters: %w", err)
	}
	return append(files, record.DataFile{Path: g.writer.table.Path(), Refused: refused}), nil
}

// Discard implements pipeline.Flush. Rows that are stored stay in streams that get no more: nobody shows them.
func (g *generation) Discard() {
	for _, l := range g.writer.lanes {
		l.abandon()
		g.parts[l].discard()
	}
}

var (
	// errStopped ends connections that nobody waits for.
	errStopped = errors.New("the writer let go of it")
	// errRefusing is that a row is refused and cannot be set aside.
	errRefusing = errors.New("refused rows")
)
