package record

import (
	"errors"
	"fmt"
)

// Sealed is one flush of a writer: immutable files that are durable and not yet visible, and the source ranges that
// they hold. It is small and serialisable, so that it can be sent to whoever commits.
//
// The counts account for every offset of Ranges (invariant 4: nothing is dropped silently):
// sum of Range.Len() == Rows + Rejected + Tombstones + Holes + Expired.
type Sealed struct {
	// ID is unique for this flush (a UUID); it is in the names of the files.
	ID     string      `json:"id"`
	Files  []DataFile  `json:"files"`
	Ranges []Range     `json:"ranges"` // at most one a topic partition
	Topics []TopicMark `json:"topics"` // identity of every topic in Ranges
	Counts Counts      `json:"counts"`
	Events EventTimes  `json:"-"` // local to the process that wrote them
}

// CheckRanges guards the promise that rows come in once: a flush without ranges would fit any floor.
func (s *Sealed) CheckRanges() error {
	if len(s.Ranges) == 0 {
		return fmt.Errorf("flush %s has no source range", s.ID)
	}
	var faults []error
	for _, r := range s.Ranges {
		if r.From < 0 || r.From >= r.To {
			faults = append(faults, fmt.Errorf("flush %s has the range %d to %d of %s", s.ID, r.From, r.To, r))
		}
	}
	return errors.Join(faults...)
}

// Counts says what became of the offsets of some ranges.
type Counts struct {
	Rows       int64 `json:"rows"`       // in the files
	Rejected   int64 `json:"rejected"`   // in the dead letters
	Tombstones int64 `json:"tombstones"` // records with a null value, skipped by policy
	Holes      int64 `json:"holes"`      // offsets without a record: markers, aborted, compacted
	Expired    int64 `json:"expired"`    // offsets that retention removed before they were read
}

// Add sums two counts.
func (c Counts) Add(o Counts) Counts {
	return Counts{
		c.Rows + o.Rows, c.Rejected + o.Rejected, c.Tombstones + o.Tombstones, c.Holes + o.Holes, c.Expired + o.Expired,
	}
}

// Offsets is the number of offsets accounted for.
func (c Counts) Offsets() int64 { return c.Rows + c.Rejected + c.Tombstones + c.Holes + c.Expired }

// TopicMark states which incarnation of a topic the ranges were read from.
type TopicMark struct {
	Topic string `json:"topic"`
	Identity
}

// EventTimes counts records by broker timestamp, run-length coded in arrival order, to measure freshness at commit.
type EventTimes []EventTime

// EventTime is a run of Count records of one broker timestamp.
type EventTime struct {
	UnixMs int64
	Count  int64
}

// Append adds n records of a timestamp, in place where the last run has the same one.
func (e EventTimes) Append(unixMs, n int64) EventTimes {
	if k := len(e); k > 0 && e[k-1].UnixMs == unixMs {
		e[k-1].Count += n
		return e
	}
	return append(e, EventTime{unixMs, n})
}

// DataFile describes one data file of an Iceberg table as a manifest entry needs it (spec section "Manifests",
// struct data_file). Maps are by field id. Bounds are in Iceberg's single-value binary serialisation.
type DataFile struct {
	Path            string           `json:"path"` // absolute, with scheme
	SpecID          int              `json:"spec_id"`
	SchemaID        int              `json:"schema_id"`
	Partition       []PartitionValue `json:"partition"` // in the order of the spec's fields
	Rows            int64            `json:"rows"`
	SizeBytes       int64            `json:"size_bytes"`
	ColumnSizes     map[int]int64    `json:"column_sizes,omitempty"`
	ValueCounts     map[int]int64    `json:"value_counts,omitempty"`
	NullValueCounts map[int]int64    `json:"null_value_counts,omitempty"`
	NaNValueCounts  map[int]int64    `json:"nan_value_counts,omitempty"`
	LowerBounds     map[int][]byte   `json:"lower_bounds,omitempty"`
	UpperBounds     map[int][]byte   `json:"upper_bounds,omitempty"`
	SplitOffsets    []int64          `json:"split_offsets,omitempty"` // start of each row group
	SortOrderID     int              `json:"sort_order_id,omitempty"`
	// Lineage is known once the file is in a table of format version 3.
	Lineage Lineage `json:"lineage,omitzero"`
	// Offset is where the rows begin in the write stream that Path names, where rows go to BigQuery.
	Offset int64 `json:"offset,omitempty"`
	// Refused is how many more rows were written that the server did not take and the dead letters have.
	Refused int64 `json:"refused,omitempty"`
}

// Lineage is where the rows of a data file come from (Iceberg specification, "Row Lineage"): row i of the file has the
// id FirstRowID+i, unless the file itself has a column of ids. The zero value is none.
type Lineage struct {
	FirstRowID     int64 `json:"first_row_id"`
	SequenceNumber int64 `json:"sequence_number"` // above 0
}

// PartitionValue is the value of one partition field, after its transform.
type PartitionValue struct {
	FieldID int    `json:"field_id"` // partition field id, 1000 and up
	Null    bool   `json:"null,omitempty"`
	Value   []byte `json:"value,omitempty"` // single-value binary serialisation of the transform's result type
	Type    Type   `json:"type"`            // the transform's result type
}
