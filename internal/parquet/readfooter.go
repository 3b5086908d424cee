package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// Footer is what the end of a Parquet file says of it, written by this package or another one. It is immutable.
type Footer struct {
	Rows      int64
	CreatedBy string

	nodes   []fileNode // of the schema's root
	leaves  []fileLeaf
	groups  []fileGroup
	ordered []bool // leaves whose min_value and max_value are in the order of their type
	end     int64  // where the footer starts
	tail    []byte // bytes before end that hold page indexes and were read with the footer
}

// fileGroup is a row group of a file, a chunk a leaf.
type fileGroup struct {
	rows   int64
	chunks []fileChunk
}

// fileChunk is a column chunk of a file.
type fileChunk struct {
	codec        format.CompressionCodec
	encodings    []format.Encoding
	values       int64
	uncompressed int64
	from, size   int64 // of its pages in the file, a dictionary page first
	dictionary   bool  // whether it is said to have that page
	statistics   fileStatistics
	columnIndex  extent
	offsetIndex  extent
}

// extent is a place in a file; one without size is none.
type extent struct{ offset, size int64 }

// fileStatistics is what a writer says of the values of a chunk or a page. Nil bounds are unknown.
type fileStatistics struct {
	nulls      int64
	nullsKnown bool
	low, high  []byte // PLAIN, as min_value and max_value
}

// clone is s with bounds in their own memory.
func (s fileStatistics) clone() fileStatistics {
	s.low, s.high = bytes.Clone(s.low), bytes.Clone(s.high)
	return s
}

const (
	// tailBytes is read at once from a file's end: the footer of most files, and their page indexes.
	tailBytes = 64 << 10
	// footerBytesMax is far beyond a footer that makes sense.
	footerBytesMax = 256 << 20
	// footerEndBytes are the footer's length and the magic after it.
	footerEndBytes = 8
)

// ReadFooter reads the footer of a file of so many bytes: in one read, or two where it is long. It says what is wrong
// with a file that is none, is cut off or is encrypted.
func ReadFooter(r io.ReaderAt, size int64) (*Footer, error) {
	f, err := readFooter(r, size)
	if err != nil {
		return nil, fmt.Errorf("reading the footer of a parquet file of %d bytes: %w", size, err)
	}
	return f, nil
}

func readFooter(r io.ReaderAt, size int64) (*Footer, error) {
	const least = int64(len(magic)) + footerEndBytes
	if size < least {
		return nil, fmt.Errorf("it is shorter than the least file of %d bytes", least)
	}
	tail, err := readAt(r, max(0, size-tailBytes), int(min(size, tailBytes)))
	if err != nil {
		return nil, err
	}
	length, err := footerLength(tail[len(tail)-footerEndBytes:], size)
	if err != nil {
		return nil, err
	}
	end := size - footerEndBytes - length
	start := size - int64(len(tail))
	if end < start {
		if tail, err = readAt(r, end, int(size-end)); err != nil {
			return nil, err
		}
		start = end
	}
	f, err := parseFooter(tail[end-start : int64(len(tail))-footerEndBytes])
	if err != nil {
		return nil, err
	}
	f.end = end
	if err := f.check(); err != nil {
		return nil, err
	}
	f.keepIndexes(tail[:end-start])
	return f, nil
}

// keepIndexes keeps what the bytes before the footer have of page indexes, which saves reading them again.
func (f *Footer) keepIndexes(tail []byte) {
	start := f.end
	for i := range f.groups {
		for j := range f.groups[i].chunks {
			c := &f.groups[i].chunks[j]
			for _, e := range []extent{c.columnIndex, c.offsetIndex} {
				if e.size > 0 && e.offset >= f.end-int64(len(tail)) {
					start = min(start, e.offset)
				}
			}
		}
	}
	f.tail = bytes.Clone(tail[int64(len(tail))-(f.end-start):])
}

// readAt reads n bytes, or says why it cannot.
func readAt(r io.ReaderAt, offset int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if err := readFullAt(r, b, offset); err != nil {
		return nil, err
	}
	return b, nil
}

func readFullAt(r io.ReaderAt, b []byte, offset int64) error {
	n, err := r.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading %d bytes at %d: %w", len(b), offset, err)
}

func footerLength(end []byte, size int64) (int64, error) {
	switch string(end[4:]) {
	case magic:
	case "PARE":
		return 0, errors.New("its footer is encrypted")
	default:
		return 0, fmt.Errorf("it ends with %q instead of %s: it is no parquet file, or cut off", end[4:], magic)
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > min(size-footerEndBytes-int64(len(magic)), footerBytesMax) {
		return 0, fmt.Errorf("its footer is said to have %d bytes", length)
	}
	return length, nil
}

// parseFooter reads a FileMetaData (parquet.thrift).
func parseFooter(b []byte) (*Footer, error) {
	c, f, last := compact{b: b}, &Footer{}, int16(0)
	var elements []element
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 2:
			for n := c.list(typ, compactStruct); n > 0 && c.err == nil; n-- {
				elements = append(elements, c.element())
			}
		case 3:
			f.Rows = c.int64(typ)
		case 4:
			c.groups(typ, f)
		case 6:
			f.CreatedBy = c.string(typ)
		case 7:
			for n := c.list(typ, compactStruct); n > 0 && c.err == nil; n-- {
				f.ordered = append(f.ordered, c.union(compactStruct) == 1)
			}
		case 8:
			c.fail(errEncrypted)
		default:
			c.skip(typ)
		}
	}
	if c.err != nil {
		return nil, fmt.Errorf("at byte %d of the footer: %w", c.at, c.err)
	}
	var err error
	f.nodes, f.leaves, err = readTree(elements)
	return f, err
}

// errEncrypted means that nothing can be read without a key.
var errEncrypted = errors.New("it is encrypted")

func (c *compact) groups(typ byte, f *Footer) {
	for n := c.list(typ, compactStruct); n > 0 && c.err == nil; n-- {
		f.groups = append(f.groups, c.group())
	}
}

func (c *compact) group() fileGroup {
	var g fileGroup
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 1:
			for n := c.list(typ, compactStruct); n > 0 && c.err == nil; n-- {
				g.chunks = append(g.chunks, c.chunk())
			}
		case 3:
			g.rows = c.int64(typ)
		default:
			c.skip(typ)
		}
	}
	return g
}

// chunk reads a ColumnChunk.
func (c *compact) chunk() fileChunk {
	var out fileChunk
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 1:
			if path := c.binary(typ); len(path) > 0 {
				c.fail(fmt.Errorf("its columns are in another file, %q", path))
			}
		case 3:
			if c.want(typ, compactStruct) {
				c.chunkMetaData(&out)
			}
		case 4:
			out.offsetIndex.offset = c.int64(typ)
		case 5:
			out.offsetIndex.size = int64(c.int32(typ))
		case 6:
			out.columnIndex.offset = c.int64(typ)
		case 7:
			out.columnIndex.size = int64(c.int32(typ))
		case 8, 9:
			c.fail(errEncrypted)
		default:
			c.skip(typ)
		}
	}
	if c.err == nil && out.from == 0 {
		c.fail(errors.New("a column chunk has no pages"))
	}
	return out
}

// chunkMetaData reads a ColumnMetaData.
func (c *compact) chunkMetaData(out *fileChunk) {
	var data, dictionary int64
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 2:
			for n := c.list(typ, compactInt32); n > 0 && c.err == nil; n-- {
				out.encodings = append(out.encodings, format.Encoding(c.int32(compactInt32)))
			}
		case 4:
			out.codec = format.CompressionCodec(c.int32(typ))
		case 5:
			out.values = c.int64(typ)
		case 6:
			out.uncompressed = c.int64(typ)
		case 7:
			out.size = c.int64(typ)
		case 9:
			data = c.int64(typ)
		case 11:
			dictionary = c.int64(typ)
		case 12:
			out.statistics = c.statistics(typ).clone()
		default:
			c.skip(typ)
		}
	}
	out.from = data
	if dictionary > 0 && dictionary < data {
		out.from, out.dictionary = dictionary, true
	}
}

// statistics reads a Statistics without its deprecated bounds, whose order is not sure.
func (c *compact) statistics(typ byte) fileStatistics {
	var s fileStatistics
	if !c.want(typ, compactStruct) {
		return s
	}
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 3:
			s.nulls, s.nullsKnown = c.int64(typ), true
		case 5:
			s.high = c.binary(typ)
		case 6:
			s.low = c.binary(typ)
		default:
			c.skip(typ)
		}
	}
	return s
}

// check makes sure that all places are inside of the file, and that numbers fit together.
func (f *Footer) check() error {
	rows, total := int64(0), int64(0)
	for i := range f.groups {
		g := &f.groups[i]
		if g.rows < 0 || g.rows > math.MaxInt64-rows {
			return fmt.Errorf("row group %d is said to have %d rows", i, g.rows)
		}
		rows += g.rows
		if len(g.chunks) != len(f.leaves) {
			return fmt.Errorf("row group %d has %d columns, the schema has %d", i, len(g.chunks), len(f.leaves))
		}
		for j := range g.chunks {
			c := &g.chunks[j]
			if err := c.check(f.end); err != nil {
				return fmt.Errorf("column %s in row group %d: %w", f.leaves[j].name, i, err)
			}
			total += c.size
			if total > f.end {
				return fmt.Errorf("its columns are said to have %d bytes, more than the file", total)
			}
		}
	}
	if rows != f.Rows {
		return fmt.Errorf("its row groups have %d rows, and the file is said to have %d", rows, f.Rows)
	}
	return nil
}

func (c *fileChunk) check(end int64) error {
	switch {
	case !(extent{c.from, c.size}).within(end):
		return fmt.Errorf("its pages are said to be %d bytes at %d, outside of the file", c.size, c.from)
	case c.values < 0 || c.uncompressed < 0:
		return fmt.Errorf("it is said to have %d values in %d bytes", c.values, c.uncompressed)
	case c.statistics.nulls < 0 || c.statistics.nulls > c.values:
		return fmt.Errorf("it is said to have %d nulls in %d values", c.statistics.nulls, c.values)
	case c.columnIndex.size != 0 && !c.columnIndex.within(end), c.offsetIndex.size != 0 && !c.offsetIndex.within(end):
		return errors.New("its page index is said to be outside of the file")
	}
	return nil
}

// within says whether e lies between the magic and the footer.
func (e extent) within(end int64) bool {
	return e.offset >= int64(len(magic)) && e.size >= 0 && e.offset <= end && e.size <= end-e.offset
}

// isOrdered says whether bounds of leaf i in statistics mean something.
func (f *Footer) isOrdered(i int) bool { return i < len(f.ordered) && f.ordered[i] }
