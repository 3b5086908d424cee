package record

import "time"

// Record is one message as the source gave it. The byte slices alias the source's buffers and are good until the
// Block that holds them is released.
type Record struct {
	Offset    int64
	Timestamp time.Time
	Key       []byte
	Value     []byte // nil is a tombstone; empty is an empty value
	Headers   []Header
	Control   bool // a transaction marker: it moves the position and holds no data
}

// Header is a record header.
type Header struct {
	Key   string
	Value []byte
}

// Block is consecutive records of one topic partition, in offset order, as a Reader returns them.
type Block struct {
	TopicPartition
	Records []Record
	// Range is what the block covers. It may start before the first record and end after the last one: offsets
	// without a record are transaction markers, aborted records, compacted away, or expired (see Gap).
	Range Range
	// Gap is the part of Range that retention removed before it was read; empty when From == To.
	Gap   Range
	Bytes int // of keys and values, for the memory limit
	// Free takes the block's memory back for the source; nil when it has no use for it. See Release.
	Free func()
}

// Release gives the block's memory back to its source. Neither its records nor anything that aliases them may be used
// after. A block that is not released, as when its job fails, is left to the garbage collector.
func (b *Block) Release() {
	if b.Free != nil {
		b.Free()
	}
	b.Records, b.Free = nil, nil
}

// Batch is the decoded rows of one block. The columns alias the block's buffers.
type Batch struct {
	Schema   *Schema
	Columns  []Column
	Rows     int
	Rejected []Rejected
}

// NewBatch makes an empty batch for the schema.
func NewBatch(s *Schema) *Batch {
	return &Batch{Schema: s, Columns: NewColumns(s.Fields)}
}

// Reset empties the batch and keeps its buffers, so that steady work allocates nothing.
func (b *Batch) Reset() {
	for i := range b.Columns {
		b.Columns[i].Truncate(0)
	}
	b.Rows = 0
	clear(b.Rejected)
	b.Rejected = b.Rejected[:0]
}

// Rejected is a record that could not become a row, with the reason. It goes to the dead letters or stops the job.
type Rejected struct {
	TopicPartition
	Record Record
	Field  string // dotted path of the column at fault; empty when the whole record is
	Reason string // what is wrong, without the data itself
}
