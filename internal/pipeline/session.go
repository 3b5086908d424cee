package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"firn/internal/metric"
	"firn/internal/record"
)

// session is one stretch of reading from a floor. When the ground moves (another replica committed, a topic was made
// again) it ends, and what was not committed is read again by the next.
type session struct {
	config *Config
	queue  *queue
	memory *memory
	fetch  *fetcher
	found  chan []record.Split // from the look-out to the committer: splits as they are now

	// cut is held for reading while a block is written and for writing while an interval is cut off.
	cut      sync.RWMutex
	interval *interval // changed under cut's write lock only

	floor  *atomic.Pointer[record.Floor]  // as of the last commit; the pipeline's
	splits atomic.Pointer[[]record.Split] // as of the last look
	gone   map[string]bool                // topics that were deleted; the committer's own
	goal   record.Floor                   // with UntilCaughtUp: where to end
}

func newSession(c *Config, floor *atomic.Pointer[record.Floor]) *session {
	s := &session{
		config: c, floor: floor, queue: newQueue(max(1, c.MemoryBytesMax/queueShare)), interval: newInterval(),
		found: make(chan []record.Split, 1), gone: map[string]bool{},
	}
	s.memory = newMemory(c.MemoryBytesMax-c.MemoryBytesMax/queueShare, c.Writer.BufferedBytes)
	return s
}

// run reads, writes and commits until ctx ends or something fails.
func (s *session) run(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return stopped(ctx, err)
	}
	s.config.Metrics.State(metric.Running)
	err := s.walk(ctx)
	if err != nil {
		s.config.Writer.Rotate().Discard() // its rows are read again
	}
	return errors.Join(err, s.fetch.close())
}

// stopped turns the error of a step that the end of ctx interrupted into nil.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// start finds the floor, records the starts of what was never read, and opens the reader.
func (s *session) start(ctx context.Context) error {
	c := s.config
	splits, err := c.Source.Splits(ctx)
	if err != nil {
		return fmt.Errorf("listing what there is to read: %w", err)
	}
	floor, err := c.Committer.Floor(ctx)
	if err != nil {
		return fmt.Errorf("reading the table's floor: %w", err)
	}
	floor, err = s.settle(ctx, floor, splits, false)
	if err != nil {
		return err
	}
	from := positions(floor, splits)
	reader, err := c.Source.Open(ctx, from)
	if err != nil {
		return fmt.Errorf("opening the source: %w", err)
	}
	s.setFloor(floor)
	s.goal = goalOf(splits, c.UntilCaughtUp)
	s.fetch = newFetcher(reader, s.queue)
	s.splits.Store(&splits)
	s.showLag()
	c.Log.Info("reading", "partitions", len(from), "topics", len(floor))
	return nil
}

// goalOf is where the splits end now, or nil when there is no goal.
func goalOf(splits []record.Split, wanted bool) record.Floor {
	if !wanted {
		return nil
	}
	ends := make(map[record.TopicPartition]int64, len(splits))
	for _, s := range splits {
		ends[s.TopicPartition] = s.LastStable
	}
	return withStarts(record.Floor{}, splits, ends)
}

// settle brings the floor and the splits together: it says what changed, and records the starts of fresh partitions
// in the table before their first record is read. What came while the job runs (late), or to a topic that it reads
// already, is read from its first record (case C24); else the job's start setting says where.
func (s *session) settle(
	ctx context.Context, floor record.Floor, splits []record.Split, late bool,
) (record.Floor, error) {
	c := s.config
	p := newPlan(floor, splits)
	if err := p.refused(c); err != nil {
		return nil, err
	}
	for _, r := range p.restarts {
		c.Log.Warn("topic is not the one that the table was filled from; reading the new one",
			"topic", r.topic, "was_topic_id", r.was.TopicID, "topic_id", r.now.TopicID, "was_cluster", r.was.ClusterID,
			"cluster", r.now.ClusterID)
	}
	if len(p.fresh) == 0 {
		return floor, nil
	}
	first := earliest(splits, p.added)
	if late {
		first = earliest(splits, p.fresh)
	}
	asked := slices.DeleteFunc(slices.Clone(p.fresh), func(tp record.TopicPartition) bool { _, ok := first[tp]; return ok })
	if len(asked) > 0 {
		starts, err := c.Source.Start(ctx, asked)
		if err != nil {
			return nil, fmt.Errorf("finding where %d new topic partitions begin: %w", len(asked), err)
		}
		maps.Copy(first, starts)
	}
	next := withStarts(floor, splits, first)
	if err := c.Committer.Init(ctx, floor, next); err != nil {
		return nil, fmt.Errorf("recording where %d new topic partitions begin: %w", len(p.fresh), err)
	}
	return next, nil
}

// walk runs the reader, the workers, the look-out and the committer, and waits for all of them.
func (s *session) walk(ctx context.Context) error {
	workers, err := s.workers()
	if err != nil {
		return err
	}
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	committing, stopCommitting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopCommitting()

	group, working := errgroup.WithContext(reading)
	group.Go(func() error { return s.fetch.run(working) })
	group.Go(func() error { return s.lookOut(working) })
	for _, w := range workers {
		group.Go(func() error { return w.run(working) })
	}
	committed := make(chan error, 1)
	go func() {
		committed <- s.commitEvery(committing, working.Done())
		stopReading()
	}()
	if err := group.Wait(); err != nil {
		stopCommitting() // a worker broke off in the middle of a block: nothing more can be committed
		<-committed
		return err
	}
	stop := time.AfterFunc(s.config.ShutdownTimeout, stopCommitting)
	defer stop.Stop()
	if err := <-committed; err != nil {
		return err
	}
	return s.last(committing)
}

// workers makes the workers, each with a decoder of its own.
func (s *session) workers() ([]*worker, error) {
	out := make([]*worker, s.config.Workers)
	for i := range out {
		decoder, err := s.config.NewDecoder()
		if err != nil {
			return nil, fmt.Errorf("making a decoder: %w", err)
		}
		out[i] = &worker{session: s, decoder: decoder, batch: record.NewBatch(s.config.Schema)}
	}
	return out, nil
}

// last commits what was written since the last cut.
func (s *session) last(ctx context.Context) error {
	s.config.Metrics.State(metric.Stopping)
	if err := s.commitNow(ctx); err != nil {
		return fmt.Errorf("committing what was read before the end: %w", err)
	}
	return nil
}

func (s *session) setFloor(f record.Floor) { s.floor.Store(&f) }
