package kafka

import (
	"fmt"

	"firn/internal/record"
)

// expired accounts for the offsets [position, earliest) that retention, or a DeleteRecords call, removed before they
// were read (C22, C23). Either it is recorded in a block of its own and reading goes on at earliest, or it is an error
// that wraps ErrGap, by the job's on_gap. It is logged in both cases: it is a loss.
func (s *Source) expired(tp record.TopicPartition, position, earliest int64) (*record.Block, error) {
	if s.stop {
		return nil, &Error{
			TopicPartition: tp, Offset: position,
			What: fmt.Sprintf("records from offset %d to %d, %d of them at most, were removed by retention",
				position, earliest-1, earliest-position),
			Do:  "go on without them with on_gap: continue, and give the topic a longer retention.ms",
			Err: ErrGap,
		}
	}
	s.log.Error("kafka records were removed by retention before they were read; going on at the log's start",
		"topic", tp.Topic, "partition", tp.Partition, "from", position, "to", earliest, "count", earliest-position)
	gap := record.Range{TopicPartition: tp, From: position, To: earliest}
	return &record.Block{TopicPartition: tp, Range: gap, Gap: gap}, nil
}

// beyondEnd is the error of a position that the log does not reach (C17).
func beyondEnd(tp record.TopicPartition, position, end int64, cause error) error {
	return &Error{
		TopicPartition: tp, Offset: position,
		What: fmt.Sprintf("the job stands at offset %d and the log ends at %d: the brokers lost records, or the "+
			"topic is another one of the same name", position, end),
		Do:  "find out which; then firn offsets set moves the job to an offset that the log has",
		Err: cause,
	}
}
