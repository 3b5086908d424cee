package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"firn/internal/record"
)

// avroFieldsMax bounds a schema with its named types written out where they are used, which a few lines can make
// endless. Tables are unusable long before.
const avroFieldsMax = 10_000

// SchemaFromAvro reads an Avro record schema (JSON text, specification 1.12) as the schema of a table, with field ids
// by AssignIDs. A union with null is an optional field; any other field is required. Enums become strings, map keys
// are strings, time and timestamp types keep their meaning in microseconds or nanoseconds; a timestamp with the
// property adjust-to-utc false has no zone; of a millis type an integer in a message counts milliseconds. Logical types
// that the specification does not know are ignored, as it demands; those that do not fit their type are errors.
// Defaults, aliases, orders and enum symbols are not used. The error names every fault by its field.
func SchemaFromAvro(text []byte) (*record.Schema, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("reading Avro schema: the text is not valid UTF-8")
	}
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("reading Avro schema: %w", err)
	}
	object, ok := root.(map[string]any)
	if !ok || object["type"] != "record" {
		return nil, errors.New("reading Avro schema: it must be a record: {\"type\": \"record\", ...}")
	}
	a := avroSchema{named: map[string]avroNamed{}}
	t := a.object(object, avroPlace{depth: 1})
	if len(a.faults) > 0 {
		return nil, fmt.Errorf("reading Avro schema: %w", errors.Join(a.faults...))
	}
	return AssignIDs(t.Fields), nil
}

// avroSchema is the state of reading one schema.
type avroSchema struct {
	named  map[string]avroNamed // by full name
	fields int                  // written out so far
	faults []error
}

// avroNamed is a record, enum or fixed that was defined.
type avroNamed struct {
	open bool // its definition is being read: a reference to it now is a recursion
	typ  record.Type
	size int // fields inside, written out
	tall int // levels of nesting
}

// avroPlace is where a type stands.
type avroPlace struct {
	path      string
	namespace string
	depth     int
}

func (at avroPlace) inside(name string) avroPlace {
	return avroPlace{join(at.path, name), at.namespace, at.depth + 1}
}

// fault notes a fault and returns the type that stands for one.
func (a *avroSchema) fault(at avroPlace, format string, args ...any) record.Type {
	what := fmt.Sprintf(format, args...)
	if at.path != "" {
		what = "field " + at.path + ": " + what
	}
	if len(a.faults) < faultsMax {
		a.faults = append(a.faults, errors.New(what))
	}
	return record.Type{}
}

// faultsMax is how many faults are worth reading at once.
const faultsMax = 20

// field reads a type that may be a union with null.
func (a *avroSchema) field(v any, at avroPlace) record.Field {
	a.fields++
	f := record.Field{Required: true}
	union, ok := v.([]any)
	if !ok {
		f.Type = a.typ(v, at)
		return f
	}
	var branches []any
	for _, b := range union {
		if b == "null" {
			f.Required = false
		} else {
			branches = append(branches, b)
		}
	}
	switch {
	case len(branches) == 0:
		a.fault(at, "a union without a type other than null")
	case len(branches) > 1:
		a.fault(at, "a union of %d types: a column has one type, which may be in a union with null", len(branches))
	default:
		f.Type = a.typ(branches[0], at)
	}
	return f
}

// typ reads a type that is not a union.
func (a *avroSchema) typ(v any, at avroPlace) record.Type {
	switch {
	case at.depth > typeDepthMax:
		return a.fault(at, "nested deeper than %d", typeDepthMax)
	case a.fields > avroFieldsMax:
		return a.fault(at, "the schema has more than %d fields", avroFieldsMax)
	}
	switch v := v.(type) {
	case string:
		if t, ok := avroPrimitive(v); ok {
			return t
		}
		return a.reference(v, at)
	case map[string]any:
		return a.object(v, at)
	case []any:
		return a.fault(at, "a union inside of a union")
	default:
		return a.fault(at, "expected a type: a name, an object or a union")
	}
}

// object reads a type that is written as an object.
func (a *avroSchema) object(o map[string]any, at avroPlace) record.Type {
	name, ok := o["type"].(string)
	if !ok {
		return a.fault(at, "the property type must be a name")
	}
	switch name {
	case "record", "enum", "fixed":
		return a.define(name, o, at)
	case "array":
		f := a.field(o["items"], at.inside("element"))
		f.Name = "element"
		return record.Type{Kind: record.KindList, Fields: []record.Field{f}}
	case "map":
		a.fields++
		key := record.Field{Name: "key", Required: true, Type: record.Type{Kind: record.KindString}}
		value := a.field(o["values"], at.inside("value"))
		value.Name = "value"
		return record.Type{Kind: record.KindMap, Fields: []record.Field{key, value}}
	}
	t, ok := avroPrimitive(name)
	if !ok {
		return a.reference(name, at)
	}
	return a.logical(o, t, at)
}

// define reads a record, enum or fixed, and keeps it for references.
func (a *avroSchema) define(kind string, o map[string]any, at avroPlace) record.Type {
	name, _ := o["name"].(string)
	if name == "" {
		return a.fault(at, "a %s without a name", kind)
	}
	if namespace, ok := o["namespace"].(string); ok {
		at.namespace = namespace
	}
	full := fullName(name, at.namespace)
	if _, twice := a.named[full]; twice {
		return a.fault(at, "the name %s is defined twice", excerpt([]byte(full)))
	}
	if i := strings.LastIndexByte(full, '.'); i >= 0 {
		at.namespace = full[:i]
	}
	a.named[full] = avroNamed{open: true}
	before := a.fields
	var t record.Type
	switch kind {
	case "record":
		t = a.record(o, at)
	case "enum":
		t = record.Type{Kind: record.KindString}
	default:
		t = a.fixed(o, at)
	}
	a.named[full] = avroNamed{typ: t, size: a.fields - before, tall: levels(t)}
	return t
}

func fullName(name, namespace string) string {
	if namespace == "" || strings.Contains(name, ".") {
		return name
	}
	return namespace + "." + name
}

// levels is how deep a type nests: 0 for one without inner fields.
func levels(t record.Type) int {
	n := 0
	for _, f := range t.Fields {
		n = max(n, 1+levels(f.Type))
	}
	return n
}

// reference is a named type that was defined before.
func (a *avroSchema) reference(name string, at avroPlace) record.Type {
	n, ok := a.named[fullName(name, at.namespace)]
	switch {
	case !ok:
		return a.fault(at, "there is no type %s, and none of that name is defined before", excerpt([]byte(name)))
	case n.open:
		return a.fault(at, "%s holds itself, and a table's schema cannot", excerpt([]byte(name)))
	case at.depth+n.tall > typeDepthMax:
		return a.fault(at, "nested deeper than %d", typeDepthMax)
	}
	if a.fields += n.size; a.fields > avroFieldsMax {
		return a.fault(at, "the schema has more than %d fields", avroFieldsMax)
	}
	return n.typ
}

// record reads the fields of a record.
func (a *avroSchema) record(o map[string]any, at avroPlace) record.Type {
	t := record.Type{Kind: record.KindStruct}
	members, _ := o["fields"].([]any)
	if len(members) == 0 {
		return a.fault(at, "a record without fields")
	}
	names := map[string]bool{}
	for i, m := range members {
		member, _ := m.(map[string]any)
		name, _ := member["name"].(string)
		if name == "" {
			a.fault(at, "field %d of the record has no name", i+1)
			continue
		}
		inside := at.inside(name)
		if names[name] {
			a.fault(inside, "there are two fields of this name")
		}
		names[name] = true
		f := a.field(member["type"], inside)
		f.Name = name
		f.Doc, _ = member["doc"].(string)
		t.Fields = append(t.Fields, f)
	}
	return t
}
