package pipeline

import (
	"context"
	"errors"

	"firn/internal/record"
)

// Source is where records come from. Its methods are safe for concurrent use.
type Source interface {
	// Splits lists every topic partition that there is now, with the identity of its topic and the bounds of its log.
	// A topic that does not exist is not in the result, and is no error: it may appear later.
	Splits(ctx context.Context) ([]record.Split, error)
	// Start gives the offset at which a partition that was never read begins, by the job's start setting.
	Start(ctx context.Context, tps []record.TopicPartition) (map[record.TopicPartition]int64, error)
	// Open starts reading at the offsets given.
	Open(ctx context.Context, from map[record.TopicPartition]int64) (Reader, error)
	// Acknowledge shows the floor to others (for Kafka: the group's offsets). It is a gauge and is never read back.
	Acknowledge(ctx context.Context, floor record.Floor) error
}

// Reader reads topic partitions. One goroutine owns it.
type Reader interface {
	// Next waits for records and returns blocks of them. The blocks of a topic partition come in offset order and
	// their ranges tile without a gap. The caller owns the blocks.
	Next(ctx context.Context) ([]*record.Block, error)
	// Add reads more topic partitions, or moves those that are being read already.
	Add(from map[record.TopicPartition]int64) error
	// Remove stops reading topic partitions, as when their topic was deleted.
	Remove(tps []record.TopicPartition)
	// Close ends the reading. It may be called twice.
	Close() error
}

// Decoder turns the records of a block into rows. One worker owns it.
type Decoder interface {
	// Decode appends to the batch a row or a Rejected for every record, but for tombstones that the job skips and
	// control records, which it counts.
	Decode(block *record.Block, into *record.Batch) (tombstones, controls int)
}

// Writer collects rows for a sink. All its methods are safe for concurrent use.
type Writer interface {
	// Write copies the rows of the batch, which stays the caller's.
	Write(ctx context.Context, b *record.Batch) error
	// Rotate sets aside all that was written so far and starts afresh. It does no I/O: the pipeline calls it while no
	// Write runs, so that the cut between two flushes is exact.
	Rotate() Flush
	// Spill stores files of the rows since the last rotation before the next one, those that will get the fewest more
	// rows first, until BufferedBytes are at most bytesMax, or until only a commit can free more. The files are part of
	// the next flush. Writes may run at the same time, but no Rotate, and no method of a Flush. After an error nothing
	// is lost: Seal tries again what was not stored.
	Spill(ctx context.Context, bytesMax int64) error
	// BufferedBytes is the memory held by rows that are not in files yet, flushes that have not ended included.
	BufferedBytes() int64
	// OnFreed has a function called whenever BufferedBytes has fallen. It must not call the writer.
	OnFreed(freed func())
}

// Flush is the rows between two rotations.
type Flush interface {
	// Seal writes the rows to files that are durable and not yet visible. After an error it may be called again.
	Seal(ctx context.Context) ([]record.DataFile, error)
	// Discard lets the rows go. Files that Seal stored stay where they are: nothing refers to them.
	Discard()
}

// Committer makes sealed files and source positions visible together, or neither (invariant 2). One goroutine owns it.
type Committer interface {
	// Floor is where the table stands now.
	Floor(ctx context.Context) (record.Floor, error)
	// Init records where partitions that were never read begin, before their first record is read: it swaps the
	// floor from base to next, or fails with ErrFloorMoved when the table's floor is not base any more.
	Init(ctx context.Context, base, next record.Floor) error
	// Commit makes the sealed visible, in order. It returns nil only when it is known what became of each: it is in
	// Outcome.Committed or in Outcome.Rejected. With them, or without any, come replacements of data files.
	Commit(ctx context.Context, sealed []record.Sealed, replacements []record.Replacement) (Outcome, error)
}

// Rollup joins the small files that commits leave behind into large ones, beside the walk and for good of readers only:
// it may do nothing, and nothing waits for it. Its methods are safe for concurrent use, and but for Run do not block.
type Rollup interface {
	// Run joins files until ctx ends. After an end it may be called again: then what was handed over and not settled
	// is of unknown outcome.
	Run(ctx context.Context) error
	// Committed tells which files have become visible.
	Committed(files []record.DataFile)
	// Ready hands over replacements whose files are durable, each once, to be committed.
	Ready() []record.Replacement
	// Settled tells by their ids which are in the table now, and which no longer fit it: the files of those are orphans.
	Settled(replaced, stale []string)
}

// ErrFloorMoved is wrapped by the error of Committer.Init when the table's floor is not base any more.
var ErrFloorMoved = errors.New("another process of this job moved the table's floor")

// Outcome is what a commit did.
type Outcome struct {
	SnapshotID int64
	Floor      record.Floor // after the commit
	Committed  []string     // IDs of Sealed that are in the table now
	Rejected   []string     // IDs of Sealed whose ranges do not start at the floor: someone else moved it
	Replaced   []string     // IDs of replacements that are in the table now
	// Stale has the IDs of replacements that do not fit it; of those in neither the outcome is unknown.
	Stale []string
	// Lineage is that of the files of the sealed, by path, where the table keeps it.
	Lineage   map[string]record.Lineage
	Attempts  int
	Conflicts int
	Unknown   int // attempts whose outcome had to be looked up
}

// DeadLetters is where rejected records go.
type DeadLetters interface {
	// Write takes rejected records. They may still be in memory when it returns.
	Write(ctx context.Context, rejected []record.Rejected) error
	// Flush returns nil when all that was written is durable.
	Flush(ctx context.Context) error
}
