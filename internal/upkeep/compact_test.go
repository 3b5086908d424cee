package upkeep

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Each join has files of one group in their order, each file is in one join at most, and what a join leaves is alone or
// about as large as the target.
func TestPlanCompaction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const target = 1000
		small := CompactionSmall(target)
		var groups [][]Candidate
		group, at := make(map[string]int), make(map[string]int)
		for g := range rapid.IntRange(0, 5).Draw(t, "groups") {
			var files []Candidate
			for i := range rapid.IntRange(2, 40).Draw(t, "files") {
				path := fmt.Sprintf("%d/%d", g, i)
				group[path], at[path] = g, i
				files = append(files, Candidate{path, rapid.Int64Range(1, small-1).Draw(t, "bytes")})
			}
			groups = append(groups, files)
		}
		seen := make(map[string]bool)
		for _, join := range PlanCompaction(groups, target, 20) {
			var bytes int64
			for i, f := range join {
				if seen[f.Path] || group[f.Path] != group[join[0].Path] || at[f.Path] != at[join[0].Path]+i {
					t.Fatalf("file %s, number %d of a join that begins with %s", f.Path, i, join[0].Path)
				}
				seen[f.Path] = true
				bytes += f.Bytes
			}
			if len(join) < 2 || bytes > 2*target {
				t.Fatalf("a join of %d files has %d bytes", len(join), bytes)
			}
		}
		for g, files := range groups {
			left := 0
			for _, f := range files {
				if !seen[f.Path] {
					left++
				}
			}
			if left > 1 {
				t.Fatalf("%d files of group %d are left", left, g)
			}
		}
	})
}

// Many tiny files are joined by as many as a join may have.
func TestPlanCompactionOfTinyFiles(t *testing.T) {
	files := make([]Candidate, 2*partsMax+1)
	joins := PlanCompaction([][]Candidate{files}, 1<<30, 20)
	if len(joins) != 2 || len(joins[0]) != partsMax || len(joins[1]) != partsMax {
		t.Errorf("%d joins", len(joins))
	}
	for i := range files {
		files[i].Bytes = 1
	}
	if again := PlanCompaction([][]Candidate{files}, 1<<30, 20); len(again) != 2 {
		t.Errorf("%d joins of files of one byte", len(again))
	}
	if wide := PlanCompaction([][]Candidate{files}, 1<<30, 1000); len(wide[0]) > 60 || len(wide[0]) < 40 {
		t.Errorf("%d files of 1000 columns at once", len(wide[0]))
	}
}
