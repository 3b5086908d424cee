package bigquery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"firn/internal/cluster"
	"firn/internal/pipeline"
	"firn/internal/record"
)

// Committer shows the rows of BUFFERED streams exactly once. A commit is one intent in the log, in a transaction that
// only the process that opened the log last can end, and then a flush of each stream, which may be repeated. So the
// last intent says where the source stands, and at a start its streams are flushed again.
//
// It implements pipeline.Committer. One goroutine uses it.
type Committer struct {
	client  *Client
	log     *slog.Logger
	intents *intentLog

	floor   record.Floor
	ends    map[string]int64 // of the streams of this session: the rows that intents hold
	flushed bool             // all that the last intent holds is visible
	lost    bool             // another process has taken over; the next Floor takes it back
}

var _ pipeline.Committer = (*Committer)(nil)

// NewCommitter connects to nothing. Close must be called.
func NewCommitter(c *Client, o IntentLogOptions) (*Committer, error) {
	intents, err := newIntentLog(o)
	if err != nil {
		return nil, err
	}
	return &Committer{client: c, log: intents.options.Log, intents: intents, ends: map[string]int64{}}, nil
}

// Close ends the session. When ctx lasts it notes that all is visible, so that the next start needs none of the
// streams, which BigQuery forgets after some days. It may be called twice.
func (k *Committer) Close(ctx context.Context) error {
	var err error
	if k.intents.client != nil && !k.intents.failed && k.flushed {
		err = k.rest(ctx)
		if errors.Is(err, ErrFenced) {
			err = nil // the next session sees to it
		}
	}
	k.intents.close()
	return err
}

// Floor takes the log over from whoever had it, sees that all that the last intent holds is visible, and returns where
// the source stands: empty when there was no intent. Streams of earlier sessions take no more rows then.
func (k *Committer) Floor(ctx context.Context) (record.Floor, error) {
	if err := k.intents.open(ctx); err != nil {
		return nil, err
	}
	k.ends, k.flushed, k.lost, k.floor = map[string]int64{}, true, false, record.Floor{}
	last := k.intents.last
	if last == nil {
		return record.Floor{}, nil
	}
	k.adopt(last)
	if err := k.flush(ctx); err != nil {
		return nil, err
	}
	// First it is noted that the streams are not needed any more: one that is finalized may not be flushed again.
	if err := k.rest(ctx); err != nil {
		return nil, err
	}
	k.finalize(ctx, last.streams())
	return k.floor.Clone(), nil
}

// rest writes an intent without streams in the place of one with some.
func (k *Committer) rest(ctx context.Context) error {
	last := k.intents.last
	if last == nil || len(last.streams()) == 0 {
		return nil
	}
	return k.intents.append(ctx, k.intent(k.floor))
}

// intent is one that moves the floor.
func (k *Committer) intent(next record.Floor) *Intent {
	return &Intent{ID: uuid.NewString(), Job: k.intents.options.Job, Base: k.floor, Next: next}
}

// flushesMax is how many streams are flushed or finalized at once.
const flushesMax = 16

// flush makes all that the last intent holds visible.
func (k *Committer) flush(ctx context.Context) error {
	if k.flushed || k.intents.last == nil {
		return nil
	}
	last := k.intents.last
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(flushesMax)
	for _, s := range last.Streams {
		group.Go(func() error {
			err := k.client.Flush(ctx, s.Stream, s.Rows-1)
			if errors.Is(err, ErrNotFound) {
				return fmt.Errorf("%w: the intent %s at offset %d of topic %s shows the rows of this stream below %d, and "+
					"whether they were shown before it went is not known: look for them in the table", err, last.ID,
					k.intents.offset, k.intents.options.Topic, s.Rows)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("showing the rows of flushes %v: %w", last.Flushes, err)
	}
	k.flushed = true
	return nil
}

// finalize has streams take no more rows. It is for order only: nobody shows what comes to them.
func (k *Committer) finalize(ctx context.Context, streams []string) {
	var group errgroup.Group
	group.SetLimit(flushesMax)
	for _, s := range streams {
		group.Go(func() error {
			if _, err := k.client.Finalize(ctx, s); err != nil && !errors.Is(err, ErrNotFound) {
				k.log.Warn("finalizing a write stream of an earlier session", "stream", s, "error", err)
			}
			return nil
		})
	}
	_ = group.Wait() // always nil
}

// Init implements pipeline.Committer.
func (k *Committer) Init(ctx context.Context, base, next record.Floor) error {
	err := k.reopen(ctx)
	switch {
	case errors.Is(err, ErrFenced):
		return fmt.Errorf("%w: %w", pipeline.ErrFloorMoved, err)
	case err != nil:
		return err
	case k.floor.Equal(next): // an attempt of unknown outcome landed
		return nil
	case !k.floor.Equal(base):
		return pipeline.ErrFloorMoved
	}
	i := k.intent(next)
	i.Base = base
	i.Open = slices.Sorted(maps.Keys(k.ends))
	if _, err := k.write(ctx, i); err != nil {
		if errors.Is(err, ErrFenced) {
			return fmt.Errorf("%w: %w", pipeline.ErrFloorMoved, err)
		}
		return err
	}
	return nil
}

// reopen looks into the log again after a write of unknown outcome, and sees that what is in it is visible.
func (k *Committer) reopen(ctx context.Context) error {
	if k.floor == nil {
		return errors.New("committing: the floor was never asked for")
	}
	if k.lost {
		return ErrFenced
	}
	if k.intents.client == nil || k.intents.failed {
		before := k.intents.last
		if err := k.intents.open(ctx); err != nil {
			return err
		}
		if now := k.intents.last; now != nil && (before == nil || now.ID != before.ID) {
			k.adopt(now)
		}
	}
	return k.flush(ctx)
}

// adopt takes the last intent of the log for where the job stands.
func (k *Committer) adopt(i *Intent) {
	k.floor, k.flushed = i.Next.Clone(), len(i.Streams) == 0
	for _, s := range i.Streams {
		if s.Rows > k.ends[s.Stream] {
			k.ends[s.Stream] = s.Rows
		}
	}
}

// attemptsMax bounds how often an intent is written whose transaction did not land.
const attemptsMax = 5

// write has an intent in the log, or an error: ErrFenced, or one after which it may be in the log. It returns how often
// it looked for the outcome.
func (k *Committer) write(ctx context.Context, i *Intent) (unknown int, err error) {
	for range attemptsMax {
		before := k.intents.last
		err = k.intents.append(ctx, i)
		if err == nil {
			k.adopt(i)
			return unknown, nil
		}
		if errors.Is(err, ErrFenced) || ctx.Err() != nil {
			k.lost = errors.Is(err, ErrFenced)
			return unknown, err
		}
		unknown++
		k.log.Warn("the outcome of a commit is not known; looking into the log", "intent", i.ID, "error", err)
		if err := k.intents.open(ctx); err != nil {
			return unknown, err
		}
		now := k.intents.last
		switch {
		case now != nil && now.ID == i.ID:
			k.adopt(i)
			return unknown, nil
		case now != nil && (before == nil || now.ID != before.ID), now == nil && before != nil:
			k.lost = true
			return unknown, fmt.Errorf("%w: its intent is in the log", ErrFenced)
		}
	}
	return unknown, err
}

// Commit implements pipeline.Committer. When another process has taken over all is rejected: the next Floor says where
// that one got, and whether a commit of unknown outcome landed.
func (k *Committer) Commit(
	ctx context.Context, sealed []record.Sealed, replacements []record.Replacement,
) (pipeline.Outcome, error) {
	var out pipeline.Outcome
	if len(replacements) > 0 {
		return out, fmt.Errorf("%d replacements of data files for BigQuery, which has none", len(replacements))
	}
	if err := checkSealed(sealed); err != nil {
		return out, err
	}
	err := k.reopen(ctx)
	var committed []string
	if err == nil {
		sealed, committed = k.without(sealed)
		err = k.commit(ctx, sealed, &out)
	}
	if errors.Is(err, ErrFenced) {
		k.log.Warn("rejecting a commit", "error", err)
		out.Conflicts++
		out.Committed, out.Rejected = nil, ids(sealed)
	} else if err != nil {
		return out, err
	}
	out.Committed = append(committed, out.Committed...)
	out.SnapshotID, out.Floor = k.intents.offset, k.floor.Clone()
	return out, nil
}

// commit has an intent for those of the sealed that continue the floor, and shows their rows.
func (k *Committer) commit(ctx context.Context, sealed []record.Sealed, out *pipeline.Outcome) error {
	next, accepted := cluster.Fold(k.floor, sealed)
	if len(accepted) > 0 {
		i, err := k.prepare(next, sealed, accepted)
		if err != nil {
			return err
		}
		out.Attempts = 1
		if out.Unknown, err = k.write(ctx, i); err != nil {
			return err
		}
	}
	if err := k.flush(ctx); err != nil {
		return err
	}
	sortOut(sealed, accepted, out)
	return nil
}

// sortOut says of each flush whether it is among those that were accepted.
func sortOut(sealed []record.Sealed, accepted []int, out *pipeline.Outcome) {
	for i, s := range sealed {
		if slices.Contains(accepted, i) {
			out.Committed = append(out.Committed, s.ID)
		} else {
			out.Rejected = append(out.Rejected, s.ID)
		}
	}
}

func ids(sealed []record.Sealed) []string {
	out := make([]string, len(sealed))
	for i, s := range sealed {
		out[i] = s.ID
	}
	return out
}

// without takes out those that the last intent holds: they were committed before.
func (k *Committer) without(sealed []record.Sealed) (rest []record.Sealed, committed []string) {
	for _, s := range sealed {
		if k.intents.last != nil && slices.Contains(k.intents.last.Flushes, s.ID) {
			committed = append(committed, s.ID)
			continue
		}
		rest = append(rest, s)
	}
	return rest, committed
}

// prepare makes the intent of the sealed that are accepted. Their rows must follow in each stream what intents hold
// already: to flush a stream shows all that lies before, and rows of a flush that was given up must never be shown.
func (k *Committer) prepare(next record.Floor, sealed []record.Sealed, accepted []int) (*Intent, error) {
	i := k.intent(next)
	ends := map[string]int64{}
	for _, n := range accepted {
		i.Flushes = append(i.Flushes, sealed[n].ID)
		for _, f := range sealed[n].Files {
			if f.Rows == 0 {
				continue // there are refused ones only
			}
			at, known := ends[f.Path]
			if !known {
				at = k.ends[f.Path]
			}
			if f.Offset != at {
				return nil, fmt.Errorf("flush %s has rows from %d on in %s, and rows up to %d are committed: what lies "+
					"between belongs to no commit", sealed[n].ID, f.Offset, f.Path, at)
			}
			ends[f.Path] = at + f.Rows
		}
	}
	for _, stream := range slices.Sorted(maps.Keys(ends)) {
		i.Streams = append(i.Streams, StreamEnd{stream, ends[stream]})
	}
	for _, stream := range slices.Sorted(maps.Keys(k.ends)) {
		if _, shown := ends[stream]; !shown {
			i.Open = append(i.Open, stream)
		}
	}
	return i, nil
}

// checkSealed guards the promise that rows come in once.
func checkSealed(sealed []record.Sealed) error {
	var faults []error
	for i := range sealed {
		if sealed[i].ID == "" {
			faults = append(faults, errors.New("a flush has no id"))
		}
		faults = append(faults, sealed[i].CheckRanges())
	}
	return errors.Join(faults...)
}
