package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"firn/internal/record"
)

// refreshInterval is how often every offset of the group is moved, changed or not: the brokers drop the offsets of a
// group without members when they are not renewed (offsets.retention.minutes, 7 days), and a quiet topic would vanish
// from lag monitors (C20).
const refreshInterval = time.Hour

// acknowledged is what the group's offsets are known to be.
type acknowledged struct {
	mu   sync.Mutex
	next offsets
	all  time.Time // when every offset was last moved
}

// Acknowledge moves the group's offsets to the floor. They are a gauge: nothing reads them back. Only those that
// changed are sent, and all of them once an hour. A topic that is gone is passed over. Without a group it does nothing.
func (s *Source) Acknowledge(ctx context.Context, floor record.Floor) error {
	if s.Group == "" {
		return nil
	}
	s.acks.mu.Lock()
	defer s.acks.mu.Unlock()
	now := time.Now()
	whole := now.Sub(s.acks.all) >= refreshInterval
	changed := s.acks.changed(floor, whole)
	if len(changed) == 0 {
		return nil
	}
	if err := s.commitOffsets(ctx, changed); err != nil {
		return err
	}
	if s.acks.next == nil {
		s.acks.next = make(offsets)
	}
	maps.Copy(s.acks.next, changed)
	if whole {
		s.acks.all = now
	}
	return nil
}

// changed lists the offsets of the floor that the group does not have, or all.
func (a *acknowledged) changed(floor record.Floor, all bool) offsets {
	changed := make(offsets)
	for name, t := range floor {
		for p, next := range t.Next {
			tp := record.TopicPartition{Topic: name, Partition: p}
			if last, known := a.next[tp]; all || !known || last != next {
				changed[tp] = next
			}
		}
	}
	return changed
}

func (s *Source) commitOffsets(ctx context.Context, changed offsets) error {
	var sent kadm.Offsets
	for tp, next := range changed {
		sent.AddOffset(tp.Topic, tp.Partition, next, -1)
	}
	responses, err := kadm.NewClient(s.admin).CommitOffsets(ctx, s.Group, sent)
	if err != nil {
		return s.groupError(err)
	}
	var faults []error
	responses.EachError(func(r kadm.OffsetResponse) {
		if errors.Is(r.Err, kerr.UnknownTopicOrPartition) || errors.Is(r.Err, kerr.UnknownTopicID) {
			return
		}
		faults = append(faults, s.groupError(r.Err))
	})
	if len(faults) > 0 {
		return faults[0] // the others say the same of other partitions
	}
	return nil
}

// groupError says what is wrong with the group's offsets.
func (s *Source) groupError(err error) error {
	switch {
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return clientError("no right to move the offsets of group "+s.Group,
			"allow the job's user the operation Read on group "+s.Group+", or set the job's group to one it may use",
			fmt.Errorf("%w: %w", ErrDenied, err))
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return clientError("no right to read the topics", "allow the job's user the operation Read on the topics",
			fmt.Errorf("%w: %w", ErrDenied, err))
	case errors.Is(err, kerr.UnknownMemberID), errors.Is(err, kerr.IllegalGeneration):
		return clientError("group "+s.Group+" has members of its own",
			"give the job a group that no consumer uses", err)
	default:
		return fmt.Errorf("moving the offsets of group %s: %w", s.Group, err)
	}
}
