package pipeline

import (
	"context"
	"maps"
	"time"

	"firn/internal/record"
)

// firstLook is the time until the second look at the source. Each later one takes twice as long, up to the interval.
const firstLook = 500 * time.Millisecond

// lookOut looks at the source every so often, until ctx ends: for topics and partitions that are new or gone, and for
// the lag. It never waits for the committer, so that the lag is shown while a commit hangs. The first looks come
// sooner: a topic that was just made shows only some of its partitions for a while.
func (s *session) lookOut(ctx context.Context) {
	wait := min(firstLook, s.config.MetadataInterval)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait = min(2*wait, s.config.MetadataInterval)
		timer.Reset(wait)
		splits, err := s.config.Source.Splits(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.config.Metrics.LastError(err)
				s.config.Log.Warn("looking for new topic partitions", "error", err.Error())
			}
			continue
		}
		s.splits.Store(&splits)
		s.showLag()
		select {
		case <-s.found: // an older look that nobody took
		default:
		}
		s.found <- splits
	}
}

// showLag sets the lag metrics: against the last stable offset, since nothing beyond it may be read (case C31).
func (s *session) showLag() {
	floor := *s.floor.Load()
	for _, x := range *s.splits.Load() {
		next, ok := floor.Next(x.TopicPartition)
		if !ok {
			continue
		}
		s.config.Metrics.Lag(x.Topic, x.Partition, x.LastStable-next)
		s.config.Metrics.Uncertain(x.Topic, x.Partition, x.HighWatermark-x.LastStable)
	}
}

// adopt takes in what the look-out found. The committer calls it, because it may have to record starts.
func (s *session) adopt(ctx context.Context, splits []record.Split) error {
	floor := *s.floor.Load()
	p := newPlan(floor, splits)
	if reason := s.ground(p, splits); reason != nil {
		// What was read of a topic that is gone is in no log any more.
		if err := s.commitNow(ctx); err != nil {
			return err
		}
		return reason
	}
	s.forget(floor, p.missing)
	if len(p.fresh) > 0 {
		var err error
		if floor, err = s.settle(ctx, floor, splits, true); err != nil {
			return err
		}
		s.setFloor(floor)
	}
	s.read(floor, splits)
	return nil
}

// ground is why the session cannot go on, or nil.
func (s *session) ground(p plan, splits []record.Split) error {
	if len(p.restarts) > 0 {
		r := p.restarts[0]
		return restartError("topic %s has id %s where it had %s", r.topic, r.now.TopicID, r.was.TopicID)
	}
	for _, x := range splits {
		if s.gone[x.Topic] {
			return restartError("topic %s is there again", x.Topic)
		}
	}
	return nil
}

// read adds the splits that are not being read: new ones, and those that had no leader when the session began.
func (s *session) read(floor record.Floor, splits []record.Split) {
	from := positions(floor, splits)
	maps.DeleteFunc(from, func(tp record.TopicPartition, _ int64) bool { return s.reading[tp] })
	if len(from) == 0 {
		return
	}
	for tp := range from {
		s.reading[tp] = true
	}
	s.config.Log.Info("reading more topic partitions", "partitions", len(from))
	s.fetch.add(from)
}

// forget stops reading topics that are gone (case C26). Their floor stays in the table.
func (s *session) forget(floor record.Floor, topics []string) {
	var gone []record.TopicPartition
	for _, topic := range topics {
		if s.gone[topic] {
			continue
		}
		s.gone[topic] = true
		delete(s.goal, topic)
		s.config.Log.Warn("topic is gone; its rows and its floor stay in the table", "topic", topic)
		for partition := range floor[topic].Next {
			gone = append(gone, record.TopicPartition{Topic: topic, Partition: partition})
			s.config.Metrics.Unassigned(topic, partition)
		}
	}
	if len(gone) > 0 {
		s.fetch.remove(gone)
	}
}
