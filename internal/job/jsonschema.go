package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// applySchema takes the schema of JSON records: a JSON Schema, which is what Beam reads for that format, or an Avro
// record, which is what the template's own help shows.
func applySchema(b *build, value string) {
	n := b.flow("schema", value)
	if n == nil {
		return
	}
	s := jsonSchema{n}
	if s.text("type") == "record" {
		avro, err := avroText(n, value)
		if err != nil {
			b.fault("schema", "is not an Avro schema: "+err.Error(), "write it as JSON")
			return
		}
		b.job.Decode.Schema.Avro = avro
		return
	}
	fields, err := s.fields(1)
	if err != nil {
		b.fault("schema", err.Error(), "write a JSON Schema of type object with properties, or an Avro record")
		return
	}
	b.job.Decode.Schema.Fields = fields
}

// avroText is the schema as JSON: as it was given, or converted from single quotes.
func avroText(n *yaml.Node, value string) (string, error) {
	if json.Valid([]byte(value)) {
		return value, nil
	}
	var tree map[string]any
	if err := n.Decode(&tree); err != nil {
		return "", errors.New("a key is not a text")
	}
	text, err := json.Marshal(tree)
	return string(text), err
}

// jsonSchema is one schema of a JSON Schema, kept in the order of its text: that is the order of new columns.
type jsonSchema struct{ n *yaml.Node }

// get is the value of a key, or nil.
func (s jsonSchema) get(name string) *yaml.Node {
	if s.n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(s.n.Content); i += 2 {
		if s.n.Content[i].Value == name {
			return s.n.Content[i+1]
		}
	}
	return nil
}

func (s jsonSchema) text(name string) string {
	if n := s.get(name); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// typeName is the schema's type without null, and whether null is allowed.
func (s jsonSchema) typeName() (name string, nullable bool, err error) {
	nullable = s.text("nullable") == "true"
	n := s.get("type")
	switch {
	case n == nil && s.get("properties") != nil:
		return "object", nullable, nil
	case n == nil:
		return "", false, errors.New("has no type")
	case n.Kind == yaml.ScalarNode:
		return n.Value, nullable, nil
	case n.Kind == yaml.SequenceNode && len(n.Content) == 2:
		for i, item := range n.Content {
			if item.Value == "null" {
				return n.Content[1-i].Value, true, nil
			}
		}
	}
	return "", false, errors.New("has a type that is not a single one")
}

// fields gives the columns of an object. As in Beam, required properties come first and in the order of the list, an
// integer is 64 bits, a number is a double, and a property that is not required may be null.
func (s jsonSchema) fields(depth int) ([]SchemaField, error) {
	if depth > typeDepthMax {
		return nil, errors.New("nests too deep")
	}
	if name, _, err := s.typeName(); err != nil || name != "object" {
		return nil, errors.New("is not a schema of an object")
	}
	properties := s.get("properties")
	if properties == nil || properties.Kind != yaml.MappingNode || len(properties.Content) == 0 {
		return nil, errors.New("has no properties")
	}
	names, required, err := s.order(properties)
	if err != nil {
		return nil, err
	}
	fields := make([]SchemaField, len(names))
	for i, name := range names {
		property := jsonSchema{jsonSchema{properties}.get(name)}
		typ, nullable, err := property.iceberg(depth)
		if err != nil {
			return nil, fmt.Errorf("property %q %w", name, err)
		}
		fields[i] = SchemaField{Name: name, Type: typ, Required: i < required && !nullable, Doc: property.text("description")}
	}
	return fields, nil
}

// order lists the names of the properties, the first n of them required.
func (s jsonSchema) order(properties *yaml.Node) (names []string, n int, err error) {
	var all []string
	for i := 0; i+1 < len(properties.Content); i += 2 {
		name := properties.Content[i].Value
		if name == "" || slices.Contains(all, name) {
			return nil, 0, fmt.Errorf("has a property %q that is empty or there twice", name)
		}
		all = append(all, name)
	}
	if list := s.get("required"); list != nil {
		for _, item := range list.Content {
			if !slices.Contains(all, item.Value) || slices.Contains(names, item.Value) {
				return nil, 0, fmt.Errorf("requires %q, which is not a property or there twice", item.Value)
			}
			names = append(names, item.Value)
		}
	}
	n = len(names)
	for _, name := range all {
		if !slices.Contains(names[:n], name) {
			names = append(names, name)
		}
	}
	return names, n, nil
}

func (s jsonSchema) iceberg(depth int) (typ string, nullable bool, err error) {
	name, nullable, err := s.typeName()
	if err != nil {
		return "", false, err
	}
	switch name {
	case "string":
		return "string", nullable, nil
	case "integer":
		return "long", nullable, nil
	case "number":
		return "double", nullable, nil
	case "boolean":
		return "boolean", nullable, nil
	case "array":
		typ, err = s.list(depth)
		return typ, nullable, err
	case "object":
		typ, err = s.structType(depth)
		return typ, nullable, err
	default:
		return "", false, fmt.Errorf("has type %q, which is not supported", name)
	}
}

func (s jsonSchema) list(depth int) (string, error) {
	items := s.get("items")
	if items == nil || items.Kind != yaml.MappingNode {
		return "", errors.New("is an array without one schema for its items")
	}
	if depth >= typeDepthMax {
		return "", errors.New("nests too deep")
	}
	typ, _, err := jsonSchema{items}.iceberg(depth + 1)
	if err != nil {
		return "", fmt.Errorf("has items that: %w", err)
	}
	return "list<" + typ + ">", nil
}

func (s jsonSchema) structType(depth int) (string, error) {
	fields, err := s.fields(depth + 1)
	if err != nil {
		return "", err
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		if strings.ContainsAny(f.Name, " \t\r\n:<>()[],") {
			return "", fmt.Errorf("has a property %q, which a struct cannot have", f.Name)
		}
		parts[i] = f.Name + ": " + f.Type
		if f.Required {
			parts[i] = f.Name + ": required " + f.Type
		}
	}
	return "struct<" + strings.Join(parts, ", ") + ">", nil
}
