package decode

import "math/bits"

// marks tell of each byte of a record whether it ends a run of plain text in a string: a quote, a backslash or a
// control character. One bit stands for a byte, the lowest bit first, and one more, which is set, for the end of the
// record. Strings are scanned when they are met where there is no fast way to make marks.
type marks struct {
	bits []uint64 // none when they were not made
	high uint64   // not zero when the record may hold invalid UTF-8
}

// marking says whether marks are made. Tests change it, since the values must be the same without.
var marking = hasAVX2

// markBytes is what one word of marks is for.
const markBytes = 64

// next is the position of the first mark at or after p, which is at most at the end of the record.
func (m *marks) next(p int) int {
	i := p / markBytes
	b := m.bits[i] >> (uint(p) % markBytes) << (uint(p) % markBytes)
	for b == 0 {
		i++
		b = m.bits[i]
	}
	return i*markBytes + bits.TrailingZeros64(b)
}
