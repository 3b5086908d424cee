package deletes

import "math/bits"

// Rows is a set of rows of one data file. It takes a bit for each row of the file once it has one.
type Rows struct {
	words []uint64
	rows  int64 // of the file
	count int64
}

func newRows(rows int64) Rows { return Rows{rows: rows} }

// add takes in a row, and tells whether the file has it.
func (r *Rows) add(row int64) bool {
	if row < 0 || row >= r.rows {
		return false
	}
	if r.words == nil {
		r.words = make([]uint64, (r.rows+63)/64)
	}
	bit := uint64(1) << (row & 63)
	if r.words[row>>6]&bit == 0 {
		r.words[row>>6] |= bit
		r.count++
	}
	return true
}

// Has tells whether a row is in the set.
func (r *Rows) Has(row int64) bool {
	return row >= 0 && row < r.rows && r.words != nil && r.words[row>>6]>>(row&63)&1 != 0
}

// Count is the number of rows in the set.
func (r *Rows) Count() int64 { return r.count }

// Others appends those of n rows from first on that are not in the set, counted from first.
func (r *Rows) Others(out []int32, first int64, n int) []int32 {
	for i := range n {
		if !r.Has(first + int64(i)) {
			out = append(out, int32(i))
		}
	}
	return out
}

// Any tells whether one of n rows from first on is in the set.
func (r *Rows) Any(first int64, n int) bool {
	if r.count == 0 {
		return false
	}
	for row, end := first, min(first+int64(n), r.rows); row < end; {
		word := r.words[row>>6] >> (row & 63)
		if word != 0 {
			return row+int64(bits.TrailingZeros64(word)) < end
		}
		row = row&^63 + 64
	}
	return false
}
