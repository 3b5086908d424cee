package decode

import (
	"encoding/binary"
	"math/bits"
)

// Masks for eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// scanWords is the position of the first quote, backslash or control character at or after p, or len(b); high is not
// zero when a byte of 0x80 or more stands before it.
//
// For a word x without a zero byte, (x-ones) &^ x & highs is zero; otherwise its lowest bit marks the first zero byte
// (H. S. Warren, Hacker's Delight, section 6-1). Bits above that may be wrong and are not used.
func scanWords(b []byte, p int) (i int, high uint64) {
	for ; p+8 <= len(b); p += 8 {
		x := binary.LittleEndian.Uint64(b[p:])
		quote := x ^ ones*'"'
		slash := x ^ ones*'\\'
		found := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((x - ones*' ') &^ x)
		if found &= highs; found != 0 {
			at := bits.TrailingZeros64(found) &^ 7
			return p + at>>3, high | x&(1<<at-1)&highs
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
