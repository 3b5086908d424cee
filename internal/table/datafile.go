package table

import (
	"errors"
	"fmt"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
)

// logicalTypes tells the manifest writer which partition values have a form of their own in Avro.
var logicalTypes = map[record.Kind]string{
	record.KindDate:        "date",
	record.KindTime:        "time-micros",
	record.KindTimestamp:   "timestamp-micros",
	record.KindTimestampTZ: "timestamp-micros",
	record.KindDecimal:     "decimal",
	record.KindUUID:        "uuid",
}

// icebergFile builds the manifest's view of a data file. The file may belong to an older partition spec of the table.
// What the library would take on trust is checked here: the file, its counts, and the partition values against the
// spec.
func (t *Table) icebergFile(f record.DataFile) (iceberg.DataFile, error) {
	if f.Path == "" || f.Rows < 1 || f.SizeBytes < 1 {
		return nil, fmt.Errorf("data file %q of %d rows and %d bytes is no file to add", f.Path, f.Rows, f.SizeBytes)
	}
	spec, err := t.spec(f.SpecID)
	if err != nil {
		return nil, fmt.Errorf("data file %s: %w", f.Path, err)
	}
	values, logical, err := partitionTuple(spec, f.Partition)
	if err != nil {
		return nil, fmt.Errorf("data file %s: %w", f.Path, err)
	}
	b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, f.Path, iceberg.ParquetFile,
		values, logical, nil, f.Rows, f.SizeBytes)
	if err != nil {
		return nil, fmt.Errorf("data file %s: %w", f.Path, err)
	}
	return withMetrics(b, f).Build(), nil
}

// withMetrics writes a map without entries rather than none: the two mean the same, and PyIceberg's table of entries
// fails on none.
func withMetrics(b *iceberg.DataFileBuilder, f record.DataFile) *iceberg.DataFileBuilder {
	b.ColumnSizes(some(f.ColumnSizes)).ValueCounts(some(f.ValueCounts))
	b.NullValueCounts(some(f.NullValueCounts)).NaNValueCounts(some(f.NaNValueCounts))
	b.LowerBoundValues(some(f.LowerBounds)).UpperBoundValues(some(f.UpperBounds))
	if len(f.SplitOffsets) > 0 {
		b.SplitOffsets(f.SplitOffsets)
	}
	if f.SortOrderID > 0 {
		b.SortOrderID(f.SortOrderID)
	}
	return b
}

func some[V any](m map[int]V) map[int]V {
	if m == nil {
		return map[int]V{}
	}
	return m
}

// partitionTuple is the values by partition field id, and the logical types of those that have one.
func partitionTuple(
	spec iceberg.PartitionSpec, partition []record.PartitionValue,
) (map[int]any, map[int]string, error) {
	if len(partition) != spec.NumFields() {
		return nil, nil, fmt.Errorf("it has %d partition values and spec %d has %d fields",
			len(partition), spec.ID(), spec.NumFields())
	}
	values := make(map[int]any, len(partition))
	logical := make(map[int]string)
	var faults []error
	i := 0
	for _, field := range spec.Fields() {
		p := partition[i]
		i++
		if p.FieldID != field.FieldID {
			faults = append(faults, fmt.Errorf("partition value %d is of field id %d, not %d (%s)",
				i, p.FieldID, field.FieldID, field.Name))
			continue
		}
		value, _, err := partitionValue(p)
		if err != nil {
			faults = append(faults, fmt.Errorf("partition field %s: %w", field.Name, err))
		}
		values[p.FieldID] = value
		if l, ok := logicalTypes[p.Type.Kind]; ok {
			logical[p.FieldID] = l
		}
	}
	return values, logical, errors.Join(faults...)
}
