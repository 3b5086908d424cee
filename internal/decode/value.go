package decode

import "firn/internal/record"

// value reads the value at p into row of the field's column. The row must be null before.
func (d *JSON) value(f *field, p, row int) int {
	if p >= len(d.b) {
		return d.fail(f.path, p, "expected a value, found the end of the text")
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
		record.KindTimestampTZ, record.KindTimestampNs, record.KindTimestampTZNs:
		return d.integer(f, d.b, p, row)
	case record.KindFloat, record.KindDouble:
		return d.float(f, d.b, p, row)
	case record.KindDecimal:
		return d.decimal(f, d.b, p, row)
	case record.KindBoolean:
		return d.boolean(f, d.b, p, row)
	default:
		return d.failExpected(f, p, f.literals())
	}
}

// quoted reads the string at p.
func (d *JSON) quoted(f *field, p, row int) int {
	if !f.textual {
		return d.failExpected(f, p, f.literals())
	}
	t, end, escaped := d.text(f.path, p)
	if end < 0 {
		return -1
	}
	if f.kind != record.KindString {
		return d.parse(f, t, p, end, row)
	}
	if escaped {
		t = d.keep(t)
	}
	f.col.Bytes[row] = t
	f.col.Valid[row] = true
	return end
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

func (d *JSON) boolean(f *field, b []byte, p, row int) int {
	switch {
	case hasLiteral(b, p, "true"):
		f.col.Bools[row] = true
		p += len("true")
	case hasLiteral(b, p, "false"):
		p += len("false")
	default:
		return d.fail(f.path, p, "expected true or false, found "+describe(b, p))
	}
	f.col.Valid[row] = true
	return p
}

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
