package table

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

// probeKey is a table property that appears only in a catalog that fails the probe, and is removed again.
const probeKey = "firn.probe"

// Probe checks, at the start of a job, what everything rests on: that the catalog refuses a commit whose assertion on
// the head is wrong. It asks for one, on the table as it is, that must fail; nothing changes. A catalog that lets it
// pass is ErrNoAssertion. It also shows whether the login may commit at all.
func (k *Committer) Probe(ctx context.Context) error {
	return k.retry(ctx, "probing", func(ctx context.Context) error {
		t, _, err := k.view(ctx)
		if err != nil {
			return err
		}
		return k.probe(ctx, t)
	})
}

func (k *Committer) probe(ctx context.Context, t *Table) error {
	wrong := int64(1)
	for t.inner.SnapshotByID(wrong) != nil {
		wrong++
	}
	x := &exchange{}
	requirements := []icebergtable.Requirement{
		icebergtable.AssertTableUUID(t.inner.Metadata().TableUUID()),
		icebergtable.AssertRefSnapshotID(mainBranch, &wrong),
	}
	text := time.Now().UTC().Format(time.RFC3339Nano)
	updates := []icebergtable.Update{icebergtable.NewSetPropertiesUpdate(iceberg.Properties{probeKey: text})}
	_, _, err := k.catalog.inner().CommitTable(noting(ctx, x), t.inner.Identifier(), requirements, updates)
	switch v := judge(err, x); v {
	case conflict:
		return nil
	case landed:
		return k.failProbe(ctx, t)
	case final:
		return refused("probing", k.ident, k.catalog, x, err)
	default:
		return &retryable{v, k.catalog.explain("probing", k.ident, err)}
	}
}

func (k *Committer) failProbe(ctx context.Context, t *Table) error {
	fault := fmt.Errorf("table %s in catalog %s: %w: two writers could overwrite each other's commits: use a catalog "+
		"that honours assert-ref-snapshot-id", k.ident, k.catalog, ErrNoAssertion)
	updates := []icebergtable.Update{icebergtable.NewRemovePropertiesUpdate([]string{probeKey})}
	if _, _, err := k.catalog.inner().CommitTable(ctx, t.inner.Identifier(), nil, updates); err != nil {
		return fmt.Errorf("%w; its property %s stays behind: %w", fault, probeKey, err)
	}
	return fault
}
