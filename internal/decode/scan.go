package decode

import "math/bits"

// scan is the position of the first quote, backslash or control character at or after p, or the length of the record;
// high is not zero when the bytes before it may not be valid UTF-8.
func (d *JSON) scan(p int) (i int, high uint64) {
	if i := uint(p) / markBytes; i < uint(len(d.marks.bits)) {
		if m := d.marks.bits[i] >> (uint(p) % markBytes); m != 0 {
			return p + bits.TrailingZeros64(m), d.marks.high
		}
	}
	return d.scanOn(p)
}

// scanOn is scan without its shortcut, a mark in the same word.
func (d *JSON) scanOn(p int) (i int, high uint64) {
	if len(d.marks.bits) > 0 {
		return d.marks.next(p), d.marks.high
	}
	return scanWords(d.b, p)
}

// scanWords is the position of the first quote, backslash or control character at or after p, or len(b); high is not
// zero when a byte of 0x80 or more stands before it.
func scanWords(b []byte, p int) (i int, high uint64) {
	for ; len(b)-p >= wordBytes; p += wordBytes {
		x := word(b, p)
		if found := special(x); found != 0 {
			n := firstByte(found)
			return p + n, high | x&(1<<(8*n)-1)&highs
		}
		high |= x & highs
	}
	for ; p < len(b); p++ {
		c := b[p]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		high |= uint64(c & 0x80)
	}
	return p, high
}
