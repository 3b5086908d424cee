package iceberg

import (
	"fmt"
	"math"
	"math/big"
	"time"
	"unicode/utf8"

	"firn/internal/record"
	"firn/internal/table"
)

// term is one partition field, ready to be evaluated over a batch.
type term struct {
	field  table.PartitionField
	path   []int       // child indexes from the batch's columns to the source column
	source record.Type // of the source column
}

// values are a term's results for the rows of a batch: integers, or bytes where the result is kept in bytes.
type values struct {
	valid []bool
	ints  []int64
	bytes [][]byte
	arena []byte // backs bytes that the transform made
}

func newTerms(schema *record.Schema, fields []table.PartitionField) ([]term, error) {
	terms := make([]term, len(fields))
	for i, f := range fields {
		path, source, ok := findByID(schema.Fields, f.SourceID)
		if !ok {
			return nil, fmt.Errorf("partition field %s: its source column (field id %d) is not in the schema", f.Name, f.SourceID)
		}
		terms[i] = term{field: f, path: path, source: source}
		if _, err := terms[i].unit(); err != nil {
			return nil, err
		}
	}
	return terms, nil
}

// findByID finds a column by its field id, through structs.
func findByID(fields []record.Field, id int) ([]int, record.Type, bool) {
	for i, f := range fields {
		if f.ID == id {
			return []int{i}, f.Type, true
		}
		if f.Type.Kind != record.KindStruct {
			continue
		}
		if path, t, ok := findByID(f.Type.Fields, id); ok {
			return append([]int{i}, path...), t, true
		}
	}
	return nil, record.Type{}, false
}

// column walks to the source column.
func (t *term) column(columns []record.Column) *record.Column {
	c := &columns[t.path[0]]
	for _, i := range t.path[1:] {
		c = &c.Children[i]
	}
	return c
}

// inBytes tells whether the result is kept in bytes.
func (t *term) inBytes() bool {
	if t.field.Transform != "identity" && t.field.Transform != "truncate" {
		return false
	}
	switch t.source.Kind {
	case record.KindString, record.KindBinary, record.KindFixed, record.KindUUID:
		return true
	case record.KindDecimal:
		return t.source.Precision > 18
	default:
		return false
	}
}

// unit checks that the transform fits the source type; for time transforms it is the number of source units in a
// second, or 0 for a date.
func (t *term) unit() (int64, error) {
	k := t.source.Kind
	switch t.field.Transform {
	case "identity", "bucket", "truncate", "void":
		return 0, nil
	case "year", "month", "day", "hour":
		switch k {
		case record.KindDate:
			return 0, nil
		case record.KindTimestamp, record.KindTimestampTZ:
			return 1e6, nil
		case record.KindTimestampNs, record.KindTimestampTZNs:
			return 1e9, nil
		}
	}
	return 0, fmt.Errorf("partition field %s: firn cannot write %s of a %s column", t.field.Name, t.field.Transform, t.source)
}

// evaluate computes the term for all rows of the columns.
func (t *term) evaluate(columns []record.Column, rows int, out *values) {
	c := t.column(columns)
	out.valid = append(out.valid[:0], c.Valid[:rows]...)
	out.ints, out.bytes, out.arena = out.ints[:0], out.bytes[:0], out.arena[:0]
	switch t.field.Transform {
	case "void":
		clear(out.valid)
		out.ints = append(out.ints, make([]int64, rows)...)
	case "bucket":
		t.bucket(c, rows, out)
	case "truncate":
		t.truncate(c, rows, out)
	case "identity":
		if t.inBytes() {
			for i := range rows {
				out.bytes = append(out.bytes, bytesAt(c, i))
			}
			return
		}
		for i := range rows {
			out.ints = append(out.ints, intAt(c, i))
		}
	default:
		t.timeOf(c, rows, out)
	}
}

func (t *term) bucket(c *record.Column, rows int, out *values) {
	n := uint32(t.field.Param)
	hash := func(i int) uint32 { return hashLong(intAt(c, i)) }
	switch c.Field.Type.Kind {
	case record.KindString, record.KindBinary, record.KindFixed, record.KindUUID:
		hash = func(i int) uint32 { return hashBytes(bytesAt(c, i)) }
	case record.KindDecimal:
		hash = func(i int) uint32 { return hashBytes(minimalDecimal(c, i)) }
	case record.KindTimestampNs, record.KindTimestampTZNs: // hashed as microseconds (spec appendix B)
		hash = func(i int) uint32 { return hashLong(floorDiv(c.Ints64[i], 1000)) }
	case record.KindLong: // the common case, without a call through a variable
		for i := range rows {
			out.ints = append(out.ints, int64((hashLong(c.Ints64[i])&math.MaxInt32)%n))
		}
		return
	}
	for i := range rows {
		out.ints = append(out.ints, int64((hash(i)&math.MaxInt32)%n))
	}
}

func (t *term) truncate(c *record.Column, rows int, out *values) {
	w := int64(t.field.Param)
	switch {
	case c.Field.Type.Kind == record.KindString:
		for i := range rows {
			out.bytes = append(out.bytes, firstRunes(c.Bytes[i], t.field.Param))
		}
	case c.Field.Type.Kind == record.KindBinary:
		for i := range rows {
			out.bytes = append(out.bytes, c.Bytes[i][:min(len(c.Bytes[i]), t.field.Param)])
		}
	case c.Field.Type.Kind == record.KindDecimal && c.Field.Type.Precision > 18:
		for i := range rows {
			out.bytes = append(out.bytes, truncateWide(c.FixedAt(i), w))
		}
	default:
		for i := range rows {
			v := intAt(c, i)
			out.ints = append(out.ints, v-floorMod(v, w))
		}
	}
}

// truncateWide truncates a decimal of 16 bytes to a multiple of w.
func truncateWide(b []byte, w int64) []byte {
	v := bigFromBytes(b)
	m := new(big.Int).Mod(v, big.NewInt(w)) // Euclidean: never negative
	return bigToBytes(v.Sub(v, m), len(b))
}

// timeOf is year, month, day or hour since 1970.
func (t *term) timeOf(c *record.Column, rows int, out *values) {
	unit, _ := t.unit() // checked when the term was made
	for i := range rows {
		if !out.valid[i] {
			out.ints = append(out.ints, 0)
			continue
		}
		v := intAt(c, i)
		if unit == 0 {
			v *= 24 // a date in hours
		} else {
			v = floorDiv(v, unit*3600)
		}
		out.ints = append(out.ints, inUnit(t.field.Transform, v))
	}
}

// inUnit turns hours since 1970 into the transform's unit.
func inUnit(transform string, hours int64) int64 {
	switch transform {
	case "hour":
		return hours
	case "day":
		return floorDiv(hours, 24)
	}
	at := time.Unix(hours*3600, 0).UTC()
	years := int64(at.Year() - 1970)
	if transform == "year" {
		return years
	}
	return years*12 + int64(at.Month()) - 1
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// firstRunes is the first n code points of valid UTF-8.
func firstRunes(b []byte, n int) []byte {
	end := 0
	for ; n > 0 && end < len(b); n-- {
		_, size := utf8.DecodeRune(b[end:])
		end += size
	}
	return b[:end]
}
