package record

// Column is the values of one field over the rows of a batch, or over the elements of a list.
//
// Every column of a struct has the struct's length: where the struct is null its children hold a null too. A list or
// map of row i owns the child elements Offsets[i] to Offsets[i+1]. Which buffer holds the values follows from the
// kind (see the Kind constants); at a null the buffer holds the zero value, so that index i is always row i.
//
// A column has one owner; it is not safe for concurrent writes, and safe for concurrent reads. Bytes may alias the
// source's buffers: it is good as long as the batch is.
type Column struct {
	Field    *Field
	Len      int
	Valid    []bool // of length Len; false is null
	Bools    []bool
	Ints32   []int32
	Ints64   []int64
	Floats32 []float32
	Floats64 []float64
	Bytes    [][]byte
	Fixed    []byte  // Len times Type.Width()
	Offsets  []int32 // of length Len+1
	Children []Column
}

// NewColumns builds empty columns for the fields, children included.
func NewColumns(fields []Field) []Column {
	columns := make([]Column, len(fields))
	for i := range fields {
		f := &fields[i]
		columns[i].Field = f
		switch f.Type.Kind {
		case KindStruct:
			columns[i].Children = NewColumns(f.Type.Fields)
		case KindList, KindMap:
			columns[i].Children = NewColumns(f.Type.Fields)
			columns[i].Offsets = []int32{0}
		default: // no children
		}
	}
	return columns
}

// Grow appends one null, children of a struct included. The caller then sets the value at index Len-1.
func (c *Column) Grow() {
	c.Len++
	c.Valid = append(c.Valid, false)
	switch c.Field.Type.Kind {
	case KindBoolean:
		c.Bools = append(c.Bools, false)
	case KindInt, KindDate:
		c.Ints32 = append(c.Ints32, 0)
	case KindLong, KindTime, KindTimestamp, KindTimestampTZ, KindTimestampNs, KindTimestampTZNs:
		c.Ints64 = append(c.Ints64, 0)
	case KindFloat:
		c.Floats32 = append(c.Floats32, 0)
	case KindDouble:
		c.Floats64 = append(c.Floats64, 0)
	case KindBinary, KindString:
		c.Bytes = append(c.Bytes, nil)
	case KindUUID, KindFixed:
		c.growFixed()
	case KindDecimal:
		if c.Field.Type.Precision <= 18 {
			c.Ints64 = append(c.Ints64, 0)
		} else {
			c.growFixed()
		}
	case KindStruct:
		for i := range c.Children {
			c.Children[i].Grow()
		}
	case KindList, KindMap:
		c.Offsets = append(c.Offsets, c.Offsets[len(c.Offsets)-1])
	case KindInvalid:
		panic("record: column of an invalid kind")
	}
}

func (c *Column) growFixed() {
	for range c.Field.Type.Width() {
		c.Fixed = append(c.Fixed, 0)
	}
}

// Truncate drops all values from index n on, children included. It keeps the capacity.
func (c *Column) Truncate(n int) {
	if n >= c.Len {
		return
	}
	c.Len = n
	c.Valid = c.Valid[:n]
	switch {
	case c.Bools != nil:
		c.Bools = c.Bools[:n]
	case c.Ints32 != nil:
		c.Ints32 = c.Ints32[:n]
	case c.Ints64 != nil:
		c.Ints64 = c.Ints64[:n]
	case c.Floats32 != nil:
		c.Floats32 = c.Floats32[:n]
	case c.Floats64 != nil:
		c.Floats64 = c.Floats64[:n]
	case c.Bytes != nil:
		clear(c.Bytes[n:]) // or the source's buffers stay reachable
		c.Bytes = c.Bytes[:n]
	case c.Fixed != nil:
		c.Fixed = c.Fixed[:n*c.Field.Type.Width()]
	case c.Offsets != nil:
		c.Offsets = c.Offsets[:n+1]
		for i := range c.Children {
			c.Children[i].Truncate(int(c.Offsets[n]))
		}
	default:
		for i := range c.Children {
			c.Children[i].Truncate(n)
		}
	}
}

// FixedAt is value i of a column kept in Fixed; it aliases the column.
func (c *Column) FixedAt(i int) []byte {
	w := c.Field.Type.Width()
	return c.Fixed[i*w : (i+1)*w : (i+1)*w]
}
