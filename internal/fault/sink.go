package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"firn/internal/cluster"
	"firn/internal/pipeline"
	"firn/internal/record"
)

// Table is a table in memory with one text column: the rows that are visible, and the floor that came with them. It
// is safe for concurrent use and outlives the processes that write to it.
type Table struct {
	mu    sync.Mutex // guards the fields below
	floor record.Floor
	rows  []string
	files map[string][]string // durable, visible or not
}

// NewTable makes an empty table.
func NewTable() *Table { return &Table{floor: record.Floor{}, files: map[string][]string{}} }

// Rows are the visible rows, sorted.
func (t *Table) Rows() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := slices.Clone(t.rows)
	slices.Sort(rows)
	return rows
}

// Floor is the floor of the table.
func (t *Table) Floor() record.Floor {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.floor.Clone()
}

// SetFloor moves the floor, as another replica's commit does.
func (t *Table) SetFloor(f record.Floor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.floor = f.Clone()
}

// Writer writes to a Table. It implements pipeline.Writer.
type Writer struct {
	Table *Table
	Plan  *Plan

	mu       sync.Mutex // guards the fields below
	current  []string
	spilled  []record.DataFile
	freed    func()
	buffered atomic.Int64
	flushes  atomic.Int64
	id       string
}

var _ pipeline.Writer = (*Writer)(nil)

// NewWriter makes a writer whose files have a prefix of their own.
func NewWriter(t *Table, p *Plan, id string) *Writer { return &Writer{Table: t, Plan: p, id: id} }

// Write implements pipeline.Writer.
func (w *Writer) Write(_ context.Context, b *record.Batch) error {
	return w.Plan.Do("writing", func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		for i := range b.Rows {
			w.current = append(w.current, string(b.Columns[0].Bytes[i]))
			w.buffered.Add(int64(len(b.Columns[0].Bytes[i])))
		}
		return nil
	})
}

// Rotate implements pipeline.Writer.
func (w *Writer) Rotate() pipeline.Flush {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &flush{writer: w, rows: w.current, path: w.nextPath(), files: w.spilled}
	w.current, w.spilled = nil, nil
	return f
}

func (w *Writer) nextPath() string { return fmt.Sprintf("%s-%d", w.id, w.flushes.Add(1)) }

// Spill implements pipeline.Writer: it stores all rows in one file.
func (w *Writer) Spill(context.Context, int64) error {
	w.mu.Lock()
	rows := w.current
	w.current = nil
	w.mu.Unlock()
	path := w.nextPath()
	err := w.Plan.Do("storing a file early", func() error {
		w.Table.store(path, rows)
		return nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.current = append(rows, w.current...)
		return err
	}
	w.spilled = append(w.spilled, describe(path, rows))
	w.free(rows)
	return nil
}

// OnFreed implements pipeline.Writer.
func (w *Writer) OnFreed(freed func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.freed = freed
}

func (w *Writer) free(rows []string) {
	for _, r := range rows {
		w.buffered.Add(-int64(len(r)))
	}
	if w.freed != nil {
		w.freed()
	}
}

// BufferedBytes implements pipeline.Writer.
func (w *Writer) BufferedBytes() int64 { return w.buffered.Load() }

// fileBytes is the size that each file is said to have.
const fileBytes = 100

func describe(path string, rows []string) record.DataFile {
	return record.DataFile{Path: path, Rows: int64(len(rows)), SizeBytes: fileBytes}
}

func (t *Table) store(path string, rows []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[path] = rows
}

type flush struct {
	writer *Writer
	rows   []string
	path   string
	files  []record.DataFile // stored before
}

// Seal implements pipeline.Flush.
func (f *flush) Seal(context.Context) ([]record.DataFile, error) {
	files := append(f.files, describe(f.path, f.rows))
	return files, f.writer.Plan.Do("storing a file", func() error {
		f.writer.Table.store(f.path, f.rows)
		f.Discard()
		return nil
	})
}

// Discard implements pipeline.Flush.
func (f *flush) Discard() {
	f.writer.free(f.rows)
	f.rows = nil
}

// Committer commits to a Table by the rule of the fold. It implements pipeline.Committer.
type Committer struct {
	Table *Table
	Plan  *Plan
	Hold  <-chan struct{} // when set, Commit waits for it to close
}

var _ pipeline.Committer = (*Committer)(nil)

// Floor implements pipeline.Committer.
func (c *Committer) Floor(context.Context) (floor record.Floor, err error) {
	return floor, c.Plan.Do("reading the floor", func() error {
		floor = c.Table.Floor()
		return nil
	})
}

// Init implements pipeline.Committer.
func (c *Committer) Init(_ context.Context, _, next record.Floor) error {
	return c.Plan.Do("recording starts", func() error {
		c.Table.SetFloor(next)
		return nil
	})
}

// Commit implements pipeline.Committer. Replacements change no rows, so all of them fit.
func (c *Committer) Commit(
	ctx context.Context, sealed []record.Sealed, replacements []record.Replacement,
) (o pipeline.Outcome, err error) {
	if c.Hold != nil {
		select {
		case <-c.Hold:
		case <-ctx.Done():
			return o, ctx.Err()
		}
	}
	return o, c.Plan.Do("committing", func() error {
		t := c.Table
		t.mu.Lock()
		defer t.mu.Unlock()
		next, accepted := cluster.Fold(t.floor, sealed)
		for i, x := range sealed {
			if !slices.Contains(accepted, i) {
				o.Rejected = append(o.Rejected, x.ID)
				continue
			}
			o.Committed = append(o.Committed, x.ID)
			for _, f := range x.Files {
				t.rows = append(t.rows, t.files[f.Path]...)
			}
		}
		for _, r := range replacements {
			o.Replaced = append(o.Replaced, r.ID)
		}
		t.floor, o.Floor, o.Attempts = next, next.Clone(), 1
		return nil
	})
}

// Letters collects rejected records. It implements pipeline.DeadLetters.
type Letters struct {
	Plan *Plan

	mu      sync.Mutex // guards the fields below
	pending []string
	durable map[string]bool
}

// Write implements pipeline.DeadLetters.
func (l *Letters) Write(_ context.Context, rejected []record.Rejected) error {
	return l.Plan.Do("writing dead letters", func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, r := range rejected {
			l.pending = append(l.pending, string(r.Record.Value))
		}
		return nil
	})
}

// Flush implements pipeline.DeadLetters.
func (l *Letters) Flush(context.Context) error {
	return l.Plan.Do("storing dead letters", func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.durable == nil {
			l.durable = map[string]bool{}
		}
		for _, p := range l.pending {
			l.durable[p] = true
		}
		l.pending = nil
		return nil
	})
}

// Durable are the distinct values that were stored.
func (l *Letters) Durable() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.durable)
}

// Crash loses what was not stored.
func (l *Letters) Crash() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = nil
}

// Text is a decoder of values as they are, into one string column; values that begin with "bad" are rejected, nil ones
// are tombstones. It implements pipeline.Decoder.
type Text struct{}

var _ pipeline.Decoder = Text{}

// TextSchema is the schema of Text.
func TextSchema() *record.Schema {
	return &record.Schema{Fields: []record.Field{{ID: 1, Name: "text", Type: record.Type{Kind: record.KindString}}}}
}

var errBad = errors.New("it begins with bad")

// Decode implements pipeline.Decoder.
func (Text) Decode(block *record.Block, into *record.Batch) (tombstones, controls int) {
	for _, r := range block.Records {
		switch {
		case r.Control:
			controls++
		case r.Value == nil:
			tombstones++
		case len(r.Value) >= 3 && string(r.Value[:3]) == "bad":
			into.Rejected = append(into.Rejected, record.Rejected{
				TopicPartition: block.TopicPartition, Record: r, Reason: errBad.Error(),
			})
		default:
			c := &into.Columns[0]
			c.Grow()
			c.Valid[c.Len-1], c.Bytes[c.Len-1] = true, r.Value
			into.Rows++
		}
	}
	return tombstones, controls
}

// Sequence is n records whose values are numbered, so that each can be told in a table.
func Sequence(prefix string, n int) []record.Record {
	out := make([]record.Record, n)
	for i := range out {
		out[i].Value = []byte(prefix + strconv.Itoa(i))
	}
	return out
}
