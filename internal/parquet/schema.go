package parquet

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// node is a field of the schema with its place in Parquet's levels (Dremel: how deep a value is defined, and at which
// list it repeats).
type node struct {
	field    *record.Field
	path     string // dotted, for messages
	optional bool
	def      uint8  // definition level of a value that is not null
	rep      uint8  // repetition level of a further element; lists and maps
	children []node // of a struct; element; key and value
	leaf     int    // index of the leaf; -1 for groups
}

// layout is a compiled schema. It is immutable, and may be shared.
type layout struct {
	schemaID int
	nodes    []node
	elements []format.SchemaElement // the footer's, depth first
	leaves   []leafType
}

// rootName is the name that Iceberg's writers give to the schema's root.
const rootName = "table"

// levelMax is the deepest nesting: levels are kept in a byte.
const levelMax = 255

// place is where a field stands while the schema is compiled.
type place struct {
	path     []string // in Parquet, with the groups that lists and maps add
	dotted   string
	def, rep int
	repeated bool // inside a list or map
}

type compiler struct {
	layout
	ids map[int]string
}

// newLayout compiles a schema by the specification's type mapping, or says what Parquet cannot hold.
func newLayout(s *record.Schema) (*layout, error) {
	if s == nil || len(s.Fields) == 0 {
		return nil, errors.New("a parquet file needs at least one column")
	}
	c := compiler{ids: map[int]string{}}
	c.schemaID = s.ID
	c.elements = append(c.elements, format.SchemaElement{Name: rootName, NumChildren: thrift.New(int32(len(s.Fields)))})
	nodes, err := c.fieldNodes(s.Fields, place{})
	if err != nil {
		return nil, err
	}
	c.nodes = nodes
	l := c.layout
	return &l, nil
}

// ColumnNames are the names of the columns of values by field id, dotted as Iceberg has them: a.b, list.element,
// map.key.
func ColumnNames(s *record.Schema) (map[int]string, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, err
	}
	names := make(map[int]string, len(l.leaves))
	for i := range l.leaves {
		names[l.leaves[i].id] = l.leaves[i].dotted
	}
	return names, nil
}

func (c *compiler) fieldNodes(fields []record.Field, at place) ([]node, error) {
	nodes := make([]node, len(fields))
	for i := range fields {
		f := &fields[i]
		if slices.ContainsFunc(fields[:i], func(o record.Field) bool { return o.Name == f.Name }) {
			return nil, fmt.Errorf("column %s is there twice", join(at.dotted, f.Name))
		}
		var err error
		if nodes[i], err = c.node(f, f.Name, f.Required, at); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// node compiles one field. name and required are the caller's, because lists and maps prescribe them.
func (c *compiler) node(f *record.Field, name string, required bool, at place) (node, error) {
	at.path = append(slices.Clip(at.path), name)
	at.dotted = join(at.dotted, name)
	if f.ID <= 0 || f.ID > math.MaxInt32 {
		return node{}, fmt.Errorf("column %s: field id %d is not between 1 and %d", at.dotted, f.ID, math.MaxInt32)
	}
	if other, taken := c.ids[f.ID]; taken {
		return node{}, fmt.Errorf("columns %s and %s have the same field id %d", other, at.dotted, f.ID)
	}
	c.ids[f.ID] = at.dotted
	if !required {
		at.def++
	}
	if at.def >= levelMax {
		return node{}, fmt.Errorf("column %s is nested deeper than %d levels", at.dotted, levelMax)
	}
	n := node{field: f, path: at.dotted, optional: !required, def: uint8(at.def), leaf: -1}
	element := format.SchemaElement{Name: name, FieldID: int32(f.ID), RepetitionType: thrift.New(repetition(required))}
	var err error
	switch f.Type.Kind {
	case record.KindStruct:
		err = c.structNode(&n, element, at)
	case record.KindList:
		err = c.listNode(&n, element, at)
	case record.KindMap:
		err = c.mapNode(&n, element, at)
	default:
		err = c.leafNode(&n, element, at)
	}
	return n, err
}

func repetition(required bool) format.FieldRepetitionType {
	if required {
		return format.Required
	}
	return format.Optional
}

func (c *compiler) structNode(n *node, e format.SchemaElement, at place) error {
	fields := n.field.Type.Fields
	if len(fields) == 0 {
		return fmt.Errorf("column %s: a struct without fields has no form in parquet", at.dotted)
	}
	e.NumChildren = thrift.New(int32(len(fields)))
	c.elements = append(c.elements, e)
	var err error
	n.children, err = c.fieldNodes(fields, at)
	return err
}

// listNode writes the three levels of the standard: the list, its repeated group "list", and "element".
func (c *compiler) listNode(n *node, e format.SchemaElement, at place) error {
	if len(n.field.Type.Fields) != 1 {
		return fmt.Errorf("column %s: a list has one element type, not %d", at.dotted, len(n.field.Type.Fields))
	}
	e.NumChildren = thrift.New(int32(1))
	e.LogicalType = format.LogicalType{Value: &format.ListType{}}
	e.ConvertedType = thrift.New(deprecated.List)
	at = c.repeated(n, e, at, "list", 1)
	element := &n.field.Type.Fields[0]
	child, err := c.node(element, "element", element.Required, at)
	n.children = []node{child}
	return err
}

// mapNode writes the map, its repeated group "key_value", and in it "key" and "value". A key is never null.
func (c *compiler) mapNode(n *node, e format.SchemaElement, at place) error {
	if len(n.field.Type.Fields) != 2 {
		return fmt.Errorf("column %s: a map has a key and a value type, not %d", at.dotted, len(n.field.Type.Fields))
	}
	e.NumChildren = thrift.New(int32(1))
	e.LogicalType = format.LogicalType{Value: &format.MapType{}}
	e.ConvertedType = thrift.New(deprecated.Map)
	at = c.repeated(n, e, at, "key_value", 2)
	key, err := c.node(&n.field.Type.Fields[0], "key", true, at)
	if err != nil {
		return err
	}
	value := &n.field.Type.Fields[1]
	child, err := c.node(value, "value", value.Required, at)
	n.children = []node{key, child}
	return err
}

// repeated adds the group of a list or map and its repeated group, and returns the place inside both.
func (c *compiler) repeated(n *node, e format.SchemaElement, at place, name string, children int32) place {
	c.elements = append(c.elements, e, format.SchemaElement{
		Name: name, RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New(children),
	})
	at.path = append(slices.Clip(at.path), name)
	at.def++
	at.rep++
	at.repeated = true
	n.rep = uint8(at.rep)
	return at
}

func (c *compiler) leafNode(n *node, e format.SchemaElement, at place) error {
	t, err := newLeafType(n.field.Type)
	if err != nil {
		return fmt.Errorf("column %s: %w", at.dotted, err)
	}
	e.Type = thrift.New(t.physical)
	if t.physical == format.FixedLenByteArray {
		e.TypeLength = thrift.New(int32(t.width))
	}
	annotate(&e, n.field.Type)
	c.elements = append(c.elements, e)
	t.id, t.path, t.dotted = n.field.ID, at.path, at.dotted
	t.def, t.rep, t.repeated = uint8(at.def), uint8(at.rep), at.repeated
	n.leaf = len(c.leaves)
	c.leaves = append(c.leaves, t)
	return nil
}
