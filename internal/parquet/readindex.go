package parquet

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// readPageIndex reads the page index of a chunk, and returns nothing where there is none that fits the chunk: without
// it pages are found as well.
func (f *Footer) readPageIndex(r io.ReaderAt, c *fileChunk, rows int64) ([]format.PageLocation, *pageBounds, error) {
	if c.offsetIndex.size == 0 {
		return nil, nil, nil
	}
	b, err := f.bytes(r, c.offsetIndex)
	if err != nil {
		return nil, nil, fmt.Errorf("reading an offset index: %w", err)
	}
	places := parseOffsetIndex(b)
	if !c.holds(places, rows) {
		return nil, nil, nil
	}
	if c.columnIndex.size == 0 {
		return places, nil, nil
	}
	if b, err = f.bytes(r, c.columnIndex); err != nil {
		return nil, nil, fmt.Errorf("reading a column index: %w", err)
	}
	bounds := parseColumnIndex(b)
	if bounds != nil && len(bounds.pages) != len(places) {
		bounds = nil
	}
	return places, bounds, nil
}

// bytes are those of an extent, from the file's tail where it is in there.
func (f *Footer) bytes(r io.ReaderAt, e extent) ([]byte, error) {
	if start := f.end - int64(len(f.tail)); e.offset >= start {
		return f.tail[e.offset-start : e.offset-start+e.size], nil
	}
	return readAt(r, e.offset, int(e.size))
}

// holds says whether the places lie in the chunk, one after the other.
func (c *fileChunk) holds(places []format.PageLocation, rows int64) bool {
	at, row := c.from, int64(-1)
	for _, p := range places {
		if p.Offset < at || p.CompressedPageSize < 0 || p.FirstRowIndex <= row {
			return false
		}
		at, row = p.Offset+int64(p.CompressedPageSize), p.FirstRowIndex
	}
	return len(places) > 0 && places[0].FirstRowIndex == 0 && at <= c.from+c.size && row < rows
}

// parseOffsetIndex returns nil for what is none.
func parseOffsetIndex(b []byte) []format.PageLocation {
	c, last := compact{b: b}, int16(0)
	var places []format.PageLocation
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		if last != 1 {
			c.skip(typ)
			continue
		}
		for n := c.list(typ, compactStruct); n > 0 && c.err == nil; n-- {
			places = append(places, c.pageLocation())
		}
	}
	if c.err != nil {
		return nil
	}
	return places
}

func (c *compact) pageLocation() format.PageLocation {
	var p format.PageLocation
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 1:
			p.Offset = c.int64(typ)
		case 2:
			p.CompressedPageSize = c.int32(typ)
		case 3:
			p.FirstRowIndex = c.int64(typ)
		default:
			c.skip(typ)
		}
	}
	return p
}

// pageBounds is a column index: what is known of the values of each page.
type pageBounds struct{ pages []pageInfo }

// parseColumnIndex returns nil for what is none, or does not count nulls.
func parseColumnIndex(b []byte) *pageBounds {
	c, last := compact{b: b}, int16(0)
	var empty []bool
	var lows, highs [][]byte
	var nulls []int64
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 1:
			for n := c.list(typ, compactTrue); n > 0 && c.err == nil; n-- {
				empty = append(empty, c.byte() == compactTrue)
			}
		case 2:
			lows = c.binaries(typ)
		case 3:
			highs = c.binaries(typ)
		case 5:
			for n := c.list(typ, compactInt64); n > 0 && c.err == nil; n-- {
				nulls = append(nulls, max(0, c.int64(compactInt64)))
			}
		default:
			c.skip(typ)
		}
	}
	n := len(empty)
	if c.err != nil || len(lows) != n || len(highs) != n || len(nulls) != n {
		return nil
	}
	pages := make([]pageInfo, n)
	for i := range pages {
		pages[i] = pageInfo{nulls: nulls[i], hasValues: !empty[i], low: lows[i], high: highs[i]}
	}
	return &pageBounds{pages}
}

func (c *compact) binaries(typ byte) [][]byte {
	var out [][]byte
	for n := c.list(typ, compactBinary); n > 0 && c.err == nil; n-- {
		out = append(out, c.binary(compactBinary))
	}
	return out
}
