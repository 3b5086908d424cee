package gen

import (
	"encoding/binary"
	"math/bits"
)

// random is the generator wyrand (Wang Yi, wyhash, public domain): eight bytes of state, one wide multiplication a
// number, good for tests of statistics and not for secrets. It has one owner.
type random struct{ state uint64 }

const (
	wyrandStep = 0xa0761d6478bd642f
	wyrandMask = 0xe7037ed1a0b428db
)

// newRandom seeds a generator for a worker. The workers' states are scattered over the orbit of 2^64 by mixing, so
// that their sequences do not meet in practice.
func newRandom(seed uint64, worker int) random {
	r := random{state: seed}
	mixed := r.next() ^ uint64(worker)*0x9e3779b97f4a7c15
	r = random{state: mixed}
	return random{state: r.next()}
}

func (r *random) next() uint64 {
	r.state += wyrandStep
	hi, lo := bits.Mul64(r.state, r.state^wyrandMask)
	return hi ^ lo
}

// below is a number from 0 to n-1, every one exactly as likely (Lemire, Fast Random Integer Generation in an
// Interval, 2019). n is not 0.
func (r *random) below(n uint64) uint64 {
	hi, lo := bits.Mul64(r.next(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(r.next(), n)
		}
	}
	return hi
}

// between is a number from low to high, both inclusive; low <= high.
func (r *random) between(low, high int64) int64 {
	span := uint64(high) - uint64(low) + 1
	if span == 0 {
		return int64(r.next())
	}
	return int64(uint64(low) + r.below(span))
}

// float64 is at least 0 and below 1, in steps of 2^-53.
func (r *random) float64() float64 { return float64(r.next()>>11) / (1 << 53) }

// float32 is at least 0 and below 1, in steps of 2^-24.
func (r *random) float32() float32 { return float32(r.next()>>40) / (1 << 24) }

func pick[T any](r *random, from []T) T { return from[r.below(uint64(len(from)))] }

const (
	alphaLetters        = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	alphaNumericLetters = alphaLetters + "0123456789"
)

// alphabet is a table of all pairs of its letters, so that text is made two letters at a time from 8 KiB that stay in
// the first-level cache. At most 64 letters.
type alphabet struct {
	pairs     [4096]uint16 // little-endian, the first radix entries are set
	radix     uint64       // pairs in use: letters squared
	threshold uint64       // 2^64 mod radix^4, see fill
}

func newAlphabet(letters string) *alphabet {
	n := len(letters)
	a := &alphabet{radix: uint64(n * n)}
	for i := range n * n {
		a.pairs[i] = uint16(letters[i/n]) | uint16(letters[i%n])<<8
	}
	words := a.radix * a.radix * a.radix * a.radix // at most 64^8 = 2^48
	a.threshold = -words % words
	return a
}

// fill overwrites p with letters, each exactly as likely.
//
// A word of 64 random bits is read as a fraction; multiplying it by the radix moves one pair's index out of its top,
// four times. That is the same as multiplying once by radix^4 and splitting the result in digits, so Lemire's test on
// what is left (see below) makes it exact; it throws away one word of about 100,000.
func (r *random) fill(p []byte, a *alphabet) {
	state := r.state
	radix := a.radix
	for len(p) >= 8 {
		state += wyrandStep
		hi, lo := bits.Mul64(state, state^wyrandMask)
		i, f := bits.Mul64(hi^lo, radix)
		j, f := bits.Mul64(f, radix)
		k, f := bits.Mul64(f, radix)
		l, f := bits.Mul64(f, radix)
		if f < a.threshold {
			continue
		}
		binary.LittleEndian.PutUint64(p, uint64(a.pairs[i&4095])|uint64(a.pairs[j&4095])<<16|
			uint64(a.pairs[k&4095])<<32|uint64(a.pairs[l&4095])<<48)
		p = p[8:]
	}
	r.state = state
	if len(p) > 0 {
		var last [8]byte
		r.fill(last[:], a)
		copy(p, last[:])
	}
}

const hexDigits = "0123456789abcdef"

// appendHex appends n random bytes as two lower-case digits each.
func (r *random) appendHex(dst []byte, n int) []byte {
	for ; n > 0; n -= 8 {
		word := r.next()
		for range min(n, 8) {
			dst = append(dst, hexDigits[word>>4&15], hexDigits[word&15])
			word >>= 8
		}
	}
	return dst
}
