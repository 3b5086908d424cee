package job

import "strings"

// nearest is the candidate that the word most likely stands for, or empty. Case, dashes and underscores do not count:
// commitInterval is commit_interval.
func nearest(word string, candidates []string) string {
	best, bestDistance := "", len(word)/3+1
	for _, c := range candidates {
		if d := editDistance(bare(word), bare(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

func bare(word string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(word))
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment). Words are
// cut to 64 bytes: no key is as long.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := above[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(above[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
