package table

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"firn/internal/record"
)

// Commit makes the files of the flushes that continue the floor visible in one snapshot, which carries the new floor.
// Those that do not continue it are rejected: they are duplicates of what is there, or leave a gap. In the same swap
// the replacements that fit the table become visible in a second snapshot, of operation replace, on top of it. One that
// does not hold the rows of the files that it replaces, or mixes partitions, is an error.
//
// After a conflict it looks at the table afresh and decides again; after an attempt of unknown outcome too, and finds
// its own flushes if it landed. It deletes nothing. A temporary fault is waited out for the Timeout. When it returns
// an error the state of the flushes is unknown until the next call: files must not be deleted, and Commit with the
// same flushes is safe at any time.
func (k *Committer) Commit(
	ctx context.Context, sealed []record.Sealed, replacements ...record.Replacement,
) (Outcome, error) {
	if k.options.Fold == nil {
		return Outcome{}, errors.New("committing needs a fold")
	}
	if err := checkSealed(sealed); err != nil {
		return Outcome{}, fmt.Errorf("committing to table %s: %w", k.ident, err)
	}
	var out Outcome
	err := k.retry(ctx, "committing to", func(ctx context.Context) error {
		return k.attempt(ctx, sealed, replacements, &out)
	})
	return out, err
}

// checkSealed guards the promise that files come in once.
func checkSealed(sealed []record.Sealed) error {
	var faults []error
	for i := range sealed {
		s := &sealed[i]
		if s.ID == "" || strings.Contains(s.ID, ",") { // ids are kept as a list with commas
			faults = append(faults, fmt.Errorf("the flush id %q is empty or has a comma", s.ID))
		}
		faults = append(faults, s.CheckRanges())
	}
	return errors.Join(faults...)
}

// attempt is one round: look, fold, commit.
func (k *Committer) attempt(
	ctx context.Context, sealed []record.Sealed, replacements []record.Replacement, out *Outcome,
) error {
	t, s, err := k.view(ctx)
	if err != nil {
		return err
	}
	next, accepted := k.options.Fold(s.floor.Clone(), sealed)
	c, rest, err := choose(s.floor, next, sealed, accepted)
	if err != nil {
		return fmt.Errorf("committing to table %s: %w", k.ident, err)
	}
	out.Committed, out.Rejected, out.Replaced, out.Stale, out.DeletesDropped = nil, nil, nil, nil, 0
	out.SnapshotID, out.Floor = 0, s.floor
	k.settle(t, rest, out)
	c.replacements = k.landedBefore(t, replacements, out)
	if len(c.sealed) == 0 && len(c.replacements) == 0 {
		return nil
	}
	if err := k.send(ctx, t, c, out); err != nil {
		return err
	}
	out.Floor = next
	for _, s := range c.sealed {
		out.Committed = append(out.Committed, s.ID)
	}
	k.last = next.Clone()
	return nil
}

// choose splits the flushes into the change to commit and the ids that the fold left out. It does not trust the fold
// with what must never happen: a position that moves back.
func choose(floor, next record.Floor, sealed []record.Sealed, accepted []int) (staged, map[string]bool, error) {
	c := staged{floor: next}
	left := make(map[string]bool)
	for _, s := range sealed {
		left[s.ID] = true
	}
	before := -1
	for _, i := range accepted {
		if i <= before || i >= len(sealed) {
			return staged{}, nil, fmt.Errorf("the fold accepted flushes %v of %d", accepted, len(sealed))
		}
		before = i
		c.sealed = append(c.sealed, sealed[i])
		delete(left, sealed[i].ID)
	}
	if at := regressed(floor, next); at != "" {
		return staged{}, nil, fmt.Errorf("the fold moved %s back", at)
	}
	return c, left, nil
}

// settle sorts the flushes that do not continue the floor: those in the table's history were committed before, by an
// attempt whose answer was lost or by another process.
func (k *Committer) settle(t *Table, rest map[string]bool, out *Outcome) {
	if len(rest) == 0 {
		return
	}
	found, newest := sealedIn(t.inner.Metadata(), k.job, rest)
	out.SnapshotID = newest
	for id := range rest {
		if found[id] {
			out.Committed = append(out.Committed, id)
		} else {
			out.Rejected = append(out.Rejected, id)
		}
	}
}
