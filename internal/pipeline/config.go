package pipeline

import (
	"context"
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
	Rollup      Rollup      // nil: files stay as they are committed
	Schema      *record.Schema
	Metrics     *metric.Job
	Log         *slog.Logger

	Workers          int
	CommitInterval   time.Duration
	ReplaceInterval  time.Duration // at least between two commits with replacements of the roll-up
	MetadataInterval time.Duration // between looks for new topics and partitions
	ShutdownTimeout  time.Duration // for the last flush and commit
	MemoryBytesMax   int64         // of data; see the shares below
	RestartRecreated bool          // read a topic that was made again from its start, rather than stop
	RestartCluster   bool          // the same for another cluster
	UntilCaughtUp    bool          // end when all that was there at the start is committed, rather than go on
	NewID            func() string
}

// The parts of MemoryBytesMax that the pipeline may fill. An eighth is for what the source fetches ahead, another for
// idle buffers of the writer. The last is room for garbage, without which the collector would always run.
const (
	queueShare = 8 // for blocks that were read, until their rows are written
	rowsShare  = 2 // for rows that are not in files yet
)

func (c *Config) queueBytesMax() int64 { return max(1, c.MemoryBytesMax/queueShare) }
func (c *Config) rowsBytesMax() int64  { return max(1, c.MemoryBytesMax/rowsShare) }

// noRollup leaves files as they are.
type noRollup struct{}

func (noRollup) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
func (noRollup) Committed([]record.DataFile) {}
func (noRollup) Ready() []record.Replacement { return nil }
func (noRollup) Settled(_, _ []string)       {}
