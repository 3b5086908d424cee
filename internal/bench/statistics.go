package bench

import (
	"math"
	"slices"
)

// median is the middle of the values, or the mean of the two in the middle; 0 of none. The values stay as they are.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// spread is the distance of the largest from the smallest value as a part of the median; 0 of fewer than two.
func spread(values []float64) float64 {
	m := median(values)
	if len(values) < 2 || m == 0 {
		return 0
	}
	return (slices.Max(values) - slices.Min(values)) / m
}

// percentile is the smallest value that at least the part p of all values, between 0 and 1, do not exceed; 0 of none.
func percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// pairs divides run by run: what was measured in the same round. Runs without a partner, or with one of 0, are left
// out.
func pairs(a, b []float64) []float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if b[i] > 0 {
			ratios = append(ratios, a[i]/b[i])
		}
	}
	return ratios
}
