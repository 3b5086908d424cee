package bigquery

import (
	"errors"
	"fmt"
	"strings"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// compiler gathers every fault of a pair of schemas.
type compiler struct{ faults []error }

func (c *compiler) fault(path, format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("field %s: %s", path, fmt.Sprintf(format, args...)))
}

// compile makes the columns that the rows fill.
func compile(rows *record.Schema, table *storagepb.TableSchema) ([]column, error) {
	var c compiler
	columns := c.columns(rows.Fields, table.GetFields(), "")
	if err := errors.Join(c.faults...); err != nil {
		return nil, fmt.Errorf("fitting rows to the table: %w", err)
	}
	return columns, nil
}

func (c *compiler) columns(fields []record.Field, table []*storagepb.TableFieldSchema, path string) []column {
	columns := make([]column, 0, len(fields))
	filled := map[*storagepb.TableFieldSchema]bool{}
	for i := range fields {
		f := &fields[i]
		at := join(path, f.Name)
		target := find(table, f.Name)
		switch {
		case target == nil && path == "" && (f.Name == ChangeType || f.Name == ChangeSequenceNumber):
			columns = append(columns, c.change(f))
		case target == nil:
			c.fault(at, "the table has no such column")
		case filled[target]:
			c.fault(at, "another field fills column %s: BigQuery's names are equal in any case", target.GetName())
		default:
			filled[target] = true
			columns = append(columns, c.column(f, target, at))
		}
	}
	for _, t := range table {
		if t.GetMode() == storagepb.TableFieldSchema_REQUIRED && t.GetDefaultValueExpression() == "" && !filled[t] {
			c.fault(join(path, t.GetName()), "the column is REQUIRED, and rows do not have it")
		}
	}
	for i := range columns {
		columns[i].setNumber(i + 1)
	}
	return columns
}

// find is the column of a name, in whatever case when none has it exactly.
func find(table []*storagepb.TableFieldSchema, name string) *storagepb.TableFieldSchema {
	var found *storagepb.TableFieldSchema
	for _, t := range table {
		if t.GetName() == name {
			return t
		}
		if strings.EqualFold(t.GetName(), name) {
			found = t
		}
	}
	return found
}

// change compiles a pseudo-column.
func (c *compiler) change(f *record.Field) column {
	change := column{
		name: f.Name, path: f.Name, op: opChangeType, required: true,
		table: &storagepb.TableFieldSchema{Name: f.Name, Type: storagepb.TableFieldSchema_STRING},
	}
	if f.Name == ChangeSequenceNumber {
		change.op, change.required = opChangeSequence, false
	}
	if f.Type.Kind != record.KindString || f.Type.JSON {
		c.fault(f.Name, "it must be a string, not %s", f.Type)
	}
	return change
}

// column compiles a field for a column of any mode.
func (c *compiler) column(f *record.Field, table *storagepb.TableFieldSchema, path string) column {
	repeated := table.GetMode() == storagepb.TableFieldSchema_REPEATED
	listed := f.Type.Kind == record.KindList || f.Type.Kind == record.KindMap
	switch {
	case repeated && !listed:
		c.fault(path, "%s cannot fill a REPEATED column", f.Type)
	case listed && !repeated:
		c.fault(path, "%s fills a REPEATED column, and this one is not", f.Type)
	case f.Type.Kind == record.KindMap:
		return c.mapping(f, table, path)
	case f.Type.Kind == record.KindList:
		return c.list(f, table, path)
	}
	column := c.plain(&f.Type, table, path)
	column.name, column.path, column.table = table.GetName(), path, table
	column.required = table.GetMode() == storagepb.TableFieldSchema_REQUIRED
	return column
}

func (c *compiler) list(f *record.Field, table *storagepb.TableFieldSchema, path string) column {
	element := c.plain(&f.Type.Fields[0].Type, table, path)
	element.name, element.path, element.table, element.required = table.GetName(), path, table, true
	list := column{name: element.name, path: path, table: table, op: opList, children: []column{element}}
	if element.op.packed() {
		list.op = opPacked
	}
	return list
}

func (c *compiler) mapping(f *record.Field, table *storagepb.TableFieldSchema, path string) column {
	if table.GetType() != storagepb.TableFieldSchema_STRUCT {
		c.fault(path, "%s fills an array of STRUCT<key, value>, not of %s", f.Type, typeName(table))
		return column{}
	}
	return column{
		name: table.GetName(), path: path, table: table, op: opMap,
		children: c.columns(f.Type.Fields, table.GetFields(), path),
	}
}

// plain compiles a field's type for a column's, modes left aside.
func (c *compiler) plain(f *record.Type, table *storagepb.TableFieldSchema, path string) column {
	t := table.GetType()
	is := func(kind record.Kind, want storagepb.TableFieldSchema_Type) bool { return f.Kind == kind && t == want }
	switch {
	case is(record.KindStruct, storagepb.TableFieldSchema_STRUCT):
		return column{op: opStruct, children: c.columns(f.Fields, table.GetFields(), path)}
	case is(record.KindUUID, storagepb.TableFieldSchema_STRING):
		if n := table.GetMaxLength(); n > 0 && n < uuidBytes {
			c.fault(path, "a uuid does not fit %s", typeName(table))
		}
		return column{op: opUUID}
	case is(record.KindFixed, storagepb.TableFieldSchema_BYTES):
		if n := table.GetMaxLength(); n > 0 && n < int64(f.Length) {
			c.fault(path, "%s does not fit %s", f, typeName(table))
		}
		return column{op: opFixed}
	case f.Kind == record.KindString || is(record.KindBinary, storagepb.TableFieldSchema_BYTES):
		return c.text(f, table, path)
	case f.Kind == record.KindDecimal:
		return c.decimal(f, table, path)
	}
	for _, s := range scalars {
		if is(s.kind, s.table) {
			return column{op: s.op}
		}
	}
	c.fault(path, "%s cannot fill %s", f, typeName(table))
	return column{}
}

// scalars has the pairs of kind and type that need nothing but an op.
var scalars = []struct {
	kind  record.Kind
	table storagepb.TableFieldSchema_Type
	op    op
}{
	{record.KindBoolean, storagepb.TableFieldSchema_BOOL, opBoolean},
	{record.KindInt, storagepb.TableFieldSchema_INT64, opInt},
	{record.KindLong, storagepb.TableFieldSchema_INT64, opLong},
	{record.KindFloat, storagepb.TableFieldSchema_DOUBLE, opFloat},
	{record.KindDouble, storagepb.TableFieldSchema_DOUBLE, opDouble},
	{record.KindDate, storagepb.TableFieldSchema_DATE, opDate},
	{record.KindTime, storagepb.TableFieldSchema_TIME, opTime},
	{record.KindTimestamp, storagepb.TableFieldSchema_DATETIME, opDatetime},
	{record.KindTimestampTZ, storagepb.TableFieldSchema_TIMESTAMP, opTimestamp},
}

// text compiles a string, or the bytes for a BYTES column.
func (c *compiler) text(f *record.Type, table *storagepb.TableFieldSchema, path string) column {
	switch t := table.GetType(); {
	case t == storagepb.TableFieldSchema_BYTES && f.Kind == record.KindBinary && table.GetMaxLength() > 0:
		return column{op: opBytesUpTo, lengthMax: int(table.GetMaxLength())}
	case t == storagepb.TableFieldSchema_BYTES && f.Kind == record.KindBinary:
		return column{op: opBytes}
	case t == storagepb.TableFieldSchema_STRING && table.GetMaxLength() > 0:
		return column{op: opTextUpTo, lengthMax: int(table.GetMaxLength())}
	case t == storagepb.TableFieldSchema_STRING,
		t == storagepb.TableFieldSchema_GEOGRAPHY && !f.JSON,
		t == storagepb.TableFieldSchema_JSON && f.JSON:
		return column{op: opBytes}
	case t == storagepb.TableFieldSchema_BIGNUMERIC && f.JSON:
		precision, scale := digits(table)
		return column{op: opNumberText, whole: precision - scale, scale: scale}
	case t == storagepb.TableFieldSchema_JSON:
		c.fault(path, "a string is the text of no JSON value: a string of type JSON is")
	default:
		c.fault(path, "%s cannot fill %s", f, typeName(table))
	}
	return column{}
}

// decimal compiles a decimal, which must fit the column whatever its value is.
func (c *compiler) decimal(f *record.Type, table *storagepb.TableFieldSchema, path string) column {
	target := numericScale
	switch table.GetType() {
	case storagepb.TableFieldSchema_NUMERIC:
	case storagepb.TableFieldSchema_BIGNUMERIC:
		target = bignumericScale
	default:
		c.fault(path, "%s cannot fill %s", f, typeName(table))
		return column{}
	}
	precision, scale := digits(table)
	if f.Scale > scale || f.Precision-f.Scale > precision-scale {
		c.fault(path, "%s does not fit %s", f, typeName(table))
		return column{}
	}
	shift := target - f.Scale
	first := min(shift, tensMax)
	return column{op: opDecimal, factors: [2]uint64{tens[first], tens[shift-first]}}
}
