package iceberg

import (
	"context"

	"firn/internal/pipeline"
	"firn/internal/record"
	"firn/internal/table"
)

// Committer commits sealed files to the table. It is table.Committer in the pipeline's terms.
type Committer struct {
	table  *table.Committer
	expire func(ctx context.Context)
}

var _ pipeline.Committer = (*Committer)(nil)

// NewCommitter wraps a table's committer. After each commit expire is called, by the same goroutine, so that what it
// takes out of the table does not compete with commits.
func NewCommitter(c *table.Committer, expire func(ctx context.Context)) *Committer {
	return &Committer{c, expire}
}

// Floor implements pipeline.Committer.
func (c *Committer) Floor(ctx context.Context) (record.Floor, error) { return c.table.Floor(ctx) }

// Init implements pipeline.Committer.
func (c *Committer) Init(ctx context.Context, base, next record.Floor) error {
	_, err := c.table.SetFloor(ctx, func(now record.Floor) (record.Floor, error) {
		// An attempt whose reply was lost may have landed: then there is nothing more to do.
		if now.Equal(next) {
			return next, nil
		}
		if !now.Equal(base) {
			return nil, pipeline.ErrFloorMoved
		}
		return next, nil
	})
	return err
}

// Commit implements pipeline.Committer.
func (c *Committer) Commit(
	ctx context.Context, sealed []record.Sealed, replacements []record.Replacement,
) (pipeline.Outcome, error) {
	o, err := c.table.Commit(ctx, sealed, replacements...)
	if err == nil {
		c.expire(ctx)
	}
	return pipeline.Outcome{
		SnapshotID: o.SnapshotID, Floor: o.Floor, Committed: o.Committed, Rejected: o.Rejected,
		Replaced: o.Replaced, Stale: o.Stale, Lineage: o.Lineage,
		Attempts: o.Attempts, Conflicts: o.Conflicts, Unknown: o.Unknown,
	}, err
}
