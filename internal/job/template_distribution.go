package job

import (
	"fmt"
	"strconv"
	"strings"
)

// applyDistributionMode takes Beam's distribution mode: none leaves rows with the worker that has them, hash gathers
// the rows of a partition value, which Beam does by a stateful grouping by key.
func applyDistributionMode(b *build, value string) {
	switch mode := strings.ToLower(value); mode {
	case "none", "hash":
		b.job.Sink.Iceberg.Distribution = mode
	default:
		b.fault("distributionMode", fmt.Sprintf("%q is not known", value), "use none or hash")
	}
}

// applyAutosharding runs after applyDistributionMode: true splits what is hot, false keeps a partition value together,
// unless the mode is none.
func applyAutosharding(b *build, value string) {
	on, err := strconv.ParseBool(strings.ToLower(value))
	mode := strings.ToLower(b.values["distributionMode"])
	switch {
	case err != nil:
		b.fault("autosharding", fmt.Sprintf("%q is not true or false", value), "write true or false")
	case on && mode == "none":
		b.fault("autosharding", "has no effect with distributionMode none", "use distributionMode hash, or leave one out")
	case on:
		b.job.Sink.Iceberg.Distribution = "auto"
	case mode == "":
		b.job.Sink.Iceberg.Distribution = "hash"
	}
}
