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
	shower *shower
	found  chan []record.Split // of capacity 1, from the look-out to the committer: splits as they are now
	early  chan struct{}       // of capacity 1, to the committer: a commit before its time
	full   chan struct{}       // of capacity 1, from workers to the committer: memory is short

	// cut is held for reading while a block is written and for writing while an interval is cut off.
	cut      sync.RWMutex
	interval *interval // changed under cut's write lock only

	floor  *atomic.Pointer[record.Floor]  // as of the last commit; the pipeline's
	splits atomic.Pointer[[]record.Split] // as of the last look

	// These are the committer's own once the session runs.
	reading map[record.TopicPartition]bool
	gone    map[string]bool // topics that were deleted
	goal    record.Floor    // with UntilCaughtUp: where to end; workers read ends instead

	replacedAt time.Time // when the roll-up's replacements were taken last

	ends map[record.TopicPartition]int64 // the goal as it was at the start; not changed
	left atomic.Int64                    // offsets below the ends that no worker has finished
}

func newSession(c *Config, floor *atomic.Pointer[record.Floor]) *session {
	s := &session{
		config: c, floor: floor, queue: newQueue(c.queueBytesMax()), interval: newInterval(),
		found: make(chan []record.Split, 1), early: make(chan struct{}, 1),
		full: make(chan struct{}, 1), reading: map[record.TopicPartition]bool{}, gone: map[string]bool{},
	}
	// A block's rows are in its page, and may be once more in the page's compressed form, both in powers of two.
	const rowsOfBlock = 3
	inHand := func() int64 { return int64(c.Workers) * rowsOfBlock * s.queue.largest() }
	s.memory = newMemory(c.rowsBytesMax(), inHand, c.Writer.BufferedBytes, func() { request(s.full) })
	c.Writer.OnFreed(s.memory.release)
	return s
}

// buffered is the memory of what was read and is not in files yet.
func (s *session) buffered() int64 { return s.queue.held() + s.config.Writer.BufferedBytes() }

// run reads, writes and commits until ctx ends or something fails.
func (s *session) run(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return stopped(ctx, err)
	}
	s.config.Metrics.State(metric.Running)
	s.config.Metrics.Workers(s.config.Workers)
	s.shower = newShower(ctx, s.config)
	err := s.walk(ctx)
	s.shower.close()
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
	for tp := range from {
		s.reading[tp] = true
	}
	s.setFloor(floor)
	if c.UntilCaughtUp {
		s.aim(splits, from)
	}
	s.fetch = newFetcher(reader, s.queue)
	s.splits.Store(&splits)
	s.showLag()
	c.Log.Info("reading", "partitions", len(from), "topics", len(floor))
	return nil
}

// aim sets the goal: where the splits end now.
func (s *session) aim(splits []record.Split, from map[record.TopicPartition]int64) {
	s.ends = make(map[record.TopicPartition]int64, len(splits))
	for _, x := range splits {
		s.ends[x.TopicPartition] = x.LastStable
		s.left.Add(max(0, x.LastStable-from[x.TopicPartition]))
	}
	s.goal = withStarts(record.Floor{}, splits, s.ends)
}

// advance counts a range that a worker has finished, and asks for a commit when it was the last before the goal.
func (s *session) advance(r record.Range) {
	end, ok := s.ends[r.TopicPartition]
	if n := min(r.To, end) - min(r.From, end); ok && n > 0 && s.left.Add(-n) <= 0 {
		request(s.early)
	}
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
	asked := slices.DeleteFunc(slices.Clone(p.fresh), func(tp record.TopicPartition) bool {
		_, known := first[tp]
		return known
	})
	if len(asked) > 0 {
		starts, err := c.Source.Start(ctx, asked)
		if err != nil {
			return nil, fmt.Errorf("finding where %d new topic partitions begin: %w", len(asked), err)
		}
		maps.Copy(first, starts)
	}
	next := withStarts(floor, splits, first)
	err := c.Committer.Init(ctx, floor, next)
	if errors.Is(err, ErrFloorMoved) {
		return nil, restartError("another process of this job recorded where partitions begin")
	}
	if err != nil {
		return nil, fmt.Errorf("recording where %d new topic partitions begin: %w", len(p.fresh), err)
	}
	return next, nil
}

// walk runs the reader, the workers, the look-out, the roll-up and the committer, and waits for all of them.
//
// Reading ends when ctx does, when the goal is reached and when the reader fails. Then workers finish the block in
// hand and one last commit holds what they wrote. All of it is given up when a worker or a commit fails, because a
// block that is half written cannot be committed, and when the shutdown limit has passed since the reading ended.
func (s *session) walk(ctx context.Context) error {
	workers, err := s.workers()
	if err != nil {
		return err
	}
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	finishing, giveUp := context.WithCancelCause(context.WithoutCancel(ctx)) // its cause is the first error
	defer giveUp(nil)
	run := func(part func() error) {
		if err := part(); err != nil {
			giveUp(err)
			stopReading()
		}
	}
	var parts sync.WaitGroup
	var readError error
	parts.Go(func() {
		defer stopReading()
		readError = s.fetch.run(reading)
	})
	parts.Go(func() { s.lookOut(reading) })
	parts.Go(func() { run(func() error { return s.config.Rollup.Run(reading) }) })
	for _, w := range workers {
		parts.Go(func() { run(func() error { return w.run(reading, finishing) }) })
	}
	parts.Go(func() {
		defer stopReading()
		run(func() error { return s.commitEvery(finishing, reading.Done()) })
	})
	<-reading.Done()
	limit := time.AfterFunc(s.config.ShutdownTimeout, func() { giveUp(shutdownError(s.config.ShutdownTimeout)) })
	defer limit.Stop()
	parts.Wait()
	if err := context.Cause(finishing); err != nil {
		return err
	}
	return errors.Join(readError, s.last(finishing))
}

func shutdownError(limit time.Duration) error {
	return fmt.Errorf("what was read could not be committed within limits.shutdown_timeout (%s); it is read again at the "+
		"next start", limit)
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
	err := s.commitNow(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	if err != nil {
		return fmt.Errorf("committing what was read before the end: %w", err)
	}
	return nil
}

func (s *session) setFloor(f record.Floor) { s.floor.Store(&f) }
