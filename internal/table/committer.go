package table

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"firn/internal/record"

	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/cenkalti/backoff/v5"
)

// Fold decides which flushes continue a floor. It returns the floor after them and the indices of those accepted, in
// ascending order. It must depend on nothing but its arguments, and must accept a Sealed only when each of its ranges
// starts at the floor that those accepted before it left.
type Fold func(floor record.Floor, sealed []record.Sealed) (next record.Floor, accepted []int)

// CommitterOptions configure a Committer. The zero value of a field is its default, but Fold is required to commit.
type CommitterOptions struct {
	Fold           Fold
	Timeout        time.Duration // without success, of one call; default 10 minutes
	AttemptTimeout time.Duration // of one attempt, before its outcome is looked up; default 2 minutes
	Version        string        // of firn, for the summary of snapshots
	Log            *slog.Logger  // nil discards
}

// Committer makes data files and the floor of a job visible together, by a compare-and-swap on the head of the
// table's main branch. Any number of them, in any processes and on stale views, may work on one table: at most one
// commit from each head lands, and what lands continues the floor of that head.
//
// It is used by one goroutine at a time.
type Committer struct {
	catalog *Catalog
	ident   string
	job     string
	options CommitterOptions
	log     *slog.Logger
	files   tableStore // for manifests
	known   manifestCache
	seen    icebergtable.Metadata // the newest version seen; nil: none yet
	lists   knownLists            // of files of expired snapshots
	paths   manifestPaths         // of snapshots that stay
	uuid    string                // of the table, once loaded
	last    record.Floor          // as last seen
}

// NewCommitter makes a committer of the job for the table. It connects to nothing. A job name has letters, digits, _
// and - only, because it is part of property names.
func NewCommitter(c *Catalog, ident, job string, o CommitterOptions) (*Committer, error) {
	if !jobName.MatchString(job) {
		return nil, fmt.Errorf("job name %q: use letters, digits, _ and - only", job)
	}
	if _, err := splitIdent(ident); err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Minute
	}
	if o.AttemptTimeout <= 0 {
		o.AttemptTimeout = 2 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Committer{catalog: c, ident: ident, job: job, options: o, log: o.Log.With("job", job, "table", ident)}, nil
}

// Floor reads the table and returns how far the job got, empty when it never committed. The caller owns it.
func (k *Committer) Floor(ctx context.Context) (record.Floor, error) {
	var floor record.Floor
	err := k.retry(ctx, "reading", func(ctx context.Context) error {
		_, s, err := k.view(ctx)
		floor = s.floor
		return err
	})
	return floor, err
}

// view reads the table and the job's standing in it.
func (k *Committer) view(ctx context.Context) (*Table, standing, error) {
	x := &exchange{}
	t, err := k.catalog.load(noting(ctx, x), k.ident)
	if err == nil && k.uuid != "" && t.UUID() != k.uuid {
		return nil, standing{}, replaced(k.ident, k.catalog, k.uuid, t.UUID())
	}
	switch judge(err, x) {
	case landed:
	case final:
		return nil, standing{}, refused("loading", k.ident, k.catalog, x, err)
	case unauthorized:
		return nil, standing{}, &retryable{unauthorized, k.catalog.explain("loading", k.ident, err)}
	default:
		return nil, standing{}, &retryable{absent, k.catalog.explain("loading", k.ident, err)}
	}
	s, err := stand(t.inner.Metadata(), k.job)
	if err != nil {
		return nil, standing{}, fmt.Errorf("job %s, table %s: %w", k.job, k.ident, err)
	}
	k.uuid, k.seen = t.UUID(), t.inner.Metadata()
	k.warnIfBack(s)
	return t, s, nil
}

// warnIfBack says when the table holds less than it did. The floor that it has now is right: what a rollback took out
// is read and committed again.
func (k *Committer) warnIfBack(s standing) {
	was := s.lost
	if was == nil {
		was = k.last
	}
	if lower := regressed(was, s.floor); lower != "" && !k.last.Equal(s.floor) {
		k.log.Warn("the table was rolled back: reading again from its older floor",
			"partition", lower, "was", jsonText(was), "floor", jsonText(s.floor))
	}
	k.last = s.floor.Clone()
}

// regressed names a partition that stands lower in next than in floor, of the same incarnation of its topic, or "".
func regressed(floor, next record.Floor) string {
	for _, topic := range slices.Sorted(maps.Keys(floor)) {
		t := floor[topic]
		if n, ok := next[topic]; ok && n.Identity != t.Identity {
			continue
		}
		for _, p := range slices.Sorted(maps.Keys(t.Next)) {
			tp := record.TopicPartition{Topic: topic, Partition: p}
			if n, ok := next.Next(tp); !ok || n < t.Next[p] {
				return tp.String()
			}
		}
	}
	return ""
}

// retry repeats try until it succeeds, fails for good, or its time is over. Each try begins with a fresh look at the
// table: nothing of an earlier one is sent again.
func (k *Committer) retry(ctx context.Context, doing string, try func(context.Context) error) error {
	begin := time.Now()
	pauses := newPauses()
	for {
		err := k.once(ctx, try, k.options.Timeout-time.Since(begin))
		var again *retryable
		if !errors.As(err, &again) {
			return err
		}
		if ended(ctx) {
			return fmt.Errorf("%s table %s: %w (last: %w)", doing, k.ident, context.Cause(ctx), err)
		}
		if again.verdict == unauthorized {
			if err := k.login(ctx, err); err != nil {
				return err
			}
		}
		if time.Since(begin) >= k.options.Timeout {
			return fmt.Errorf("%s table %s in catalog %s: %w (%s): look after the catalog, the store, or the writers "+
				"that it conflicts with: %w", doing, k.ident, k.catalog, ErrTimeout, k.options.Timeout, err)
		}
		k.log.Debug("trying again", "doing", doing, "error", err)
		pause(ctx, min(pauses.NextBackOff(), k.options.Timeout-time.Since(begin)))
	}
}

func (k *Committer) once(ctx context.Context, try func(context.Context) error, left time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, min(k.options.AttemptTimeout, left))
	defer cancel()
	return try(ctx)
}

// login asks for a fresh login after one was rejected, and gives up where that is not possible or was just done. That
// the login itself fails may pass, as any other fault of the catalog.
func (k *Committer) login(ctx context.Context, rejected error) error {
	tried, err := k.catalog.login(ctx)
	if err != nil {
		k.log.Warn("logging in to the catalog again failed", "error", err)
	}
	if !tried {
		return fmt.Errorf("%w: check the catalog's credential or token, and that it has not expired: %w",
			ErrRefused, rejected)
	}
	return nil
}

// newPauses spreads out writers that conflict. The first pause is about the length of a fast commit (20 ms), the
// longest is short enough that a catalog that is back is noticed soon.
func newPauses() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = 20 * time.Millisecond
	b.RandomizationFactor = 0.5
	b.Multiplier = 2
	b.MaxInterval = 10 * time.Second
	return b
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
