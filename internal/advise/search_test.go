package advise

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// counts are the bucket counts that are played.
func powersOfTwo() []int { return []int{1, 2, 4, 8, 16, 32, 64, 128, 256} }

func every() []int {
	all := make([]int, 0, BucketsMax)
	for n := 1; n <= BucketsMax; n++ {
		all = append(all, n)
	}
	return all
}

// The advice costs at most a tenth more than the best of all bucket counts, when a day is played file by file.
func TestAdviceAgainstBruteForce(t *testing.T) {
	keys := map[string][]float64{
		"uniform": uniform(5000), "zipf": zipf(5000, 1.1), "one hot key": oneHot(5000, 0.3), "few keys": uniform(12),
	}
	loads := []struct {
		name                   string
		bytes, rowBytes, asked float64
		freshness              time.Duration
		counts                 []int
	}{
		{"small and rarely asked", 50e3, 500, 100, time.Minute, every()},
		{"small and often asked", 200e3, 1000, 200_000, 30 * time.Second, every()},
		{"small and fresh", 1e6, 1000, 50_000, 2 * time.Second, powersOfTwo()},
		{"large", 100e6, 750, 5_000, 5 * time.Second, powersOfTwo()},
		{"large and often asked", 100e6, 750, 500_000, 10 * time.Second, powersOfTwo()},
	}
	for kind, shares := range keys {
		for _, o := range loads {
			t.Run(kind+", "+o.name, func(t *testing.T) {
				l := loadOf(o.bytes, o.rowBytes, shares, o.asked, o.freshness)
				mustBeNearBest(t, l, shares, o.counts)
			})
		}
	}
}

func mustBeNearBest(t *testing.T, l Load, shares []float64, counts []int) {
	t.Helper()
	const target = 256e6
	advice := Search(l, target)
	if !slices.Contains(counts, advice.Best.Buckets) {
		counts = append(slices.Clone(counts), advice.Best.Buckets)
	}
	played := map[int]Cost{}
	best := Cost{Dollars: math.Inf(1)}
	for _, n := range counts {
		c := playDay(l, Choice{"key", n, Interval(l, n), target}, shares)
		played[n] = c
		if c.Fresh && c.Dollars < best.Dollars {
			best = c
		}
	}
	got := played[advice.Best.Buckets]
	t.Logf("advice %d buckets, $%.2f a day as played, $%.2f as modelled; best %d, $%.2f",
		got.Buckets, got.Dollars, advice.Best.Dollars, best.Buckets, best.Dollars)
	if !got.Fresh || got.Dollars > best.Dollars*1.1 {
		t.Errorf("advice: %d buckets for $%.3f a day, fresh %t; best: %d for $%.3f",
			got.Buckets, got.Dollars, got.Fresh, best.Buckets, best.Dollars)
	}
}

// What the model says of a choice is what comes out when it is played.
func TestModelAgainstPlay(t *testing.T) {
	for kind, shares := range map[string][]float64{"uniform": uniform(5000), "one hot key": oneHot(5000, 0.3)} {
		for _, n := range []int{1, 4, 32, 200} {
			for _, bytes := range []float64{20e3, 2e6, 60e6} {
				t.Run(fmt.Sprintf("%s, %d buckets, %.0f", kind, n, bytes), func(t *testing.T) {
					l := loadOf(bytes, 1000, shares, 10_000, 5*time.Second)
					c := Choice{"key", n, 5 * time.Second, 256e6}
					model, play := Of(l, c), playDay(l, c, shares)
					near(t, "commits", model.Commits, play.Commits, 0.01)
					near(t, "files", model.Files, play.Files, 0.05)
					near(t, "files after the roll-up", model.FilesAfter, play.FilesAfter, 0.15)
					near(t, "CPU seconds", model.CPUSeconds, play.CPUSeconds, 0.25)
					near(t, "dollars", model.Dollars, play.Dollars, 0.25)
				})
			}
		}
	}
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within*math.Max(want, 1) {
		t.Errorf("%s: %.4g by the model, %.4g as played", what, got, want)
	}
}

// Without queries that filter there is nothing to gain by buckets.
func TestNoBucketsWithoutFilters(t *testing.T) {
	l := loadOf(10e6, 1000, uniform(5000), 1000, 5*time.Second)
	l.Filters = nil
	a := Search(l, 0)
	if a.Best.Buckets != 1 || a.Best.Column != "" || len(a.Best.QueryBytes) != 0 {
		t.Errorf("advice %+v", a.Best)
	}
	l.Filters = []Filter{{Column: "tags", Bucket: false, HeldShare: 1}} // of a type without buckets
	if a := Search(l, 0); a.Best.Buckets != 1 || !slices.Equal(a.Sort, []string{"tags"}) {
		t.Errorf("advice %+v, sort %v", a.Best, a.Sort)
	}
}

// A column whose values come in order needs no buckets: the bounds of files find them.
func TestNoBucketsWhereBoundsHelp(t *testing.T) {
	l := loadOf(10e6, 1000, uniform(5000), 50_000, 5*time.Second)
	many := Search(l, 0).Best.Buckets
	l.Filters[0].HeldShare = 0.001
	if a := Search(l, 0); a.Best.Buckets > 2 || many < 8 {
		t.Errorf("%d buckets where bounds help, %d where they do not", a.Best.Buckets, many)
	}
}

// A freshness that cannot be had is said, and the freshest choice is the advice.
func TestFreshnessThatCannotBe(t *testing.T) {
	l := loadOf(10e6, 1000, uniform(5000), 50_000, 100*time.Millisecond)
	a := Search(l, 0)
	if a.Best.Fresh || a.Best.Buckets > sealersAtOnce || a.Best.Freshness > time.Second {
		t.Errorf("advice %+v", a.Best)
	}
}

func TestInterval(t *testing.T) {
	f := func(buckets int, freshness, want time.Duration, store bool) {
		t.Helper()
		l := Load{Freshness: freshness, ObjectStore: store, Others: 1}
		if got := Interval(l, buckets); got != want {
			t.Errorf("%d buckets, freshness %s: interval %s, want %s", buckets, freshness, got, want)
		}
	}
	f(1, time.Second, 900*time.Millisecond, false)
	f(1, 2*time.Second, 1700*time.Millisecond, true)
	f(64, 2*time.Second, 1400*time.Millisecond, true)
	f(256, 2*time.Second, 1800*time.Millisecond, true) // as long as a commit takes
	f(64, time.Minute, 59*time.Second, true)
	f(1, 0, 200*time.Millisecond, false)
}

// Shares always sum up to 1, none is negative, and reading a bucket never reads more than without.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Keys{Distinct: rapid.SampledFrom([]float64{0, 1, 7.5, 300, 1e6}).Draw(t, "distinct")}
		left := 1.0
		for range rapid.IntRange(0, 5).Draw(t, "hot") {
			h := left * rapid.Float64Range(0, 1).Draw(t, "share")
			k.Hot, left = append(k.Hot, h), left-h
		}
		n := rapid.IntRange(1, BucketsMax).Draw(t, "buckets")
		sum := 0.0
		for _, s := range k.Shares(n) {
			if s < 0 {
				t.Errorf("share %g", s)
			}
			sum += s
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("shares of %+v in %d buckets sum up to %g", k, n, sum)
		}
		if d := cmp.Diff(k.Shares(n), k.Shares(n)); d != "" {
			t.Error(d)
		}
		if one, many := k.Read(1), k.Read(n); many > one+1e-9 || math.Abs(one-1) > 1e-9 {
			t.Errorf("a query reads %g of one bucket and %g of %d", one, many, n)
		}
	})
}
