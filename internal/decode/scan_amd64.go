package decode

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// shortBytes is scanned word by word first: most strings end within it, and a call of assembly costs as much.
const shortBytes = 16

// scan is scanWords, or faster with the same result.
func scan(b []byte, p int) (i int, high uint64) {
	short := min(len(b), p+shortBytes)
	i, high = scanWords(b[:short], p)
	if i < short || i == len(b) {
		return i, high
	}
	if hasAVX2 && len(b)-i >= 32 {
		n, h := scanAVX2(&b[i], len(b)-i)
		i, high = i+n, high|uint64(h)
	}
	i, h := scanWords(b, i)
	return i, high | h
}

// scanAVX2 scans whole blocks of 32 bytes of the n at p, n at least 32. It returns the index of the first special
// byte, or of the first byte after the last block; high is not zero when a byte of 0x80 or more stands before that.
//
//go:noescape
func scanAVX2(p *byte, n int) (i int, high uint32)
