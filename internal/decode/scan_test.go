package decode

import (
	"bytes"
	"testing"
)

// scanBytes is what scan and scanWords must equal.
func scanBytes(b []byte, p int) (i int, high bool) {
	for ; p < len(b); p++ {
		if c := b[p]; c == '"' || c == '\\' || c < ' ' {
			break
		}
		high = high || b[p] >= 0x80
	}
	return p, high
}

func checkScan(t *testing.T, b []byte, p int) {
	t.Helper()
	i, high := scanBytes(b, p)
	if gotI, gotHigh := scanWords(b, p); gotI != i || (gotHigh != 0) != high {
		t.Fatalf("words of %q from %d: %d and %x, want %d and %v", b, p, gotI, gotHigh, i, high)
	}
	var m marks
	if m.mark(b); len(m.bits) > 0 && m.next(p) != i {
		t.Fatalf("marks of %q from %d: %d, want %d", b, p, m.next(p), i)
	}
}

func TestScansAgree(t *testing.T) {
	special := []byte{'"', '\\', 0, 0x1f, 0x20, 0x21, '#', '[', ']', 0x7f, 0x80, 0xa2, 0xdc, 0xff}
	for n := range 140 {
		for at := range n + 1 {
			for _, c := range special {
				b := bytes.Repeat([]byte("x"), n)
				if at < n {
					b[at] = c
				}
				checkScan(t, b, 0)
				checkScan(t, b, min(3, n))
				if at+2 < n { // what stands behind the first must not matter
					b[at+1], b[at+2] = 0x80, '"'
					checkScan(t, b, 0)
				}
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("plain"), 0)
	f.Add(append(bytes.Repeat([]byte("größe"), 30), '"', 0xff), 7)
	f.Fuzz(func(t *testing.T, b []byte, p int) {
		if p >= 0 && p <= len(b) {
			checkScan(t, b, p)
		}
	})
}
