package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Partitionings of the tables. The first is the reference's.
const (
	bucketed      = "bucket(logStreamId, 64)"
	bucketedCount = 64
)

// moveCase is one way to write the table.
type moveCase struct {
	id             string // in names of figures
	kind           kind
	partition      string
	compression    string
	commitInterval time.Duration
	floor          bool // the floor runs too
	rivals         bool // the rivals run too
	speedGoal      float64
	ratioGoal      float64 // against the best rival; 0: none
	known          []Rival // what rivals reached before, for runs without them
}

// commitEvery is how often rivals commit, and firn beside them. firn commits earlier when its memory asks for it.
const commitEvery = 10 * time.Second

func moveCases() []moveCase {
	return []moveCase{
		{
			id: "bucket64_zstd", kind: narrow(), partition: bucketed, compression: "zstd", commitInterval: commitEvery,
			floor: true, rivals: true, speedGoal: 340, ratioGoal: 5, known: bucketedRivals(),
		},
		{
			id: "unpartitioned_zstd", kind: narrow(), compression: "zstd", commitInterval: commitEvery,
			rivals: true, speedGoal: 370, ratioGoal: 3.3, known: unpartitionedRivals(),
		},
		{
			id: "bucket64_none", kind: narrow(), partition: bucketed, compression: "none", commitInterval: commitEvery,
			floor: true, rivals: true, speedGoal: 600,
		},
		{
			id: "bucket64_zstd_1s", kind: narrow(), partition: bucketed, compression: "zstd", commitInterval: time.Second,
			known: bucketedRivals(),
		},
		{
			id: "wide_zstd", kind: wide(), compression: "zstd", commitInterval: commitEvery,
			rivals: true, speedGoal: 180, ratioGoal: 5,
		},
	}
}

// chosenCases gives the cases of the names, in the order of the list; all when there are none.
func chosenCases(all []moveCase, names []string) ([]moveCase, error) {
	if len(names) == 0 {
		return all, nil
	}
	known := make([]string, len(all))
	for i, c := range all {
		known[i] = c.id
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no case %q; choose from %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c moveCase) bool { return !slices.Contains(names, c.id) }), nil
}

// String describes the case.
func (c moveCase) String() string {
	partition := c.partition
	if partition == "" {
		partition = "unpartitioned"
	}
	compression := c.compression
	if compression == "none" {
		compression = "not compressed"
	}
	return fmt.Sprintf("%s messages, %s, %s, commits every %s", c.kind.name, partition, compression, c.commitInterval)
}

// CheckCases says what is wrong with a list of cases of kafka-to-iceberg.
func CheckCases(ids []string) error {
	_, err := chosenCases(moveCases(), ids)
	return err
}
