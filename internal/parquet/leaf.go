package parquet

import (
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// leaf writes one leaf column: the open page, the dictionary, and the pages of the open row group.
type leaf struct {
	leafType
	learned *learned // about the pages of this column
	codec   Codec    // of the open file's pages, once picked by CodecAuto
	picked  bool
	metrics Metrics
	keep    int // bytes of a value that bounds look at
	page    page
	dict    dictionary
	bloom   *bloom // nil when there is none to write
	chunk   chunk
}

// page is the data page being filled.
type page struct {
	plain   []byte // frontBytes of room, then PLAIN values; booleans one a byte until the page is finished
	room    int    // what the page before took with it, and this one will need: growing to it would copy it once more
	entries int    // values, nulls and empty lists
	rows    int
	count   int     // values that are not null
	bytes   int     // of those values, in PLAIN
	lead    int     // entries of the highest definition level before defs starts
	defs    []uint8 // definition levels after them
	reps    []uint8
	stats   bounds
	// repBytes is the encoded size of reps, once the page is finished.
	repBytes int
}

// Entries of a page. Nulls have no bytes, so bytes alone do not bound a page. The second is parquet-java's row limit: a
// page of dictionary indices is small, and that many are buffered at 4 bytes each.
const (
	pageEntriesMax       = 1 << 17
	dictionaryEntriesMax = 20_000
)

// pageBytesLimit leaves room in the header's 32-bit size for levels and a codec's growth.
const pageBytesLimit = math.MaxInt32 - math.MaxInt32/4

// errRowTooLarge means that one row does not fit in a page.
var errRowTooLarge = errors.New("more than the 1.5 GiB of one page")

// append adds the entries of v, whole rows, finishing pages as they fill.
func (l *leaf) append(f *File, w *workspace, c *record.Column, v vector) error {
	i, k := 0, 0
	for i < len(v.index) {
		s := l.take(f, c, v, i, k)
		if s.entries == 0 {
			if err := l.finishPage(f, w); err != nil {
				return err
			}
			continue
		}
		if l.page.bytes+s.bytes > f.pageBytesLimit {
			return fmt.Errorf("column %s: a row of %d bytes: %w", l.dotted, s.bytes, errRowTooLarge)
		}
		l.page.addLevels(&l.leafType, v, i, s)
		if err := l.addValues(f, w, c, v.dense[k:k+s.count], s.bytes); err != nil {
			return err
		}
		if err := l.reviewDictionary(f, w); err != nil {
			return err
		}
		i, k = i+s.entries, k+s.count
	}
	return nil
}

// span is entries that go into the open page together.
type span struct {
	entries, rows, count, bytes int
}

// take is the longest span of whole rows from entry i, value k, that fits in the open page. An empty page takes at
// least one row.
func (l *leaf) take(f *File, c *record.Column, v vector, i, k int) span {
	entriesLeft, bytesLeft := pageEntriesMax-l.page.entries, f.options.PageBytesMax-frontBytes-l.page.bytes
	rowsLeft, spanBytes := f.options.PageRowsMax-l.page.rows, math.MaxInt
	if l.dict.active {
		entriesLeft, bytesLeft, spanBytes = l.dict.room(&l.page, l.width, bytesLeft)
	}
	if v.def == nil && v.rep == nil && l.width > 0 {
		n := min(len(v.index)-i, entriesLeft, rowsLeft, bytesLeft/l.width, max(1, spanBytes/l.width))
		if n <= 0 && l.page.entries == 0 {
			n = 1
		}
		n = max(n, 0)
		return span{n, n, n, n * l.width}
	}
	if v.def == nil && v.rep == nil && l.physical == format.ByteArray && l.page.entries > 0 {
		n := max(0, min(len(v.index)-i, entriesLeft, rowsLeft))
		n, bytes := takeByteArrays(c.Bytes, v.dense[k:k+n], bytesLeft, spanBytes)
		return span{n, n, n, bytes}
	}
	var s span
	for i+s.entries < len(v.index) && s.bytes < spanBytes {
		row := l.row(c, v, i+s.entries, k+s.count)
		full := s.bytes+row.bytes > bytesLeft || s.entries+row.entries > entriesLeft || s.rows == rowsLeft
		if full && l.page.entries+s.entries > 0 {
			break
		}
		s = span{s.entries + row.entries, s.rows + 1, s.count + row.count, s.bytes + row.bytes}
	}
	return s
}

// takeByteArrays is how many of the values, one a row, fit into so many bytes of PLAIN, and their bytes. It stops once
// they have spanBytes.
func takeByteArrays(values [][]byte, dense []int32, bytesLeft, spanBytes int) (n, bytes int) {
	for _, x := range dense {
		more := bytes + 4 + len(values[x])
		if more > bytesLeft || bytes >= spanBytes {
			break
		}
		n, bytes = n+1, more
	}
	return n, bytes
}

// row is the span of the row that starts at entry i, value k.
func (l *leaf) row(c *record.Column, v vector, i, k int) span {
	s := span{rows: 1}
	for {
		if v.index[i] >= 0 {
			s.bytes += l.size(c, v.dense[k+s.count])
			s.count++
		}
		s.entries++
		i++
		if v.rep == nil || i == len(v.index) || v.rep[i] == 0 {
			return s
		}
	}
}

// size is the bytes of a value in PLAIN.
func (l *leaf) size(c *record.Column, x int32) int {
	if l.width > 0 {
		return l.width
	}
	return 4 + len(c.Bytes[x])
}

// addLevels appends the levels of the span of v that starts at entry i.
func (p *page) addLevels(t *leafType, v vector, i int, s span) {
	p.entries += s.entries
	p.rows += s.rows
	p.count += s.count
	p.bytes += s.bytes
	p.stats.values += int64(s.entries)
	p.stats.nulls += int64(s.entries - s.count)
	if t.rep > 0 {
		p.reps = append(p.reps, v.rep[i:i+s.entries]...)
	}
	if s.count == s.entries && len(p.defs) == 0 {
		p.lead += s.entries
		return
	}
	if v.def != nil {
		p.defs = append(p.defs, v.def[i:i+s.entries]...)
		return
	}
	for range s.entries {
		p.defs = append(p.defs, t.def)
	}
}

// reset empties the page and keeps its buffers.
func (p *page) reset() {
	stats := p.stats
	stats.reset()
	*p = page{plain: p.plain[:0], room: p.room, defs: p.defs[:0], reps: p.reps[:0], stats: stats}
}

// taken is the memory of the open page's values.
func (l *leaf) taken() int64 {
	if l.dict.active {
		return int64(4 * len(l.dict.indices))
	}
	return int64(l.page.bytes)
}

// openBytes estimates the size of the open chunk in the file. The open page is taken to become as small as those before
// it did; how far the dictionary can be compressed is not known.
func (l *leaf) openBytes() int64 {
	page, c := l.taken(), &l.chunk
	if c.taken > 0 {
		page = page * c.data.bytes / c.taken
	}
	return c.size() + page + int64(len(l.dict.plain))
}

// held is the memory of the leaf's buffers.
func (l *leaf) held() int64 {
	return int64(cap(l.page.plain)+cap(l.page.defs)+cap(l.page.reps)) + l.dict.held() + l.bloom.held() + l.chunk.held()
}

// idleBytesMax is what a leaf keeps of each buffer for the next file.
const idleBytesMax = 4 << 10

// reset makes the leaf ready for another file. Large buffers go back to the pool, so that many files that are open
// and empty hold little.
func (l *leaf) reset(p *Pool) {
	l.chunk.release(p)
	l.page.reset()
	if cap(l.page.plain) > idleBytesMax {
		p.put(l.page.plain)
		l.page.plain = nil
	}
	if cap(l.page.defs)+cap(l.page.reps) > idleBytesMax {
		l.page.defs, l.page.reps = nil, nil
	}
	l.dict.clear(p)
	l.bloom.release(p)
	l.picked, l.page.room = false, 0
}
