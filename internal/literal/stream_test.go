package literal

import (
	"bytes"
	"testing"
)

// The loop in assembly and the one in Go write the same bytes, whatever the length, and stop at the same byte.
func TestLoopsAgree(t *testing.T) {
	r := fixedRandom()
	var h histogram
	h.count(page(r, 1<<16))
	table, err := newTable(&h)
	if err != nil {
		t.Fatal(err)
	}
	pairs := new(Encoder).pairsOf(table)
	if pairs == nil {
		t.Fatal("pairs do not pay for random letters")
	}
	for n := range 300 {
		alphabet := alphanumerics
		if n%2 == 0 {
			alphabet += "!" // has no code
		}
		src := randomOf(r, alphabet, n)
		room := streamBytesMax(n, lengthMax)
		a, b := stream{out: make([]byte, room), longest: lengthMax}, stream{out: make([]byte, room), longest: lengthMax}
		a.put(5, 3) // begin in the middle of a byte
		b.put(5, 3)
		restA, restB := a.threePairs(src, pairs), b.threePairsGo(src, pairs)
		if !bytes.Equal(restA, restB) || a.at != b.at || a.bits != b.bits || a.n != b.n ||
			!bytes.Equal(a.out[:a.at], b.out[:b.at]) {
			t.Fatalf("%d bytes: %+v and %+v, left %d and %d", n, a, b, len(restA), len(restB))
		}
		if alphabet == alphanumerics && len(restA) >= pairedBytes {
			t.Fatalf("%d bytes: %d left", n, len(restA))
		}
	}
}

func TestLengthsAreACompleteCodeWithinTheLimit(t *testing.T) {
	r := fixedRandom()
	for i := range 2000 {
		var h histogram
		distinct := 2 + r.IntN(255)
		for s := range distinct {
			h[s] = 1 + uint32(r.IntN(1<<r.IntN(20)))
			if i%3 == 0 && s < 32 {
				h[s] = 1 << s
			}
		}
		for _, limit := range []uint8{lengthMax, 9} {
			room := 0
			for s, l := range huffmanLengths(&h, limit) {
				if (l > 0) != (h[s] > 0) || l > limit {
					t.Fatalf("byte %d, %d times, has %d bits", s, h[s], l)
				}
				if l > 0 {
					room += 1 << (limit - l)
				}
			}
			if room != 1<<limit {
				t.Fatalf("%d bytes, limit %d: codes take %d of %d", distinct, limit, room, 1<<limit)
			}
		}
	}
}
