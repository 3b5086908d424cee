package kafka

import (
	"context"
	"fmt"
	"maps"

	"firn/internal/record"
)

// Start gives the offset at which each partition begins by the job's start setting. Latest is the last stable offset
// under read_committed, so that a transaction that is open now is read once it ends. A time after the last record
// is the same as latest. It fails when a partition has no leader now.
func (s *Source) Start(
	ctx context.Context, tps []record.TopicPartition,
) (map[record.TopicPartition]int64, error) {
	found, err := s.startOffsets(ctx, tps)
	if err != nil {
		return nil, err
	}
	for _, tp := range tps {
		if _, ok := found[tp]; !ok {
			return nil, fmt.Errorf("listing kafka offsets: %s is not there or has no leader now", tp)
		}
	}
	return found, nil
}

func (s *Source) startOffsets(ctx context.Context, tps []record.TopicPartition) (offsets, error) {
	switch {
	case s.start.latest:
		return s.listOffsets(ctx, tps, atEnd, s.isolation())
	case s.start.time.IsZero():
		return s.listOffsets(ctx, tps, atEarliest, 0)
	}
	found, err := s.listOffsets(ctx, tps, max(s.start.time.UnixMilli(), 0), s.isolation())
	if err != nil {
		return nil, err
	}
	var late []record.TopicPartition
	for tp, offset := range found {
		if offset < 0 {
			late = append(late, tp)
			delete(found, tp)
		}
	}
	ends, err := s.listOffsets(ctx, late, atEnd, s.isolation())
	maps.Copy(found, ends)
	return found, err
}
