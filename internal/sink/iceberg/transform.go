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
}

func newTerms(schema *record.Schema, fields []table.PartitionField) ([]term, error) {
	terms := make([]term, len(fields))
	for i, f := range fields {
		path, source, ok := findByID(schema.Fields, f.SourceID)
		terms[i] = term{field: f, path: path, source: source}
		if !f.Writable() {
			return nil, fmt.Errorf("partition field %q: firn cannot write to a table with a partition field of this name; "+
				"rename it to one of letters, digits and _ (ALTER TABLE ... REPLACE PARTITION FIELD)", f.Name)
		}
		if f.Transform == "void" { // always null, whatever became of its source
			continue
		}
		if !ok {
			return nil, fmt.Errorf("partition field %s: its source column (field id %d) is not among the columns that the job "+
				"writes", f.Name, f.SourceID)
		}
		if err := terms[i].check(); err != nil {
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

// check refuses a transform that is unknown or does not fit its source.
func (t *term) check() error {
	k := t.source.Kind
	nested := k == record.KindStruct || k == record.KindList || k == record.KindMap
	fits := false
	switch t.field.Transform {
	case "identity":
		fits = !nested
	case "bucket":
		fits = !nested && k != record.KindBoolean && k != record.KindFloat && k != record.KindDouble
	case "truncate":
		fits = k == record.KindInt || k == record.KindLong || k == record.KindDecimal || k == record.KindString ||
			k == record.KindBinary
	case "year", "month", "day":
		fits = t.unit() > 0 || k == record.KindDate
	case "hour":
		fits = t.unit() > 0
	}
	if !fits {
		return fmt.Errorf("partition field %s: firn cannot write %s of a %s column",
			t.field.Name, t.field.Transform, t.source)
	}
	if (t.field.Transform == "bucket" || t.field.Transform == "truncate") && t.field.Param < 1 {
		return fmt.Errorf("partition field %s: %s needs a number above 0", t.field.Name, t.field.Transform)
	}
	return nil
}

// unit is the number of source units in a second, or 0 for what is no timestamp.
func (t *term) unit() int64 {
	switch t.source.Kind {
	case record.KindTimestamp, record.KindTimestampTZ:
		return 1e6
	case record.KindTimestampNs, record.KindTimestampTZNs:
		return 1e9
	default:
		return 0
	}
}

// evaluate computes the term for all rows of the columns.
func (t *term) evaluate(columns []record.Column, rows int, out *values) {
	out.ints, out.bytes = out.ints[:0], out.bytes[:0]
	if t.field.Transform == "void" {
		out.valid = append(out.valid[:0], make([]bool, rows)...)
		out.ints = append(out.ints, make([]int64, rows)...)
		return
	}
	c := t.column(columns)
	out.valid = append(out.valid[:0], c.Valid[:rows]...)
	switch t.field.Transform {
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
	var hash func(i int) uint32
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
	default:
		hash = func(i int) uint32 { return hashLong(intAt(c, i)) }
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
	unit := t.unit()
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
