package upkeep

import (
	"encoding/binary"

	"firn/internal/record"
)

// packed is what a description of a data file says beside its path and what its group has in common: counts, sizes,
// bounds, splits and lineage. It takes some 40 bytes a column, where a record.DataFile with its maps takes 400, and
// there are tens of thousands of small files at once.
type packed []byte

// pack encodes a description.
func pack(f *record.DataFile) packed {
	b := make([]byte, 0, 32+32*len(f.ColumnSizes))
	b = binary.AppendUvarint(b, uint64(f.Rows))
	b = binary.AppendUvarint(b, uint64(f.SizeBytes))
	b = binary.AppendUvarint(b, uint64(f.Lineage.FirstRowID))
	b = binary.AppendUvarint(b, uint64(f.Lineage.SequenceNumber))
	for _, m := range []map[int]int64{f.ColumnSizes, f.ValueCounts, f.NullValueCounts, f.NaNValueCounts} {
		b = binary.AppendUvarint(b, uint64(len(m)))
		for id, v := range m {
			b = binary.AppendUvarint(b, uint64(id))
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	for _, m := range []map[int][]byte{f.LowerBounds, f.UpperBounds} {
		b = binary.AppendUvarint(b, uint64(len(m)))
		for id, v := range m {
			b = binary.AppendUvarint(b, uint64(id))
			b = binary.AppendUvarint(b, uint64(len(v)))
			b = append(b, v...)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(f.SplitOffsets)))
	for _, v := range f.SplitOffsets {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return append(make(packed, 0, len(b)), b...)
}

// unpack fills in what pack took from a description. The bounds lie in the packed bytes, which must not change.
func (p packed) unpack(f *record.DataFile) {
	c := cursor(p)
	f.Rows, f.SizeBytes = c.number(), c.number()
	f.Lineage.FirstRowID, f.Lineage.SequenceNumber = c.number(), c.number()
	for _, m := range []*map[int]int64{&f.ColumnSizes, &f.ValueCounts, &f.NullValueCounts, &f.NaNValueCounts} {
		*m = make(map[int]int64)
		for range c.number() {
			id := int(c.number())
			(*m)[id] = c.number()
		}
	}
	for _, m := range []*map[int][]byte{&f.LowerBounds, &f.UpperBounds} {
		*m = make(map[int][]byte)
		for range c.number() {
			id := int(c.number())
			(*m)[id] = c.bytes(c.number())
		}
	}
	for range c.number() {
		f.SplitOffsets = append(f.SplitOffsets, c.number())
	}
}

// cursor reads what pack wrote.
type cursor []byte

func (c *cursor) number() int64 {
	v, n := binary.Uvarint(*c)
	*c = (*c)[n:]
	return int64(v)
}

func (c *cursor) bytes(n int64) []byte {
	b := (*c)[:n:n]
	*c = (*c)[n:]
	return b
}

// groupKey is equal for files that can be joined: of one partition value under one spec, and of one schema, since a
// join needs one layout. They may be in different orders: rows of sorted files, one after the other, are in none.
func groupKey(f *record.DataFile) string {
	b := make([]byte, 0, 64)
	for _, id := range []int{f.SpecID, f.SchemaID} {
		b = binary.AppendVarint(b, int64(id))
	}
	for _, v := range f.Partition {
		b = binary.AppendUvarint(b, uint64(v.FieldID))
		if v.Null {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		b = binary.AppendUvarint(b, uint64(len(v.Value)))
		b = append(b, v.Value...)
	}
	return string(b)
}
