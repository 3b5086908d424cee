package iceberg

import (
	"fmt"
	"math"
	"math/big"
	"slices"
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

// evaluate computes the term for all rows of the columns. Values of rows that are null mean nothing.
func (t *term) evaluate(columns []record.Column, rows int, out *values) {
	out.bytes = out.bytes[:0]
	out.ints = slices.Grow(out.ints[:0], rows)[:rows]
	if t.field.Transform == "void" {
		out.valid = slices.Grow(out.valid[:0], rows)[:rows]
		clear(out.valid)
		return
	}
	c := t.column(columns)
	out.valid = append(out.valid[:0], c.Valid[:rows]...)
	switch {
	case t.field.Transform == "bucket":
		t.bucket(c, out.ints)
	case t.inBytes():
		t.evaluateBytes(c, rows, out)
	case t.field.Transform == "truncate":
		w := int64(t.field.Param)
		for i, v := range widen(c, out.ints) {
			out.ints[i] = v - floorMod(v, w)
		}
	case t.field.Transform == "identity":
		copy(out.ints, widen(c, out.ints))
	default:
		t.timeOf(widen(c, out.ints), out.valid, out.ints)
	}
}

// bucket hashes the rows of c into numbers below the term's.
func (t *term) bucket(c *record.Column, into []int64) {
	n := uint32(t.field.Param)
	switch c.Field.Type.Kind {
	case record.KindString, record.KindBinary, record.KindFixed, record.KindUUID:
		for i := range into {
			into[i] = int64((hashBytes(bytesAt(c, i)) & math.MaxInt32) % n)
		}
	case record.KindDecimal:
		for i := range into {
			into[i] = int64((hashBytes(minimalDecimal(c, i)) & math.MaxInt32) % n)
		}
	case record.KindTimestampNs, record.KindTimestampTZNs: // hashed as microseconds (spec appendix B)
		for i, v := range c.Ints64[:len(into)] {
			into[i] = int64((hashLong(floorDiv(v, 1000)) & math.MaxInt32) % n)
		}
	default:
		for i, v := range widen(c, into) {
			into[i] = int64((hashLong(v) & math.MaxInt32) % n)
		}
	}
}

// evaluateBytes is identity and truncate where the result is kept in bytes.
func (t *term) evaluateBytes(c *record.Column, rows int, out *values) {
	for i := range rows {
		v := bytesAt(c, i)
		switch {
		case !out.valid[i] || t.field.Transform == "identity":
		case t.source.Kind == record.KindString:
			v = firstRunes(v, t.field.Param)
		case t.source.Kind == record.KindBinary:
			v = v[:min(len(v), t.field.Param)]
		default:
			v = truncateWide(v, int64(t.field.Param))
		}
		out.bytes = append(out.bytes, v)
	}
}

// truncateWide truncates a decimal of 16 bytes to a multiple of w.
func truncateWide(b []byte, w int64) []byte {
	v := bigFromBytes(b)
	m := new(big.Int).Mod(v, big.NewInt(w)) // Euclidean: never negative
	return bigToBytes(v.Sub(v, m), len(b))
}

// timeOf is year, month, day or hour since 1970. Records often come in order of time: a value of the same hour as the
// one before has the same result.
func (t *term) timeOf(values []int64, valid []bool, into []int64) {
	unit := t.unit() * 3600
	known, hours, result := false, int64(0), int64(0)
	for i, v := range values {
		if !valid[i] {
			continue
		}
		if unit == 0 {
			v *= 24 // a date in hours
		} else {
			v = floorDiv(v, unit)
		}
		if !known || v != hours {
			known, hours, result = true, v, inUnit(t.field.Transform, v)
		}
		into[i] = result
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
