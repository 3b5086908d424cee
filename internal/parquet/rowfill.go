package parquet

import (
	"errors"
	"fmt"

	"firn/internal/record"
)

// errRagged means that columns of one group do not have values for the same rows.
var errRagged = errors.New("its levels do not fit those of the columns beside it: the file is damaged")

// fill fills an empty column with the slots of the batch.
func (n *boundNode) fill(c *record.Column, slots int) error {
	if n.missing {
		growNulls(c, slots)
		return nil
	}
	if n.leaf != nil {
		return n.fillLeaf(c, slots)
	}
	if n.field.Type.Kind == record.KindStruct {
		return n.fillStruct(c, slots)
	}
	return n.fillRepeated(c, slots)
}

// growNulls appends nulls.
func growNulls(c *record.Column, n int) {
	for range n {
		c.Grow()
	}
}

// fillValid says which slots are not null, and counts them.
func (n *boundNode) fillValid(c *record.Column, slots int) (valid int, err error) {
	l := n.lead
	switch {
	case l.rep == 0 && len(l.defs) == 0:
		for range l.count {
			c.Valid = append(c.Valid, true)
		}
		valid = l.count
	case l.rep == 0:
		for _, def := range l.defs {
			c.Valid = append(c.Valid, def >= n.def)
			if def >= n.def {
				valid++
			}
		}
	default:
		for i, rep := range l.reps {
			def := l.defAt(i)
			if rep > n.rep || def < n.slot {
				continue
			}
			c.Valid = append(c.Valid, def >= n.def)
			if def >= n.def {
				valid++
			}
		}
	}
	if len(c.Valid) != slots {
		return 0, errRagged
	}
	c.Len = slots
	return valid, nil
}

func (l *rowLeaf) defAt(i int) uint8 {
	if len(l.defs) == 0 {
		return l.def
	}
	return l.defs[i]
}

func (n *boundNode) fillLeaf(c *record.Column, slots int) error {
	valid, err := n.fillValid(c, slots)
	if err != nil {
		return err
	}
	count, err := n.leaf.values(c)
	if err != nil {
		return err
	}
	if count != valid {
		return errRagged
	}
	if valid < slots {
		spread(c, valid)
	}
	return nil
}

// spread moves the values, which are the first of the column's buffer, to where they are not null.
func spread(c *record.Column, values int) {
	t := &c.Field.Type
	switch t.Kind {
	case record.KindBoolean:
		c.Bools = spreadOut(c.Bools, c.Valid, values)
	case record.KindInt, record.KindDate:
		c.Ints32 = spreadOut(c.Ints32, c.Valid, values)
	case record.KindFloat:
		c.Floats32 = spreadOut(c.Floats32, c.Valid, values)
	case record.KindDouble:
		c.Floats64 = spreadOut(c.Floats64, c.Valid, values)
	case record.KindBinary, record.KindString:
		c.Bytes = spreadOut(c.Bytes, c.Valid, values)
	default:
		if w := t.Width(); w > 0 {
			c.Fixed = spreadFixed(c.Fixed, c.Valid, values, w)
		} else {
			c.Ints64 = spreadOut(c.Ints64, c.Valid, values)
		}
	}
}

func spreadOut[T any](out []T, valid []bool, values int) []T {
	var none T
	for range len(valid) - values {
		out = append(out, none)
	}
	for i := len(valid) - 1; i >= 0; i-- {
		if valid[i] {
			values--
			out[i] = out[values]
		} else {
			out[i] = none
		}
	}
	return out
}

func spreadFixed(out []byte, valid []bool, values, width int) []byte {
	out = append(out, make([]byte, (len(valid)-values)*width)...)
	for i := len(valid) - 1; i >= 0; i-- {
		to := out[i*width : (i+1)*width]
		if valid[i] {
			values--
			copy(to, out[values*width:(values+1)*width])
		} else {
			clear(to)
		}
	}
	return out
}

func (n *boundNode) fillStruct(c *record.Column, slots int) error {
	if _, err := n.fillValid(c, slots); err != nil {
		return err
	}
	for i := range n.children {
		if err := n.children[i].fill(&c.Children[i], slots); err != nil {
			return fmt.Errorf("%s: %w", n.children[i].field.Name, err)
		}
	}
	return nil
}

// fillRepeated fills a list or a map: an entry may begin a slot, an element, or both.
func (n *boundNode) fillRepeated(c *record.Column, slots int) error {
	l, elements := n.lead, int32(0)
	for i, rep := range l.reps {
		def := l.defAt(i)
		if rep <= n.rep && def >= n.slot {
			c.Valid = append(c.Valid, def >= n.def)
			c.Offsets = append(c.Offsets, elements)
		}
		if rep <= n.elements.rep && def >= n.elements.slot {
			if len(c.Valid) == 0 {
				return errRagged
			}
			elements++
			c.Offsets[len(c.Offsets)-1] = elements
		}
	}
	if len(c.Valid) != slots {
		return errRagged
	}
	c.Len = slots
	for i := range n.children {
		if err := n.children[i].fill(&c.Children[i], int(elements)); err != nil {
			return fmt.Errorf("%s: %w", n.children[i].field.Name, err)
		}
	}
	return nil
}
