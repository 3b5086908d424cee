package bench

// dataFiles has the size of each live data file of a table, in MB.
type dataFiles []float64

// totalMB is the size of all.
func (f dataFiles) totalMB() float64 {
	var total float64
	for _, mb := range f {
		total += mb
	}
	return total
}

// meanMB is the mean size; 0 of none.
func (f dataFiles) meanMB() float64 { return f.totalMB() / float64(max(len(f), 1)) }
