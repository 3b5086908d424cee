package bigquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/cluster"
	"firn/internal/pipeline"
	"firn/internal/record"
)

// GroupCommitter keeps the floor in the offsets of a consumer group, for rows that are visible once they are stored.
// Between the storing and the commit a crash has rows written again: that is at least once. The metadata of each
// offset says which topic it is of, so that a topic that was made again is noticed; others must not move the offsets,
// the source's Acknowledge included.
//
// Brokers forget the offsets of a group without members after offsets.retention.minutes, 7 days by default, in which
// nothing was committed.
//
// It implements pipeline.Committer. One goroutine uses it.
type GroupCommitter struct {
	admin *kadm.Client
	group string
}

var _ pipeline.Committer = (*GroupCommitter)(nil)

// NewGroupCommitter makes a committer to a group. The client stays the caller's.
func NewGroupCommitter(client *kgo.Client, group string) (*GroupCommitter, error) {
	if group == "" {
		return nil, errors.New("committing to a consumer group needs its name")
	}
	return &GroupCommitter{kadm.NewClient(client), group}, nil
}

// Floor reads the group's offsets.
func (k *GroupCommitter) Floor(ctx context.Context) (record.Floor, error) {
	offsets, err := k.admin.FetchOffsets(ctx, k.group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return record.Floor{}, nil
	}
	if err == nil {
		err = offsets.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the offsets of group %s: %w", k.group, err)
	}
	floor := record.Floor{}
	offsets.Each(func(o kadm.OffsetResponse) {
		if err == nil && o.At >= 0 {
			err = addOffset(floor, o.Offset)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading the offsets of group %s: %w", k.group, err)
	}
	return floor, nil
}

// addOffset adds a group's offset to a floor.
func addOffset(floor record.Floor, o kadm.Offset) error {
	var identity record.Identity
	if err := json.Unmarshal([]byte(o.Metadata), &identity); err != nil {
		return fmt.Errorf("the metadata of the offset %d of %s/%d does not say which topic it is of: it is not of this "+
			"job's making; give the job a group of its own: %w", o.At, o.Topic, o.Partition, err)
	}
	t, known := floor[o.Topic]
	if !known {
		t = record.TopicFloor{Identity: identity, Next: map[int32]int64{}}
		floor[o.Topic] = t
	}
	if t.Identity != identity {
		return fmt.Errorf("the offsets of topic %s are of two topics, %+v and %+v: remove those of the topic that is gone "+
			"from the group", o.Topic, t.Identity, identity)
	}
	t.Next[o.Partition] = o.At
	return nil
}

// Init implements pipeline.Committer.
func (k *GroupCommitter) Init(ctx context.Context, base, next record.Floor) error {
	now, err := k.Floor(ctx)
	switch {
	case err != nil:
		return err
	case now.Equal(next):
		return nil
	case !now.Equal(base):
		return pipeline.ErrFloorMoved
	}
	return k.set(ctx, next)
}

// Commit implements pipeline.Committer. Its rows are visible already.
func (k *GroupCommitter) Commit(
	ctx context.Context, sealed []record.Sealed, replacements []record.Replacement,
) (pipeline.Outcome, error) {
	if len(replacements) > 0 {
		return pipeline.Outcome{}, fmt.Errorf("%d replacements of data files for BigQuery, which has none", len(replacements))
	}
	if err := checkSealed(sealed); err != nil {
		return pipeline.Outcome{}, err
	}
	floor, err := k.Floor(ctx)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	next, accepted := cluster.Fold(floor, sealed)
	if len(accepted) > 0 {
		if err := k.set(ctx, next); err != nil {
			return pipeline.Outcome{}, err
		}
	}
	out := pipeline.Outcome{Floor: next, Attempts: 1}
	sortOut(sealed, accepted, &out)
	return out, nil
}

// set moves all offsets, changed or not: that keeps those of quiet partitions from being forgotten.
func (k *GroupCommitter) set(ctx context.Context, floor record.Floor) error {
	var offsets kadm.Offsets
	for topic, t := range floor {
		metadata, err := json.Marshal(t.Identity)
		if err != nil {
			return fmt.Errorf("writing the identity of topic %s: %w", topic, err)
		}
		for partition, next := range t.Next {
			offsets.Add(kadm.Offset{Topic: topic, Partition: partition, At: next, LeaderEpoch: -1, Metadata: string(metadata)})
		}
	}
	done, err := k.admin.CommitOffsets(ctx, k.group, offsets)
	if err == nil {
		err = done.Error()
	}
	if err != nil {
		return fmt.Errorf("moving the offsets of group %s: %w", k.group, err)
	}
	return nil
}
