package record

import (
	"fmt"
	"strings"
)

// Kind is the type of a column without its parameters. The set is Iceberg's (spec section "Schemas and Data Types"),
// because the table decides what a record may hold.
type Kind uint8

// The kinds, with the Column buffer that holds their values.
const (
	KindInvalid       Kind = iota
	KindBoolean            // Column.Bools
	KindInt                // Column.Ints32
	KindLong               // Column.Ints64
	KindFloat              // Column.Floats32
	KindDouble             // Column.Floats64
	KindDecimal            // unscaled; precision <= 18: Column.Ints64; above: Column.Fixed, 16 bytes big-endian, signed
	KindDate               // Column.Ints32, days since 1970-01-01
	KindTime               // Column.Ints64, microseconds since midnight
	KindTimestamp          // Column.Ints64, microseconds since 1970-01-01T00:00:00, no zone
	KindTimestampTZ        // Column.Ints64, microseconds since 1970-01-01T00:00:00 UTC
	KindTimestampNs        // Column.Ints64, nanoseconds, no zone (table format v3)
	KindTimestampTZNs      // Column.Ints64, nanoseconds UTC (table format v3)
	KindUUID               // Column.Fixed, 16 bytes
	KindFixed              // Column.Fixed, Type.Length bytes
	KindBinary             // Column.Bytes
	KindString             // Column.Bytes, valid UTF-8
	KindStruct             // Column.Children, one a field
	KindList               // Column.Offsets and Children[0]
	KindMap                // Column.Offsets, Children[0] keys and Children[1] values
)

var kindNames = [...]string{
	"invalid", "boolean", "int", "long", "float", "double", "decimal", "date", "time", "timestamp", "timestamptz",
	"timestamp_ns", "timestamptz_ns", "uuid", "fixed", "binary", "string", "struct", "list", "map",
}

// String is the kind's name in Iceberg's schema JSON.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Type is a kind with its parameters. The zero value is invalid.
type Type struct {
	Kind      Kind
	Precision int // decimal: digits, 1 to 38
	Scale     int // decimal: digits after the point, 0 to Precision
	Length    int // fixed: bytes
	// Millis says of a time or timestamp that an integer in a message counts milliseconds, as for Avro's millis types.
	// The column holds its own unit all the same.
	Millis bool
	// JSON says of a string that it holds the text of a JSON value, whatever the value is, as for BigQuery's JSON type.
	JSON   bool
	Fields []Field // struct: its fields; list: [element]; map: [key, value]
}

// String is the type as Iceberg writes it, for example decimal(9, 2) or list<string>.
func (t Type) String() string {
	switch t.Kind {
	case KindDecimal:
		return fmt.Sprintf("decimal(%d, %d)", t.Precision, t.Scale)
	case KindFixed:
		return fmt.Sprintf("fixed[%d]", t.Length)
	case KindList:
		return "list<" + t.Fields[0].Type.String() + ">"
	case KindMap:
		return "map<" + t.Fields[0].Type.String() + ", " + t.Fields[1].Type.String() + ">"
	case KindStruct:
		names := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			names[i] = f.Name + ": " + f.Type.String()
		}
		return "struct<" + strings.Join(names, ", ") + ">"
	default:
		return t.Kind.String()
	}
}

// Width is the bytes of one value in Column.Fixed; 0 for kinds that are not kept there.
func (t Type) Width() int {
	switch {
	case t.Kind == KindUUID:
		return 16
	case t.Kind == KindFixed:
		return t.Length
	case t.Kind == KindDecimal && t.Precision > 18:
		return 16
	default:
		return 0
	}
}

// Field is a named column, struct field, list element or map key or value.
type Field struct {
	ID       int // Iceberg field id, unique in the schema
	Name     string
	Required bool
	Type     Type
	Doc      string
}

// Schema is the ordered columns of a table.
type Schema struct {
	ID     int // Iceberg schema id
	Fields []Field
}

// Find returns the field at a dotted path such as "device.os", or false. Only struct fields are walked into.
func (s *Schema) Find(path string) (Field, bool) {
	fields := s.Fields
	for {
		head, rest, nested := strings.Cut(path, ".")
		var found *Field
		for i := range fields {
			// A column's own name may hold a dot: the whole path wins over a walk.
			if fields[i].Name == path {
				return fields[i], true
			}
			if fields[i].Name == head {
				found = &fields[i]
			}
		}
		if found == nil || !nested || found.Type.Kind != KindStruct {
			return Field{}, false
		}
		path, fields = rest, found.Type.Fields
	}
}
