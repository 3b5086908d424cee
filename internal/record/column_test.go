package record

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kindFields has a field of every kind, nested three deep.
func kindFields() []Field {
	var fields []Field
	for k := KindBoolean; k < KindStruct; k++ {
		t := Type{Kind: k}
		switch k {
		case KindDecimal:
			t.Precision = 9
			fields = append(fields, Field{Name: "wide", Type: Type{Kind: k, Precision: 38}})
		case KindFixed:
			t.Length = 3
		default:
		}
		fields = append(fields, Field{Name: k.String(), Type: t})
	}
	for range 2 {
		inner := append([]Field{}, fields...)
		element := Field{Name: "element", Type: Type{Kind: KindStruct, Fields: inner}}
		fields = append(fields,
			Field{Name: "struct", Type: Type{Kind: KindStruct, Fields: inner}},
			Field{Name: "list", Type: Type{Kind: KindList, Fields: []Field{element}}},
			Field{Name: "map", Type: Type{Kind: KindMap, Fields: []Field{
				{Name: "key", Type: Type{Kind: KindString}}, {Name: "value", Type: Type{Kind: KindStruct, Fields: inner}},
			}}})
	}
	return fields
}

// fill grows the column by a value of random content.
func fill(c *Column, r *rand.Rand, depth int) {
	c.Grow()
	set(c, r, depth)
}

func set(c *Column, r *rand.Rand, depth int) {
	i := c.Len - 1
	if r.IntN(4) == 0 {
		return
	}
	c.Valid[i] = true
	switch {
	case c.Bools != nil:
		c.Bools[i] = true
	case c.Ints32 != nil:
		c.Ints32[i] = r.Int32()
	case c.Ints64 != nil:
		c.Ints64[i] = r.Int64()
	case c.Floats32 != nil:
		c.Floats32[i] = r.Float32()
	case c.Floats64 != nil:
		c.Floats64[i] = r.Float64()
	case c.Bytes != nil:
		c.Bytes[i] = fmt.Append(nil, r.Int())
	case c.Fixed != nil:
		c.FixedAt(i)[0] = byte(r.Int())
	case c.Offsets != nil:
		for range r.IntN(3) / max(1, depth) {
			for j := range c.Children {
				fill(&c.Children[j], r, depth+1)
			}
			c.Offsets[c.Len]++
		}
	default:
		for j := range c.Children {
			set(&c.Children[j], r, depth+1)
		}
	}
}

// A row that is taken back leaves nothing: what follows is as if it had never been. Decoders rest on it.
func TestTruncateUndoesGrow(t *testing.T) {
	fields := kindFields()
	plain, undone := NewColumns(fields), NewColumns(fields)
	const rows = 20
	for n := range uint64(rows) {
		for i := range fields {
			fill(&plain[i], rand.New(rand.NewPCG(n, uint64(i))), 0)
			for extra := range n % 3 {
				fill(&undone[i], rand.New(rand.NewPCG(n+100, extra)), 0)
			}
			undone[i].Truncate(int(n))
			fill(&undone[i], rand.New(rand.NewPCG(n, uint64(i))), 0)
		}
	}
	if d := cmp.Diff(plain, undone); d != "" {
		t.Errorf("(-without +with rows that were taken back):\n%s", d)
	}
	for i := range undone {
		c := &undone[i]
		if c.Len != rows || len(c.Valid) != rows {
			t.Errorf("%s: %d rows, %d valid", c.Field.Name, c.Len, len(c.Valid))
		}
		c.Truncate(rows + 5)
		if c.Len != rows {
			t.Errorf("%s: cut to more than it had, it has %d rows", c.Field.Name, c.Len)
		}
	}
}

// The bytes of records that are done must not stay reachable, or memory limits mean little.
func TestResetLetsTheSourcesBytesGo(t *testing.T) {
	b := NewBatch(&Schema{Fields: []Field{{Name: "s", Type: Type{Kind: KindString}}}})
	b.Columns[0].Grow()
	b.Columns[0].Bytes[0], b.Rows = []byte("large"), 1
	b.Rejected = append(b.Rejected, Rejected{Record: Record{Value: []byte("large")}})
	b.Reset()
	if b.Rows != 0 || b.Columns[0].Len != 0 || len(b.Rejected) != 0 {
		t.Errorf("%d rows, %d values, %d rejected are left", b.Rows, b.Columns[0].Len, len(b.Rejected))
	}
	if kept := b.Columns[0].Bytes[:1][0]; kept != nil {
		t.Errorf("a column keeps %q", kept)
	}
	if kept := b.Rejected[:1][0].Record.Value; kept != nil {
		t.Errorf("the rejected keep %q", kept)
	}
}
