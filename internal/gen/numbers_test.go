package gen

import (
	"strconv"
	"testing"
)

func TestNumberRanges(t *testing.T) {
	cases := []struct {
		name, text   string
		low, high    int64
		wantDistinct int
	}{
		{"integer excludes its end", `{{integer(3,6)}}`, 3, 5, 3},
		{"integer below zero", `{{integer(-3,-1)}}`, -3, -2, 2},
		{"integer over the whole width", `{{integer(-2147483648,2147483647)}}`, -2147483648, 2147483646, 500},
		{"long includes its end", `{{long(3,6)}}`, 3, 6, 4},
		{"long of one number", `{{long(5,5)}}`, 5, 5, 1},
		{"long with suffix", `{{long(9000000000L,9000000001L)}}`, 9000000000, 9000000001, 2},
		{"long in quotes", `{{long("9000000000L","9000000001")}}`, 9000000000, 9000000001, 2},
		{"long over the whole width", `{{long(-9223372036854775808,9223372036854775807)}}`,
			-9223372036854775808, 9223372036854775807, 500},
		{"nested bounds", `{{integer(integer(0,1), substring("a12",1))}}`, 0, 11, 12},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			made := messages(t, c.text, 500)
			for _, m := range made {
				v, err := strconv.ParseInt(m, 10, 64)
				if err != nil || v < c.low || v > c.high {
					t.Fatalf("made %s, want %d to %d", m, c.low, c.high)
				}
			}
			if n := distinct(made); n != c.wantDistinct {
				t.Errorf("%d different numbers, want %d", n, c.wantDistinct)
			}
		})
	}
}

func TestNumbersRefused(t *testing.T) {
	expectError(t, `{{integer(5,5)}}`, "no number to choose", "exclusive")
	expectError(t, `{{integer(5,4)}}`, "no number to choose")
	expectError(t, `{{integer(1,3000000000)}}`, "32 bits", "use long")
	expectError(t, `{{integer("a",3)}}`, `"a" is not a whole number`)
	expectError(t, `{{integer(1.5,3)}}`, `"1.5" is not a whole number`)
	expectError(t, `{{integer(1L,3)}}`, `"1L" is not a whole number`)
	expectError(t, `{{long(6,3)}}`, "ends at 3, before it begins at 6")
	expectError(t, `{{long(1,9223372036854775808)}}`, "64 bits")
	expectError(t, `{{float(2,1)}}`, "ends at 1")
	expectError(t, `{{double(-1.7e308,1.7e308)}}`, "too wide")
	expectError(t, `{{double("NaN",1)}}`, "not a number")
	expectError(t, `{{float(1,1e39)}}`, "32 bits")
	expectError(t, `{{bool(1.5)}}`, "from 0 to 1")
	expectError(t, `{{integer(concat("x"),9)}}`, "line 1, column 11", `"x" is not a whole number`)
}

func TestFloats(t *testing.T) {
	for _, c := range []struct {
		text      string
		low, high float64
		bits      int
	}{
		{`{{float(0.9031,1.3421)}}`, 0.9031, 1.3421, 32},
		{`{{floating(-2.5f,-1.5f)}}`, -2.5, -1.5, 32},
		{`{{double(23.124,34.12)}}`, 23.124, 34.12, 64},
		{`{{double(.5,1.)}}`, 0.5, 1, 64},
		{`{{double(1e3,2E+3)}}`, 1000, 2000, 64},
	} {
		made := expectMatch(t, c.text, `-?\d+\.\d+`)
		if n := distinct(made); n < 400 {
			t.Errorf("%s: only %d different numbers", c.text, n)
		}
		for _, m := range made {
			v, err := strconv.ParseFloat(m, c.bits)
			low, high := c.low, c.high
			if c.bits == 32 {
				low, high = float64(float32(low)), float64(float32(high))
			}
			if err != nil || v < low || v >= high {
				t.Fatalf("%s made %s", c.text, m)
			}
		}
	}
	expectMatch(t, `{{float(0.90310, 5.3421, "%.2f")}}`, `\d\.\d\d`)
	expectMatch(t, `{{double(1, 2, concat("%.", 3, "f"))}}`, `[12]\.\d{3}`)
}

func TestBool(t *testing.T) {
	expectText(t, `{{bool(0)}}`, "false")
	expectText(t, `{{bool(1)}}`, "true")
	expectShare(t, `{{bool()}}`, "true", 0.5)
	expectShare(t, `{{bool(0.9)}}`, "true", 0.9)
}

// expectShare checks how often one text is made, within five standard deviations.
func expectShare(t *testing.T, text, want string, share float64) {
	t.Helper()
	const n = 20000
	count := 0
	for _, m := range messages(t, text, n) {
		if m == want {
			count++
		}
	}
	if got := float64(count) / n; (got-share)*(got-share) > 25*share*(1-share)/n {
		t.Errorf("%s made %s in a share of %.3f, want %.3f", text, want, got, share)
	}
}
