package bench

import (
	"slices"
	"testing"
)

func TestStatistics(t *testing.T) {
	for _, c := range []struct {
		name           string
		values         []float64
		median, spread float64
	}{
		{"none", nil, 0, 0},
		{"one", []float64{7}, 7, 0},
		{"two", []float64{4, 2}, 3, 2.0 / 3},
		{"odd", []float64{9, 1, 4}, 4, 2},
		{"even", []float64{8, 1, 4, 2}, 3, 7.0 / 3},
		{"equal", []float64{5, 5, 5}, 5, 0},
		{"zeros", []float64{0, 0}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.values)
			if got := median(c.values); got != c.median {
				t.Errorf("median %v, want %v", got, c.median)
			}
			if got := spread(c.values); got != c.spread {
				t.Errorf("spread %v, want %v", got, c.spread)
			}
			if !slices.Equal(before, c.values) {
				t.Error("the values were put in another order")
			}
		})
	}
}

func TestPercentile(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for p, want := range map[float64]float64{0: 1, 0.2: 1, 0.5: 3, 0.9: 5, 1: 5} {
		if got := percentile(values, p); got != want {
			t.Errorf("percentile %v is %v, want %v", p, got, want)
		}
	}
	if percentile(nil, 0.5) != 0 || values[0] != 5 {
		t.Error("of none, or the values were moved")
	}
}

func TestPairs(t *testing.T) {
	for _, c := range []struct{ a, b, want []float64 }{
		{[]float64{10, 30}, []float64{2, 3}, []float64{5, 10}},
		{[]float64{10, 30, 50}, []float64{2}, []float64{5}}, // the others have no partner
		{[]float64{10, 30}, []float64{0, 3}, []float64{10}},
		{nil, []float64{1}, nil},
	} {
		if got := pairs(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%v by %v are %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
