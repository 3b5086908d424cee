package decode

import (
	"math"
	"math/big"
	"math/bits"
)

// powerMax bounds the exponents that nearest takes.
const powerMax = 64

// power is a power of ten as a number of 128 bits of which the highest is set, cut off below.
type power struct{ hi, lo uint64 }

// powers are those of ten, from -powerMax on.
var powers = powersOfTen()

func powersOfTen() (table [2*powerMax + 1]power) {
	for i := range table {
		e := i - powerMax
		v := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil)
		if e < 0 {
			v.Quo(new(big.Int).Lsh(big.NewInt(1), 6*64), v) // 10^64 has 213 bits
		}
		if n := v.BitLen(); n > 128 {
			v.Rsh(v, uint(n-128))
		} else {
			v.Lsh(v, uint(128-n))
		}
		table[i] = power{new(big.Int).Rsh(v, 64).Uint64(), v.Uint64()}
	}
	return table
}

// nearest is the float64 nearest to mantissa times ten to the exponent, or false where the first 128 bits of the power
// of ten do not tell (D. Lemire, Number parsing at a gigabyte per second, 2021; the steps are those of N. Tao, The
// Eisel-Lemire ParseNumberF64 Algorithm, 2020). No exponent that it takes leads to a subnormal or infinite number.
func nearest(mantissa uint64, exponent int) (float64, bool) {
	if mantissa == 0 || uint(exponent+powerMax) > 2*powerMax {
		return 0, false
	}
	ten := powers[exponent+powerMax]
	zeros := bits.LeadingZeros64(mantissa)
	mantissa <<= zeros
	hi, lo := bits.Mul64(mantissa, ten.hi)
	if hi&0x1ff == 0x1ff && lo+mantissa < mantissa { // what was cut off may carry into the bits that count
		more, least := bits.Mul64(mantissa, ten.lo)
		var carry uint64
		lo, carry = bits.Add64(lo, more, 0)
		hi += carry
		if hi&0x1ff == 0x1ff && lo+1 == 0 && least+mantissa < mantissa {
			return 0, false
		}
	}
	top := hi >> 63
	m := hi >> (top + 9) // 54 bits
	if lo == 0 && hi&0x1ff == 0 && m&3 == 1 {
		return 0, false // perhaps halfway between two
	}
	m = (m + m&1) >> 1
	const bias, log2of10 = 1023, 217706 // the latter is log2(10) times 2^16
	e := uint64(exponent*log2of10>>16+64+bias-zeros) - (1 ^ top)
	if m>>53 > 0 {
		m >>= 1
		e++
	}
	return math.Float64frombits(e<<52 | m&(1<<52-1)), true
}
