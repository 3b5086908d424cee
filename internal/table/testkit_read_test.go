package table

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"firn/internal/record"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	icebergtable "github.com/apache/iceberg-go/table"
)

// writeFile writes what a flush describes: a Parquet file of the event schema with ids from the offset on. It returns
// the file with its real size.
func writeFile(t *testing.T, table *Table, f record.DataFile, from int64) record.DataFile {
	t.Helper()
	schema, err := icebergtable.SchemaToArrowSchema(table.inner.Schema(), nil, true, false)
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for id := from; id < from+f.Rows; id++ {
		b.Field(0).(*array.Int64Builder).Append(id)
		b.Field(1).(*array.StringBuilder).Append("name " + string(rune('a'+id%26)))
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(time.Unix(id, 0).UnixMicro()))
	}
	var raw bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &raw, nil, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteBuffered(b.NewRecordBatch()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := table.Store().Create(t.Context(), f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(raw.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	f.SizeBytes = int64(raw.Len())
	return f
}

// written is a flush whose file exists.
func written(t *testing.T, table *Table, from, to int64) record.Sealed {
	t.Helper()
	s := flush(table, from, to)
	s.Files[0] = writeFile(t, table, s.Files[0], from)
	return s
}

func reload(t *testing.T, c *Catalog, ident string) *Table {
	t.Helper()
	table, err := c.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// appendJSON adds rows given as JSON through the Iceberg library, as a foreign writer would.
func appendJSON(t *testing.T, c *Catalog, ident, rows string) {
	t.Helper()
	table := reload(t, c, ident)
	schema, err := icebergtable.SchemaToArrowSchema(table.inner.Schema(), nil, true, false)
	if err != nil {
		t.Fatal(err)
	}
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	reader, err := array.NewRecordReader(schema, []arrow.RecordBatch{batch})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Release()
	if _, err := table.inner.Append(t.Context(), reader, nil); err != nil {
		t.Fatal(err)
	}
}
