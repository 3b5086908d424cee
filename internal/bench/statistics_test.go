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
