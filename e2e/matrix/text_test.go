package matrix

import (
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf16"

	"firn/internal/record"
)

// The text of a row is a JSON array of its columns, of a struct one of its fields, of a list one of its elements, of a
// map one of [key, value]; null is null. A boolean is true or false, a whole number, date, time or timestamp the
// integer that is stored, a decimal its unscaled value, a float or double the bits of the double in hexadecimal or
// "nan", a string a JSON string in ASCII, and binary, fixed and uuid hexadecimal. There is no white space.

// rowText is the text of row i of columns, without a line feed, with "-" for columns of a type that is not wanted.
func rowText(columns []record.Column, i int, wanted func(*record.Type) bool) []byte {
	out := []byte{'['}
	for j := range columns {
		out = separated(out, j)
		if wanted(&columns[j].Field.Type) {
			out = appendColumn(out, &columns[j], i)
		} else {
			out = append(out, `"-"`...)
		}
	}
	return append(out, ']')
}

// separated adds the comma before element i.
func separated(out []byte, i int) []byte {
	if i > 0 {
		out = append(out, ',')
	}
	return out
}

func appendColumn(out []byte, c *record.Column, i int) []byte {
	if !c.Valid[i] {
		return append(out, "null"...)
	}
	t := &c.Field.Type
	switch t.Kind {
	case record.KindBoolean:
		return strconv.AppendBool(out, c.Bools[i])
	case record.KindInt, record.KindDate:
		return strconv.AppendInt(out, int64(c.Ints32[i]), 10)
	case record.KindFloat:
		return appendFloat(out, float64(c.Floats32[i]))
	case record.KindDouble:
		return appendFloat(out, c.Floats64[i])
	case record.KindString:
		return appendString(out, c.Bytes[i])
	case record.KindBinary:
		return appendHex(out, c.Bytes[i])
	case record.KindUUID, record.KindFixed:
		return appendHex(out, c.FixedAt(i))
	case record.KindStruct:
		out = append(out, '[')
		for j := range c.Children {
			out = appendColumn(separated(out, j), &c.Children[j], i)
		}
		return append(out, ']')
	case record.KindList, record.KindMap:
		return appendElements(out, c, int(c.Offsets[i]), int(c.Offsets[i+1]))
	}
	if t.Width() > 0 {
		return bigOf(c.FixedAt(i)).Append(out, 10)
	}
	return strconv.AppendInt(out, c.Ints64[i], 10)
}

func appendElements(out []byte, c *record.Column, from, to int) []byte {
	out = append(out, '[')
	for k := from; k < to; k++ {
		out = separated(out, k-from)
		if c.Field.Type.Kind == record.KindList {
			out = appendColumn(out, &c.Children[0], k)
			continue
		}
		out = appendColumn(append(out, '['), &c.Children[0], k)
		out = append(appendColumn(append(out, ','), &c.Children[1], k), ']')
	}
	return append(out, ']')
}

func appendFloat(out []byte, v float64) []byte {
	if math.IsNaN(v) {
		return append(out, `"nan"`...)
	}
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for shift := 60; shift >= 0; shift -= 4 {
		out = append(out, digits[math.Float64bits(v)>>shift&15])
	}
	return append(out, '"')
}

func appendHex(out, v []byte) []byte {
	return append(hex.AppendEncode(append(out, '"'), v), '"')
}

// appendString escapes as Python's json.dumps does.
func appendString(out, v []byte) []byte {
	const short, letters = "\"\\\b\f\n\r\t", `"\bfnrt`
	out = append(out, '"')
next:
	for _, c := range string(v) {
		for i := range short {
			if rune(short[i]) == c {
				out = append(out, '\\', letters[i])
				continue next
			}
		}
		if c >= ' ' && c <= '~' {
			out = append(out, byte(c))
			continue
		}
		for _, unit := range utf16.AppendRune(nil, c) {
			out = append(out, `\u`...)
			out = hex.AppendEncode(out, []byte{byte(unit >> 8), byte(unit)})
		}
	}
	return append(out, '"')
}
