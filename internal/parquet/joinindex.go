package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

// describePage is what the page index will say of a page at a place of its part, but for its place in the joined file.
func (c *chunkJoin) describePage(s *chunkSource, run *sourceRun, h *pageHead, at int64) pageInfo {
	ordinal, info := run.pages, pageInfo{firstRow: run.row}
	alone := ordinal == 0 && s.source.left() == int64(h.size+h.compressed)
	if s.bounds != nil && ordinal < len(s.bounds.pages) && s.ordered {
		known := s.bounds.pages[ordinal]
		info.nulls, info.hasValues, info.low, info.high = known.nulls, known.hasValues, known.low, known.high
	} else if !info.bound(c.leaf, h.statistics, int64(h.values), s.ordered) {
		// What is known of the chunk is of its only page.
		run.unbounded = run.unbounded || !alone || !info.bound(c.leaf, s.statistics, s.values, s.ordered)
	}
	if run.lost {
		c.chunk.located = false
	}
	if rows := c.pageRows(s, ordinal, h, at); rows < 0 {
		run.lost = true
	} else {
		run.row += rows
	}
	run.values += int64(h.values)
	return info
}

// pageRows is the number of rows in a page, and -1 where it is not known: pages v1 do not say how many rows their
// lists begin.
func (c *chunkJoin) pageRows(s *chunkSource, ordinal int, h *pageHead, at int64) int64 {
	if ordinal >= len(s.places) || s.places[ordinal].Offset != at {
		s.places = nil
	}
	switch {
	case c.leaf.rep == 0:
		return int64(h.values)
	case h.kind == format.DataPageV2:
		return int64(h.rows)
	case s.places == nil:
		return -1
	case ordinal+1 == len(s.places):
		return s.group.rows - s.places[ordinal].FirstRowIndex
	default:
		return s.places[ordinal+1].FirstRowIndex - s.places[ordinal].FirstRowIndex
	}
}

// bound fills what the statistics of so many values say for the column index, and whether that is all.
func (p *pageInfo) bound(l *leafType, s fileStatistics, values int64, ordered bool) bool {
	p.nulls, p.hasValues = s.nulls, s.nulls < values
	if p.hasValues && ordered {
		p.low, p.high = s.low, s.high
	}
	return (s.nullsKnown || l.def == 0) && (!p.hasValues || p.low != nil && p.high != nil)
}

// indexed says whether a row group has a page index: when it would tell more than the footer, and the rows of all
// pages are known.
func indexed(chunks []joinedChunk) bool {
	several := false
	for i := range chunks {
		if !chunks[i].located {
			return false
		}
		several = several || len(chunks[i].pages) > 1
	}
	return several
}

// writePageIndex is that of File for joined chunks.
func (j *joiner) writePageIndex() error {
	for g, chunks := range j.chunks {
		if !indexed(chunks) {
			continue
		}
		for i := range chunks {
			if !chunks[i].bounded {
				continue
			}
			m := &j.meta.RowGroups[g].Columns[i]
			m.ColumnIndexOffset = j.out.bytes
			if err := j.writeIndex(chunks[i].columnIndex()); err != nil {
				return err
			}
			m.ColumnIndexLength = int32(j.out.bytes - m.ColumnIndexOffset)
		}
	}
	for g, chunks := range j.chunks {
		if !indexed(chunks) {
			continue
		}
		for i := range chunks {
			m := &j.meta.RowGroups[g].Columns[i]
			m.OffsetIndexOffset = j.out.bytes
			if err := j.writeIndex(chunks[i].offsetIndex()); err != nil {
				return err
			}
			m.OffsetIndexLength = int32(j.out.bytes - m.OffsetIndexOffset)
		}
	}
	return nil
}

func (j *joiner) writeIndex(index any) error {
	b, err := j.ws.encode(index)
	if err != nil {
		return fmt.Errorf("encoding a page index: %w", err)
	}
	_, err = j.out.Write(b)
	return err
}

func (c *joinedChunk) columnIndex() *format.ColumnIndex {
	var index format.ColumnIndex
	for i := range c.pages {
		p := &c.pages[i]
		index.NullPages = append(index.NullPages, !p.hasValues)
		index.MinValues = append(index.MinValues, p.low)
		index.MaxValues = append(index.MaxValues, p.high)
		index.NullCounts = append(index.NullCounts, p.nulls)
	}
	return &index
}

func (c *joinedChunk) offsetIndex() *format.OffsetIndex {
	var index format.OffsetIndex
	start := c.offset + c.dictionarySize
	for i := range c.pages {
		p := &c.pages[i]
		index.PageLocations = append(index.PageLocations, format.PageLocation{
			Offset: start + p.offset, CompressedPageSize: p.size, FirstRowIndex: p.firstRow,
		})
	}
	return &index
}
