package kafka

import (
	"context"
	"slices"

	"firn/internal/record"
)

// Splits lists every partition of the topics, ordered. A topic that does not exist or is being made, and a partition
// without a leader, is not in the result and no error: it may appear later (C24, C80). It takes one metadata request
// and three ListOffsets requests a broker, whatever the number of partitions.
func (s *Source) Splits(ctx context.Context) ([]record.Split, error) {
	m, err := s.describe(ctx, s.Topics)
	if err != nil {
		return nil, err
	}
	tps := m.partitions()
	b, err := s.listBounds(ctx, tps)
	if err != nil {
		return nil, err
	}
	ids := make(map[string]string, len(m.topics))
	for _, t := range m.topics {
		ids[t.name] = t.id
	}
	splits := make([]record.Split, 0, len(tps))
	for _, tp := range tps {
		if !b.has(tp) {
			continue
		}
		// The three were asked for at slightly different times, while the log went on: keep them in order.
		earliest := b.earliest[tp]
		stable := max(earliest, b.stable[tp])
		splits = append(splits, record.Split{
			TopicPartition: tp,
			Identity:       record.Identity{ClusterID: m.clusterID, TopicID: ids[tp.Topic]},
			Earliest:       earliest,
			LastStable:     stable,
			HighWatermark:  max(stable, b.end[tp]),
		})
	}
	slices.SortFunc(splits, func(a, b record.Split) int { return a.TopicPartition.Compare(b.TopicPartition) })
	return splits, nil
}
