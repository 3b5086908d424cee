package bench

// The rivals' figures were measured once on a machine of two cores and 24 GiB, each with a topic of 6 GB of the narrow
// messages, commits every 10 s, zstd and a table in a local folder; docs/figures/README.md says how, and what they are
// worth. Where there were several runs, the best one counts.
const (
	rivalRun     = "steady state of one run on 2026-11-29, start-up and warm-up left out: docs/figures/README.md"
	publicFigure = "its public figures: 1 GB/s on 440 vCPU, whole managed service, other machines"
)

// bucketedRivals wrote the table in 64 buckets: million bytes for each second of CPU time, best first.
func bucketedRivals() []Rival {
	return []Rival{
		{"Flink", 68.1, rivalRun}, {"Kafka Connect", 62.8, rivalRun}, {"Spark", 41.8, rivalRun},
		{"Dataflow", 2.3, publicFigure},
	}
}

// unpartitionedRivals wrote the table without partitions.
func unpartitionedRivals() []Rival {
	return []Rival{{"Flink", 110.7, rivalRun}, {"Kafka Connect", 86.6, rivalRun}}
}

// The memory that the rivals had resident at most, in MB, least first. Their heaps were bounded by 2 and 3 GiB.
func bucketedRivalMemory() []Rival {
	return []Rival{{"Kafka Connect", 2586, rivalRun}, {"Flink", 3895, rivalRun}}
}

func unpartitionedRivalMemory() []Rival {
	return []Rival{{"Kafka Connect", 1657, rivalRun}, {"Flink", 2730, rivalRun}}
}

// freshnessRivals are the percentiles of Dataflow's latency at its best, in milliseconds.
func freshnessRivals(percentile string) []Rival {
	const managed, direct = "Dataflow, managed I/O", "Dataflow, direct"
	switch percentile {
	case "P50":
		return []Rival{{managed, 1000, publicFigure}, {direct, 1000, publicFigure}}
	case "P95":
		return []Rival{{managed, 1900, publicFigure}, {direct, 7400, publicFigure}}
	default:
		return []Rival{{managed, 2700, publicFigure}, {direct, 14000, publicFigure}}
	}
}

// against sets the rivals of a result, best first.
func (r *Result) against(rivals []Rival) {
	if len(rivals) > 0 {
		r.Rival, r.OtherRivals = &rivals[0], rivals[1:]
	}
}
