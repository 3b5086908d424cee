package decode

import (
	"unicode/utf8"

	"golang.org/x/sys/cpu"
)

var hasAVX2 = cpu.X86.HasAVX2

// mark makes the marks of b when the machine is able to.
func (m *marks) mark(b []byte) {
	if !marking {
		m.bits = m.bits[:0]
		return
	}
	blocks, rest := len(b)/markBytes, len(b)%markBytes
	if cap(m.bits) <= blocks {
		m.bits = make([]uint64, 2*blocks+8)
	}
	m.bits = m.bits[:blocks+1]
	m.bits[blocks] = 0
	var high uint32
	switch {
	case rest > 0 && blocks > 0: // the last block overlaps the one before
		high = markAVX2(&m.bits[blocks], &b[len(b)-markBytes], 1)
		m.bits[blocks] >>= markBytes - rest
	case rest > 0:
		var padded [markBytes]byte
		copy(padded[:], b)
		high = markAVX2(&m.bits[0], &padded[0], 1)
		m.bits[0] &= 1<<rest - 1
	}
	if blocks > 0 {
		high |= markAVX2(&m.bits[0], &b[0], blocks)
	}
	m.bits[blocks] |= 1 << rest
	m.high = 0
	if high != 0 && !utf8.Valid(b) {
		m.high = 1
	}
}

// markAVX2 makes the marks of n blocks of 64 bytes at p, n at least 1. The result is not zero when a byte of 0x80 or
// more is among them.
//
//go:noescape
func markAVX2(marks *uint64, p *byte, n int) (high uint32)
