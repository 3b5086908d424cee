package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

// writePageIndex writes the column and offset indexes of the row groups that have a column of more than one page
// (format, PageIndex.md): all column indexes first, then all offset indexes, right before the footer. A reader skips
// pages of one column by another's values, so a row group has the offset indexes of all its columns or of none.
func (f *File) writePageIndex(out *countingWriter, ws *workspace) error {
	for g := range f.groups {
		if !f.groups[g].indexed() {
			continue
		}
		for i := range f.leaves {
			at := out.bytes
			if err := f.writeColumnIndex(out, ws, g, i); err != nil {
				return err
			}
			m := &ws.meta.RowGroups[g].Columns[i]
			if size := out.bytes - at; size > 0 {
				m.ColumnIndexOffset, m.ColumnIndexLength = at, int32(size)
			}
		}
	}
	for g := range f.groups {
		if !f.groups[g].indexed() {
			continue
		}
		for i := range f.leaves {
			at := out.bytes
			if err := f.writeOffsetIndex(out, ws, g, i); err != nil {
				return err
			}
			m := &ws.meta.RowGroups[g].Columns[i]
			m.OffsetIndexOffset, m.OffsetIndexLength = at, int32(out.bytes-at)
		}
	}
	return nil
}

func (g *rowGroup) indexed() bool {
	for i := range g.chunks {
		if len(g.chunks[i].pages) > 1 {
			return true
		}
	}
	return false
}

// writeColumnIndex writes nothing when a page has values and no bounds: NaN only, or no successor of its prefix.
func (f *File) writeColumnIndex(out *countingWriter, ws *workspace, g, i int) error {
	pages := f.groups[g].chunks[i].pages
	index := &ws.columnIndex
	index.NullPages, index.NullCounts = index.NullPages[:0], index.NullCounts[:0]
	index.MinValues, index.MaxValues = index.MinValues[:0], index.MaxValues[:0]
	for p := range pages {
		page := &pages[p]
		if page.hasValues && (page.low == nil || page.high == nil) {
			return nil
		}
		index.NullPages = append(index.NullPages, !page.hasValues)
		index.MinValues = append(index.MinValues, page.low)
		index.MaxValues = append(index.MaxValues, page.high)
		index.NullCounts = append(index.NullCounts, page.nulls)
	}
	b, err := ws.encode(index)
	if err != nil {
		return fmt.Errorf("encoding a page index: %w", err)
	}
	_, err = out.Write(b)
	return err
}

func (f *File) writeOffsetIndex(out *countingWriter, ws *workspace, g, i int) error {
	c := &f.groups[g].chunks[i]
	start := ws.meta.RowGroups[g].Columns[i].MetaData.DataPageOffset
	index := &ws.offsetIndex
	index.PageLocations = index.PageLocations[:0]
	for p := range c.pages {
		index.PageLocations = append(index.PageLocations, format.PageLocation{
			Offset:             start + c.pages[p].offset,
			CompressedPageSize: c.pages[p].size,
			FirstRowIndex:      c.pages[p].firstRow,
		})
	}
	b, err := ws.encode(index)
	if err != nil {
		return fmt.Errorf("encoding a page index: %w", err)
	}
	_, err = out.Write(b)
	return err
}
