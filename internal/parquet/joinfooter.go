package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The structures of a joined file's footer (parquet.thrift). They have what is written of it, and can say that the
// number of nulls is not known, which parquet-go's cannot.
type (
	joinedMeta struct {
		Version      int32                              `thrift:"1,required"`
		Schema       thrift.Slice[format.SchemaElement] `thrift:"2,required"`
		NumRows      int64                              `thrift:"3,required"`
		RowGroups    thrift.Slice[joinedRowGroup]       `thrift:"4,required"`
		CreatedBy    string                             `thrift:"6,optional"`
		ColumnOrders thrift.Slice[format.ColumnOrder]   `thrift:"7,optional"`
	}
	joinedRowGroup struct {
		Columns             thrift.Slice[joinedColumn] `thrift:"1,required"`
		TotalByteSize       int64                      `thrift:"2,required"`
		NumRows             int64                      `thrift:"3,required"`
		FileOffset          int64                      `thrift:"5,optional"`
		TotalCompressedSize int64                      `thrift:"6,optional"`
		Ordinal             int16                      `thrift:"7,optional,writezero"`
	}
	joinedColumn struct {
		FileOffset        int64          `thrift:"2,required"`
		MetaData          joinedMetaData `thrift:"3,optional"`
		OffsetIndexOffset int64          `thrift:"4,optional"`
		OffsetIndexLength int32          `thrift:"5,optional"`
		ColumnIndexOffset int64          `thrift:"6,optional"`
		ColumnIndexLength int32          `thrift:"7,optional"`
	}
	joinedMetaData struct {
		Type                  format.Type                            `thrift:"1,required"`
		Encoding              thrift.Slice[format.Encoding]          `thrift:"2,required"`
		PathInSchema          thrift.Slice[string]                   `thrift:"3,required"`
		Codec                 format.CompressionCodec                `thrift:"4,required"`
		NumValues             int64                                  `thrift:"5,required"`
		TotalUncompressedSize int64                                  `thrift:"6,required"`
		TotalCompressedSize   int64                                  `thrift:"7,required"`
		DataPageOffset        int64                                  `thrift:"9,required"`
		DictionaryPageOffset  int64                                  `thrift:"11,optional"`
		Statistics            joinedStatistics                       `thrift:"12,optional"`
		EncodingStats         thrift.Slice[format.PageEncodingStats] `thrift:"13,optional"`
		BloomFilterOffset     int64                                  `thrift:"14,optional"`
		BloomFilterLength     int32                                  `thrift:"15,optional"`
	}
	joinedStatistics struct {
		NullCount thrift.Null[int64] `thrift:"3,optional"`
		MaxValue  []byte             `thrift:"5"`
		MinValue  []byte             `thrift:"6"`
	}
)

// metaData describes a chunk that was written.
func (c *joinedChunk) metaData(l *leafType) joinedMetaData {
	m := joinedMetaData{
		Type: l.physical, PathInSchema: l.path, Codec: c.codec, NumValues: c.values,
		TotalUncompressedSize: c.uncompressed, TotalCompressedSize: c.size,
		DataPageOffset: c.offset + c.dictionarySize, Encoding: c.encodings(),
	}
	if c.dictionarySize > 0 {
		m.DictionaryPageOffset = c.offset
	}
	for _, n := range c.pagesOf {
		m.EncodingStats = append(m.EncodingStats, n)
	}
	if c.statistics.nullsKnown {
		m.Statistics.NullCount = thrift.New(c.statistics.nulls)
	}
	m.Statistics.MinValue, m.Statistics.MaxValue = c.statistics.low, c.statistics.high
	return m
}

// encodings are those of levels and of all pages.
func (c *joinedChunk) encodings() thrift.Slice[format.Encoding] {
	out := thrift.Slice[format.Encoding]{format.RLE}
	for _, n := range c.pagesOf {
		known := false
		for _, e := range out {
			known = known || e == n.Encoding
		}
		if !known {
			out = append(out, n.Encoding)
		}
	}
	return out
}

// countPage adds a page to the encoding statistics.
func (c *joinedChunk) countPage(kind format.PageType, e format.Encoding) {
	for i := range c.pagesOf {
		if c.pagesOf[i].PageType == kind && c.pagesOf[i].Encoding == e {
			c.pagesOf[i].Count++
			return
		}
	}
	c.pagesOf = append(c.pagesOf, format.PageEncodingStats{PageType: kind, Encoding: e, Count: 1})
}

func (j *joiner) writeFooter() error {
	m := &j.meta
	m.Version, m.Schema, m.NumRows, m.CreatedBy = formatVersion, j.layout.elements, j.rows, j.options.CreatedBy
	for range j.layout.leaves {
		m.ColumnOrders = append(m.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	b, err := j.ws.encode(m)
	if err != nil {
		return fmt.Errorf("encoding the footer: %w", err)
	}
	if _, err := j.out.Write(b); err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint32(nil, uint32(len(b)))
	if _, err = j.out.Write(append(tail, magic...)); err != nil {
		return err
	}
	j.result.File.SizeBytes = j.out.bytes
	return nil
}
