package literal

import "encoding/binary"

// streamBytesMax is what appendStream takes for n bytes at most.
func streamBytesMax(n int) int { return n*lengthMax/8 + 16 }

// putStream writes the codes of src to out, last byte first, with the mark at the end (RFC 8878 section 4.2.2). It
// returns the bytes written, and false when a byte has no code. Out must have room for streamBytesMax.
func (t *Table) putStream(out, src []byte) (int, bool) {
	switch {
	case t.pairs == nil:
		return t.putSingles(out, src, 0, 0, hasCode)
	case t.longest <= lengthSoft:
		return t.putPairs3(out, src)
	default:
		return t.putPairs2(out, src)
	}
}

// putPairs3 takes six bytes at a time, of 54 bits at most. All that does not depend on the place in the output is done
// before what does, so that it runs beside the six bytes before.
func (t *Table) putPairs3(out, src []byte) (int, bool) {
	pairs := t.pairs
	var bits uint64
	var n uint32
	all, k := uint32(hasCode), 0
	for len(src) >= 8 {
		v := binary.LittleEndian.Uint64(src[len(src)-8:])
		src = src[:len(src)-6]
		a, b, c := pairs[uint16(v>>48)], pairs[uint16(v>>32)], pairs[uint16(v>>16)]
		all &= a & b & c
		la := a >> lengthShift & lengthMask
		lb := la + b>>lengthShift&lengthMask
		lc := lb + c>>lengthShift&lengthMask
		code := uint64(a&codeMask) | uint64(b&codeMask)<<(la&63) | uint64(c&codeMask)<<(lb&63)
		bits |= code << (n & 63)
		binary.LittleEndian.PutUint64(out[k:], bits)
		n += lc
		k += int(n >> 3)
		bits >>= n & 56
		n &= 7
	}
	m, ok := t.putSingles(out[k:], src, bits, n, all)
	return k + m, ok
}

// putPairs2 takes four bytes at a time, of 44 bits at most.
func (t *Table) putPairs2(out, src []byte) (int, bool) {
	pairs := t.pairs
	var bits uint64
	var n uint32
	all, k := uint32(hasCode), 0
	for len(src) >= 4 {
		v := binary.LittleEndian.Uint32(src[len(src)-4:])
		src = src[:len(src)-4]
		a, b := pairs[uint16(v>>16)], pairs[uint16(v)]
		all &= a & b
		la := a >> lengthShift & lengthMask
		code := uint64(a&codeMask) | uint64(b&codeMask)<<(la&63)
		bits |= code << (n & 63)
		binary.LittleEndian.PutUint64(out[k:], bits)
		n += la + b>>lengthShift&lengthMask
		k += int(n >> 3)
		bits >>= n & 56
		n &= 7
	}
	m, ok := t.putSingles(out[k:], src, bits, n, all)
	return k + m, ok
}

// putSingles goes on after n bits, of fewer than 8, and ends the stream.
func (t *Table) putSingles(out, src []byte, bits uint64, n, all uint32) (int, bool) {
	k := 0
	for ; len(src) >= 4; src = src[:len(src)-4] {
		v := binary.LittleEndian.Uint32(src[len(src)-4:])
		a, b, c, d := t.codes[byte(v>>24)], t.codes[byte(v>>16)], t.codes[byte(v>>8)], t.codes[byte(v)]
		all &= a & b & c & d
		la := a >> lengthShift & lengthMask
		lb := la + b>>lengthShift&lengthMask
		lc := lb + c>>lengthShift&lengthMask
		code := uint64(a&codeMask) | uint64(b&codeMask)<<(la&63) | uint64(c&codeMask)<<(lb&63) | uint64(d&codeMask)<<(lc&63)
		bits |= code << (n & 63)
		binary.LittleEndian.PutUint64(out[k:], bits)
		n += lc + d>>lengthShift&lengthMask
		k += int(n >> 3)
		bits >>= n & 56
		n &= 7
	}
	for i := len(src) - 1; i >= 0; i-- {
		a := t.codes[src[i]]
		all &= a
		bits |= uint64(a&codeMask) << (n & 63)
		n += a >> lengthShift & lengthMask
	}
	bits |= 1 << (n & 63)
	binary.LittleEndian.PutUint64(out[k:], bits)
	return k + int(n/8) + 1, all == hasCode
}
