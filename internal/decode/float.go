package decode

import (
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"firn/internal/record"
)

// float reads the number at p.
func (d *JSON) float(f *field, b []byte, p, row int) int {
	n, end := parseShort(b, p)
	if end == 0 {
		if n, end = parseNumber(b, p); end < 0 {
			return d.failNumber(f, b, p)
		}
	}
	var ok bool
	if f.kind == record.KindDouble {
		f.col.Floats64[row], ok = n.double(b[p:end])
	} else {
		f.col.Floats32[row], ok = n.float(b[p:end])
	}
	if !ok {
		return d.fail(f.path, p, fmt.Sprintf("%s does not fit %s", excerptNumber(b[p:end]), f.typeText))
	}
	f.col.Valid[row] = true
	return end
}

// double is the nearest float64 of the number, whose text is t; false when that is infinite.
func (n number) double(t []byte) (float64, bool) {
	if v, ok := n.quick(); ok {
		return v, true
	}
	v, err := strconv.ParseFloat(unsafe.String(&t[0], len(t)), 64)
	return v, err == nil
}

// float is double for float32. Rounding the nearest float64 once more is right unless that lies halfway between two
// float32: only there may the number itself lie on the other side. Subnormal numbers have other halves.
func (n number) float(t []byte) (float32, bool) {
	const rest, half = 1<<29 - 1, 1 << 28
	v, ok := n.quick()
	if a := math.Abs(v); ok && a >= 0x1p-126 && a < math.MaxFloat32 && math.Float64bits(v)&rest != half {
		return float32(v), true
	}
	w, err := strconv.ParseFloat(unsafe.String(&t[0], len(t)), 32)
	return float32(w), err == nil
}

// tens64 are the powers of ten that are exact.
var tens64 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22,
}

// quick is the nearest float64 of most numbers. One operation on exact operands is rounded right (W. D. Clinger, How to
// read floating point numbers accurately, 1990).
func (n number) quick() (v float64, ok bool) {
	if !n.exact {
		return 0, false
	}
	if n.mantissa > 1<<53 || uint(n.exponent+22) > 44 {
		v, ok = nearest(n.mantissa, n.exponent)
	} else if v, ok = float64(int64(n.mantissa)), true; n.exponent < 0 {
		v /= tens64[-n.exponent]
	} else {
		v *= tens64[n.exponent]
	}
	if n.negative {
		v = -v
	}
	return v, ok
}
