package parquet

import (
	"bytes"
	"encoding/binary"
	"math"

	"firn/internal/record"
)

// The tests' model of a value is a plain Go one: nil, bool, int32, int64, float32, float64, []byte (string, binary,
// uuid, fixed, and decimals above 18 digits as 16 bytes), []any for a struct (its fields) and a list (its elements),
// and []any of [2]any for a map. A row is []any, one a column.

// columnsOf builds columns from rows.
func columnsOf(s *record.Schema, rows [][]any) []record.Column {
	columns := record.NewColumns(s.Fields)
	for _, row := range rows {
		for i := range columns {
			appendValue(&columns[i], row[i])
		}
	}
	return columns
}

func appendValue(c *record.Column, v any) {
	c.Grow()
	setValue(c, v)
}

// setValue writes v into the last place of c.
func setValue(c *record.Column, v any) {
	if v == nil {
		return
	}
	i := c.Len - 1
	c.Valid[i] = true
	switch t := &c.Field.Type; t.Kind {
	case record.KindStruct:
		for j := range c.Children {
			setValue(&c.Children[j], v.([]any)[j])
		}
	case record.KindList:
		for _, e := range v.([]any) {
			appendValue(&c.Children[0], e)
			c.Offsets[c.Len]++
		}
	case record.KindMap:
		for _, e := range v.([]any) {
			appendValue(&c.Children[0], e.([2]any)[0])
			appendValue(&c.Children[1], e.([2]any)[1])
			c.Offsets[c.Len]++
		}
	default:
		setPrimitive(c, i, v)
	}
}

func setPrimitive(c *record.Column, i int, v any) {
	switch v := v.(type) {
	case bool:
		c.Bools[i] = v
	case int32:
		c.Ints32[i] = v
	case int64:
		c.Ints64[i] = v
	case float32:
		c.Floats32[i] = v
	case float64:
		c.Floats64[i] = v
	case []byte:
		if c.Bytes != nil {
			c.Bytes[i] = v
		} else {
			copy(c.FixedAt(i), v)
		}
	}
}

// triple is one entry of a leaf in Parquet's form: its levels, and its PLAIN bytes without a length, nil when null.
type triple struct {
	Rep, Def int
	Value    []byte
}

// shred computes the triples of every leaf, row by row, from the definition of levels: the textbook way, to judge the
// columnar one.
func shred(s *record.Schema, rows [][]any) [][]triple {
	var out [][]triple
	for i := range s.Fields {
		leaves := make([][]triple, leafCount(&s.Fields[i]))
		for _, row := range rows {
			shredValue(&s.Fields[i], s.Fields[i].Required, row[i], 0, 0, 0, leaves)
		}
		out = append(out, leaves...)
	}
	return out
}

func leafCount(f *record.Field) int {
	if f.Type.Fields == nil {
		return 1
	}
	n := 0
	for i := range f.Type.Fields {
		n += leafCount(&f.Type.Fields[i])
	}
	return n
}

// shredValue appends v at repetition level rep; def is the definition level of its parent and depth the number of
// lists around it.
func shredValue(f *record.Field, required bool, v any, rep, def, depth int, leaves [][]triple) {
	if v == nil {
		for i := range leaves {
			leaves[i] = append(leaves[i], triple{rep, def, nil})
		}
		return
	}
	if !required {
		def++
	}
	switch f.Type.Kind {
	case record.KindStruct:
		shredFields(f.Type.Fields, nil, v.([]any), rep, def, depth, leaves)
	case record.KindList, record.KindMap:
		elements := v.([]any)
		if len(elements) == 0 {
			shredValue(f, true, nil, rep, def, depth, leaves)
		}
		for i, e := range elements {
			at := rep
			if i > 0 {
				at = depth + 1
			}
			if f.Type.Kind == record.KindList {
				shredFields(f.Type.Fields, nil, []any{e}, at, def+1, depth+1, leaves)
			} else {
				pair := e.([2]any)
				shredFields(f.Type.Fields, &f.Type.Fields[0], pair[:], at, def+1, depth+1, leaves)
			}
		}
	default:
		leaves[0] = append(leaves[0], triple{rep, def, plainOf(&f.Type, v)})
	}
}

func shredFields(fields []record.Field, key *record.Field, vs []any, rep, def, depth int, leaves [][]triple) {
	at := 0
	for i := range fields {
		f := &fields[i]
		n := leafCount(f)
		shredValue(f, f.Required || f == key, vs[i], rep, def, depth, leaves[at:at+n])
		at += n
	}
}

// plainOf is a value as PLAIN has it, without the length of a byte array.
func plainOf(t *record.Type, v any) []byte {
	switch v := v.(type) {
	case bool:
		if v {
			return []byte{1}
		}
		return []byte{0}
	case int32:
		return binary.LittleEndian.AppendUint32(nil, uint32(v))
	case int64:
		if t.Kind == record.KindDecimal && t.Precision <= 9 {
			return binary.LittleEndian.AppendUint32(nil, uint32(v))
		}
		return binary.LittleEndian.AppendUint64(nil, uint64(v))
	case float32:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
	case float64:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
	}
	b := v.([]byte)
	if t.Kind == record.KindDecimal {
		return b[16-decimalBytes[t.Precision]:]
	}
	return append([]byte{}, b...)
}

// decimalBytes is the table of the specification: the least n with 10^P <= 2^(8n-1).
var decimalBytes = map[int]int{
	19: 9, 20: 9, 21: 9, 22: 10, 23: 10, 24: 11, 25: 11, 26: 11, 27: 12, 28: 12, 29: 13, 30: 13, 31: 13, 32: 14,
	33: 14, 34: 15, 35: 15, 36: 16, 37: 16, 38: 16,
}

// decimal16 is an unscaled value as record.Column keeps it above 18 digits.
func decimal16(v int64) []byte {
	out := bytes.Repeat([]byte{byte(v >> 63)}, 8)
	return binary.BigEndian.AppendUint64(out, uint64(v))
}

// writeFile writes rows in appends of the given size, through selections that alternate between nil and explicit
// rows, and returns the file.
func writeFile(t tb, s *record.Schema, rows [][]any, o Options, step int) ([]byte, record.DataFile) {
	t.Helper()
	f, err := NewFile(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return fillFile(t, f, s, rows, step)
}

func fillFile(t tb, f *File, s *record.Schema, rows [][]any, step int) ([]byte, record.DataFile) {
	t.Helper()
	for n := 0; len(rows) > 0; n++ {
		k := min(step, len(rows))
		columns, selected := columnsOf(s, rows[:k]), []int32(nil)
		if n%2 == 1 {
			for i := range k {
				selected = append(selected, int32(i))
			}
		}
		if err := f.Append(columns, selected); err != nil {
			t.Fatal(err)
		}
		rows = rows[k:]
	}
	var out bytes.Buffer
	d, err := f.Finish(&out)
	if err != nil {
		t.Fatal(err)
	}
	if d.SizeBytes != int64(out.Len()) {
		t.Fatalf("size %d in the description, %d written", d.SizeBytes, out.Len())
	}
	return out.Bytes(), d
}

// tb is what testing and rapid have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}
