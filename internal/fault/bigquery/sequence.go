package bigquery

import (
	"slices"
	"strconv"
	"strings"
)

// A _CHANGE_SEQUENCE_NUMBER is one to four hexadecimal numbers of up to 16 digits with slashes between them.
const (
	sectionsMax      = 4
	sectionDigitsMax = 16
)

func parseSequence(text string) (sections []uint64, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) > sectionsMax {
		return nil, false
	}
	for _, part := range parts {
		if len(part) == 0 || len(part) > sectionDigitsMax || strings.Trim(part, "0123456789abcdefABCDEF") != "" {
			return nil, false
		}
		n, err := strconv.ParseUint(part, 16, 64)
		if err != nil {
			return nil, false
		}
		sections = append(sections, n)
	}
	return sections, true
}

// compareSequences compares sections from the left as numbers; when one ends first it is the lower. A change without a
// number is neither before nor after another.
func compareSequences(a, b []uint64) int {
	if a == nil || b == nil {
		return 0
	}
	return slices.Compare(a, b)
}
