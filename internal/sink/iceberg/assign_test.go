package iceberg

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAssign(t *testing.T) {
	f := func(name string, writers int, bytes []int64, files ...int) {
		t.Helper()
		var loads []load
		var total int64
		for i, n := range bytes {
			loads = append(loads, load{fmt.Sprint(i), n})
			total += n
		}
		got := assign(loads, total, writers, splitBytesMin)
		for i, want := range files {
			if n := len(got[fmt.Sprint(i)]); n != want {
				t.Errorf("%s: value %d has %d files, want %d: %v", name, i, n, want, got)
			}
		}
	}
	const mb = 1 << 20
	f("one value", 4, []int64{100 * mb}, 4)
	f("too little to split", 4, []int64{mb}, 1)
	f("as many as are worth it", 8, []int64{3 * mb}, 3)
	f("one writer", 1, []int64{100 * mb, 50 * mb}, 1, 1)
	f("as many as writers", 4, []int64{10 * mb, 10 * mb, 10 * mb, 10 * mb}, 1, 1, 1, 1)
	f("one hot", 4, []int64{70 * mb, 10 * mb, 10 * mb, 10 * mb}, 3, 1, 1, 1)
	f("half of all", 2, []int64{50 * mb, 25 * mb, 25 * mb}, 1, 1, 1)
	f("nothing", 3, []int64{0}, 0)
}

// Whatever the loads: no writer is planned with more than the slack allows, but for values that are not worth a split,
// and there are fewer files beyond one a value than there are writers.
func TestAssignBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const splitMin = 10
		writers := rapid.IntRange(1, 16).Draw(t, "writers")
		bytes := rapid.SliceOfN(rapid.Int64Range(1, 100_000), 1, 70).Draw(t, "bytes")
		rest := rapid.Int64Range(0, 100_000).Draw(t, "rest")
		var loads []load
		total := rest
		for i, n := range bytes {
			loads = append(loads, load{fmt.Sprint(i), n})
			total += n
		}
		got := assign(loads, total, writers, splitMin)
		files := 0
		for _, l := range loads {
			chosen := slices.Sorted(slices.Values(got[l.key]))
			files += len(chosen)
			if len(slices.Compact(chosen)) != len(got[l.key]) || len(chosen) == 0 || chosen[len(chosen)-1] >= writers {
				t.Fatalf("writers %v of value %s", got[l.key], l.key)
			}
		}
		if files > len(loads)+writers-1 {
			t.Errorf("%d files for %d values and %d writers", files, len(loads), writers)
		}
		if d := cmp.Diff(got, assign(loads, total, writers, splitMin)); d != "" {
			t.Error(d)
		}
	})
}

// place is checked by what it puts where.
func TestPlaceStaysBelowTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		writers := rapid.IntRange(2, 16).Draw(t, "writers")
		bytes := rapid.SliceOfN(rapid.Float64Range(1, 1000), 1, 70).Draw(t, "bytes")
		slices.SortFunc(bytes, func(a, b float64) int { return int(b - a) })
		total := 0.0
		for _, n := range bytes {
			total += n
		}
		filled, mean := make([]float64, writers), total/float64(writers)
		for _, n := range bytes {
			place(filled, n, mean, mean/100)
		}
		if most := slices.Max(filled); most > (wholeLoadMax+0.02)*mean {
			t.Errorf("a writer has %g, the mean is %g: %v", most, mean, filled)
		}
	})
}
