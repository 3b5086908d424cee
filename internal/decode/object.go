package decode

import "fmt"

// object reads the object whose brace is at p into row of its columns, and returns the position after it; -1 is a
// fault, here and in all that follow.
func (d *JSON) object(o *object, p, row int) int {
	b := d.b
	o.generation++
	p = space(b, p+1)
	if p < len(b) && b[p] == '}' {
		return d.complete(o, p, row)
	}
	for at := &o.head; ; {
		f := at.next
		if f.stands(b, p) {
			p += f.keyBytes
			at = f
		} else {
			if f, p = d.key(o, at, p); p < 0 {
				return -1
			}
			if f != &o.unknown {
				at = f
			}
		}
		start := space(b, p)
		if f.seen < o.generation {
			f.seen = o.generation
			p = d.value(f, start, row)
		} else {
			p = d.again(o, f, start, row)
		}
		if uint(p) >= uint(len(b)) || b[p] != ',' {
			if p < 0 {
				if p = d.postponeMember(o, f, start, row); p < 0 {
					return -1
				}
			}
			if p = space(b, p); p >= len(b) || b[p] != ',' {
				return d.last(o, p, row)
			}
		}
		p = space(b, p+1)
	}
}

// last ends the object at p, which is no comma.
func (d *JSON) last(o *object, p, row int) int {
	if p < len(d.b) && d.b[p] == '}' {
		return d.complete(o, p, row)
	}
	return d.fail(o.path, p, "expected , or } after a value, found "+describe(d.b, p))
}

// stands tells whether the field's key stands at p as it usually does: in its usual spelling, with the colon behind it.
// Keys of up to 16 bytes are compared by their first and last word, which may overlap.
func (f *field) stands(b []byte, p int) bool {
	return len(b)-p >= f.keyReach && ((word(b, p)^f.keyHead)|(word(b, p+f.keyTailAt)^f.keyTail))&f.keyMask == 0 &&
		(f.keyBytes <= 2*wordBytes || string(b[p:p+f.keyBytes]) == f.keyText)
}

// key reads a key that does not stand as predicted from the field at, and its colon. The field is o.unknown when the
// schema has none of the name, and the object remembers no more of those.
func (d *JSON) key(o *object, at *field, p int) (*field, int) {
	f := at.next
	if n := len(f.keyText) - 1; n > 0 && len(d.b)-p >= n && string(d.b[p:p+n]) == f.keyText[:n] {
		return f, d.colon(o.path, p+n)
	}
	if p >= len(d.b) || d.b[p] != '"' {
		return nil, d.fail(o.path, p, "expected a key in quotes, found "+describe(d.b, p))
	}
	name, end, _ := d.text(o.path, p)
	if end < 0 {
		return nil, -1
	}
	f = o.index[string(name)]
	if f == nil && d.options.RejectUnknownFields {
		return nil, d.fail(o.path, p, fmt.Sprintf("key %s is not in the schema", excerpt(name)))
	}
	if f == nil {
		f = &o.unknown
		if o.ignores < ignoredMax && len(name) <= ignoredBytesMax {
			f = o.ignore(string(name))
		}
	}
	if f != &o.unknown {
		at.next = f
	}
	return f, d.colon(o.path, end)
}

// Keys that the schema does not have are remembered up to these bounds, so that they are predicted too. Messages with
// more of them are still read, by look-up.
const (
	ignoredMax      = 256
	ignoredBytesMax = 64
)

// ignore remembers a key that the schema does not have.
func (o *object) ignore(name string) *field {
	f := &field{seen: ignored, next: &o.unknown}
	f.setKey(name)
	o.index[name] = f
	o.ignores++
	return f
}

// colon steps over the colon at p and the blanks around it.
func (d *JSON) colon(path string, p int) int {
	p = space(d.b, p)
	if p >= len(d.b) || d.b[p] != ':' {
		return d.fail(path, p, "expected : after a key, found "+describe(d.b, p))
	}
	return space(d.b, p+1)
}

// again reads the value at p of a field that the object has had before, where the last one wins, or that is ignored.
func (d *JSON) again(o *object, f *field, p, row int) int {
	if f.seen == ignored {
		return d.skip(o.path, o.depth, p)
	}
	if d.options.RejectDuplicateKeys {
		return d.fail(f.path, p, "the key is there twice")
	}
	d.forgive(f)
	clearValue(f.col, row)
	return d.value(f, p, row)
}

// complete ends the object at its closing brace p.
func (d *JSON) complete(o *object, p, row int) int {
	if len(d.postponed) > 0 && d.unforgiven(o.depth) {
		return -1
	}
	for _, f := range o.required {
		if f.col.Valid[row] {
			continue
		}
		if f.seen == o.generation {
			return d.fail(f.path, f.nullAt, "null, but the field is required")
		}
		return d.fail(f.path, p, "missing, but the field is required")
	}
	return p + 1
}

// space is the position of the first byte at or after p that is no JSON blank.
func space(b []byte, p int) int {
	if uint(p) < uint(len(b)) && b[p] <= ' ' {
		return spaces(b, p)
	}
	return p
}

//go:noinline
func spaces(b []byte, p int) int {
	for p < len(b) && (b[p] == ' ' || b[p] == '\n' || b[p] == '\r' || b[p] == '\t') {
		p++
	}
	return p
}
