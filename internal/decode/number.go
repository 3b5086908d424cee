package decode

import (
	"fmt"
	"math"

	"firn/internal/record"
)

// number is a JSON number taken apart: mantissa times ten to the exponent.
type number struct {
	mantissa uint64
	exponent int
	exact    bool // mantissa holds all digits
	negative bool
	integer  bool // neither fraction nor exponent was written
}

const (
	// digitsMax is how many decimal digits always fit a uint64.
	digitsMax = 19
	// exponentMax bounds written exponents. It is far beyond what any column takes, and still sums without overflow
	// with the length of a text.
	exponentMax = 1 << 29
)

// parseShort is parseNumber for the most usual form, up to 7 digits on both sides of a point and 24 bytes of text. The
// end is 0 when the number is not written like that.
func parseShort(b []byte, p int) (n number, end int) {
	if len(b)-p < 3*wordBytes {
		return n, 0
	}
	if b[p] == '-' {
		n.negative = true
		p++
	}
	x := word(b, p) ^ zeroes
	whole := digitRun(x)
	point := p + whole
	if uint(whole-1) > 6 || b[point] != '.' || b[p] == '0' && whole > 1 {
		return n, 0
	}
	y := word(b, point+1) ^ zeroes
	parts := digitRun(y)
	end = point + 1 + parts
	if uint(parts-1) > 6 || b[end]|0x20 == 'e' {
		return n, 0
	}
	n.mantissa = eightDigits(x<<((64-8*whole)&63))*tens[parts&7] + eightDigits(y<<((64-8*parts)&63))
	n.exponent = -parts
	n.exact = true
	return n, end
}

// parseNumber reads the number at p by the grammar of RFC 8259 section 6. The end is -1 when there is none.
func parseNumber(b []byte, p int) (n number, end int) {
	if p < len(b) && b[p] == '-' {
		n.negative = true
		p++
	}
	first := p
	p, n.mantissa = digits(b, p, 0)
	if p == first || b[first] == '0' && p > first+1 {
		return n, -1
	}
	count := p - first
	n.integer = true
	if p < len(b) && b[p] == '.' {
		point := p + 1
		p, n.mantissa = digits(b, point, n.mantissa)
		if p == point {
			return n, -1
		}
		n.integer = false
		n.exponent = point - p
		count += p - point
	}
	n.exact = count <= digitsMax || significant(b[first:p]) <= digitsMax
	if p < len(b) && b[p]|0x20 == 'e' {
		n.integer = false
		var e int
		if e, p = parseExponent(b, p+1); p < 0 {
			return n, -1
		}
		n.exponent += e
	}
	return n, p
}

// significant counts the digits of t after its leading zeros.
func significant(t []byte) int {
	n := 0
	for _, c := range t {
		if c != '.' && (n > 0 || c != '0') {
			n++
		}
	}
	return n
}

func parseExponent(b []byte, p int) (e, end int) {
	negative := p < len(b) && b[p] == '-'
	if p < len(b) && (b[p] == '+' || b[p] == '-') {
		p++
	}
	first := p
	for p < len(b) && b[p]-'0' <= 9 {
		e = min(e*10+int(b[p]-'0'), exponentMax)
		p++
	}
	if p == first {
		return 0, -1
	}
	if negative {
		e = -e
	}
	return e, p
}

// integer reads the integer literal at p.
func (d *JSON) integer(f *field, b []byte, p, row int) int {
	first := p
	if p < len(b) && b[p] == '-' {
		first++
	}
	var u uint64
	end := first
	if len(b)-first >= wordBytes { // as in digits, to save its call
		x := word(b, first) ^ zeroes
		n := digitRun(x)
		u = eightDigits(x << ((64 - 8*n) & 63))
		end += n
	}
	if end-first == wordBytes || end == first {
		end, u = digits(b, end, u)
	}
	n := end - first
	if n == 0 || n > digitsMax || n > 1 && b[first] == '0' || end < len(b) && (b[end] == '.' || b[end]|0x20 == 'e') {
		return d.failInteger(f, b, p)
	}
	v, bound := int64(u), uint64(math.MaxInt64)
	if first > p {
		v, bound = -v, 1<<63
	}
	if u > bound || v < f.low || v > f.high {
		return d.failInteger(f, b, p)
	}
	if f.kind == record.KindInt || f.kind == record.KindDate {
		f.col.Ints32[row] = int32(v)
	} else {
		f.col.Ints64[row] = v * f.scale
	}
	f.col.Valid[row] = true
	return end
}

func (d *JSON) failInteger(f *field, b []byte, p int) int {
	n, end := parseNumber(b, p)
	switch {
	case end < 0:
		return d.failNumber(f, b, p)
	case !n.integer:
		return d.fail(f.path, p, fmt.Sprintf("%s has a fraction or exponent, and %s takes integers",
			excerptNumber(b[p:end]), f.typeText))
	default:
		return d.fail(f.path, p, fmt.Sprintf("%s does not fit %s (%d to %d)",
			excerptNumber(b[p:end]), f.typeText, f.low, f.high))
	}
}

// failNumber says why there is no number at p.
func (d *JSON) failNumber(f *field, b []byte, p int) int {
	if p >= len(b) || b[p] != '-' && b[p]-'0' > 9 {
		return d.fail(f.path, p, fmt.Sprintf("expected %s for %s, found %s", f.literals(), f.typeText, describe(b, p)))
	}
	return d.fail(f.path, p, "malformed number (leading zero, or digits missing)")
}
