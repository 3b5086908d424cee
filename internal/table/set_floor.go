package table

import (
	"context"
	"fmt"

	"firn/internal/record"
)

// SetFloor replaces the floor by what change makes of the current one, and returns the new one: where reading begins in
// partitions that were never read (without it a job that starts at the latest offset would start later after each
// restart), a topic that was made again, or an operator's choice. change is called again with the newer floor when
// another commit came between, or this one may have landed without an answer.
//
// The floor is put on an empty snapshot, unless nothing changes: a table property alone cannot be compared and swapped.
func (k *Committer) SetFloor(
	ctx context.Context, change func(record.Floor) (record.Floor, error),
) (record.Floor, error) {
	var floor record.Floor
	err := k.retry(ctx, "setting the floor of", func(ctx context.Context) error {
		t, s, err := k.view(ctx)
		if err != nil {
			return err
		}
		floor, err = change(s.floor.Clone())
		if err == nil {
			err = checkFloor(floor)
		}
		if err != nil {
			return fmt.Errorf("setting the floor of table %s: %w", k.ident, err)
		}
		if s.floor.Equal(floor) {
			return nil
		}
		return k.send(ctx, t, staged{floor: floor}, &Outcome{})
	})
	if err != nil {
		return nil, err
	}
	k.last = floor.Clone()
	return floor, nil
}
