package bigquery

import (
	"encoding/binary"
	"math/bits"
)

// wide is an integer of 256 bits, the lowest word first. BigQuery's decimals are such integers: NUMERIC counts
// 10^-9 and BIGNUMERIC 10^-38, in two's complement.
type wide [4]uint64

// tens are the powers of ten that fit a word.
var tens = func() (t [tensMax + 1]uint64) {
	t[0] = 1
	for i := range tensMax {
		t[i+1] = t[i] * 10
	}
	return t
}()

const tensMax = 19

// timesPlus sets w to w*factor + addend, and returns what does not fit it.
func (w *wide) timesPlus(factor, addend uint64) (over uint64) {
	for i := range w {
		hi, lo := bits.Mul64(w[i], factor)
		var carry uint64
		w[i], carry = bits.Add64(lo, addend, 0)
		addend = hi + carry
	}
	return addend
}

// negate sets w to -w.
func (w *wide) negate() {
	carry := uint64(1)
	for i := range w {
		w[i], carry = bits.Add64(^w[i], 0, carry)
	}
}

// wideBytesMax is the length of the longest one that append makes.
const wideBytesMax = 32

// append adds the bytes of w, the lowest first, as few as keep its sign. It is what java-bigquerystorage's
// BigDecimalByteStringEncoder makes, the API's own form of decimals.
func (w *wide) append(buf []byte) []byte {
	for _, word := range w {
		buf = binary.LittleEndian.AppendUint64(buf, word)
	}
	sign := byte(int8(buf[len(buf)-1]) >> 7)
	n := len(buf) - 1
	for end := len(buf) - wideBytesMax; n > end && buf[n] == sign && (buf[n-1]^sign)&0x80 == 0; {
		n--
	}
	return buf[:n+1]
}

// parse sets w to the number that is the text of a JSON value, in units of 10^-scale, and returns why it is none of at
// most that many digits before the point and of scale digits after it.
func (w *wide) parse(t []byte, whole, scale int) (reason string) {
	*w = wide{}
	n, ok := splitNumber(t)
	if !ok {
		return "it is no number"
	}
	digits := len(n.whole) + len(n.fraction)
	// The digits, read as an integer, are to be multiplied by 10^shift.
	shift := n.exponent - len(n.fraction) + scale
	at := func(i int) byte {
		if i < len(n.whole) {
			return n.whole[i]
		}
		return n.fraction[i-len(n.whole)]
	}
	first := 0
	for first < digits && at(first) == '0' {
		first++
	}
	if first == digits {
		return ""
	}
	for ; shift < 0; shift++ {
		if digits--; digits < first || at(digits) != '0' {
			return "it has too many digits after the point"
		}
	}
	if digits-first+shift > whole+scale {
		return "it has too many digits before the point"
	}
	for i := first; i < digits; i++ {
		w.timesPlus(10, uint64(at(i)-'0'))
	}
	for ; shift > 0; shift-- {
		w.timesPlus(10, 0)
	}
	return w.signed(n.negative)
}

// signed gives w its sign.
func (w *wide) signed(negative bool) (reason string) {
	const signBit = 1 << 63
	lowest := *w == wide{0, 0, 0, signBit}
	if w[3] >= signBit && (!negative || !lowest) {
		return "it is out of range"
	}
	if negative {
		w.negate()
	}
	return ""
}

// numberText is a number taken apart.
type numberText struct {
	negative        bool
	whole, fraction []byte // digits
	exponent        int
}

// exponentMax is far beyond what a number of any use has; a larger one counts as it.
const exponentMax = 1 << 20

// splitNumber reads all of t as a number, or as a number in quotes.
func splitNumber(t []byte) (n numberText, ok bool) {
	if len(t) >= 2 && t[0] == '"' && t[len(t)-1] == '"' {
		t = t[1 : len(t)-1]
	}
	if len(t) > 0 && t[0] == '-' {
		n.negative = true
		t = t[1:]
	}
	n.whole, t = leadingDigits(t)
	if len(n.whole) == 0 {
		return n, false
	}
	if len(t) > 0 && t[0] == '.' {
		if n.fraction, t = leadingDigits(t[1:]); len(n.fraction) == 0 {
			return n, false
		}
	}
	if len(t) == 0 {
		return n, true
	}
	if t[0]|0x20 != 'e' {
		return n, false
	}
	t = t[1:]
	down := len(t) > 0 && t[0] == '-'
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		t = t[1:]
	}
	digits, rest := leadingDigits(t)
	for _, d := range digits {
		n.exponent = min(n.exponent*10+int(d-'0'), exponentMax)
	}
	if down {
		n.exponent = -n.exponent
	}
	return n, len(digits) > 0 && len(rest) == 0
}

func leadingDigits(t []byte) (digits, rest []byte) {
	n := 0
	for n < len(t) && t[n]-'0' <= 9 {
		n++
	}
	return t[:n], t[n:]
}
