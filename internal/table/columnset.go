package table

import (
	"strings"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
)

// columnSet is the field ids of the columns that hold values, to tell files of one schema from those of others. Whether
// a file must say how large a column is in it is by id.
type columnSet map[int]bool

func columnSetOf(s *record.Schema) columnSet {
	c := make(columnSet)
	c.add(s.Fields)
	return c
}

func (c columnSet) add(fields []record.Field) {
	for _, f := range fields {
		if len(f.Type.Fields) == 0 {
			c[f.ID] = true
		}
		c.add(f.Type.Fields)
	}
}

// columnSet is that of the table's schema. Of columns whose metrics the table wants none of, files say nothing.
func (t *Table) columnSet() columnSet {
	c := columnSetOf(t.schema)
	for id := range c {
		name, _ := t.inner.Schema().FindColumnName(id)
		mode := t.Property("write.metadata.metrics.column." + name)
		if mode == "" {
			mode = t.Property("write.metadata.metrics.default")
		}
		c[id] = !strings.EqualFold(strings.TrimSpace(mode), "none")
	}
	return c
}

// has tells whether a file has just these columns, but for those of row lineage: a writer states the size of each.
func (c columnSet) has(f iceberg.DataFile) bool {
	sizes, found := f.ColumnSizes(), 0
	for id := range sizes {
		if id >= reservedIDs {
			continue
		}
		must, known := c[id]
		if !known {
			return false
		}
		if must {
			found++
		}
	}
	for _, must := range c {
		if must {
			found--
		}
	}
	return found == 0
}
