package iceberg

import (
	"fmt"
	"slices"
)

// Distribution says how the rows of workers meet at files.
type Distribution int

const (
	// DistributionAuto has the rows of a partition value meet at one file, whichever worker has them, but for values
	// that are too much for one writer beside the others: they have several files at once.
	DistributionAuto Distribution = iota
	// DistributionHash has the rows of a partition value meet at one file, however many they are.
	DistributionHash
	// DistributionNone has each worker write files of its own.
	DistributionNone
)

var distributions = []string{"auto", "hash", "none"}

// ParseDistribution reads auto, hash or none.
func ParseDistribution(text string) (Distribution, error) {
	i := slices.Index(distributions, text)
	if i < 0 {
		return 0, fmt.Errorf("distribution %q is none of %v", text, distributions)
	}
	return Distribution(i), nil
}

// String is what ParseDistribution reads.
func (d Distribution) String() string { return distributions[d] }
