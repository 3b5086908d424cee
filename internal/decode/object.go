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
		var end int
		f := at.next
		if f != nil && len(f.quoted) <= len(b)-p && string(b[p:p+len(f.quoted)]) == f.quoted {
			end = p + len(f.quoted)
		} else if f, end = d.key(o, p); end < 0 {
			return -1
		}
		if p = d.colon(o.path, end); p < 0 {
			return -1
		}
		if f != nil {
			at.next, at = f, f
		}
		if f == nil || f.ignored {
			p = d.skip(o, p)
		} else {
			p = d.member(o, f, p, row)
		}
		if p < 0 {
			return -1
		}
		p = space(b, p)
		switch {
		case p < len(b) && b[p] == ',':
			p = space(b, p+1)
		case p < len(b) && b[p] == '}':
			return d.complete(o, p, row)
		default:
			return d.fail(o.path, p, "expected , or } after a value, found "+describe(b, p))
		}
	}
}

// key reads a key that was not predicted. The field is nil or ignored when the schema has none of the name.
func (d *JSON) key(o *object, p int) (*field, int) {
	if p >= len(d.b) || d.b[p] != '"' {
		return nil, d.fail(o.path, p, "expected a key in quotes, found "+describe(d.b, p))
	}
	name, end, _ := d.text(o.path, p)
	if end < 0 {
		return nil, -1
	}
	f := o.index[string(name)]
	if f == nil && d.options.RejectUnknownFields {
		return nil, d.fail(o.path, p, fmt.Sprintf("key %s is not in the schema", excerpt(name)))
	}
	if f == nil && o.ignored < ignoredMax && len(name) <= ignoredBytesMax {
		f = o.ignore(string(name))
	}
	return f, end
}

// Keys that the schema does not have are remembered up to these bounds, so that they are predicted too. Messages with
// more of them are still read, by look-up.
const (
	ignoredMax      = 256
	ignoredBytesMax = 64
)

// ignore remembers a key that the schema does not have.
func (o *object) ignore(name string) *field {
	f := &field{quoted: quoteKey(name), ignored: true}
	o.index[name] = f
	o.ignored++
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

// member reads the value at p into a field that the object may have had before: the last one wins.
func (d *JSON) member(o *object, f *field, p, row int) int {
	if f.seen == o.generation {
		if d.options.RejectDuplicateKeys {
			return d.fail(f.path, p, "the key is there twice")
		}
		clearValue(f.col, row)
	}
	f.seen = o.generation
	return d.value(f, p, row)
}

// complete ends the object at its closing brace p.
func (d *JSON) complete(o *object, p, row int) int {
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
	if p < len(b) && b[p] <= ' ' {
		return spaces(b, p)
	}
	return p
}

func spaces(b []byte, p int) int {
	for p < len(b) && (b[p] == ' ' || b[p] == '\n' || b[p] == '\r' || b[p] == '\t') {
		p++
	}
	return p
}
