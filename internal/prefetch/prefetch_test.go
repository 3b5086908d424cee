package prefetch

import "testing"

// Asking is a hint: any slice may be asked for, and nothing in it changes.
func TestAnySliceMayBeAskedFor(t *testing.T) {
	Bytes(nil)
	b := make([]byte, 1000)
	for i := range b {
		b[i] = byte(i)
	}
	for from := range len(b) {
		Bytes(b[from:])
		Bytes(b[:from])
	}
	for i := range b {
		if b[i] != byte(i) {
			t.Fatalf("byte %d is %d", i, b[i])
		}
	}
	if n := testing.AllocsPerRun(10, func() { Bytes(b) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
