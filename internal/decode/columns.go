package decode

import (
	"slices"

	"firn/internal/record"
)

// bind points the compiled fields at the batch's columns.
func (d *JSON) bind(batch *record.Batch) {
	d.lists = d.lists[:0]
	d.bindObject(&d.root, batch.Columns, true)
}

func (d *JSON) bindObject(o *object, columns []record.Column, rowLevel bool) {
	if len(columns) != len(o.fields) {
		panic("decode: the batch is of another schema than the decoder")
	}
	for i := range o.fields {
		d.bindField(&o.fields[i], &columns[i], rowLevel)
	}
}

// bindField binds one field; rowLevel says that the column has one entry a row and not one a list element.
func (d *JSON) bindField(f *field, c *record.Column, rowLevel bool) {
	if c.Field.Type.Kind != f.typ.Kind {
		panic("decode: the batch is of another schema than the decoder")
	}
	f.col = c
	switch f.kind {
	case record.KindStruct:
		d.bindObject(f.object, c.Children, rowLevel)
		return
	case record.KindMap:
		d.bindField(f.key, &c.Children[0], false)
		d.bindField(f.element, &c.Children[1], false)
	case record.KindList:
		d.bindField(f.element, &c.Children[0], false)
	default:
		return
	}
	if rowLevel {
		d.lists = append(d.lists, c)
	}
}

// extend appends n nulls to the columns, so that decoding a row is nothing but stores. The new ends of lists are not
// set: that is done row by row, from the row before.
func extend(columns []record.Column, n int) {
	for i := range columns {
		c := &columns[i]
		c.Len += n
		c.Valid = zeros(c.Valid, n)
		switch c.Field.Type.Kind {
		case record.KindBoolean:
			c.Bools = zeros(c.Bools, n)
		case record.KindInt, record.KindDate:
			c.Ints32 = zeros(c.Ints32, n)
		case record.KindFloat:
			c.Floats32 = zeros(c.Floats32, n)
		case record.KindDouble:
			c.Floats64 = zeros(c.Floats64, n)
		case record.KindBinary, record.KindString:
			c.Bytes = zeros(c.Bytes, n)
		case record.KindStruct:
			extend(c.Children, n)
		case record.KindList, record.KindMap:
			c.Offsets = zeros(c.Offsets, n)
		default:
			if w := c.Field.Type.Width(); w > 0 {
				c.Fixed = zeros(c.Fixed, n*w)
			} else {
				c.Ints64 = zeros(c.Ints64, n)
			}
		}
	}
}

func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s, n)[:len(s)+n]
	clear(s[len(s)-n:])
	return s
}

// clearRow makes row a null in each column. It must be the last one that was written.
func clearRow(columns []record.Column, row int) {
	for i := range columns {
		clearValue(&columns[i], row)
	}
}

func clearValue(c *record.Column, row int) {
	c.Valid[row] = false
	switch c.Field.Type.Kind {
	case record.KindBoolean:
		c.Bools[row] = false
	case record.KindInt, record.KindDate:
		c.Ints32[row] = 0
	case record.KindFloat:
		c.Floats32[row] = 0
	case record.KindDouble:
		c.Floats64[row] = 0
	case record.KindBinary, record.KindString:
		c.Bytes[row] = nil
	case record.KindStruct:
		clearRow(c.Children, row)
	case record.KindList, record.KindMap:
		for i := range c.Children {
			c.Children[i].Truncate(int(c.Offsets[row]))
		}
		c.Offsets[row+1] = c.Offsets[row]
	default:
		if c.Field.Type.Width() > 0 {
			clear(c.FixedAt(row))
		} else {
			c.Ints64[row] = 0
		}
	}
}
