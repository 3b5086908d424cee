package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// rowLeaf reads the pages of one leaf column, row group by row group.
type rowLeaf struct {
	at         int // of the file's leaves
	path       string
	field      *record.Field
	cast       cast
	physical   format.Type
	width      int   // of a value in PLAIN; 0 for byte arrays
	def, rep   uint8 // highest levels
	levelsOnly bool  // nobody wants the values
	pool       *Pool
	budget     int // bytes of opened pages from which no more are opened before their time
	window     int

	chunk      *fileChunk
	source     pageSource
	entries    int64         // of the chunk in pages that are not opened
	pages      []rowPage     // opened, with entries left
	dictionary record.Column // its values
	loaded     bool          // whether there is one
	dictBuffer []byte        // what they lie in

	// The batch. Without defs all entries are of the highest level.
	count int // of entries
	defs  []uint8
	reps  []uint8
	parts []rowPart
	held  [][]byte // buffers that its values lie in

	scratch []uint32
}

// rowPart is what a batch takes of an opened page.
type rowPart struct {
	page   int
	values int // that are not null
}

// Limits of what a page can make us hold. Writers stop at some 100,000 entries.
const (
	pageEntriesReadMax  = 1 << 26
	rowEntriesReadMax   = 1 << 27
	dictionaryValuesMax = 1 << 24
)

func (l *rowLeaf) fault(err error) error { return fmt.Errorf("column %s: %w", l.path, err) }

// open begins with a column chunk.
func (l *rowLeaf) open(file io.ReaderAt, c *fileChunk) {
	l.chunk, l.entries, l.loaded = c, c.values, false
	l.source.open(file, c.from, c.size)
	l.source.windowBytes = l.window
}

// prepare opens pages until n rows are in them, or as many as are kept at once: one at least. It returns how many.
func (l *rowLeaf) prepare(w *workspace, n int) (int, error) {
	rows, entries, bytes := 0, 0, 0
	for i := range l.pages {
		p := &l.pages[i]
		rows, entries, bytes = rows+p.starts, entries+p.entries, bytes+p.held()
	}
	for {
		whole := rows
		if l.rep > 0 && l.source.left() > 0 {
			whole-- // the last one may go on in the next page
		}
		if l.source.left() == 0 || whole >= n || whole > 0 && bytes >= l.budget {
			if whole <= 0 {
				return 0, errors.New("its pages have fewer rows than their row group")
			}
			return min(whole, n), nil
		}
		if entries > rowEntriesReadMax {
			return 0, fmt.Errorf("a row of more than %d values", rowEntriesReadMax)
		}
		opened, err := l.openPage(w)
		if err != nil {
			return 0, err
		}
		if opened {
			p := &l.pages[len(l.pages)-1]
			rows, entries, bytes = rows+p.starts, entries+p.entries, bytes+p.held()
		}
	}
}

// take has the batch be the next n rows, which are in opened pages.
func (l *rowLeaf) take(n int) error {
	l.count, l.defs, l.reps, l.parts = 0, l.defs[:0], l.reps[:0], l.parts[:0]
	for i := 0; i < len(l.pages); i++ {
		p := &l.pages[i]
		entries := min(n, p.entries)
		if l.rep > 0 {
			entries = p.entriesOf(n)
			l.reps = append(l.reps, p.reps[:entries]...)
			n -= p.pass(entries)
		} else {
			n -= entries
			p.starts -= entries
		}
		if entries > 0 {
			values, err := l.takeLevels(p, entries)
			if err != nil {
				return err
			}
			l.parts = append(l.parts, rowPart{i, values})
		}
		if p.entries > 0 {
			return nil
		}
	}
	return nil
}

// entriesOf is how many entries the next n rows have in the page, the rest of one that began before it included.
func (p *rowPage) entriesOf(n int) int {
	if p.starts < n {
		return p.entries
	}
	for i, rep := range p.reps {
		if rep > 0 {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return p.entries
}

// pass drops entries, and tells how many rows began with one of them.
func (p *rowPage) pass(entries int) (starts int) {
	for _, rep := range p.reps[:entries] {
		if rep == 0 {
			starts++
		}
	}
	p.reps = p.reps[entries:]
	p.starts -= starts
	return starts
}

// takeLevels takes the definition levels of entries of a page, and counts those that have a value.
func (l *rowLeaf) takeLevels(p *rowPage, entries int) (values int, err error) {
	p.entries -= entries
	before := l.count
	l.count += entries
	if l.def == 0 {
		return entries, nil
	}
	all, err := p.defs.skipAll(uint32(l.def), entries)
	if err != nil {
		return 0, err
	}
	if all && len(l.defs) == 0 {
		return entries, nil
	}
	for len(l.defs) < before { // those before were all of the highest level
		l.defs = append(l.defs, l.def)
	}
	if all {
		for range entries {
			l.defs = append(l.defs, l.def)
		}
		return entries, nil
	}
	if l.defs, err = l.readLevels(&p.defs, l.defs, l.def, entries); err != nil {
		return 0, err
	}
	for _, def := range l.defs[before:] {
		if def == l.def {
			values++
		}
	}
	return values, nil
}

// skipAll passes over the next n levels where they are a run of one value, and tells whether they were.
func (h *hybridReader) skipAll(value uint32, n int) (bool, error) {
	for h.run == 0 && h.at >= h.grouped {
		if err := h.next(); err != nil {
			return false, err
		}
	}
	if h.run < n || h.value != value {
		return false, nil
	}
	h.run -= n
	return true, nil
}

// block is room for n numbers, or for as many as are read at once.
func (l *rowLeaf) block(n int) []uint32 {
	if l.scratch == nil {
		l.scratch = make([]uint32, joinIndices)
	}
	return l.scratch[:min(n, len(l.scratch))]
}

// readLevels appends n levels up to top.
func (l *rowLeaf) readLevels(h *hybridReader, out []uint8, top uint8, n int) ([]uint8, error) {
	for n > 0 {
		block := l.block(n)
		if err := h.fill(block); err != nil {
			return out, fmt.Errorf("reading levels: %w", err)
		}
		for _, level := range block {
			if level > uint32(top) {
				return out, fmt.Errorf("a level of %d is above the highest one, %d", level, top)
			}
			out = append(out, uint8(level))
		}
		n -= len(block)
	}
	return out, nil
}

// values appends the batch's values that are not null to the column's buffer, and counts them.
func (l *rowLeaf) values(c *record.Column) (n int, err error) {
	for _, part := range l.parts {
		p := &l.pages[part.page]
		if p.indexed {
			err = l.lookUp(c, p, part.values)
		} else {
			p.plain, err = l.appendPlain(c, p.plain, part.values)
		}
		if err != nil {
			return n, err
		}
		n += part.values
	}
	return n, nil
}

// lookUp appends values of the dictionary.
func (l *rowLeaf) lookUp(c *record.Column, p *rowPage, n int) error {
	for n > 0 {
		block := l.block(n)
		if err := p.indices.fill(block); err != nil {
			return fmt.Errorf("reading indices: %w", err)
		}
		for _, i := range block {
			if int(i) >= l.dictionary.Len {
				return fmt.Errorf("index %d is outside of a dictionary of %d values", i, l.dictionary.Len)
			}
		}
		gather(c, &l.dictionary, block)
		n -= len(block)
	}
	return nil
}

// gather appends the values of from at the indices.
func gather(c, from *record.Column, indices []uint32) {
	switch {
	case from.Ints32 != nil:
		c.Ints32 = pick(c.Ints32, from.Ints32, indices)
	case from.Ints64 != nil:
		c.Ints64 = pick(c.Ints64, from.Ints64, indices)
	case from.Floats32 != nil:
		c.Floats32 = pick(c.Floats32, from.Floats32, indices)
	case from.Floats64 != nil:
		c.Floats64 = pick(c.Floats64, from.Floats64, indices)
	case from.Bytes != nil:
		c.Bytes = pick(c.Bytes, from.Bytes, indices)
	default:
		w := c.Field.Type.Width()
		for _, i := range indices {
			c.Fixed = append(c.Fixed, from.Fixed[int(i)*w:(int(i)+1)*w]...)
		}
	}
}

func pick[T any](to, from []T, indices []uint32) []T {
	for _, i := range indices {
		to = append(to, from[i])
	}
	return to
}

// release gives back the buffers that only the last batch needed.
func (l *rowLeaf) release() {
	kept := l.pages[:0]
	for i := range l.pages {
		if p := &l.pages[i]; p.entries > 0 {
			kept = append(kept, *p)
		} else {
			l.held = append(l.held, p.buffers[:]...)
		}
	}
	clear(l.pages[len(kept):])
	l.pages, l.parts = kept, l.parts[:0]
	for i, b := range l.held {
		l.pool.put(b)
		l.held[i] = nil
	}
	l.held = l.held[:0]
}

// finish checks that a chunk's pages were all taken, and leaves it. The batch's values stay.
func (l *rowLeaf) finish(w *workspace) error {
	for l.source.left() > 0 { // pages without entries may follow
		if _, err := l.openPage(w); err != nil {
			return err
		}
		if len(l.pages) > 0 && l.pages[len(l.pages)-1].entries > 0 {
			return errors.New("its pages have more rows than their row group")
		}
	}
	for i := range l.pages {
		if l.pages[i].entries > 0 {
			return errors.New("its pages have more rows than their row group")
		}
	}
	if l.entries != 0 {
		return fmt.Errorf("its pages have %d values less than its footer says", l.entries)
	}
	l.held = append(l.held, l.dictBuffer)
	l.dictBuffer = nil
	return nil
}

func (l *rowLeaf) close() {
	for i := range l.pages {
		l.pages[i].entries = 0
	}
	l.held = append(l.held, l.dictBuffer)
	l.dictBuffer = nil
	l.release()
	l.source.close()
}
