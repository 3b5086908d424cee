package pipeline

import (
	"context"
	"time"

	"firn/internal/record"
)

// lookOut looks at the source every so often: for topics and partitions that are new or gone, and for the lag.
func (s *session) lookOut(ctx context.Context) error {
	tick := time.NewTicker(s.config.MetadataInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
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
		case s.found <- splits:
		case <-ctx.Done():
			return nil
		}
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
	if len(p.restarts) > 0 {
		r := p.restarts[0]
		return restartError("topic %s has id %s where it had %s", r.topic, r.now.TopicID, r.was.TopicID)
	}
	for _, x := range splits {
		if s.gone[x.Topic] {
			return restartError("topic %s is there again", x.Topic)
		}
	}
	s.forget(floor, p.missing)
	if len(p.fresh) == 0 {
		return nil
	}
	next, err := s.settle(ctx, floor, splits, true)
	if err != nil {
		return err
	}
	s.setFloor(next)
	from := make(map[record.TopicPartition]int64, len(p.fresh))
	for _, tp := range p.fresh {
		from[tp], _ = next.Next(tp)
	}
	s.config.Log.Info("reading new topic partitions", "partitions", len(from), "first", p.fresh[0].String())
	s.fetch.add(from)
	return nil
}

// forget stops reading topics that are gone (case C26). Their floor stays in the table.
func (s *session) forget(floor record.Floor, topics []string) {
	var gone []record.TopicPartition
	for _, topic := range topics {
		if s.gone[topic] {
			continue
		}
		s.gone[topic] = true
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
