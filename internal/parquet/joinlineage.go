package parquet

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// The reserved field ids of row lineage (Iceberg specification, "Reserved Field IDs" and "Row Lineage").
const (
	fieldRowID         = 2147483540
	fieldRowSequence   = 2147483539
	lineagePageRowsMax = 64 << 10
)

// withLineage is a schema with the two columns of row lineage after its own.
func withLineage(s *record.Schema) *record.Schema {
	if s == nil {
		return nil
	}
	long := record.Type{Kind: record.KindLong}
	out := *s
	out.Fields = append(slices.Clip(s.Fields), record.Field{ID: fieldRowID, Name: "_row_id", Type: long},
		record.Field{ID: fieldRowSequence, Name: "_last_updated_sequence_number", Type: long})
	return &out
}

func isLineage(id int) bool { return id == fieldRowID || id == fieldRowSequence }

// checkLineage refuses what the columns of row lineage cannot be made of, or copied from: a null in one means a value
// that comes from the part's place in the table, and that place is given up.
func (p *joinPart) checkLineage(leaves []leafType) error {
	for i, at := range p.leaves {
		l := &leaves[i]
		switch {
		case !isLineage(l.id):
			continue
		case at < 0 && (p.FirstRowID < 0 || p.SequenceNumber < 0 || p.FirstRowID > math.MaxInt64-p.footer.Rows):
			return fmt.Errorf("its first row id %d and sequence number %d are none", p.FirstRowID, p.SequenceNumber)
		case at < 0:
			continue
		}
		for g := range p.footer.groups {
			if nulls, known := p.footer.groups[g].chunks[at].nulls(l); nulls > 0 || !known {
				return fmt.Errorf("its column %s has nulls, or may have: %w", l.dotted, ErrSchemaDiffers)
			}
		}
	}
	return nil
}

// lineage is the first value of a made column in rows that begin at a row of the part, and what is added to it from
// row to row.
func (p *joinPart) lineage(id int, row int64) (first, step int64) {
	if id == fieldRowID {
		return p.FirstRowID + row, 1
	}
	return p.SequenceNumber, 0
}

// madeChunk stands for a chunk that the part does not have.
func (s groupSource) madeChunk(id int) *fileChunk {
	first, step := s.part.lineage(id, s.row)
	return &fileChunk{codec: s.part.codec, values: s.group.rows, statistics: fileStatistics{
		nullsKnown: true, low: longBytes(first), high: longBytes(first + step*(s.group.rows-1)),
	}}
}

func longBytes(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }

// writeMade writes the values of a column of row lineage for the rows of s, which begin at a row of the row group.
func (c *chunkJoin) writeMade(ctx context.Context, s *chunkSource, row int64) error {
	first, step := s.part.lineage(c.leaf.id, s.row)
	for done := int64(0); done < s.group.rows; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(s.group.rows-done, lineagePageRowsMax)
		if err := c.writeLineagePage(first+step*done, step, int(n), row+done); err != nil {
			return err
		}
		done += n
	}
	c.chunk.values += s.group.rows
	return nil
}

func (c *chunkJoin) writeLineagePage(first, step int64, n int, row int64) error {
	if c.bloom != nil {
		c.dropBloom()
	}
	plain := c.scratch.page[:0]
	for i := range int64(n) {
		plain = binary.LittleEndian.AppendUint64(plain, uint64(first+step*i))
	}
	c.scratch.page = plain
	h := pageHead{kind: format.DataPage, values: n, rows: n, encoding: format.DeltaBinaryPacked,
		defEncoding: format.RLE, repEncoding: format.RLE, checksum: c.options.PageChecksums}
	var levels []byte
	if c.options.PageVersion == 2 {
		h.kind, levels = format.DataPageV2, appendBareLevels(nil, c.leaf.def, n, nil)
		h.defBytes = len(levels)
	} else {
		levels = appendSizedLevels(nil, c.leaf.def, n, nil)
	}
	out := appendDeltas(append(c.scratch.anew[:0], levels...), plain, c.leaf.width)
	c.scratch.anew = out
	info := pageInfo{firstRow: row, hasValues: true, low: longBytes(first), high: longBytes(first + step*int64(n-1))}
	return c.writeDecoded(&h, decodedPage{levels: levels, count: n, encoding: h.encoding}, out, info)
}

// made is the codec of made columns.
func (c Codec) made() format.CompressionCodec {
	if c == CodecAuto {
		c = CodecZstd
	}
	return c.format()
}
