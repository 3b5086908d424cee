package decode

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"firn/internal/record"
)

// nested reads the object or array at p.
func (d *JSON) nested(f *field, p, row int) int {
	brace := d.b[p] == '{'
	switch {
	case f.kind == record.KindStruct && brace:
		f.col.Valid[row] = true
		return d.object(f.object, p, row)
	case f.kind == record.KindMap && brace:
		f.col.Valid[row] = true
		return d.mapping(f, p, row)
	case f.kind == record.KindList && !brace:
		f.col.Valid[row] = true
		return d.list(f, p, row)
	default:
		return d.failExpected(f, p, f.literals())
	}
}

// list reads the array at p.
func (d *JSON) list(f *field, p, row int) int {
	b := d.b
	p = space(b, p+1)
	if p < len(b) && b[p] == ']' {
		return p + 1
	}
	for {
		if p = d.element(f, p); p < 0 {
			return -1
		}
		p = space(b, p)
		switch {
		case p < len(b) && b[p] == ',':
			p = space(b, p+1)
		case p < len(b) && b[p] == ']':
			f.col.Offsets[row+1] = int32(f.element.col.Len)
			return p + 1
		default:
			return d.fail(f.path, p, "expected , or ] after a value, found "+describe(b, p))
		}
	}
}

// element appends the value at p to the list's elements or the map's values.
func (d *JSON) element(f *field, p int) int {
	e := f.element
	if e.col.Len == math.MaxInt32 {
		return d.fail(f.path, p, fmt.Sprintf("a batch holds at most %d elements of a list", math.MaxInt32))
	}
	e.col.Grow()
	end := d.value(e, p, e.col.Len-1)
	if end >= 0 && e.required && !e.col.Valid[e.col.Len-1] {
		return d.fail(e.path, p, "null, but the field is required")
	}
	return end
}

// mapping reads the object at p as a map. The rare one with equal keys is read again without the entries that a later
// one replaces; a schema with maps in maps may so read a text once more a level, and not more.
func (d *JSON) mapping(f *field, p, row int) int {
	from := f.key.col.Len
	end := d.entries(f, p, row, nil)
	if end < 0 {
		return -1
	}
	replaced := d.replaced(f.key.col, from)
	for _, late := range d.dropPostponed(f.depth) {
		if replaced == nil || !replaced[late.ordinal] {
			d.fault = late.fault
			return -1
		}
	}
	if replaced == nil {
		return end
	}
	if d.options.RejectDuplicateKeys {
		return d.fail(f.path, p, "the map has a key twice")
	}
	f.key.col.Truncate(from)
	f.element.col.Truncate(from)
	end = d.entries(f, p, row, replaced)
	d.dropPostponed(f.depth) // those of replaced entries, once more
	return end
}

// entries appends the entries of the object at p, except those whose ordinal is replaced.
func (d *JSON) entries(f *field, p, row int, replaced []bool) int {
	b := d.b
	p = space(b, p+1)
	if p < len(b) && b[p] == '}' {
		return p + 1
	}
	for i := 0; ; i++ {
		if p = d.mapKey(f.key, p); p < 0 {
			return -1
		}
		if p = d.entry(f, i, p); p < 0 {
			return -1
		}
		if replaced != nil && replaced[i] {
			f.key.col.Truncate(f.key.col.Len - 1)
			f.element.col.Truncate(f.element.col.Len - 1)
		}
		p = space(b, p)
		switch {
		case p < len(b) && b[p] == ',':
			p = space(b, p+1)
		case p < len(b) && b[p] == '}':
			f.col.Offsets[row+1] = int32(f.key.col.Len)
			return p + 1
		default:
			return d.fail(f.path, p, "expected , or } after a value, found "+describe(b, p))
		}
	}
}

// entry appends the value at p, the one of that ordinal, to the map's values; a null when its fault is postponed.
func (d *JSON) entry(f *field, ordinal, p int) int {
	n := f.element.col.Len
	end := d.element(f, p)
	if end < 0 && f.element.col.Len > n {
		end = d.postponeEntry(f, ordinal, p)
	}
	return end
}

// mapKey appends the key at p to the map's keys, and steps over the colon.
func (d *JSON) mapKey(k *field, p int) int {
	if p >= len(d.b) || d.b[p] != '"' {
		return d.fail(k.path, p, "expected a key in quotes, found "+describe(d.b, p))
	}
	t, end, escaped := d.text(k.path, p)
	if end < 0 {
		return -1
	}
	k.col.Grow()
	row := k.col.Len - 1
	if k.kind != record.KindString {
		if d.parse(k, t, p, end, row) < 0 {
			return -1
		}
		return d.colon(k.path, end)
	}
	if escaped {
		t = d.keep(t)
	}
	k.col.Bytes[row] = t
	k.col.Valid[row] = true
	return d.colon(k.path, end)
}

// replaced tells which of the keys from index from on are followed by an equal one; nil for none. Keys are equal by
// value: 1.0 and 1 are the same double.
func (d *JSON) replaced(keys *record.Column, from int) []bool {
	n := keys.Len - from
	if n < 2 {
		return nil
	}
	d.order = d.order[:0]
	for i := from; i < keys.Len; i++ {
		d.order = append(d.order, int32(i))
	}
	slices.SortFunc(d.order, func(i, j int32) int {
		return cmp.Or(compareKeys(keys, int(i), int(j)), cmp.Compare(i, j))
	})
	var replaced []bool
	for k, i := range d.order[1:] {
		if before := d.order[k]; compareKeys(keys, int(before), int(i)) == 0 {
			if replaced == nil {
				replaced = make([]bool, n)
			}
			replaced[int(before)-from] = true
		}
	}
	return replaced
}

// compareKeys orders two values of a column of a kind that map keys have.
func compareKeys(c *record.Column, i, j int) int {
	switch c.Field.Type.Kind {
	case record.KindString, record.KindBinary:
		return bytes.Compare(c.Bytes[i], c.Bytes[j])
	case record.KindInt, record.KindDate:
		return cmp.Compare(c.Ints32[i], c.Ints32[j])
	case record.KindFloat:
		return cmp.Compare(c.Floats32[i], c.Floats32[j])
	case record.KindDouble:
		return cmp.Compare(c.Floats64[i], c.Floats64[j])
	case record.KindBoolean:
		return compareBools(c.Bools[i], c.Bools[j])
	default:
		if c.Field.Type.Width() > 0 {
			return bytes.Compare(c.FixedAt(i), c.FixedAt(j))
		}
		return cmp.Compare(c.Ints64[i], c.Ints64[j])
	}
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}
