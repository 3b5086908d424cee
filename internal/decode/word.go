package decode

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Masks for the eight bytes of a word, of which the lowest is the first in the text.
const (
	wordBytes = 8
	ones      = 0x0101010101010101
	highs     = 0x8080808080808080
	zeroes    = ones * '0'
)

// word is the eight bytes of b from p on, which must be there: it is for callers that have compared p with the length,
// once for all the words that they read.
func word(b []byte, p int) uint64 {
	return binary.LittleEndian.Uint64((*[wordBytes]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), p))[:])
}

// special marks, by the high bit of its byte, the first quote, backslash or control character of x; 0 for none. Bits
// above that may be wrong and are not used.
//
// For a word x without a zero byte, (x-ones) &^ x & highs is zero; otherwise its lowest bit marks the first zero byte
// (H. S. Warren, Hacker's Delight, section 6-1).
func special(x uint64) uint64 {
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return (((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((x - ones*' ') &^ x)) & highs
}

// firstByte is the index of the byte that is marked first; 8 for none.
func firstByte(marks uint64) int { return bits.TrailingZeros64(marks) >> 3 }

// digitRun counts the digits at the start of x, a word of text in which each byte is already less '0' (by xor).
//
// Adding 0x76 carries a byte above 9 into its high bit; what overflows changes only bytes behind it.
func digitRun(x uint64) int { return firstByte(((x + ones*0x76) | x) & highs) }

// eightDigits is the number that the bytes of x, each 0 to 9, are the digits of; the lowest byte comes first.
//
// Neighbours are joined to pairs, to fours, and to eight (J. Lemire, Quickly parsing eight digits, 2018).
func eightDigits(x uint64) uint64 {
	x = x*10 + x>>8 // pairs in bytes 0, 2, 4, 6
	const pairs = 0x000000ff000000ff
	const first, second = 100 + 1_000_000<<32, 1 + 10_000<<32
	return ((x&pairs)*first + (x>>16&pairs)*second) >> 32
}

// digits reads decimal digits at p into m, which wraps around when there are too many.
func digits(b []byte, p int, m uint64) (int, uint64) {
	for len(b)-p >= wordBytes {
		x := word(b, p) ^ zeroes
		n := digitRun(x)
		if n < wordBytes {
			return p + n, m*tens[n] + eightDigits(x<<(64-8*n))
		}
		m = m*1e8 + eightDigits(x)
		p += wordBytes
	}
	for p < len(b) && b[p]-'0' <= 9 {
		m = m*10 + uint64(b[p]-'0')
		p++
	}
	return p, m
}
