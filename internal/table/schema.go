package table

import (
	"errors"
	"fmt"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
)

// primitives pairs the kinds without parameters with their Iceberg types.
var primitives = [...]struct {
	kind    record.Kind
	iceberg iceberg.Type
}{
	{record.KindBoolean, iceberg.PrimitiveTypes.Bool},
	{record.KindInt, iceberg.PrimitiveTypes.Int32},
	{record.KindLong, iceberg.PrimitiveTypes.Int64},
	{record.KindFloat, iceberg.PrimitiveTypes.Float32},
	{record.KindDouble, iceberg.PrimitiveTypes.Float64},
	{record.KindDate, iceberg.PrimitiveTypes.Date},
	{record.KindTime, iceberg.PrimitiveTypes.Time},
	{record.KindTimestamp, iceberg.PrimitiveTypes.Timestamp},
	{record.KindTimestampTZ, iceberg.PrimitiveTypes.TimestampTz},
	{record.KindTimestampNs, iceberg.PrimitiveTypes.TimestampNs},
	{record.KindTimestampTZNs, iceberg.PrimitiveTypes.TimestampTzNs},
	{record.KindUUID, iceberg.PrimitiveTypes.UUID},
	{record.KindBinary, iceberg.PrimitiveTypes.Binary},
	{record.KindString, iceberg.PrimitiveTypes.String},
}

// recordSchema turns a table's schema into firn's. Field ids are kept. A type that firn cannot hold (unknown, variant,
// geometry, geography) is an error that names the field.
func recordSchema(s *iceberg.Schema) (*record.Schema, error) {
	fields, err := recordFields("", s.Fields())
	if err != nil {
		return nil, err
	}
	return &record.Schema{ID: s.ID, Fields: fields}, nil
}

func recordFields(path string, from []iceberg.NestedField) ([]record.Field, error) {
	fields := make([]record.Field, len(from))
	for i, f := range from {
		t, err := recordType(join(path, f.Name), f.Type)
		if err != nil {
			return nil, err
		}
		fields[i] = record.Field{ID: f.ID, Name: f.Name, Required: f.Required, Type: t, Doc: f.Doc}
	}
	return fields, nil
}

func recordType(path string, from iceberg.Type) (record.Type, error) {
	switch t := from.(type) {
	case iceberg.DecimalType:
		return record.Type{Kind: record.KindDecimal, Precision: t.Precision(), Scale: t.Scale()}, nil
	case iceberg.FixedType:
		return record.Type{Kind: record.KindFixed, Length: t.Len()}, nil
	case *iceberg.StructType:
		return nestedRecordType(path, record.KindStruct, t.FieldList)
	case *iceberg.ListType:
		return nestedRecordType(path, record.KindList, t.Fields())
	case *iceberg.MapType:
		return nestedRecordType(path, record.KindMap, t.Fields())
	}
	for _, p := range primitives {
		if p.iceberg.Equals(from) {
			return record.Type{Kind: p.kind}, nil
		}
	}
	return record.Type{}, fmt.Errorf("field %s: type %s is not supported: leave the column out of the table", path, from)
}

func nestedRecordType(path string, kind record.Kind, from []iceberg.NestedField) (record.Type, error) {
	fields, err := recordFields(path, from)
	return record.Type{Kind: kind, Fields: fields}, err
}

// icebergSchema turns firn's schema into Iceberg's with the field ids that it has. All faults are reported at once.
func icebergSchema(s *record.Schema) (*iceberg.Schema, error) {
	if len(s.Fields) == 0 {
		return nil, errors.New("the schema has no fields: a table needs at least one column")
	}
	if err := uniqueIDs(s.Fields, map[int]string{}); err != nil {
		return nil, err
	}
	fields, err := icebergFields("", s.Fields)
	if err != nil {
		return nil, err
	}
	return iceberg.NewSchema(s.ID, fields...), nil
}

// uniqueIDs guards the library, which panics on a field id used twice.
func uniqueIDs(fields []record.Field, seen map[int]string) error {
	for _, f := range fields {
		if other, ok := seen[f.ID]; ok {
			return fmt.Errorf("fields %s and %s have the same id %d", other, f.Name, f.ID)
		}
		seen[f.ID] = f.Name
		if err := uniqueIDs(f.Type.Fields, seen); err != nil {
			return err
		}
	}
	return nil
}

func icebergFields(path string, from []record.Field) ([]iceberg.NestedField, error) {
	fields := make([]iceberg.NestedField, len(from))
	names := make(map[string]bool, len(from))
	var faults []error
	for i, f := range from {
		at := join(path, f.Name)
		if f.Name == "" {
			faults = append(faults, fmt.Errorf("field %d of %q has no name", i, path))
		}
		if names[f.Name] {
			faults = append(faults, fmt.Errorf("field %s is there twice", at))
		}
		names[f.Name] = true
		t, err := icebergType(at, f.Type)
		faults = append(faults, err)
		fields[i] = iceberg.NestedField{ID: f.ID, Name: f.Name, Required: f.Required, Type: t, Doc: f.Doc}
	}
	return fields, errors.Join(faults...)
}

func icebergType(path string, from record.Type) (iceberg.Type, error) {
	switch from.Kind {
	case record.KindDecimal:
		if from.Precision < 1 || from.Precision > 38 || from.Scale < 0 || from.Scale > from.Precision {
			return nil, fmt.Errorf("field %s: %s needs a precision of 1 to 38 and a scale of 0 to the precision", path, from)
		}
		return iceberg.DecimalTypeOf(from.Precision, from.Scale), nil
	case record.KindFixed:
		if from.Length < 1 {
			return nil, fmt.Errorf("field %s: %s needs a length of at least 1", path, from)
		}
		return iceberg.FixedTypeOf(from.Length), nil
	case record.KindStruct, record.KindList, record.KindMap:
		return nestedIcebergType(path, from)
	default:
		for _, p := range primitives {
			if p.kind == from.Kind {
				return p.iceberg, nil
			}
		}
		return nil, fmt.Errorf("field %s: type %s is not a type of Iceberg", path, from.Kind)
	}
}

func nestedIcebergType(path string, from record.Type) (iceberg.Type, error) {
	if err := nestedArity(path, from); err != nil {
		return nil, err
	}
	fields, err := icebergFields(path, from.Fields)
	if err != nil {
		return nil, err
	}
	switch from.Kind {
	case record.KindList:
		e := fields[0]
		return &iceberg.ListType{ElementID: e.ID, Element: e.Type, ElementRequired: e.Required}, nil
	case record.KindMap:
		k, v := fields[0], fields[1]
		return &iceberg.MapType{
			KeyID: k.ID, KeyType: k.Type, ValueID: v.ID, ValueType: v.Type, ValueRequired: v.Required,
		}, nil
	default:
		return &iceberg.StructType{FieldList: fields}, nil
	}
}

func nestedArity(path string, t record.Type) error {
	n := len(t.Fields)
	switch {
	case t.Kind == record.KindList && n != 1:
		return fmt.Errorf("field %s: a list has one element type, not %d", path, n)
	case t.Kind == record.KindMap && n != 2:
		return fmt.Errorf("field %s: a map has a key and a value type, not %d types", path, n)
	case t.Kind == record.KindStruct && n == 0:
		return fmt.Errorf("field %s: a struct needs at least one field", path)
	default:
		return nil
	}
}

// freshIDs copies the fields with ids from 1 on, a level before the levels below it, as Iceberg for Java numbers a new
// table. A catalog may number them otherwise: the ids of a new table are those that are read back.
func freshIDs(s *record.Schema) *record.Schema {
	last := 0
	return &record.Schema{ID: s.ID, Fields: freshFields(s.Fields, &last)}
}

func freshFields(from []record.Field, last *int) []record.Field {
	fields := make([]record.Field, len(from))
	for i, f := range from {
		*last++
		f.ID = *last
		fields[i] = f
	}
	for i := range fields {
		if len(fields[i].Type.Fields) > 0 {
			fields[i].Type.Fields = freshFields(fields[i].Type.Fields, last)
		}
	}
	return fields
}

// needsV3 is the first field whose type exists only from table format version 3 on, or "".
func needsV3(path string, fields []record.Field) string {
	for _, f := range fields {
		at := join(path, f.Name)
		if f.Type.Kind == record.KindTimestampNs || f.Type.Kind == record.KindTimestampTZNs {
			return at
		}
		if deep := needsV3(at, f.Type.Fields); deep != "" {
			return deep
		}
	}
	return ""
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
