package record

// Replacement swaps live data files of a table for others that hold the same rows, as a roll-up or a compaction does.
// It moves no floor. It is small and serialisable, as a Sealed is.
type Replacement struct {
	// ID is unique for this replacement (a UUID).
	ID     string     `json:"id"`
	Remove []string   `json:"remove"` // paths of the files that go, as in DataFile
	Add    []DataFile `json:"add"`    // durable; their rows are those of the files that go
	// Rewrite is set where the rows were read and written anew, without those that delete files took away.
	Rewrite *Rewrite `json:"rewrite,omitempty"`
}

// Rewrite is what a replacement was made from.
type Rewrite struct {
	SnapshotID int64    `json:"snapshot_id"` // the head in which the files were live
	Deletes    []string `json:"deletes"`     // keys of all delete files of that head that may apply to them
	Deleted    int64    `json:"deleted"`     // rows that these took away
}
