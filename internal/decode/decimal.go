package decode

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// tens are the powers of ten that fit a uint64.
var tens = [digitsMax + 1]uint64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// decimal reads the number at p exactly.
func (d *JSON) decimal(f *field, b []byte, p, row int) int {
	n, end := parseShort(b, p)
	if end == 0 {
		if n, end = parseNumber(b, p); end < 0 {
			return d.failNumber(f, b, p)
		}
	}
	hi, lo, why := n.unscaled(b[p:end], f.typ.Precision, f.typ.Scale)
	if why != "" {
		return d.fail(f.path, p, fmt.Sprintf("%s does not fit %s: %s", excerptNumber(b[p:end]), f.typeText, why))
	}
	if n.negative {
		var carry uint64
		lo, carry = bits.Add64(^lo, 1, 0)
		hi = ^hi + carry
	}
	if f.typ.Precision <= 18 {
		f.col.Ints64[row] = int64(lo)
	} else {
		v := f.col.FixedAt(row)
		binary.BigEndian.PutUint64(v, hi)
		binary.BigEndian.PutUint64(v[8:], lo)
	}
	f.col.Valid[row] = true
	return end
}

// unscaled is the absolute value, whose text is t, in units of 10^-scale; or why there is none of that precision.
func (n number) unscaled(t []byte, precision, scale int) (hi, lo uint64, why string) {
	if n.exact && n.mantissa == 0 {
		return 0, 0, ""
	}
	// The digits of t, read as an integer, are to be multiplied by 10^shift.
	shift := n.exponent + scale
	if n.exact && shift >= 0 && shift <= digitsMax {
		hi, lo = bits.Mul64(n.mantissa, tens[shift])
		if precision <= digitsMax && hi == 0 && lo < tens[precision] {
			return 0, lo, ""
		}
	}
	t = mantissaText(t)
	count := significant(t)
	if shift < 0 && trailingZeros(t) < -shift {
		return 0, 0, fmt.Sprintf("more than %d digits after the point", scale)
	}
	if count+shift > precision {
		return 0, 0, fmt.Sprintf("more than %d digits before the point", precision-scale)
	}
	hi, lo = accumulate(t, count+min(shift, 0))
	for ; shift > 0; shift-- {
		hi, lo = timesTen(hi, lo, 0)
	}
	return hi, lo, ""
}

// mantissaText is t without sign and exponent.
func mantissaText(t []byte) []byte {
	if t[0] == '-' {
		t = t[1:]
	}
	for i, c := range t {
		if c|0x20 == 'e' {
			return t[:i]
		}
	}
	return t
}

// trailingZeros counts the zeros at the end of t, which has a digit that is not zero.
func trailingZeros(t []byte) int {
	n := 0
	for i := len(t) - 1; t[i] == '0' || t[i] == '.'; i-- {
		if t[i] == '0' {
			n++
		}
	}
	return n
}

// accumulate is the first n significant digits of t as an integer below 10^38.
func accumulate(t []byte, n int) (hi, lo uint64) {
	started := false
	for _, c := range t {
		if c == '.' || !started && c == '0' {
			continue
		}
		if n == 0 {
			break
		}
		started = true
		hi, lo = timesTen(hi, lo, uint64(c-'0'))
		n--
	}
	return hi, lo
}

// timesTen is hi:lo * 10 + digit.
func timesTen(hi, lo, digit uint64) (uint64, uint64) {
	over, lo := bits.Mul64(lo, 10)
	lo, carry := bits.Add64(lo, digit, 0)
	return hi*10 + over + carry, lo
}
