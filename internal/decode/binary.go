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

// uuidPairs are where the two digits of each byte stand in the text of a UUID.
var uuidPairs = [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

func parseUUID(v, t []byte) bool {
	if len(t) != 36 || t[8] != '-' || t[13] != '-' || t[18] != '-' || t[23] != '-' {
		return false
	}
	var all byte
	for i, p := range uuidPairs {
		hi, lo := hexDigits[t[p]], hexDigits[t[p+1]]
		v[i] = hi<<4 | lo
		all |= hi | lo
	}
	return all < notHex
}

// notHex is what hexDigits has for a byte that is no hexadecimal digit.
const notHex = 0x10

// hexDigits is the value of each hexadecimal digit. Whether one is a letter cannot be predicted, so that it is looked
// up.
var hexDigits = func() (table [256]byte) {
	for c := range table {
		table[c] = notHex
	}
	for i := range byte(16) {
		table["0123456789abcdef"[i]], table["0123456789ABCDEF"[i]] = i, i
	}
	return table
}()

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
