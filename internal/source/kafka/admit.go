package kafka

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

const (
	lookIntervalDefault = 5 * time.Second
	// lookTimeout bounds one look, during which nothing is read.
	lookTimeout = 5 * time.Second
)

// waiter is a partition that is not in the client's hands yet.
type waiter struct {
	offset int64
	id     string    // the incarnation of the topic that the offset belongs to; empty: whichever there is
	due    time.Time // when to look; zero: at once
}

// admit looks at the partitions that are due and hands those to the client whose log has their offset. The client
// would move an offset that the log does not have silently.
func (r *reader) admit(ctx context.Context) {
	due := r.due(time.Now())
	if len(due) == 0 {
		return
	}
	r.forgive(record.TopicPartition{}) // what the last look found
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	seen, err := r.source.look(ctx, due)
	later := time.Now().Add(r.source.lookInterval)
	for _, tp := range due {
		w := r.waiting[tp]
		w.due = later // unless admitted or failed below
		r.waiting[tp] = w
	}
	if err != nil {
		r.lookFailed(err)
		return
	}
	start := make(map[string]map[int32]kgo.Offset)
	for _, tp := range due {
		if offset, ok := r.judge(tp, seen); ok {
			if start[tp.Topic] == nil {
				start[tp.Topic] = make(map[int32]kgo.Offset)
			}
			start[tp.Topic][tp.Partition] = kgo.NewOffset().At(offset)
		}
	}
	r.start(start, seen)
}

func (r *reader) lookFailed(err error) {
	if _, final := errors.AsType[*Error](err); final {
		r.failures = append(r.failures, failure{err: err})
		return
	}
	if !errors.Is(err, context.Canceled) {
		r.source.warnings.warn("kafka offsets cannot be looked at, trying on", "error", err)
	}
}

// due lists the partitions to look at now.
func (r *reader) due(now time.Time) []record.TopicPartition {
	var tps []record.TopicPartition
	for tp, w := range r.waiting {
		if !w.due.After(now) {
			tps = append(tps, tp)
		}
	}
	return tps
}

// untilDue is a context that ends when the next waiting partition is due.
func (r *reader) untilDue(ctx context.Context) (context.Context, context.CancelFunc) {
	var first time.Time
	for _, w := range r.waiting {
		if first.IsZero() || w.due.Before(first) {
			first = w.due
		}
	}
	if len(r.waiting) == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, first)
}

// sight is what there is of some partitions.
type sight struct {
	bounds
	ids map[string]string // of the topics that are there
}

// look asks for the bounds of partitions and the ids of their topics.
func (s *Source) look(ctx context.Context, tps []record.TopicPartition) (sight, error) {
	var names []string
	there := make(map[record.TopicPartition]bool)
	named := make(map[string]bool)
	for _, tp := range tps {
		if !named[tp.Topic] {
			named[tp.Topic] = true
			names = append(names, tp.Topic)
		}
	}
	m, err := s.describe(ctx, names)
	if err != nil {
		return sight{}, err
	}
	for _, tp := range m.partitions() {
		there[tp] = true
	}
	var list []record.TopicPartition
	for _, tp := range tps {
		if there[tp] {
			list = append(list, tp)
		}
	}
	seen := sight{ids: make(map[string]string, len(m.topics))}
	for _, t := range m.topics {
		seen.ids[t.name] = t.id
	}
	seen.bounds, err = s.listBounds(ctx, list)
	return seen, err
}

// judge says at which offset a partition can be read; false when it stays waiting, or failed.
func (r *reader) judge(tp record.TopicPartition, seen sight) (int64, bool) {
	w := r.waiting[tp]
	id, exists := seen.ids[tp.Topic]
	switch {
	case !exists || !seen.has(tp):
		r.source.warnings.warn("kafka partition is not there now, waiting for it", "topic", tp.Topic,
			"partition", tp.Partition)
		return 0, false
	case w.id != "" && id != w.id:
		// The caller finds the new incarnation among the splits and decides what becomes of it (C17).
		r.source.warnings.warn("kafka topic was made again, its old records are not read any more", "topic", tp.Topic)
		return 0, false
	case w.offset > seen.end[tp]:
		r.fail(tp, beyondEnd(tp, w.offset, seen.end[tp], ErrOffsetBeyondEnd))
		return 0, false
	case w.offset < seen.earliest[tp]:
		at := &partition{position: w.offset}
		return seen.earliest[tp], r.skip(tp, at, seen.earliest[tp])
	default:
		return w.offset, true
	}
}

// start hands partitions to the client.
func (r *reader) start(from map[string]map[int32]kgo.Offset, seen sight) {
	for name, partitions := range from {
		r.replace(name, seen.ids[name])
		for p, offset := range partitions {
			tp := record.TopicPartition{Topic: name, Partition: p}
			delete(r.waiting, tp)
			r.reading[tp] = &partition{position: offset.EpochOffset().Offset}
			r.topics[name].partitions++
		}
	}
	if len(from) > 0 {
		r.client.AddConsumePartitions(from)
	}
}

// replace makes the client read this incarnation of a topic. Partitions that are read of another one wait for the
// caller to remove or move them.
func (r *reader) replace(name, id string) {
	t := r.topics[name]
	if t != nil && t.id == id {
		return
	}
	if t != nil {
		for tp := range r.reading {
			if tp.Topic == name {
				r.recheck(tp, time.Now().Add(r.source.lookInterval))
			}
		}
		r.client.PurgeTopicsFromConsuming(name)
	}
	r.topics[name] = &readTopic{id: id}
}
