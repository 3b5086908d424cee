package literal

import (
	"bytes"
	"testing"
)

// The loop in assembly and the one in Go write the same bytes, whatever the length.
func TestLoopsAgree(t *testing.T) {
	r := fixedRandom()
	var h histogram
	h.count(page(r, 1<<16))
	table, err := newTable(&h)
	if err != nil {
		t.Fatal(err)
	}
	pairs := new(Encoder).pairsOf(table)
	if pairs == nil || table.longest > lengthSoft {
		t.Fatalf("longest code %d: not what this is about", table.longest)
	}
	for n := range 300 {
		src := randomOf(r, alphanumerics+"!", n) // the last byte has no code
		a, b := stream{out: make([]byte, streamBytesMax(n, lengthSoft)), all: hasCode, longest: lengthSoft}, stream{out: make([]byte, streamBytesMax(n, lengthSoft)), all: hasCode, longest: lengthSoft}
		restA, restB := a.threePairs(src, pairs), b.threePairsGo(src, pairs)
		if !bytes.Equal(restA, restB) || a.at != b.at || a.bits != b.bits || a.n != b.n || a.all&hasCode != b.all&hasCode ||
			!bytes.Equal(a.out[:a.at], b.out[:b.at]) {
			t.Fatalf("%d bytes: %+v and %+v, left %d and %d", n, a, b, len(restA), len(restB))
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
		for _, limit := range []uint8{lengthMax, lengthSoft} {
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
