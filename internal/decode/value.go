package decode

import "firn/internal/record"

// value reads the value at p into row of the field's column. The row must be null before.
func (d *JSON) value(f *field, p, row int) int {
	b := d.b
	if p >= len(b) {
		return d.fail(f.path, p, "expected a value, found the end of the text")
	}
	c := b[p]
	switch f.kind {
	case record.KindString:
		if c == '"' {
			return d.string(f, p, row)
		}
	case record.KindTimestamp, record.KindTimestampTZ, record.KindTimestampNs, record.KindTimestampTZNs:
		if c == '"' {
			return d.stamp(f, p, row)
		}
		if c == '-' || c-'0' <= 9 {
			return d.integer(f, b, p, row)
		}
	case record.KindInt, record.KindDate, record.KindLong, record.KindTime:
		if c == '-' || c-'0' <= 9 {
			return d.integer(f, b, p, row)
		}
	case record.KindFloat, record.KindDouble:
		if c == '-' || c-'0' <= 9 {
			return d.float(f, b, p, row)
		}
	case record.KindDecimal:
		if c == '-' || c-'0' <= 9 {
			return d.decimal(f, b, p, row)
		}
	case record.KindBoolean:
		if c == 't' || c == 'f' {
			return d.boolean(f, b, p, row)
		}
	default: // the rest
	}
	return d.other(f, p, row)
}

// other reads a value that is not written in the way that is most usual for the field's type.
func (d *JSON) other(f *field, p, row int) int {
	if f.kind == kindJSON {
		return d.json(f, p, row)
	}
	switch d.b[p] {
	case '"':
		return d.quoted(f, p, row)
	case '{', '[':
		return d.nested(f, p, row)
	case 'n':
		f.nullAt = p
		return d.literal(f.path, p, "null")
	}
	switch f.kind {
	case record.KindInt, record.KindDate, record.KindLong, record.KindTime, record.KindTimestamp,
		record.KindTimestampTZ, record.KindTimestampNs, record.KindTimestampTZNs, record.KindFloat, record.KindDouble,
		record.KindDecimal:
		return d.failNumber(f, d.b, p)
	case record.KindBoolean:
		return d.boolean(f, d.b, p, row)
	default:
		return d.failExpected(f, p, f.literals())
	}
}

// string reads the string at p into a string column.
func (d *JSON) string(f *field, p, row int) int {
	b := d.b
	i, high := d.scan(p + 1)
	if i == len(b) || b[i] != '"' || high != 0 {
		return d.unusualString(f, p, row)
	}
	f.col.Bytes[row] = b[p+1 : i : i]
	f.col.Valid[row] = true
	return i + 1
}

// unusualString is string for one with escapes, other alphabets or faults.
func (d *JSON) unusualString(f *field, p, row int) int {
	t, end, escaped := d.text(f.path, p)
	if end < 0 {
		return -1
	}
	if escaped {
		t = d.keep(t)
	}
	f.col.Bytes[row] = t
	f.col.Valid[row] = true
	return end
}

// json reads the value at p, whatever it is, as its text.
func (d *JSON) json(f *field, p, row int) int {
	if d.b[p] == 'n' {
		f.nullAt = p
		return d.literal(f.path, p, "null")
	}
	end := d.skip(f.path, f.depth, p)
	if end < 0 {
		return -1
	}
	f.col.Bytes[row] = d.b[p:end:end]
	f.col.Valid[row] = true
	return end
}

// quoted reads the string at p into a column of another type.
func (d *JSON) quoted(f *field, p, row int) int {
	if !f.textual {
		return d.failExpected(f, p, f.literals())
	}
	t, end, _ := d.text(f.path, p)
	if end < 0 {
		return -1
	}
	return d.parse(f, t, p, end, row)
}

// parse reads the text t of a string or map key, which stands from p to end, by the field's type.
func (d *JSON) parse(f *field, t []byte, p, end, row int) int {
	var n int
	switch f.kind {
	case record.KindInt, record.KindLong:
		n = d.integer(f, t, 0, row)
	case record.KindFloat, record.KindDouble:
		n = d.float(f, t, 0, row)
	case record.KindDecimal:
		n = d.decimal(f, t, 0, row)
	case record.KindBoolean:
		n = d.boolean(f, t, 0, row)
	case record.KindDate, record.KindTime:
		n = d.dateOrTime(f, t, row)
	case record.KindTimestamp, record.KindTimestampTZ, record.KindTimestampNs, record.KindTimestampTZNs:
		n = d.timestamp(f, t, row)
	case record.KindUUID:
		n = d.uuid(f, t, row)
	default:
		n = d.base64(f, t, row)
	}
	if n < 0 {
		d.fault.at = p
		return -1
	}
	if n < len(t) {
		return d.failText(f, p, t, "text after the value")
	}
	return end
}

// boolean reads true or false at p. Which of the two cannot be predicted, so that there is no branch on it.
func (d *JSON) boolean(f *field, b []byte, p, row int) int {
	var yes, no bool
	if len(b)-p >= wordBytes {
		x := word(b, p)
		yes, no = x<<32 == trueWord<<32, x<<24 == falseWord<<24
	} else {
		yes, no = hasLiteral(b, p, "true"), hasLiteral(b, p, "false")
	}
	if !yes && !no {
		return d.fail(f.path, p, "expected true or false, found "+describe(b, p))
	}
	f.col.Bools[row] = yes
	f.col.Valid[row] = true
	p += len("true")
	if no {
		p++
	}
	return p
}

// The literals as words, the first letter lowest.
const (
	trueWord  = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	falseWord = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
)

// literals names the JSON values that fill the field.
func (f *field) literals() string {
	switch f.kind {
	case record.KindBoolean:
		return "true or false"
	case record.KindList:
		return "an array"
	case record.KindStruct, record.KindMap:
		return "an object"
	case record.KindString, record.KindUUID, record.KindFixed, record.KindBinary:
		return "a string"
	default:
		if f.textual {
			return "a number or a string"
		}
		return "a number"
	}
}

// literal steps over the literal s, which must stand at p.
func (d *JSON) literal(path string, p int, s string) int {
	if !hasLiteral(d.b, p, s) {
		return d.fail(path, p, "expected a value, found "+describe(d.b, p))
	}
	return p + len(s)
}

func hasLiteral(b []byte, p int, s string) bool {
	return len(b)-p >= len(s) && string(b[p:p+len(s)]) == s
}
