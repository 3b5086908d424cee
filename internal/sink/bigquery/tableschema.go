package bigquery

import (
	"errors"
	"fmt"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// TableSchema is the schema of a table to be made for rows of a record schema. It is the reverse of RecordSchema where
// that has one, and beside it:
//
//	int, float            INT64, FLOAT64
//	uuid, fixed           STRING, BYTES
//	decimal(P, S)         NUMERIC(P, S) up to 29 digits before and 9 after the point, else BIGNUMERIC(P, S)
//	map                   REPEATED STRUCT<key, value>
//	string of type JSON   JSON
//
// The error names every field that BigQuery has no column for: nanoseconds, lists in lists, and structs of no field.
func TableSchema(s *record.Schema) (*storagepb.TableSchema, error) {
	var t tableSchema
	table := &storagepb.TableSchema{Fields: t.columns(s.Fields, "")}
	if err := errors.Join(t.faults...); err != nil {
		return nil, fmt.Errorf("making a table's schema: %w", err)
	}
	return table, nil
}

type tableSchema struct{ faults []error }

func (t *tableSchema) fault(path, format string, args ...any) {
	t.faults = append(t.faults, fmt.Errorf("field %s: %s", path, fmt.Sprintf(format, args...)))
}

func (t *tableSchema) columns(fields []record.Field, path string) []*storagepb.TableFieldSchema {
	columns := make([]*storagepb.TableFieldSchema, 0, len(fields))
	for i := range fields {
		columns = append(columns, t.column(&fields[i], join(path, fields[i].Name)))
	}
	return columns
}

func (t *tableSchema) column(f *record.Field, path string) *storagepb.TableFieldSchema {
	c := &storagepb.TableFieldSchema{Name: f.Name, Description: f.Doc, Mode: storagepb.TableFieldSchema_NULLABLE}
	if f.Required {
		c.Mode = storagepb.TableFieldSchema_REQUIRED
	}
	switch f.Type.Kind {
	case record.KindList:
		c.Mode = storagepb.TableFieldSchema_REPEATED
		element := &f.Type.Fields[0]
		if k := element.Type.Kind; k == record.KindList || k == record.KindMap {
			t.fault(path, "BigQuery has no array of arrays: put a struct between the two")
			return c
		}
		t.plain(c, &element.Type, join(path, "element"))
	case record.KindMap:
		c.Mode = storagepb.TableFieldSchema_REPEATED
		c.Type = storagepb.TableFieldSchema_STRUCT
		c.Fields = t.columns(f.Type.Fields, path)
	default:
		t.plain(c, &f.Type, path)
	}
	return c
}

// columnTypes has the types of the kinds that have no parameters.
var columnTypes = map[record.Kind]storagepb.TableFieldSchema_Type{
	record.KindBoolean:     storagepb.TableFieldSchema_BOOL,
	record.KindInt:         storagepb.TableFieldSchema_INT64,
	record.KindLong:        storagepb.TableFieldSchema_INT64,
	record.KindFloat:       storagepb.TableFieldSchema_DOUBLE,
	record.KindDouble:      storagepb.TableFieldSchema_DOUBLE,
	record.KindDate:        storagepb.TableFieldSchema_DATE,
	record.KindTime:        storagepb.TableFieldSchema_TIME,
	record.KindTimestamp:   storagepb.TableFieldSchema_DATETIME,
	record.KindTimestampTZ: storagepb.TableFieldSchema_TIMESTAMP,
	record.KindUUID:        storagepb.TableFieldSchema_STRING,
	record.KindFixed:       storagepb.TableFieldSchema_BYTES,
	record.KindBinary:      storagepb.TableFieldSchema_BYTES,
	record.KindString:      storagepb.TableFieldSchema_STRING,
}

// plain sets a column's type to that of a field which is no list.
func (t *tableSchema) plain(c *storagepb.TableFieldSchema, f *record.Type, path string) {
	switch {
	case f.Kind == record.KindStruct:
		c.Type = storagepb.TableFieldSchema_STRUCT
		c.Fields = t.columns(f.Fields, path)
		if len(f.Fields) == 0 {
			t.fault(path, "BigQuery has no struct without fields")
		}
	case f.Kind == record.KindDecimal:
		c.Type = storagepb.TableFieldSchema_NUMERIC
		c.Precision, c.Scale = int64(f.Precision), int64(f.Scale)
		if f.Scale > numericScale || f.Precision-f.Scale > numericWhole {
			c.Type = storagepb.TableFieldSchema_BIGNUMERIC
		}
		// A parameterised decimal has at least one digit before the point.
		c.Precision = max(c.Precision, c.Scale+1)
	case f.JSON:
		c.Type = storagepb.TableFieldSchema_JSON
	default:
		var ok bool
		if c.Type, ok = columnTypes[f.Kind]; !ok {
			t.fault(path, "BigQuery has no type for %s", f)
		}
	}
}
