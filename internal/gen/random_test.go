package gen

import (
	"math"
	"strings"
	"testing"
)

// chiSquare is how far counts are from even, in standard deviations of the chi-square distribution.
func chiSquare(counts []int) float64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	want := float64(total) / float64(len(counts))
	sum := 0.0
	for _, n := range counts {
		sum += (float64(n) - want) * (float64(n) - want) / want
	}
	freedom := float64(len(counts) - 1)
	return (sum - freedom) / math.Sqrt(2*freedom)
}

// Every letter, and every pair of letters at every place of a word of eight, is as likely as any other.
func TestLettersAreUniform(t *testing.T) {
	for _, letters := range []string{alphaLetters, alphaNumericLetters} {
		n := len(letters)
		table := newAlphabet(letters)
		single := make([]int, n)
		pairs := make([][]int, 8)
		for i := range pairs {
			pairs[i] = make([]int, n*n)
		}
		r := newRandom(1, 0)
		text := make([]byte, 8)
		place := [256]int{}
		for i := range n {
			place[letters[i]] = i
		}
		previous := 0
		for range 1_000_000 {
			r.fill(text, table)
			for i, b := range text {
				single[place[b]]++
				pairs[i][previous*n+place[b]]++
				previous = place[b]
			}
		}
		if d := chiSquare(single); math.Abs(d) > 4.5 {
			t.Errorf("single letters of %d are off by %.1f deviations", n, d)
		}
		for i := range pairs {
			if d := chiSquare(pairs[i]); math.Abs(d) > 4.5 {
				t.Errorf("pairs of %d letters at place %d are off by %.1f deviations", n, i, d)
			}
		}
	}
}

func TestFillLengths(t *testing.T) {
	table := newAlphabet(alphaNumericLetters)
	r := newRandom(1, 0)
	for n := range 30 {
		text := make([]byte, n+1)
		text[n] = '!'
		r.fill(text[:n], table)
		if text[n] != '!' || strings.Trim(string(text[:n]), alphaNumericLetters) != "" {
			t.Errorf("length %d gave %q", n, text)
		}
	}
}

// A source of zeros is rejected rather than read as the first letter: the test of exactness is there.
func TestFillThreshold(t *testing.T) {
	for _, letters := range []string{alphaLetters, alphaNumericLetters} {
		a := newAlphabet(letters)
		words := uint64(math.Pow(float64(len(letters)), 8))
		if want := (math.MaxUint64%words + 1) % words; a.threshold != want {
			t.Errorf("threshold for %d letters is %d, want %d", len(letters), a.threshold, want)
		}
	}
}

func TestBelowIsUniform(t *testing.T) {
	r := newRandom(2, 0)
	for _, n := range []uint64{1, 2, 3, 10, 1000} {
		counts := make([]int, n)
		for range 200_000 {
			counts[r.below(n)]++
		}
		if d := chiSquare(counts); n > 1 && math.Abs(d) > 4.5 {
			t.Errorf("numbers below %d are off by %.1f deviations", n, d)
		}
	}
	const huge = 1<<63 + 1 // half of all words are rejected
	for range 1000 {
		if v := r.below(huge); v >= huge {
			t.Fatalf("%d is not below %d", v, uint64(huge))
		}
	}
}

func TestFractions(t *testing.T) {
	r := newRandom(3, 0)
	var halves [2]int
	for range 100_000 {
		if v := r.float64(); v < 0 || v >= 1 {
			t.Fatalf("float64 gave %v", v)
		}
		v := r.float32()
		if v < 0 || v >= 1 {
			t.Fatalf("float32 gave %v", v)
		}
		halves[int(2*v)]++
	}
	if d := chiSquare(halves[:]); d > 4.5*math.Sqrt2 {
		t.Errorf("halves are %v", halves)
	}
}
