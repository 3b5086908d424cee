package bigquery

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// decimalScale is how many digits a decimal has behind the point.
func decimalScale(k kind) int {
	if k == storagepb.TableFieldSchema_BIGNUMERIC {
		return 38
	}
	return 9
}

// decimalMax is the largest unscaled value of NUMERIC: 38 digits of nine.
var decimalMax = new(big.Int).Sub(power(38), big.NewInt(1))

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// wideBytesMax is the bytes of the widest BIGNUMERIC, numericBytesMax of the widest NUMERIC.
const (
	wideBytesMax    = 32
	numericBytesMax = 16
)

// decimal is a NUMERIC or BIGNUMERIC as an integer in units of its scale. Bytes are that integer in two's complement,
// the lowest byte first (BigDecimalByteStringEncoder of java-bigquerystorage).
func (f *field) decimal(s scalar) (unscaled *big.Int, reason string) {
	scale := decimalScale(f.col.kind)
	switch shapeOf(f.typ) {
	case shapeBytes:
		most := numericBytesMax
		if scale > 9 {
			most = wideBytesMax
		}
		if len(s.bytes) == 0 || len(s.bytes) > most {
			return nil, fmt.Sprintf("invalid %s: %d bytes", kindName(f.col.kind), len(s.bytes))
		}
		unscaled = twosComplement(s.bytes)
	case shapeText:
		unscaled, reason = parseDecimal(string(s.bytes), scale)
	case shapeFloat:
		unscaled, reason = parseDecimal(big.NewFloat(0).SetFloat64(f.finite(s.bits)).Text('f', scale), scale)
	case shapeUnsigned:
		unscaled = new(big.Int).Mul(new(big.Int).SetUint64(s.bits), power(scale))
	default:
		unscaled = new(big.Int).Mul(big.NewInt(f.integer(s.bits)), power(scale))
	}
	if reason != "" {
		return nil, fmt.Sprintf("invalid %s: %s", kindName(f.col.kind), reason)
	}
	return unscaled, f.col.checkDecimal(unscaled)
}

// finite is a float's value; what is none becomes too large for any decimal.
func (f *field) finite(bits uint64) float64 {
	if v := f.float(bits); v-v == 0 {
		return v
	}
	return 1e300
}

func (c *column) checkDecimal(unscaled *big.Int) (reason string) {
	scale := decimalScale(c.kind)
	if scale == 9 && unscaled.CmpAbs(decimalMax) > 0 || unscaled.BitLen() > wideBytesMax*8-1 && !isWideMin(unscaled) {
		return fmt.Sprintf("%s out of range: %s", kindName(c.kind), decimalText(unscaled, scale))
	}
	if c.precision == 0 {
		return ""
	}
	if unscaled.CmpAbs(power(int(c.precision-c.scale)+scale)) >= 0 {
		return fmt.Sprintf("%s(%d, %d) has precision %d and scale %d but got a value that is not in range: %s",
			kindName(c.kind), c.precision, c.scale, c.precision, c.scale, decimalText(unscaled, scale))
	}
	return ""
}

// isWideMin tells whether it is the lowest BIGNUMERIC, which takes as many bits as those that fit.
func isWideMin(unscaled *big.Int) bool {
	return unscaled.Sign() < 0 && unscaled.BitLen() == wideBytesMax*8 && unscaled.TrailingZeroBits() == wideBytesMax*8-1
}

func twosComplement(little []byte) *big.Int {
	b := slices.Clone(little)
	slices.Reverse(b)
	n := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b)*8)))
	}
	return n
}

// exponentMax bounds the exponent of a decimal's text.
const exponentMax = 100

// parseDecimal reads a decimal. Digits beyond the scale are rounded half away from zero, as a cast from STRING does.
func parseDecimal(text string, scale int) (unscaled *big.Int, reason string) {
	mantissa, exponent, has := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "e")
	power10 := 0
	if has {
		var err error
		if power10, err = strconv.Atoi(exponent); err != nil || power10 > exponentMax || power10 < -exponentMax {
			return nil, fmt.Sprintf("%q is no decimal", text)
		}
	}
	r, ok := new(big.Rat).SetString(mantissa)
	if !ok || strings.Trim(mantissa, "+-.0123456789") != "" {
		return nil, fmt.Sprintf("%q is no decimal", text)
	}
	shift := scale + power10
	factor := new(big.Rat).SetInt(power(max(shift, -shift)))
	if shift < 0 {
		factor.Inv(factor)
	}
	r.Mul(r, factor)
	half := new(big.Int).Rsh(r.Denom(), 1)
	n := new(big.Int).Abs(r.Num())
	n.Add(n, half).Quo(n, r.Denom())
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return n, ""
}

// decimalText is the shortest text of a decimal, as queries show it.
func decimalText(unscaled *big.Int, scale int) string {
	digits := new(big.Int).Abs(unscaled).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	point := len(digits) - scale
	text := strings.TrimSuffix(strings.TrimRight(digits[:point]+"."+digits[point:], "0"), ".")
	if unscaled.Sign() < 0 {
		text = "-" + text
	}
	return text
}
