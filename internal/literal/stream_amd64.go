package literal

import "golang.org/x/sys/cpu"

// Shifts by a register that BMI2 has, and a loop that keeps all in registers, make it take two thirds of the time.
var hasBMI2 = cpu.X86.HasBMI2

// threePairs is threePairsGo.
func (s *stream) threePairs(src []byte, pairs *pairs) []byte {
	if !hasBMI2 || len(src) < pairedBytes {
		return s.threePairsGo(src, pairs)
	}
	_ = s.out[s.at+streamBytesMax(len(src), min(s.longest, pairLengthMax))-1] // the loop below does not check
	left, written, bits, n := threePairsBMI2(&s.out[s.at], &src[0], len(src), pairs, s.bits, uint64(s.n))
	s.at, s.bits, s.n = s.at+written, bits, uint32(n)
	return src[:left]
}

// threePairsBMI2 goes on at out, after n bits, with the codes of src, of so many bytes, all but the first left.
//
//go:noescape
func threePairsBMI2(out, src *byte, bytes int, pairs *pairs, bits, n uint64) (left, written int, bitsLeft, nLeft uint64)
