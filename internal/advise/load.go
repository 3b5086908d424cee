package advise

import (
	"math"
	"time"
)

// Load is what is written to a table and how it is read: all that advice follows from.
type Load struct {
	BytesPerSecond float64 // of data files, as they are stored
	RowsPerSecond  float64
	Fields         int     // columns that hold values
	Others         float64 // combinations of the other partition values that get rows at one time; at least 1
	ObjectStore    bool    // requests cost money and time, as those of a disk do not

	Filters   []Filter      // columns that queries filter by
	Queries   float64       // a day, each for one value of one filter column
	Span      time.Duration // of the newest data that a query looks at
	Freshness time.Duration // in which a row is to be visible at the latest
}

// Filter is a column that queries filter by.
type Filter struct {
	Column    string  `json:"column"`
	Bucket    bool    `json:"bucket"` // Iceberg can make buckets of its type
	Keys      Keys    `json:"keys"`
	HeldShare float64 `json:"held_share"` // of the bytes in files whose bounds hold a given value; 1: bounds do not help
}

// Keys is how rows spread over the values of a column: the shares of those that stand out, and the rest, of which each
// has about as many rows as any other.
type Keys struct {
	Hot      []float64 `json:"hot"`      // shares of the rows, largest first
	Distinct float64   `json:"distinct"` // values of the rest; 0: not known, which is taken as many
}

// manyKeys are so many that a hash spreads them evenly over 256 buckets: with 100 in each, a bucket's load is within
// a tenth of the mean two times out of three, by the square root of 100.
const manyKeys = 256 * 100

// Shares is the share of the rows in each of n buckets. Which bucket a key falls into is as good as random, and the
// same in every call.
func (k Keys) Shares(n int) []float64 {
	shares := make([]float64, n)
	rest := 1.0
	for i, h := range k.Hot {
		shares[spread(uint64(i))%uint64(n)] += h
		rest -= h
	}
	rest = max(0, rest)
	if k.Distinct > 0 && k.Distinct < manyKeys {
		few := int(math.Ceil(k.Distinct))
		for i := range few {
			shares[spread(uint64(len(k.Hot)+i))%uint64(n)] += rest / float64(few)
		}
		return shares
	}
	for i := range shares {
		shares[i] += rest / float64(n)
	}
	return shares
}

// spread mixes the bits of a number (the finaliser of murmur3, 64 bit).
func spread(h uint64) uint64 {
	h = (h + 1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Read is the share of the rows that a query for one value reads, when keys are asked for as often as they are
// written: that of the key itself, which no partitioning avoids, and of those that fall into its bucket by chance.
func (k Keys) Read(n int) float64 {
	own, rest := 0.0, 1.0
	for _, h := range k.Hot {
		own += h * h
		rest -= h
	}
	if k.Distinct > 0 {
		own += rest * rest / max(1, k.Distinct)
	}
	return own + (1-own)/float64(n)
}

// HotShare is the share of the key with the most rows, 0 when none stands out.
func (k Keys) HotShare() float64 {
	if len(k.Hot) == 0 {
		return 0
	}
	return k.Hot[0]
}
