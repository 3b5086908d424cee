package pipeline

import (
	"log/slog"
	"time"

	"firn/internal/metric"
	"firn/internal/record"
)

// Config is what a pipeline is made of. All fields are required unless said otherwise.
type Config struct {
	Source      Source
	NewDecoder  func() (Decoder, error) // one a worker
	Writer      Writer
	Committer   Committer
	DeadLetters DeadLetters // nil: a record that cannot become a row stops the job
	Schema      *record.Schema
	Metrics     *metric.Job
	Log         *slog.Logger

	Workers          int
	CommitInterval   time.Duration
	MetadataInterval time.Duration // between looks for new topics and partitions
	ShutdownTimeout  time.Duration // for the last flush and commit
	MemoryBytesMax   int64         // of records read and rows not yet in files
	RestartRecreated bool          // read a topic that was made again from its start, rather than stop
	RestartCluster   bool          // the same for another cluster
	UntilCaughtUp    bool          // end when all that was there at the start is committed, rather than go on
	NewID            func() string
}

// queueShare is the part of the memory limit that read blocks may take before they are decoded. The rest is for rows.
const queueShare = 4
