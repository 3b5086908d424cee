package table

import (
	"context"
	"errors"
	"fmt"
	"slices"

	icebergtable "github.com/apache/iceberg-go/table"
)

// ErrSpecMoved says that another process changed the partition spec at the same time.
var ErrSpecMoved = errors.New("the partition spec was changed by another process")

// PartitionTexts is the fields of the current partition spec as ParsePartitionField reads them, in its order. A field
// whose column is gone is not in a spec that can be written, but for void ones, which have the name of the field.
func (t *Table) PartitionTexts() []string {
	texts := make([]string, len(t.partition))
	for i, f := range t.partition {
		column, ok := t.inner.Schema().FindColumnName(f.SourceID)
		if !ok {
			column = f.Name
		}
		texts[i] = PartitionSource{Field: column, Transform: f.Transform, Param: f.Param}.String()
	}
	return texts
}

// Repartition changes the partition spec to the fields given, as ParsePartitionField reads them, and returns the table
// with it; those that stay keep their ids. Files that are there keep the spec that they were written with, and so do
// writers that have the table open, until they load it again. ErrSpecMoved says that the table is not as it was when it
// was loaded.
func (t *Table) Repartition(ctx context.Context, fields []string) (*Table, error) {
	tx := t.inner.NewTransaction()
	if err := t.respec(tx, fields); err != nil {
		return nil, fmt.Errorf("partitioning table %s by %v: %w", t.ident, fields, err)
	}
	_, err := tx.Commit(ctx)
	fresh, loadErr := t.Refresh(ctx) // whatever the answer was: it may have been lost
	switch {
	case loadErr != nil:
		return nil, errors.Join(err, loadErr)
	case sameFields(fresh.PartitionTexts(), fields):
		return fresh, nil
	case err == nil || !slices.Equal(fresh.PartitionTexts(), t.PartitionTexts()):
		return nil, fmt.Errorf("partitioning table %s by %v: %w: it is %v now", t.ident, fields, ErrSpecMoved,
			fresh.PartitionTexts())
	default:
		return nil, t.catalog.explain("partitioning", t.ident, err)
	}
}

// respec stages the change.
func (t *Table) respec(tx *icebergtable.Transaction, fields []string) error {
	update := tx.UpdateSpec(true)
	was := t.PartitionTexts()
	for i, text := range was {
		if !slices.Contains(fields, text) {
			update.RemoveField(t.partition[i].Name)
		}
	}
	for _, text := range fields {
		if slices.Contains(was, text) {
			continue
		}
		p, err := ParsePartitionField(text)
		if err != nil {
			return err
		}
		update.AddField(p.Field, p.transform(), t.freshName(p))
	}
	return update.Commit()
}

// freshName is a name for a new partition field that no other field of any spec of the table has: readers that show the
// partitions of all specs side by side take equal names for one field. A field that was there before has its old name.
func (t *Table) freshName(p PartitionSource) string {
	source, _ := t.inner.Schema().FindFieldByName(p.Field) // one that is missing is the library's to refuse
	taken := map[string]bool{}
	for _, spec := range t.inner.Metadata().PartitionSpecs() {
		for _, f := range spec.Fields() {
			if f.SourceID() == source.ID && f.Transform.Equals(p.transform()) {
				return f.Name
			}
			taken[f.Name] = true
		}
	}
	name := p.name()
	if taken[name] && p.Param > 0 {
		name = fmt.Sprintf("%s_%d", name, p.Param)
	}
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", p.name(), n)
	}
	return name
}

// sameFields tells whether two specs have the same fields; their order is the library's.
func sameFields(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
