package decode

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestNearestIsWhatTheStandardLibraryReads(t *testing.T) {
	r, taken := rand.New(rand.NewPCG(11, 12)), 0
	check := func(mantissa uint64, exponent int) {
		got, ok := nearest(mantissa, exponent)
		if !ok {
			return
		}
		taken++
		if want, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", mantissa, exponent), 64); got != want {
			t.Errorf("%d times 10^%d: got %v, want %v", mantissa, exponent, got, want)
		}
	}
	for exponent := -powerMax - 1; exponent <= powerMax+1; exponent++ {
		for _, mantissa := range []uint64{0, 1, 5, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<54 + 2, 1 << 63, 1<<64 - 1, 1e19} {
			check(mantissa, exponent)
		}
		for range 500 {
			check(r.Uint64()>>r.IntN(64), exponent)
			check((r.Uint64()>>11)<<11|1<<10, exponent) // halfway between two
		}
	}
	if taken < 100_000 {
		t.Errorf("%d taken", taken)
	}
}
