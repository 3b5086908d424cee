package parquet

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// countingWriter knows how far into the file it is.
type countingWriter struct {
	w     io.Writer
	bytes int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.bytes += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

// magic is at both ends of a file.
const magic = "PAR1"

// write writes everything, and returns where the row groups start.
func (f *File) write(out *countingWriter, ws *workspace) ([]int64, error) {
	if _, err := io.WriteString(out, magic); err != nil {
		return nil, err
	}
	splits := make([]int64, 0, len(f.groups))
	m := &ws.meta
	m.RowGroups = m.RowGroups[:0]
	for i := range f.groups {
		splits = append(splits, out.bytes)
		m.RowGroups = append(m.RowGroups, format.RowGroup{
			NumRows: f.groups[i].rows, FileOffset: out.bytes, Ordinal: int16(i),
		})
		if err := f.writeRowGroup(out, &f.groups[i], &m.RowGroups[i]); err != nil {
			return nil, err
		}
	}
	if err := f.writePageIndex(out, ws); err != nil {
		return nil, err
	}
	if err := f.writeBlooms(out, ws); err != nil {
		return nil, err
	}
	return splits, f.writeFooter(out, ws)
}

func (f *File) writeRowGroup(out *countingWriter, g *rowGroup, meta *format.RowGroup) error {
	meta.Columns = make([]format.ColumnChunk, len(g.chunks))
	for i := range g.chunks {
		c := &g.chunks[i]
		meta.Columns[i].MetaData = f.columnMetaData(&f.leaves[i], c, out.bytes)
		meta.TotalByteSize += c.uncompressed
		meta.TotalCompressedSize += c.size()
		if err := c.dictionary.writeTo(out); err != nil {
			return err
		}
		if err := c.data.writeTo(out); err != nil {
			return err
		}
	}
	return nil
}

// columnMetaData describes a chunk that starts at an offset of the file.
func (f *File) columnMetaData(l *leaf, c *chunk, offset int64) format.ColumnMetaData {
	m := format.ColumnMetaData{
		Type:                  l.physical,
		PathInSchema:          l.path,
		Codec:                 l.codecWritten(f).format(),
		NumValues:             c.stats.values,
		TotalUncompressedSize: c.uncompressed,
		TotalCompressedSize:   c.size(),
		DataPageOffset:        offset + c.dictionary.bytes,
		Statistics:            l.statistics(&c.stats),
	}
	f.describeEncodings(&m, c)
	return m
}

// The encodings of most chunks: of levels, values and dictionary. They are shared, and never written to.
var (
	encodingsPlain      = thrift.Slice[format.Encoding]{format.RLE, format.Plain}
	encodingsDictionary = thrift.Slice[format.Encoding]{format.RLE, format.Plain, format.RLEDictionary}
)

// describeEncodings says which encodings the pages of a chunk have, and how many of them.
func (f *File) describeEncodings(m *format.ColumnMetaData, c *chunk) {
	m.Encoding = encodingsPlain
	indexed := c.pagesOf[format.RLEDictionary]
	if indexed > 0 {
		m.DictionaryPageOffset = m.DataPageOffset - c.dictionary.bytes
		m.Encoding = encodingsDictionary
		m.EncodingStats = append(m.EncodingStats,
			format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
	}
	if c.pagesOf[format.Plain]+indexed < int32(len(c.pages)) {
		m.Encoding = c.encodings()
	}
	kind := format.DataPage
	if f.options.PageVersion == 2 {
		kind = format.DataPageV2
	}
	for e, n := range c.pagesOf {
		if n > 0 {
			m.EncodingStats = append(m.EncodingStats,
				format.PageEncodingStats{PageType: kind, Encoding: format.Encoding(e), Count: n})
		}
	}
}

// encodings are those of the levels, of all data pages, and PLAIN for a dictionary.
func (c *chunk) encodings() thrift.Slice[format.Encoding] {
	out := thrift.Slice[format.Encoding]{format.RLE}
	for e, n := range c.pagesOf {
		if n > 0 || format.Encoding(e) == format.Plain && c.dictionary.bytes > 0 {
			out = append(out, format.Encoding(e))
		}
	}
	return out
}

func (l *leaf) statistics(b *bounds) format.Statistics {
	s := format.Statistics{NullCount: b.nulls}
	s.MinValue, s.MaxValue = b.limits(&l.leafType, l.metrics.length())
	return s
}

func (f *File) writeFooter(out *countingWriter, ws *workspace) error {
	m := &ws.meta
	m.Version, m.Schema, m.NumRows, m.CreatedBy = formatVersion, f.layout.elements, f.rows, f.options.CreatedBy
	m.ColumnOrders = m.ColumnOrders[:0]
	for range f.leaves {
		m.ColumnOrders = append(m.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	b, err := ws.encode(m)
	if err != nil {
		return fmt.Errorf("encoding the footer: %w", err)
	}
	if _, err := out.Write(b); err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint32(nil, uint32(len(b)))
	_, err = out.Write(append(tail, magic...))
	return err
}

// formatVersion 2 says that encodings and types of format 2.x may occur.
const formatVersion = 2

// describe is the file's metrics as Iceberg defines them.
func (f *File) describe() record.DataFile {
	n := len(f.leaves)
	d := record.DataFile{
		SchemaID: f.layout.schemaID, Rows: f.rows,
		ColumnSizes: make(map[int]int64, n), ValueCounts: make(map[int]int64, n), NullValueCounts: make(map[int]int64, n),
		NaNValueCounts: map[int]int64{}, LowerBounds: make(map[int][]byte, n), UpperBounds: make(map[int][]byte, n),
	}
	for i := range f.leaves {
		f.describeLeaf(&d, i)
	}
	return d
}

func (f *File) describeLeaf(d *record.DataFile, i int) {
	l := &f.leaves[i]
	if l.metrics.Mode == MetricsNone {
		return
	}
	total, size := f.total(i)
	d.ColumnSizes[l.id] = size
	d.ValueCounts[l.id] = total.values
	d.NullValueCounts[l.id] = total.nulls
	if l.order == orderFloat {
		d.NaNValueCounts[l.id] = total.nans
	}
	// Bounds of repeated values say nothing about a row, so Iceberg keeps none.
	if l.repeated || l.metrics.Mode == MetricsCounts {
		return
	}
	low, high := total.limits(&l.leafType, l.metrics.length())
	if low != nil {
		d.LowerBounds[l.id] = singleValue(&l.leafType, low)
	}
	if high != nil {
		d.UpperBounds[l.id] = singleValue(&l.leafType, high)
	}
}

// total is the statistics and size of leaf i over all row groups.
func (f *File) total(i int) (*bounds, int64) {
	if len(f.groups) == 1 {
		c := &f.groups[0].chunks[i]
		return &c.stats, c.size()
	}
	var total bounds
	var size int64
	for g := range f.groups {
		c := &f.groups[g].chunks[i]
		total.merge(&c.stats, f.leaves[i].order)
		size += c.size()
	}
	return &total, size
}
