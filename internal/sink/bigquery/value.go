package bigquery

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"unicode/utf8"
)

// members appends the fields of a message: those columns of a struct or of the row that are not null.
func (e *Encoder) members(buf []byte, columns []column, row int) []byte {
	for i := range columns {
		c := &columns[i]
		switch {
		case c.col.Valid[row]:
			buf = e.value(buf, c, row)
		case c.required:
			e.bad(c, "null, but the column is REQUIRED")
		}
	}
	return buf
}

// value appends the value of a column that is not null, tag included. Where the column cannot hold it, what it appends
// is of no use.
func (e *Encoder) value(buf []byte, c *column, row int) []byte {
	switch c.op {
	case opBytes:
		return c.appendBytes(buf, c.col.Bytes[row])
	case opBytesUpTo, opTextUpTo:
		return e.limited(buf, c, row)
	case opFixed:
		return c.appendBytes(buf, c.col.FixedAt(row))
	case opUUID:
		return appendUUID(append(appendVarint(buf, c.tag), uuidBytes), c.col.FixedAt(row))
	case opDecimal:
		return c.appendDecimal(buf, row)
	case opNumberText:
		return e.numberText(buf, c, row)
	case opChangeType, opChangeSequence:
		return e.change(buf, c, row)
	case opStruct:
		return e.message(buf, c, row)
	case opList, opPacked, opMap:
		return e.repeated(buf, c, row)
	default:
		return e.scalar(appendVarint(buf, c.tag), c, row)
	}
}

// scalar appends a number without its tag.
func (e *Encoder) scalar(buf []byte, c *column, row int) []byte {
	switch c.op {
	case opBoolean:
		if c.col.Bools[row] {
			return append(buf, 1)
		}
		return append(buf, 0)
	case opInt:
		return appendVarint(buf, uint64(int64(c.col.Ints32[row])))
	case opLong:
		return appendVarint(buf, uint64(c.col.Ints64[row]))
	case opFloat:
		return binary.LittleEndian.AppendUint64(buf, math.Float64bits(float64(c.col.Floats32[row])))
	case opDouble:
		return binary.LittleEndian.AppendUint64(buf, math.Float64bits(c.col.Floats64[row]))
	case opDate:
		v := c.col.Ints32[row]
		if v < firstDay || v > lastDay {
			e.bad(c, "a date reaches from 0001-01-01 to 9999-12-31")
		}
		return appendVarint(buf, uint64(int64(v)))
	case opTime:
		v := c.col.Ints64[row]
		if uint64(v) >= microsPerDay {
			e.bad(c, "a time of day reaches from 00:00:00 to 23:59:59.999999")
		}
		return appendVarint(buf, civilTime(v))
	default: // the two below: other ops are none of numbers
	}
	v := c.col.Ints64[row]
	if v < firstMicro || v > lastMicro {
		e.bad(c, "a timestamp reaches from 0001-01-01 00:00:00 to 9999-12-31 23:59:59.999999")
		return buf
	}
	if c.op == opDatetime {
		return appendVarint(buf, civilDatetime(v))
	}
	return appendVarint(buf, uint64(v))
}

// appendBytes appends a string or bytes with its tag.
func (c *column) appendBytes(buf, v []byte) []byte {
	buf = appendVarint(buf, c.tag)
	buf = appendVarint(buf, uint64(len(v)))
	return append(buf, v...)
}

// limited appends the bytes of a column with a maximum length.
func (e *Encoder) limited(buf []byte, c *column, row int) []byte {
	v := c.col.Bytes[row]
	if len(v) > c.lengthMax {
		if c.op == opBytesUpTo {
			e.bad(c, "it has more bytes than the column's maximum length")
		} else if utf8.RuneCount(v) > c.lengthMax {
			e.bad(c, "it has more characters than the column's maximum length")
		}
	}
	return c.appendBytes(buf, v)
}

// message appends a struct.
func (e *Encoder) message(buf []byte, c *column, row int) []byte {
	buf = appendVarint(buf, c.tag)
	at := len(buf)
	buf = e.members(reserve(buf, c.lengthBytes), c.children, row)
	buf, c.lengthBytes = setLength(buf, at, c.lengthBytes)
	return buf
}

// repeated appends the elements of a list, or the entries of a map as structs of key and value.
func (e *Encoder) repeated(buf []byte, c *column, row int) []byte {
	from, to := int(c.col.Offsets[row]), int(c.col.Offsets[row+1])
	if from == to {
		return buf
	}
	if c.op == opMap {
		for i := from; i < to; i++ {
			buf = e.message(buf, c, i)
		}
		return buf
	}
	element := &c.children[0]
	for i := from; i < to; i++ {
		if !element.col.Valid[i] {
			e.bad(element, "an array in BigQuery holds no nulls")
			return buf
		}
	}
	if c.op == opList {
		for i := from; i < to; i++ {
			buf = e.value(buf, element, i)
		}
		return buf
	}
	buf = appendVarint(buf, c.tag)
	at := len(buf)
	buf = reserve(buf, c.lengthBytes)
	for i := from; i < to; i++ {
		buf = e.scalar(buf, element, i)
	}
	buf, c.lengthBytes = setLength(buf, at, c.lengthBytes)
	return buf
}

// appendDecimal appends a decimal of either width.
func (c *column) appendDecimal(buf []byte, row int) []byte {
	var w wide
	var negative bool
	if c.col.Field.Type.Width() == 0 {
		v := c.col.Ints64[row]
		if negative = v < 0; negative {
			v = -v
		}
		w[0] = uint64(v)
	} else {
		v := c.col.FixedAt(row)
		w[0], w[1] = binary.BigEndian.Uint64(v[8:]), binary.BigEndian.Uint64(v)
		if negative = int64(w[1]) < 0; negative {
			w[2], w[3] = math.MaxUint64, math.MaxUint64
			w.negate()
		}
	}
	w.timesPlus(c.factors[0], 0)
	if c.factors[1] > 1 {
		w.timesPlus(c.factors[1], 0)
	}
	if negative {
		w.negate()
	}
	return c.appendWide(buf, &w)
}

// appendWide appends a decimal's bytes with their tag. They are at most 32, so that their length takes one byte.
func (c *column) appendWide(buf []byte, w *wide) []byte {
	buf = append(appendVarint(buf, c.tag), 0)
	at := len(buf)
	buf = w.append(buf)
	buf[at-1] = byte(len(buf) - at)
	return buf
}

// numberText appends a decimal that is the text of a JSON value.
func (e *Encoder) numberText(buf []byte, c *column, row int) []byte {
	var w wide
	if reason := w.parse(c.col.Bytes[row], c.whole, c.scale); reason != "" {
		e.bad(c, reason)
	}
	return c.appendWide(buf, &w)
}

// uuidBytes is the length of a UUID's text.
const uuidBytes = 36

// appendUUID appends the text of a UUID, 8-4-4-4-12 hexadecimal digits.
func appendUUID(buf, v []byte) []byte {
	buf = hex.AppendEncode(buf, v[:4])
	for i := 4; i < 10; i += 2 {
		buf = hex.AppendEncode(append(buf, '-'), v[i:i+2])
	}
	return hex.AppendEncode(append(buf, '-'), v[10:])
}
