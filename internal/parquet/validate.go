package parquet

import (
	"errors"
	"fmt"
	"slices"

	"firn/internal/record"
)

// validate checks columns and rows against the schema before anything is taken from them, so that a wrong call
// leaves the file as it was.
func (l *layout) validate(columns []record.Column, rows []int32) (int, error) {
	if len(columns) != len(l.nodes) {
		return 0, fmt.Errorf("got %d columns for a schema of %d", len(columns), len(l.nodes))
	}
	n := columns[0].Len
	for i := range columns {
		if columns[i].Len != n {
			return 0, fmt.Errorf("column %s has %d rows and column %s has %d",
				l.nodes[i].path, columns[i].Len, l.nodes[0].path, n)
		}
		if err := l.nodes[i].validate(&columns[i]); err != nil {
			return 0, fmt.Errorf("column %s: %w", l.nodes[i].path, err)
		}
	}
	if rows == nil {
		return n, nil
	}
	for _, row := range rows {
		if uint(row) >= uint(n) {
			return 0, fmt.Errorf("row %d is outside of the columns' %d rows", row, n)
		}
	}
	return len(rows), nil
}

func (n *node) validate(c *record.Column) error {
	if c.Field == nil {
		return errors.New("it has no field")
	}
	if c.Field != n.field && (c.Field.ID != n.field.ID || !sameShape(&c.Field.Type, &n.field.Type)) {
		return fmt.Errorf("got field %d of type %s, the schema has field %d of type %s",
			c.Field.ID, c.Field.Type.Kind, n.field.ID, n.field.Type)
	}
	if len(c.Valid) != c.Len {
		return fmt.Errorf("it has %d validity marks for %d values", len(c.Valid), c.Len)
	}
	switch n.field.Type.Kind {
	case record.KindStruct:
		return n.validateStruct(c)
	case record.KindList, record.KindMap:
		return n.validateRepeated(c)
	default:
		if got, want := bufferLen(c), c.Len; got != want {
			return fmt.Errorf("its buffer for type %s has %d values instead of %d", n.field.Type, got, want)
		}
		return nil
	}
}

// sameShape compares types without their children, which are compared in their turn.
func sameShape(a, b *record.Type) bool {
	return a.Kind == b.Kind && a.Precision == b.Precision && a.Scale == b.Scale && a.Length == b.Length
}

// bufferLen is the number of values in the buffer that the kind uses.
func bufferLen(c *record.Column) int {
	t := &c.Field.Type
	switch width := t.Width(); {
	case width > 0 && len(c.Fixed)%width == 0:
		return len(c.Fixed) / width
	case width > 0:
		return -1
	}
	switch t.Kind {
	case record.KindBoolean:
		return len(c.Bools)
	case record.KindInt, record.KindDate:
		return len(c.Ints32)
	case record.KindFloat:
		return len(c.Floats32)
	case record.KindDouble:
		return len(c.Floats64)
	case record.KindString, record.KindBinary:
		return len(c.Bytes)
	default:
		return len(c.Ints64)
	}
}

func (n *node) validateStruct(c *record.Column) error {
	if len(c.Children) != len(n.children) {
		return fmt.Errorf("it has %d fields, the schema has %d", len(c.Children), len(n.children))
	}
	for i := range n.children {
		child := &c.Children[i]
		if child.Len != c.Len {
			return fmt.Errorf("its field %s has %d values for %d structs", n.children[i].path, child.Len, c.Len)
		}
		if err := n.children[i].validate(child); err != nil {
			return fmt.Errorf("field %s: %w", n.children[i].path, err)
		}
	}
	return nil
}

func (n *node) validateRepeated(c *record.Column) error {
	if len(c.Children) != len(n.children) {
		return fmt.Errorf("it has %d children, the schema has %d", len(c.Children), len(n.children))
	}
	if len(c.Offsets) != c.Len+1 || c.Offsets[0] < 0 || !slices.IsSorted(c.Offsets) {
		return fmt.Errorf("its offsets are not %d growing numbers", c.Len+1)
	}
	for i := range n.children {
		child := &c.Children[i]
		if last := c.Offsets[c.Len]; int(last) > child.Len {
			return fmt.Errorf("its offsets reach %d, its %s has %d values", last, n.children[i].path, child.Len)
		}
		if err := n.children[i].validate(child); err != nil {
			return fmt.Errorf("child %s: %w", n.children[i].path, err)
		}
	}
	return nil
}
