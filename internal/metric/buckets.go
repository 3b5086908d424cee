package metric

import "slices"

// Bucket counts the values up to and including Max that are above the bucket before it.
type Bucket struct {
	Max   int64 `json:"max"`
	Count int64 `json:"count"`
}

// buckets is a histogram of fixed bounds. It is not safe for concurrent use.
type buckets struct {
	bounds []int64
	counts []int64 // one more than bounds: the last is above all of them
	sum    float64
}

func newBuckets(bounds []int64) buckets {
	return buckets{bounds: bounds, counts: make([]int64, len(bounds)+1)}
}

func (b *buckets) add(v int64) {
	i, _ := slices.BinarySearch(b.bounds, v)
	b.counts[i]++
	b.sum += float64(v)
}

func (b *buckets) count() int64 {
	var n int64
	for _, c := range b.counts {
		n += c
	}
	return n
}

// list is the buckets that hold something; one above all bounds has a Max of -1.
func (b *buckets) list() []Bucket {
	list := []Bucket{}
	for i, n := range b.counts {
		if n == 0 {
			continue
		}
		bound := int64(-1)
		if i < len(b.bounds) {
			bound = b.bounds[i]
		}
		list = append(list, Bucket{Max: bound, Count: n})
	}
	return list
}

// cumulative is the form that Prometheus wants: bound in units of v times scale -> how many are at most that.
func (b *buckets) cumulative(scale float64) map[float64]uint64 {
	m := make(map[float64]uint64, len(b.bounds))
	var n int64
	for i, bound := range b.bounds {
		n += b.counts[i]
		m[float64(bound)*scale] = uint64(n)
	}
	return m
}

// fileBounds tells small files from good ones (128 to 512 MiB) by eye: powers of four from 16 KiB, and 512 MiB.
func fileBounds() []int64 {
	return []int64{
		16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 128 << 20, 256 << 20, 512 << 20, 1 << 30,
	}
}

// commitBounds are in microseconds: 5 ms to 2 minutes.
func commitBounds() []int64 {
	return []int64{
		5e3, 10e3, 20e3, 50e3, 100e3, 200e3, 500e3, 1e6, 2e6, 5e6, 10e6, 20e6, 60e6, 120e6,
	}
}
