package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"firn/internal/metric"
	"firn/internal/parquet"
	"firn/internal/record"
)

// Config is what a Rollup is made of. All fields are required unless said otherwise. The functions are called by
// several goroutines at once.
type Config struct {
	// Live calls found with each data file of the table that is live now; large ones may be left out.
	Live func(ctx context.Context, found func(LiveFile)) error
	// Open reads a data file. A missing one is fs.ErrNotExist. What it returns is used by one goroutine.
	Open func(ctx context.Context, path string) (Content, error)
	// Create makes a new object. The object exists, durable, once Close of what it returns gave nil. To give one up, ctx
	// is ended, Abort is called where there is one and Close where there is none, and the path is removed.
	Create func(ctx context.Context, path string) (io.WriteCloser, error)
	// Remove deletes an object. A missing one is no error.
	Remove func(ctx context.Context, path string) error
	// DataPath is where a data file of a partition value goes, under the partition spec SpecID.
	DataPath func(partition []record.PartitionValue, file string) (string, error)
	SpecID   int
	// Join is parquet.Join.
	Join func(ctx context.Context, w io.Writer, parts []parquet.Part, o parquet.JoinOptions) (parquet.Joined, error)
	// Schema is the one of an id, as files of it were written; nil when it is not known: they are left alone.
	Schema  func(id int) *record.Schema
	Parquet parquet.Options // of the files that are made
	// RowLineage has files keep the ids of their rows, as a table of format version 3 must. Files of which it is not known
	// what ids their rows have are left alone.
	RowLineage bool
	NewID      func() string
	Metrics    *metric.Job
	Log        *slog.Logger

	TargetBytes int64         // size of files; those that are made have half to twice of it, where there is as much
	AgeMax      time.Duration // after which small files are joined though there are few; 0: never for their age
	Parallel    int           // joins at once; 0: one
	// KnownBytesMax bounds the memory for descriptions of small files, some 1 KB for 20 columns; 0: 64 MiB. Files are
	// joined before their time when half of it is full, and when it is full no more are looked at until there is room.
	KnownBytesMax int64

	Local          bool   // reading the table's files is as good as keeping their bytes: none are kept
	MemoryBytesMax int64  // of files kept in memory until they are joined; 0: none are kept
	SpoolBytesMax  int64  // of files kept on local disk, when memory is full; 0: none
	SpoolFolder    string // for them alone: made when it is missing, and removed by Close when nothing else is in it
}

// LiveFile is a data file of the table and when it became visible. A zero Since counts as now.
type LiveFile struct {
	File  record.DataFile
	Since time.Time
}

// Content is an open file.
type Content interface {
	io.ReaderAt
	io.Closer
}

// Limits that no setting changes.
const (
	// partsMax of a join: their footers and descriptions are in memory at once.
	partsMax = 2048
	// packedBytesMax of the descriptions of a join's parts: some 50,000 columns, which take 20 MB when unpacked.
	packedBytesMax = 2 << 20
	knownBytesMax  = 64 << 20 // if not said otherwise
	// unsettledMax replacements may wait for the committer: while the catalog is away no more are made.
	unsettledMax = 100
	// staleMax answers that a file no longer fits: it has deletes on it, which is for ordinary compaction.
	staleMax = 2
	// leaveAlone is for how long such files are left alone, and leaveAloneMax when that happens again and again.
	leaveAlone    = 10 * time.Minute
	leaveAloneMax = 6 * time.Hour
	// listingInterval is the least time between two looks at all live files, which read every manifest.
	listingInterval = time.Minute
	// removeTimeout bounds the removal of one file that nothing refers to.
	removeTimeout = 30 * time.Second
)

func (c *Config) knownMax() int64 {
	if c.KnownBytesMax > 0 {
		return c.KnownBytesMax
	}
	return knownBytesMax
}

func (c *Config) validate() error {
	var faults []error
	if c.TargetBytes < 1 {
		faults = append(faults, fmt.Errorf("the target size is %d bytes, and must be positive", c.TargetBytes))
	}
	if c.AgeMax < 0 {
		faults = append(faults, fmt.Errorf("the age limit is %s, and must not be negative", c.AgeMax))
	}
	if c.SpoolBytesMax > 0 && c.SpoolFolder == "" && !c.Local {
		faults = append(faults, fmt.Errorf("%d bytes may be kept on disk and no folder is given", c.SpoolBytesMax))
	}
	return errors.Join(faults...)
}
