package decode

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"firn/internal/record"
)

// uuid reads t as 8-4-4-4-12 hexadecimal digits of either case (RFC 9562 section 4).
func (d *JSON) uuid(f *field, t []byte, row int) int {
	v := f.col.FixedAt(row)
	if !parseUUID(v, t) {
		return d.failText(f, 0, t, "write it as 8-4-4-4-12 hexadecimal digits")
	}
	f.col.Valid[row] = true
	return len(t)
}

func parseUUID(v, t []byte) bool {
	if len(t) != 36 {
		return false
	}
	n := 0
	for i := 0; i < len(t); {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if t[i] != '-' {
				return false
			}
			i++
		}
		hi, ok1 := hexDigit(t[i])
		lo, ok2 := hexDigit(t[i+1])
		if !ok1 || !ok2 {
			return false
		}
		v[n] = hi<<4 | lo
		n, i = n+1, i+2
	}
	return true
}

// strictBase64 demands that the unused bits of the last character are zero: one text for each value.
var strictBase64 = base64.StdEncoding.Strict()

// base64 reads t into a fixed or binary column.
func (d *JSON) base64(f *field, t []byte, row int) int {
	const form = "write it in base64, with padding"
	if bytes.ContainsAny(t, "\r\n") { // which the decoder would skip
		return d.failText(f, 0, t, form)
	}
	v := d.reserve(strictBase64.DecodedLen(len(t)))
	n, err := strictBase64.Decode(v, t)
	if err != nil {
		return d.failText(f, 0, t, form)
	}
	v = v[:n:n]
	if f.kind == record.KindBinary {
		f.col.Bytes[row] = v
	} else if n != f.typ.Length {
		return d.failText(f, 0, t, fmt.Sprintf("it holds %d bytes", n))
	} else {
		copy(f.col.FixedAt(row), v)
	}
	f.col.Valid[row] = true
	return len(t)
}
