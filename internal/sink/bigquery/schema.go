package bigquery

import (
	"errors"
	"fmt"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// Digits of BigQuery's decimals: before and after the point.
const (
	numericWhole, numericScale = 29, 9
	// A BIGNUMERIC without parameters has 38 digits before the point, and one more as far as 255 bits reach.
	bignumericWholeMax, bignumericScale = 39, 38
	recordDigitsMax                     = 38 // of record.KindDecimal
)

// Columns of a message that say what a row does to the row of its primary key, and which of two is the later one. The
// table does not have them. See WithChanges.
const (
	ChangeType           = "_CHANGE_TYPE"
	ChangeSequenceNumber = "_CHANGE_SEQUENCE_NUMBER"
)

// RecordSchema is the schema that messages for a table are decoded by, with a field for each column in order, by the
// column's name. The error names every column that cannot be written.
//
//	STRING, BYTES, BOOL, DATE, TIME      string, binary, boolean, date, time
//	INT64, FLOAT64                       long, double
//	NUMERIC, NUMERIC(P, S)               decimal(38, 9), decimal(P, S)
//	BIGNUMERIC(P, S) of P up to 38       decimal(P, S)
//	BIGNUMERIC otherwise                 string of type JSON, which holds a number or a number in quotes
//	DATETIME, TIMESTAMP                  timestamp, timestamptz
//	JSON                                 string of type JSON
//	GEOGRAPHY                            string: WKT, or GeoJSON as a text
//	STRUCT, REPEATED                     struct, list of required elements
//
// INTERVAL, RANGE and TIMESTAMP(12) are not supported. A null for a REPEATED column is an empty array there.
func RecordSchema(table *storagepb.TableSchema) (*record.Schema, error) {
	var r recordSchema
	s := &record.Schema{Fields: r.fields(table.GetFields(), "")}
	if err := errors.Join(r.faults...); err != nil {
		return nil, fmt.Errorf("reading the table's schema: %w", err)
	}
	return s, nil
}

// WithChanges adds the columns ChangeType, which is required, and ChangeSequenceNumber to those of a schema.
func WithChanges(s *record.Schema) *record.Schema {
	with := *s
	with.Fields = append(with.Fields[:len(s.Fields):len(s.Fields)],
		record.Field{Name: ChangeType, Required: true, Type: record.Type{Kind: record.KindString}},
		record.Field{Name: ChangeSequenceNumber, Type: record.Type{Kind: record.KindString}})
	return &with
}

// recordSchema gathers the faults of a table's schema, and numbers its fields.
type recordSchema struct {
	id     int
	faults []error
}

func (r *recordSchema) fields(columns []*storagepb.TableFieldSchema, path string) []record.Field {
	fields := make([]record.Field, 0, len(columns))
	for _, c := range columns {
		fields = append(fields, r.field(c, join(path, c.GetName())))
	}
	return fields
}

func (r *recordSchema) field(c *storagepb.TableFieldSchema, path string) record.Field {
	r.id++
	f := record.Field{ID: r.id, Name: c.GetName(), Doc: c.GetDescription()}
	f.Type = r.plain(c, path) // counts r.id on
	switch c.GetMode() {
	case storagepb.TableFieldSchema_REQUIRED:
		f.Required = true
	case storagepb.TableFieldSchema_REPEATED:
		r.id++
		element := record.Field{ID: r.id, Name: "element", Required: true, Type: f.Type}
		f.Type = record.Type{Kind: record.KindList, Fields: []record.Field{element}}
	default: // nullable, which is what no mode means
	}
	return f
}

// plainKinds has the kinds of the types that have no parameters.
var plainKinds = map[storagepb.TableFieldSchema_Type]record.Kind{
	storagepb.TableFieldSchema_STRING:    record.KindString,
	storagepb.TableFieldSchema_BYTES:     record.KindBinary,
	storagepb.TableFieldSchema_INT64:     record.KindLong,
	storagepb.TableFieldSchema_DOUBLE:    record.KindDouble,
	storagepb.TableFieldSchema_BOOL:      record.KindBoolean,
	storagepb.TableFieldSchema_DATE:      record.KindDate,
	storagepb.TableFieldSchema_TIME:      record.KindTime,
	storagepb.TableFieldSchema_DATETIME:  record.KindTimestamp,
	storagepb.TableFieldSchema_TIMESTAMP: record.KindTimestampTZ,
	storagepb.TableFieldSchema_GEOGRAPHY: record.KindString,
}

// plain is the type of a column, its mode left aside.
func (r *recordSchema) plain(c *storagepb.TableFieldSchema, path string) record.Type {
	if p := c.GetTimestampPrecision().GetValue(); p != 0 && p != 6 {
		r.fault(path, "TIMESTAMP(%d) is not supported: only microseconds are written", p)
	}
	switch t := c.GetType(); t {
	case storagepb.TableFieldSchema_STRUCT:
		return record.Type{Kind: record.KindStruct, Fields: r.fields(c.GetFields(), path)}
	case storagepb.TableFieldSchema_JSON:
		return record.Type{Kind: record.KindString, JSON: true}
	case storagepb.TableFieldSchema_NUMERIC, storagepb.TableFieldSchema_BIGNUMERIC:
		precision, scale := digits(c)
		if precision > recordDigitsMax {
			return record.Type{Kind: record.KindString, JSON: true}
		}
		return record.Type{Kind: record.KindDecimal, Precision: precision, Scale: scale}
	default:
		kind, ok := plainKinds[t]
		if !ok {
			r.fault(path, "type %s is not supported: leave the column out, or make it a STRING", typeName(c))
		}
		return record.Type{Kind: kind}
	}
}

func (r *recordSchema) fault(path, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("column %s: %s", path, fmt.Sprintf(format, args...)))
}

// digits is the precision and scale of a NUMERIC or BIGNUMERIC column.
func digits(c *storagepb.TableFieldSchema) (precision, scale int) {
	switch {
	case c.GetPrecision() > 0:
		return int(c.GetPrecision()), int(c.GetScale())
	case c.GetType() == storagepb.TableFieldSchema_NUMERIC:
		return numericWhole + numericScale, numericScale
	default:
		return bignumericWholeMax + bignumericScale, bignumericScale
	}
}

// typeName is a column's type as SQL has it, its mode left aside.
func typeName(c *storagepb.TableFieldSchema) string {
	name := c.GetType().String()
	switch c.GetType() {
	case storagepb.TableFieldSchema_DOUBLE:
		return "FLOAT64"
	case storagepb.TableFieldSchema_NUMERIC, storagepb.TableFieldSchema_BIGNUMERIC:
		if c.GetPrecision() > 0 {
			return fmt.Sprintf("%s(%d, %d)", name, c.GetPrecision(), c.GetScale())
		}
	case storagepb.TableFieldSchema_STRING, storagepb.TableFieldSchema_BYTES:
		if c.GetMaxLength() > 0 {
			return fmt.Sprintf("%s(%d)", name, c.GetMaxLength())
		}
	default: // no parameters
	}
	return name
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
