package table

import (
	"context"
	"fmt"
	"maps"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

// Table is one version of a table's metadata. It does not change, so it is safe for concurrent use; Refresh reads the
// newest version as another Table.
type Table struct {
	catalog   *Catalog
	ident     string
	inner     *icebergtable.Table
	schema    *record.Schema
	partition []PartitionField
}

func newTable(c *Catalog, ident string, inner *icebergtable.Table) (*Table, error) {
	s := inner.Metadata().CurrentSchema()
	schema, err := recordSchema(s)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	fields, err := partitionFields(inner.Spec(), s)
	if err != nil {
		return nil, fmt.Errorf("reading the partition spec: %w", err)
	}
	return &Table{catalog: c, ident: ident, inner: inner, schema: schema, partition: fields}, nil
}

// Ident is namespace.table.
func (t *Table) Ident() string { return t.ident }

// Schema is the current schema. It is shared: do not change it.
func (t *Table) Schema() *record.Schema { return t.schema }

// SchemaID is the id of the current schema.
func (t *Table) SchemaID() int { return t.schema.ID }

// Partition is the fields of the current partition spec, in its order; none for an unpartitioned table. It is
// shared: do not change it.
func (t *Table) Partition() []PartitionField { return t.partition }

// SpecID is the id of the current partition spec.
func (t *Table) SpecID() int { return t.inner.Metadata().DefaultPartitionSpec() }

// Location is the root of the table's files.
func (t *Table) Location() string { return t.inner.Location() }

// FormatVersion is the version of Iceberg's table format.
func (t *Table) FormatVersion() int { return t.inner.Metadata().Version() }

// UUID identifies the table for good, unlike its name.
func (t *Table) UUID() string { return t.inner.Metadata().TableUUID().String() }

// Property is a table property, or "" when it is not set.
func (t *Table) Property(key string) string { return t.inner.Properties()[key] }

// Properties is a copy of the table's properties.
func (t *Table) Properties() map[string]string { return maps.Clone(t.inner.Properties()) }

// SortOrderID is the id of the default sort order; 0 is unsorted.
func (t *Table) SortOrderID() int { return t.inner.Metadata().DefaultSortOrder() }

// Refresh reads the newest version. A missing table is ErrNoTable, another one under the same name ErrReplaced.
func (t *Table) Refresh(ctx context.Context) (*Table, error) {
	fresh, err := t.catalog.Load(ctx, t.ident)
	if err != nil {
		return nil, err
	}
	if fresh.UUID() != t.UUID() {
		return nil, replaced(t.ident, t.catalog, t.UUID(), fresh.UUID())
	}
	return fresh, nil
}

// spec is one of the table's partition specs, current or older, or an error when it has none of that id.
func (t *Table) spec(id int) (iceberg.PartitionSpec, error) {
	spec := t.inner.Metadata().PartitionSpecByID(id)
	if spec == nil {
		return iceberg.PartitionSpec{}, fmt.Errorf("table %s has no partition spec of id %d", t.ident, id)
	}
	return *spec, nil
}

// MetadataLocation is where the metadata.json of this version of the table is.
func (t *Table) MetadataLocation() string { return t.inner.MetadataLocation() }
