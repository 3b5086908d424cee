package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"firn/internal/record"
)

// Special timestamps of ListOffsets (KIP-79).
const (
	atEnd      = -1
	atEarliest = -2
)

// offsets is an offset a topic partition. A partition that has no leader, or is not there, is not in it.
type offsets map[record.TopicPartition]int64

// listOffsets asks the leaders for the first offset at or after a timestamp (ms, or one of the special ones); -1 is
// that there is none. One request a broker.
func (s *Source) listOffsets(
	ctx context.Context, tps []record.TopicPartition, timestamp int64, isolation int8,
) (offsets, error) {
	if len(tps) == 0 {
		return offsets{}, nil
	}
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID = -1
	request.IsolationLevel = isolation
	request.Topics = listTopics(tps, timestamp)
	found := make(offsets, len(tps))
	for _, shard := range s.admin.RequestSharded(ctx, request) {
		if shard.Err != nil {
			if err := s.unlisted(shard.Err, ""); err != nil {
				return nil, err
			}
			continue
		}
		if err := s.addOffsets(found, shard.Resp.(*kmsg.ListOffsetsResponse)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func listTopics(tps []record.TopicPartition, timestamp int64) []kmsg.ListOffsetsRequestTopic {
	index := make(map[string]int)
	var topics []kmsg.ListOffsetsRequestTopic
	for _, tp := range tps {
		i, seen := index[tp.Topic]
		if !seen {
			i = len(topics)
			index[tp.Topic] = i
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = tp.Topic
			topics = append(topics, t)
		}
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition = tp.Partition
		p.Timestamp = timestamp
		topics[i].Partitions = append(topics[i].Partitions, p)
	}
	return topics
}

func (s *Source) addOffsets(found offsets, response *kmsg.ListOffsetsResponse) error {
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				if err = s.unlisted(err, t.Topic); err != nil {
					return err
				}
				continue
			}
			found[record.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = p.Offset
		}
	}
	return nil
}

// unlisted judges why offsets could not be listed: nil when the partition is gone or between two leaders, so that it
// is left out and asked for again later.
func (s *Source) unlisted(err error, topic string) error {
	var broker *kerr.Error
	switch {
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return denied(topic, "Describe", err)
	case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID):
		return nil
	case errors.As(err, &broker) && broker.Retriable:
		s.warnings.warn("kafka partition has no leader now, left out", "topic", topic, "error", err)
		return nil
	default:
		return fmt.Errorf("listing kafka offsets: %w", err)
	}
}

// bounds is where logs begin and end.
type bounds struct {
	earliest, stable, end offsets
}

// listBounds asks for all three bounds at the same time.
func (s *Source) listBounds(ctx context.Context, tps []record.TopicPartition) (bounds, error) {
	var b bounds
	group, ctx := errgroup.WithContext(ctx)
	ask := func(into *offsets, timestamp int64, isolation int8) {
		group.Go(func() (err error) {
			*into, err = s.listOffsets(ctx, tps, timestamp, isolation)
			return err
		})
	}
	ask(&b.earliest, atEarliest, 0)
	ask(&b.stable, atEnd, 1)
	ask(&b.end, atEnd, 0)
	return b, group.Wait()
}

// has says whether all bounds of a partition are known.
func (b *bounds) has(tp record.TopicPartition) bool {
	_, earliest := b.earliest[tp]
	_, stable := b.stable[tp]
	_, end := b.end[tp]
	return earliest && stable && end
}
