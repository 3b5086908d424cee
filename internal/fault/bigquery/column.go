package bigquery

import (
	"fmt"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// kind is a BigQuery type.
type kind = storagepb.TableFieldSchema_Type

// column is a column of a table, or a field of a STRUCT.
type column struct {
	name        string
	kind        kind
	mode        storagepb.TableFieldSchema_Mode
	fields      []*column // of a STRUCT; start and end of a RANGE
	element     kind      // of a RANGE
	description string
	expression  string // the default value's
	lengthMax   int64  // of STRING in characters and BYTES; 0: none
	precision   int64  // of NUMERIC and BIGNUMERIC; 0: none
	scale       int64
}

func (c *column) repeated() bool { return c.mode == storagepb.TableFieldSchema_REPEATED }
func (c *column) required() bool { return c.mode == storagepb.TableFieldSchema_REQUIRED }

// find looks for a column as BigQuery does: case does not matter.
func find(columns []*column, name string) *column {
	for _, c := range columns {
		if strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}

// tableSchema is the columns as the Storage Write API shows them.
func tableSchema(columns []*column) *storagepb.TableSchema {
	return &storagepb.TableSchema{Fields: fieldSchemas(columns)}
}

func fieldSchemas(columns []*column) []*storagepb.TableFieldSchema {
	var fields []*storagepb.TableFieldSchema
	for _, c := range columns {
		f := &storagepb.TableFieldSchema{
			Name: c.name, Type: c.kind, Mode: c.mode, Description: c.description, MaxLength: c.lengthMax,
			Precision: c.precision, Scale: c.scale, DefaultValueExpression: c.expression,
		}
		if c.kind == storagepb.TableFieldSchema_RANGE {
			f.RangeElementType = &storagepb.TableFieldSchema_FieldElementType{Type: c.element}
		} else {
			f.Fields = fieldSchemas(c.fields)
		}
		fields = append(fields, f)
	}
	return fields
}

// kindNames has the names of types in REST; the older and the newer one mean the same, and REST answers with the first.
var kindNames = []struct {
	name string
	kind kind
}{
	{"STRING", storagepb.TableFieldSchema_STRING},
	{"BYTES", storagepb.TableFieldSchema_BYTES},
	{"INTEGER", storagepb.TableFieldSchema_INT64},
	{"INT64", storagepb.TableFieldSchema_INT64},
	{"FLOAT", storagepb.TableFieldSchema_DOUBLE},
	{"FLOAT64", storagepb.TableFieldSchema_DOUBLE},
	{"BOOLEAN", storagepb.TableFieldSchema_BOOL},
	{"BOOL", storagepb.TableFieldSchema_BOOL},
	{"TIMESTAMP", storagepb.TableFieldSchema_TIMESTAMP},
	{"DATE", storagepb.TableFieldSchema_DATE},
	{"TIME", storagepb.TableFieldSchema_TIME},
	{"DATETIME", storagepb.TableFieldSchema_DATETIME},
	{"GEOGRAPHY", storagepb.TableFieldSchema_GEOGRAPHY},
	{"NUMERIC", storagepb.TableFieldSchema_NUMERIC},
	{"DECIMAL", storagepb.TableFieldSchema_NUMERIC},
	{"BIGNUMERIC", storagepb.TableFieldSchema_BIGNUMERIC},
	{"BIGDECIMAL", storagepb.TableFieldSchema_BIGNUMERIC},
	{"JSON", storagepb.TableFieldSchema_JSON},
	{"INTERVAL", storagepb.TableFieldSchema_INTERVAL},
	{"RECORD", storagepb.TableFieldSchema_STRUCT},
	{"STRUCT", storagepb.TableFieldSchema_STRUCT},
	{"RANGE", storagepb.TableFieldSchema_RANGE},
}

func kindNamed(name string) (kind, bool) {
	for _, n := range kindNames {
		if strings.EqualFold(n.name, name) {
			return n.kind, true
		}
	}
	return 0, false
}

func kindName(k kind) string {
	for _, n := range kindNames {
		if n.kind == k {
			return n.name
		}
	}
	return k.String()
}

// evolve tells whether a table's columns may become others: columns may be added at the end or between if they take
// nulls, and REQUIRED ones become NULLABLE. reason is Google's words for what may not be.
func evolve(before, after []*column, path string) (reason string) {
	for _, b := range before {
		a := find(after, b.name)
		switch {
		case a == nil:
			return fmt.Sprintf("Field %s%s is missing in new schema", path, b.name)
		case a.kind != b.kind:
			return fmt.Sprintf("Field %s%s has changed type from %s to %s", path, b.name, kindName(b.kind), kindName(a.kind))
		case a.mode != b.mode && (!b.required() || a.repeated()):
			return fmt.Sprintf("Field %s%s has changed mode from %s to %s", path, b.name, b.mode, a.mode)
		}
		if reason := evolve(b.fields, a.fields, path+b.name+"."); reason != "" {
			return reason
		}
	}
	for _, a := range after {
		if find(before, a.name) == nil && a.required() {
			return fmt.Sprintf("Cannot add required fields to an existing schema. (field: %s%s)", path, a.name)
		}
	}
	return ""
}
