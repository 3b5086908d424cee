package table

import (
	"context"
	"encoding"
	"fmt"
	"slices"
	"time"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// LiveData calls found with every Parquet data file of the table's head that has the columns of the schema and no
// others, by their field ids, and is smaller than sizeBytesMax, and tells when it became visible, zero where its
// snapshot has expired. It reads every manifest, one at a time. Files of a partition spec whose columns are gone are
// not found.
func (t *Table) LiveData(
	ctx context.Context, schema *record.Schema, sizeBytesMax int64, found func(record.DataFile, time.Time),
) error {
	head := t.inner.CurrentSnapshot()
	if head == nil {
		return nil
	}
	files, err := t.inner.FS(ctx)
	if err != nil {
		return fmt.Errorf("opening the store of %s: %w", t.ident, err)
	}
	columns := columnSetOf(schema)
	specs := make(map[int][]PartitionField)
	err = liveEntries(ctx, files, head, func(e iceberg.ManifestEntry) error {
		f := e.DataFile()
		if f.ContentType() != iceberg.EntryContentData || f.FileFormat() != iceberg.ParquetFile ||
			f.FileSizeBytes() >= sizeBytesMax || !columns.has(f) {
			return nil
		}
		fields, known := specs[int(f.SpecID())]
		if !known {
			fields = t.fieldsOf(int(f.SpecID()))
			specs[int(f.SpecID())] = fields
		}
		if fields == nil {
			return nil
		}
		described, err := t.describe(f, fields)
		if err != nil {
			return fmt.Errorf("data file %s: %w", f.FilePath(), err)
		}
		if first := f.FirstRowID(); first != nil {
			described.Lineage = record.Lineage{FirstRowID: *first, SequenceNumber: e.SequenceNum()}
		}
		var since time.Time
		if s := t.inner.SnapshotByID(e.SnapshotID()); s != nil {
			since = time.UnixMilli(s.TimestampMs)
		}
		found(described, since)
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing data files of %s: %w", t.ident, err)
	}
	return nil
}

// reservedIDs is where the field ids begin that no column of a table has (specification, "Reserved Field IDs").
const reservedIDs = 2147483447

// fieldsOf is the fields of a partition spec, never nil unless the spec cannot be understood any more.
func (t *Table) fieldsOf(id int) []PartitionField {
	spec, err := t.spec(id)
	if err != nil {
		return nil
	}
	fields, err := partitionFields(spec, t.inner.Schema())
	if err != nil {
		return nil
	}
	return append([]PartitionField{}, fields...)
}

// describe is the opposite of icebergFile.
func (t *Table) describe(f iceberg.DataFile, fields []PartitionField) (record.DataFile, error) {
	d := record.DataFile{
		Path: f.FilePath(), SpecID: int(f.SpecID()), SchemaID: t.SchemaID(), Rows: f.Count(), SizeBytes: f.FileSizeBytes(),
		ColumnSizes: f.ColumnSizes(), ValueCounts: f.ValueCounts(), NullValueCounts: f.NullValueCounts(),
		NaNValueCounts: f.NaNValueCounts(), LowerBounds: f.LowerBoundValues(), UpperBounds: f.UpperBoundValues(),
		SplitOffsets: slices.Clone(f.SplitOffsets()),
	}
	if order := f.SortOrderID(); order != nil {
		d.SortOrderID = *order
	}
	values := f.Partition()
	for _, field := range fields {
		p := record.PartitionValue{FieldID: field.FieldID, Type: field.Result}
		v := values[field.FieldID]
		if v == nil {
			p.Null = true
		} else {
			var err error
			if p.Value, err = singleValue(v); err != nil {
				return d, fmt.Errorf("partition field %s: %w", field.Name, err)
			}
		}
		d.Partition = append(d.Partition, p)
	}
	return d, nil
}

// singleValue is the single-value binary serialisation of a partition value (specification, appendix D).
func singleValue(v any) ([]byte, error) {
	var literal encoding.BinaryMarshaler
	switch v := v.(type) {
	case bool:
		literal = iceberg.BoolLiteral(v)
	case int32:
		literal = iceberg.Int32Literal(v)
	case int64:
		literal = iceberg.Int64Literal(v)
	case float32:
		literal = iceberg.Float32Literal(v)
	case float64:
		literal = iceberg.Float64Literal(v)
	case iceberg.Date:
		literal = iceberg.DateLiteral(v)
	case iceberg.Time:
		literal = iceberg.TimeLiteral(v)
	case iceberg.Timestamp:
		literal = iceberg.TimestampLiteral(v)
	case iceberg.TimestampNano:
		literal = iceberg.TimestampNsLiteral(v)
	case string:
		literal = iceberg.StringLiteral(v)
	case []byte:
		literal = iceberg.BinaryLiteral(v)
	case uuid.UUID:
		literal = iceberg.UUIDLiteral(v)
	case iceberg.Decimal:
		literal = iceberg.DecimalLiteral(v)
	case iceberg.DecimalLiteral: // as the library reads it
		literal = v
	default:
		return nil, fmt.Errorf("a value of type %T is not known", v)
	}
	return literal.MarshalBinary()
}
