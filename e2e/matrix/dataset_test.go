package matrix

import (
	"fmt"
	"math"
	"math/rand/v2"

	"firn/internal/record"
)

// dataset is the rows of a schema, and what a reader must print of them.
type dataset struct {
	name   string
	schema *record.Schema
	rows   [][]any
	want   [][]byte // the rows as text
	coarse [][]byte // the same, with timestamptz_ns in microseconds
	spark  [][]byte // the same, with "-" for columns that Spark refuses
}

const (
	flatRows   = 300
	nestedRows = 40
)

func newDataset(name string, fields []record.Field, rows [][]any) *dataset {
	next := 1
	number(fields, &next)
	d := &dataset{name: name, schema: &record.Schema{ID: 3, Fields: fields}, rows: rows}
	columns := columnsOf(d.schema, rows)
	for i := range rows {
		d.want = append(d.want, rowText(columns, i, all))
		d.spark = append(d.spark, rowText(columns, i, isOfSpark))
	}
	coarsen(columns)
	for i := range rows {
		d.coarse = append(d.coarse, rowText(columns, i, all))
	}
	return d
}

// wantOf is the text that a reader must print. DuckDB has no TIMESTAMPTZ of nanoseconds and reads microseconds.
func (d *dataset) wantOf(reader string) [][]byte {
	switch reader {
	case "duckdb":
		return d.coarse
	case "spark":
		return d.spark
	default:
		return d.want
	}
}

func all(*record.Type) bool { return true }

// isOfSpark says whether Spark 4.0 reads columns of a type. It has no TIME, and its reader row by row, which encodings
// beside PLAIN and dictionaries need, refuses a UUID within another type.
func isOfSpark(t *record.Type) bool {
	for i := range t.Fields {
		if k := t.Fields[i].Type.Kind; k == record.KindUUID || !isOfSpark(&t.Fields[i].Type) {
			return false
		}
	}
	return t.Kind != record.KindTime
}

// coarsen makes instants of nanoseconds instants of microseconds, cut towards zero.
func coarsen(columns []record.Column) {
	for i := range columns {
		c := &columns[i]
		if c.Field.Type.Kind == record.KindTimestampTZNs {
			for j := range c.Ints64 {
				c.Ints64[j] /= 1000
			}
		}
		coarsen(c.Children)
	}
}

// number gives each field an id of its own. The fields of a type must not be shared.
func number(fields []record.Field, next *int) {
	for i := range fields {
		fields[i].ID = *next
		*next++
		number(fields[i].Type.Fields, next)
	}
}

// flat has each type three times: required, with nulls, and null alone.
func flat() *dataset {
	r := rand.New(rand.NewPCG(1, 2))
	var fields []record.Field
	rows := make([][]any, flatRows)
	for _, l := range leaves() {
		fields = append(fields, record.Field{Name: l.name, Required: true, Type: l.typ},
			record.Field{Name: l.name + "_null", Type: l.typ}, record.Field{Name: l.name + "_nulls", Type: l.typ})
		for i := range rows {
			rows[i] = append(rows[i], l.any(r), l.sparse(r, i), nil)
		}
	}
	return newDataset("flat", fields, rows)
}

// any is an edge or a value at random.
func (l *leaf) any(r *rand.Rand) any {
	if r.IntN(4) == 0 {
		return l.edges[r.IntN(len(l.edges))]
	}
	return l.random(r)
}

// sparse repeats few values, has a null here and there, and a run of nulls longer than a page.
func (l *leaf) sparse(r *rand.Rand, row int) any {
	if row%5 == 3 || row > flatRows/2 && row < flatRows*3/4 {
		return nil
	}
	return l.edges[r.IntN(len(l.edges))]
}

// nested has each type in each nesting.
func nested() *dataset {
	r := rand.New(rand.NewPCG(3, 4))
	var fields []record.Field
	rows := make([][]any, nestedRows)
	for _, n := range nestings() {
		for _, l := range leaves() {
			f := n.field(l.typ)
			f.Name = n.name + "_" + l.name
			for i := range rows {
				rows[i] = append(rows[i], l.value(r, &f, false))
			}
			fields = append(fields, f)
		}
	}
	return newDataset("nested", fields, rows)
}

// nesting makes a column of a leaf.
type nesting struct {
	name  string
	field func(t record.Type) record.Field
}

func optional(name string, t record.Type) record.Field { return record.Field{Name: name, Type: t} }

func required(name string, t record.Type) record.Field {
	return record.Field{Name: name, Required: true, Type: t}
}

func structOf(fields ...record.Field) record.Type {
	return record.Type{Kind: record.KindStruct, Fields: fields}
}

func listOf(f func(string, record.Type) record.Field, t record.Type) record.Type {
	return record.Type{Kind: record.KindList, Fields: []record.Field{f("element", t)}}
}

func mapOf(key record.Type, f func(string, record.Type) record.Field, value record.Type) record.Type {
	return record.Type{Kind: record.KindMap, Fields: []record.Field{required("key", key), f("value", value)}}
}

// nestings goes to a depth of three, with every mixture of optional and required.
func nestings() []nesting {
	long, text := record.Type{Kind: record.KindLong}, record.Type{Kind: record.KindString}
	return []nesting{
		{"struct", func(t record.Type) record.Field {
			return optional("", structOf(required("x", t), optional("y", t)))
		}},
		{"required_struct", func(t record.Type) record.Field {
			return required("", structOf(optional("x", t), required("y", t)))
		}},
		{"struct_struct_struct", func(t record.Type) record.Field {
			return optional("", structOf(required("s", structOf(optional("s", structOf(optional("x", t)))))))
		}},
		{"list", func(t record.Type) record.Field { return optional("", listOf(optional, t)) }},
		{"required_list", func(t record.Type) record.Field { return required("", listOf(required, t)) }},
		{"list_list_list", func(t record.Type) record.Field {
			return optional("", listOf(optional, listOf(required, listOf(optional, t))))
		}},
		{"list_struct", func(t record.Type) record.Field {
			return optional("", listOf(optional, structOf(optional("l", listOf(optional, t)), required("x", t))))
		}},
		{"map", func(t record.Type) record.Field { return optional("", mapOf(long, optional, t)) }},
		{"map_key", func(t record.Type) record.Field { return required("", mapOf(t, required, long)) }},
		{"map_struct_map", func(t record.Type) record.Field {
			return optional("", mapOf(text, optional, structOf(required("x", t), optional("m", mapOf(t, optional, t)))))
		}},
		{"list_map_list", func(t record.Type) record.Field {
			return required("", listOf(optional, mapOf(text, required, listOf(optional, t))))
		}},
		{"struct_list_map", func(t record.Type) record.Field {
			return required("", structOf(optional("l", listOf(required, mapOf(long, optional, t))), optional("x", t)))
		}},
	}
}

// value is a value of the field at random, where the leaves are of l's type. A key is never null, NaN or zero with a
// sign: readers that have maps with unique keys take those for the same key.
func (l *leaf) value(r *rand.Rand, f *record.Field, key bool) any {
	if !f.Required && r.IntN(5) == 0 {
		return nil
	}
	switch f.Type.Kind {
	case record.KindStruct:
		var out []any
		for i := range f.Type.Fields {
			out = append(out, l.value(r, &f.Type.Fields[i], false))
		}
		return out
	case record.KindList:
		out := []any{}
		for range l.length(r) {
			out = append(out, l.value(r, &f.Type.Fields[0], false))
		}
		return out
	case record.KindMap:
		return l.pairs(r, f)
	}
	if f.Type.Kind != l.typ.Kind { // the other side of a map
		return map[record.Kind]func() any{
			record.KindLong:   func() any { return r.Int64N(1e6) },
			record.KindString: func() any { return fmt.Appendf(nil, "key %d", r.IntN(1e6)) },
		}[f.Type.Kind]()
	}
	v := l.any(r)
	for key && isAwkwardKey(v) {
		v = l.any(r)
	}
	return v
}

func isAwkwardKey(v any) bool {
	switch v := v.(type) {
	case float32:
		return v != v || v == 0
	case float64:
		return v != v || v == 0
	}
	return false
}

// length is of a list or map: short or none, and once in a while over a page.
func (l *leaf) length(r *rand.Rand) int {
	if r.IntN(150) == 0 {
		return 90
	}
	return r.IntN(4)
}

// pairs has each key once.
func (l *leaf) pairs(r *rand.Rand, f *record.Field) any {
	out, seen := []any{}, map[string]bool{}
	for range l.length(r) {
		k := l.value(r, &f.Type.Fields[0], true)
		text := fmt.Sprint(k)
		if !seen[text] {
			out = append(out, [2]any{k, l.value(r, &f.Type.Fields[1], false)})
		}
		seen[text] = true
	}
	return out
}

// columnsOf builds columns from rows.
func columnsOf(s *record.Schema, rows [][]any) []record.Column {
	columns := record.NewColumns(s.Fields)
	for _, row := range rows {
		for i := range columns {
			columns[i].Grow()
			setValue(&columns[i], row[i])
		}
	}
	return columns
}

// setValue writes v into the last place of c.
func setValue(c *record.Column, v any) {
	if v == nil {
		return
	}
	i := c.Len - 1
	c.Valid[i] = true
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
	case []any:
		setChildren(c, v)
	}
}

func setChildren(c *record.Column, values []any) {
	if c.Field.Type.Kind == record.KindStruct {
		for j := range c.Children {
			setValue(&c.Children[j], values[j])
		}
		return
	}
	for _, v := range values {
		pair, ok := v.([2]any)
		if !ok {
			pair[0] = v
		}
		for j := range c.Children {
			c.Children[j].Grow()
			setValue(&c.Children[j], pair[j])
		}
		c.Offsets[c.Len]++
	}
}

func isNaN(v any) bool {
	switch v := v.(type) {
	case float32:
		return math.IsNaN(float64(v))
	case float64:
		return math.IsNaN(v)
	}
	return false
}
