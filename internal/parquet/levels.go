package parquet

import (
	"fmt"

	"firn/internal/record"
)

// vector is one level of the walk from rows down to the values of a leaf: one entry for each value, null or empty
// list, in Parquet's order.
//
// index is where the entry's value is in the column at this depth, or -1 where it ended above: at a null or an empty
// list. def is the entry's definition level so far; nil means that no entry has ended. rep is its repetition level;
// nil means that every entry starts a row. The slices belong to the workspace, and a level is valid until the next
// walk at the same depth.
type vector struct {
	index []int32
	def   []uint8
	rep   []uint8
	dense []int32 // of a leaf: index without the entries that ended
}

// level is the scratch vector of a depth.
func (w *workspace) level(depth int) *vector {
	for len(w.levels) <= depth {
		w.levels = append(w.levels, vector{})
	}
	return &w.levels[depth]
}

// walk appends the column's values at the entries of v to the leaves at and below n.
func (f *File) walk(w *workspace, n *node, c *record.Column, v vector, depth int) error {
	v, err := w.nulls(n, c, v, depth)
	if err != nil {
		return err
	}
	if n.leaf >= 0 {
		return f.leaves[n.leaf].append(f, w, c, w.compact(v, depth))
	}
	if n.field.Type.Kind != record.KindStruct {
		depth++
		v = w.expand(n, c, v, depth)
	}
	for i := range n.children {
		if err := f.walk(w, &n.children[i], &c.Children[i], v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// nulls ends the entries whose value at n is null. A required value that is null is an error.
func (w *workspace) nulls(n *node, c *record.Column, v vector, depth int) (vector, error) {
	first := -1
	for i, x := range v.index {
		if x >= 0 && !c.Valid[x] {
			first = i
			break
		}
	}
	if !n.optional {
		if first >= 0 {
			return v, fmt.Errorf("column %s is required and null in entry %d", n.path, v.index[first])
		}
		return v, nil
	}
	if first < 0 && v.def == nil {
		return v, nil
	}
	out := w.level(depth)
	out.index, out.def = append(out.index[:0], v.index...), out.def[:0]
	for i, x := range v.index {
		switch {
		case x < 0:
			out.def = append(out.def, v.def[i])
		case c.Valid[x]:
			out.def = append(out.def, n.def)
		default:
			out.index[i] = -1
			out.def = append(out.def, n.def-1)
		}
	}
	return vector{index: out.index, def: out.def, rep: v.rep}, nil
}

// expand replaces each entry of a list or map by its elements, or ends it where there are none.
func (w *workspace) expand(n *node, c *record.Column, v vector, depth int) vector {
	out := w.level(depth)
	out.index, out.def, out.rep = out.index[:0], out.def[:0], out.rep[:0]
	for i, x := range v.index {
		def, rep := n.def, uint8(0)
		if v.def != nil {
			def = v.def[i]
		}
		if v.rep != nil {
			rep = v.rep[i]
		}
		if x < 0 || c.Offsets[x] == c.Offsets[x+1] {
			out.index, out.def, out.rep = append(out.index, -1), append(out.def, def), append(out.rep, rep)
			continue
		}
		for o := c.Offsets[x]; o < c.Offsets[x+1]; o++ {
			out.index, out.def, out.rep = append(out.index, o), append(out.def, n.def+1), append(out.rep, rep)
			rep = n.rep
		}
	}
	return vector{index: out.index, def: out.def, rep: out.rep}
}

// compact fills v.dense.
func (w *workspace) compact(v vector, depth int) vector {
	if v.def == nil {
		v.dense = v.index
		return v
	}
	out := w.level(depth)
	out.dense = out.dense[:0]
	for _, x := range v.index {
		if x >= 0 {
			out.dense = append(out.dense, x)
		}
	}
	v.dense = out.dense
	return v
}
