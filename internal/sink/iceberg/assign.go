package iceberg

import (
	"cmp"
	"slices"
)

// load is the bytes of a partition value in some time.
type load struct {
	key   string
	bytes int64
}

// splitBytesMin is what each of the files must get at least that a partition value is split over. A file costs about
// half a millisecond and a request to the store, whatever is in it, and encoding 1 MiB takes about 3 ms.
const splitBytesMin = 1 << 20

// Loads are planned for a tenth above the mean at most, so that there is room for an error of the estimate: what fits
// a writer whole may be somewhat more than what of a split one is put there, since a small rest would be a file of its
// own.
const (
	wholeLoadMax = 1.10 // of the mean
	splitLoadMax = 1.05
)

// assign gives each partition value the writers that share its rows, such that no writer has much more than the mean:
// the largest value first, each to the writer with the least, and split where it does not fit. That leaves most values
// whole and makes fewer files than there are writers beside those (McNaughton's wrap-around, with slack). total is the
// bytes of all values, those without a load included, which are taken to be spread evenly.
func assign(loads []load, total int64, writers int, splitMin int64) map[string][]int {
	out := make(map[string][]int, len(loads))
	mean := float64(total) / float64(writers)
	if mean <= 0 {
		return out
	}
	rest := total
	for _, l := range loads {
		rest -= l.bytes
	}
	filled := make([]float64, writers)
	for i := range filled {
		filled[i] = float64(max(0, rest)) / float64(writers)
	}
	loads = slices.Clone(loads)
	slices.SortFunc(loads, func(a, b load) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.key, b.key))
	})
	for _, l := range loads {
		out[l.key] = place(filled, float64(l.bytes), mean, float64(splitMin))
	}
	return out
}

// place puts a load onto the writers that have the least, and returns them.
func place(filled []float64, bytes, mean, splitMin float64) []int {
	var chosen []int
	for bytes > 0 {
		at := least(filled, chosen)
		part := bytes
		more := bytes >= 2*splitMin && len(chosen)+1 < len(filled)
		if more && filled[at]+bytes > wholeLoadMax*mean {
			part = min(bytes-splitMin, max(splitMin, splitLoadMax*mean-filled[at]))
		}
		filled[at] += part
		bytes -= part
		chosen = append(chosen, at)
	}
	return chosen
}

// least is the writer with the least of those that are not chosen yet.
func least(filled []float64, chosen []int) int {
	at := -1
	for i, f := range filled {
		if (at < 0 || f < filled[at]) && !slices.Contains(chosen, i) {
			at = i
		}
	}
	return at
}
