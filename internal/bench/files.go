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

// largeMB is the size from which readers find a file worth opening.
const largeMB = 128

// largeShare is the part of all bytes that is in large files, in percent.
func (f dataFiles) largeShare() float64 {
	var large float64
	for _, mb := range f {
		if mb >= largeMB {
			large += mb
		}
	}
	if large == 0 {
		return 0
	}
	return 100 * large / f.totalMB()
}
