package literal

import "encoding/binary"

// streamBytesMax is what a stream of n codes takes at most, and what is written beyond its end.
func streamBytesMax(n int, longest uint8) int { return n*int(longest)/8 + 16 }

// stream is a stream of codes that is being written. It is written from the last byte of the source to the first, and
// read from its own end (RFC 8878 section 4.2.2).
type stream struct {
	out     []byte
	at      int    // bytes of out written
	bits    uint64 // the bits after them
	n       uint32 // how many, below 8 between two steps; beyond the low six bits it is to be masked
	all     uint32 // what all forms have in common
	longest uint8  // of the codes
}

// putStream writes the codes of src to out and returns the bytes written, and false when a byte has no code. Out must
// have room for streamBytesMax.
func (t *Table) putStream(out, src []byte, p *pairs) (int, bool) {
	s := stream{out: out, all: hasCode, longest: t.longest}
	if p != nil {
		for src = s.threePairs(src, p); len(src) >= pairedBytes; src = s.threePairs(src, p) {
			s.singles(src[len(src)-6:], &t.codes) // a byte that is not in pairs is among them
			src = src[:len(src)-6]
		}
	}
	s.singles(src, &t.codes)
	return s.end(), s.all&hasCode != 0
}

// pairedBytes are loaded at once, for three pairs.
const pairedBytes = 8

// threePairsGo takes six bytes at a time, of 54 bits at most, and returns what is left: fewer than eight, or those up
// to six with a byte that is not in pairs. All that does not depend on the place in the output is done before what
// does, so that it runs beside the six bytes before.
func (s *stream) threePairsGo(src []byte, pairs *pairs) []byte {
	out, at, bits, n := s.out, s.at, s.bits, s.n
	for len(src) >= pairedBytes {
		v := binary.LittleEndian.Uint64(src[len(src)-pairedBytes:])
		a, b, c := pairs[uint16(v>>48)], pairs[uint16(v>>32)], pairs[uint16(v>>16)]
		if a&b&c&hasCode == 0 {
			break
		}
		src = src[:len(src)-6]
		code := uint64(a>>codeShift) | uint64(b>>codeShift)<<(a&lengthMask) | uint64(c>>codeShift)<<((a+b)&lengthMask)
		bits |= code << (n & lengthMask)
		binary.LittleEndian.PutUint64(out[at:], bits)
		n = (n + a + b + c) & lengthMask
		at += int(n >> 3)
		bits >>= n & 56
		n &= 7
	}
	s.at, s.bits, s.n = at, bits, n
	return src
}

// singles takes a byte at a time, and four where there are as many.
func (s *stream) singles(src []byte, codes *codes) {
	for ; len(src) >= 4; src = src[:len(src)-4] {
		v := binary.LittleEndian.Uint32(src[len(src)-4:])
		a, b, c, d := codes[byte(v>>24)], codes[byte(v>>16)], codes[byte(v>>8)], codes[byte(v)]
		s.all &= a & b & c & d
		ab := uint64(a>>codeShift) | uint64(b>>codeShift)<<(a&lengthMask)
		cd := uint64(c>>codeShift) | uint64(d>>codeShift)<<(c&lengthMask)
		s.put(ab|cd<<((a+b)&lengthMask), a+b+c+d)
	}
	for i := len(src) - 1; i >= 0; i-- {
		a := codes[src[i]]
		s.all &= a
		s.put(uint64(a>>codeShift), a)
	}
}

// put appends a code of so many bits, 56 at most.
func (s *stream) put(code uint64, length uint32) {
	s.bits |= code << (s.n & lengthMask)
	binary.LittleEndian.PutUint64(s.out[s.at:], s.bits)
	s.n = (s.n + length) & lengthMask
	s.at += int(s.n >> 3)
	s.bits >>= s.n & 56
	s.n &= 7
}

// end writes the mark by which a reader finds the last bit, and returns the bytes in all.
func (s *stream) end() int {
	s.put(1, 1)
	if s.n > 0 {
		return s.at + 1
	}
	return s.at
}
