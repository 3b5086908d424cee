package record

// Replacement swaps live data files of a table for others that hold the same rows, as a roll-up or a compaction does.
// It moves no floor. It is small and serialisable, as a Sealed is.
type Replacement struct {
	// ID is unique for this replacement (a UUID).
	ID     string     `json:"id"`
	Remove []string   `json:"remove"` // paths of the files that go, as in DataFile
	Add    []DataFile `json:"add"`    // durable; their rows are those of the files that go
}
