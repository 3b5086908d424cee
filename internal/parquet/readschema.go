package parquet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// fileLeaf is a leaf column of a file that was read.
type fileLeaf struct {
	id    int // field id, 0 for none
	name  string
	shape shape
}

// fileNode is a field of a file's schema. Its levels are those of a value that is not null.
type fileNode struct {
	id         int // field id, 0 for none
	name       string
	repetition format.FieldRepetitionType
	def, rep   int
	children   []fileNode // of a group
	leaf       int        // index of the leaf; -1 for groups
}

// shape is what the bytes of a leaf's pages mean. Pages can go from one file to another where the shapes are equal.
type shape struct {
	physical format.Type
	width    int32      // of a fixed length
	levels   string     // from the root: o for optional, * for repeated; required adds no level
	logical  annotation // what the values stand for
}

func (s shape) String() string {
	text := s.physical.String()
	if s.physical == format.FixedLenByteArray {
		text = fmt.Sprintf("%s(%d)", text, s.width)
	}
	return fmt.Sprintf("%s of logical type %s at levels %q", text, s.logical, s.levels)
}

// annotation is a logical type, or the converted type that means the same.
type annotation struct {
	kind             int16 // the field of the union LogicalType; 0 is none
	precision, scale int32
	utc              bool
	unit             int16 // of the union TimeUnit
	bits             int8
	signed           bool
}

// The fields of the unions LogicalType and TimeUnit (parquet.thrift) that values of Iceberg have.
const (
	logicalString    = 1
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalEnum      = 4
	logicalJSON      = 12
	logicalBSON      = 13
	logicalUUID      = 14
	unitMillis       = 1
	unitMicros       = 2
	unitNanos        = 3
)

func (a annotation) String() string {
	names := map[int16]string{
		0: "none", logicalString: "STRING", logicalDecimal: "DECIMAL", logicalDate: "DATE", logicalTime: "TIME",
		logicalTimestamp: "TIMESTAMP", logicalInteger: "INTEGER", logicalEnum: "ENUM", logicalJSON: "JSON",
		logicalBSON: "BSON", logicalUUID: "UUID",
	}
	name, ok := names[a.kind]
	if !ok {
		return fmt.Sprint("number ", a.kind)
	}
	switch a.kind {
	case logicalDecimal:
		return fmt.Sprintf("%s(%d, %d)", name, a.precision, a.scale)
	case logicalTime, logicalTimestamp:
		return fmt.Sprintf("%s(unit %d, utc %v)", name, a.unit, a.utc)
	case logicalInteger:
		return fmt.Sprintf("%s(%d, signed %v)", name, a.bits, a.signed)
	}
	return name
}

// element is what matters of a SchemaElement.
type element struct {
	physical   format.Type // -1 for a group
	width      int32
	repetition format.FieldRepetitionType
	name       string
	children   int32
	converted  deprecated.ConvertedType // -1 for none
	scale      int32
	precision  int32
	id         int32
	logical    annotation
}

func (c *compact) element() element {
	e := element{physical: -1, converted: -1}
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 1:
			e.physical = format.Type(c.int32(typ))
		case 2:
			e.width = c.int32(typ)
		case 3:
			e.repetition = format.FieldRepetitionType(c.int32(typ))
		case 4:
			e.name = c.string(typ)
		case 5:
			e.children = c.int32(typ)
		case 6:
			e.converted = deprecated.ConvertedType(c.int32(typ))
		case 7:
			e.scale = c.int32(typ)
		case 8:
			e.precision = c.int32(typ)
		case 9:
			e.id = c.int32(typ)
		case 10:
			e.logical = c.annotation(typ)
		default:
			c.skip(typ)
		}
	}
	return e
}

// annotation reads a union LogicalType.
func (c *compact) annotation(typ byte) annotation {
	var a annotation
	if !c.want(typ, compactStruct) {
		return a
	}
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		a.kind = last
		switch last {
		case logicalDecimal, logicalTime, logicalTimestamp, logicalInteger:
			c.parameters(typ, &a)
		default:
			c.skip(typ)
		}
	}
	return a
}

// parameters reads the structure of a logical type that has some: two fields each.
func (c *compact) parameters(typ byte, a *annotation) {
	if !c.want(typ, compactStruct) {
		return
	}
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch {
		case a.kind == logicalDecimal && last == 1:
			a.scale = c.int32(typ)
		case a.kind == logicalDecimal && last == 2:
			a.precision = c.int32(typ)
		case a.kind == logicalInteger && last == 1:
			a.bits = c.int8(typ)
		case a.kind == logicalInteger && last == 2:
			a.signed = c.bool(typ)
		case a.kind != logicalDecimal && last == 1:
			a.utc = c.bool(typ)
		case a.kind != logicalDecimal && last == 2:
			a.unit = c.union(typ)
		default:
			c.skip(typ)
		}
	}
}

// union is the field of a union of empty structures.
func (c *compact) union(typ byte) int16 {
	if !c.want(typ, compactStruct) {
		return 0
	}
	last, set := int16(0), int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		set = last
		c.skip(typ)
	}
	return set
}

// meaning is the element's logical type in the form in which equal ones compare equal. A whole number of the physical
// type's own width is none, and whether a time of day is in UTC says nothing in Iceberg.
func (e *element) meaning() annotation {
	a := e.logical
	if a.kind == 0 {
		a = annotationOf(e.converted, e.precision, e.scale)
	}
	switch {
	case a.kind == logicalTime:
		a.utc = false
	case a == annotation{kind: logicalInteger, bits: 32, signed: true} && e.physical == format.Int32,
		a == annotation{kind: logicalInteger, bits: 64, signed: true} && e.physical == format.Int64:
		return annotation{}
	}
	return a
}

// annotationOf is what a converted type means (LogicalTypes.md).
func annotationOf(t deprecated.ConvertedType, precision, scale int32) annotation {
	switch t {
	case deprecated.UTF8:
		return annotation{kind: logicalString}
	case deprecated.Decimal:
		return annotation{kind: logicalDecimal, precision: precision, scale: scale}
	case deprecated.Date:
		return annotation{kind: logicalDate}
	case deprecated.TimeMillis:
		return annotation{kind: logicalTime, utc: true, unit: unitMillis}
	case deprecated.TimeMicros:
		return annotation{kind: logicalTime, utc: true, unit: unitMicros}
	case deprecated.TimestampMillis:
		return annotation{kind: logicalTimestamp, utc: true, unit: unitMillis}
	case deprecated.TimestampMicros:
		return annotation{kind: logicalTimestamp, utc: true, unit: unitMicros}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return annotation{kind: logicalInteger, bits: 8 << (t - deprecated.Uint8)}
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return annotation{kind: logicalInteger, bits: 8 << (t - deprecated.Int8), signed: true}
	case -1, deprecated.Map, deprecated.MapKeyValue, deprecated.List:
		return annotation{}
	default:
		return annotation{kind: -1 - int16(t)} // nothing that Iceberg has
	}
}

// schemaTree turns the depth-first elements into a tree.
type schemaTree struct {
	elements []element
	at       int
	leaves   []fileLeaf
}

// readTree is the fields of a schema, and its leaf columns in its order.
func readTree(elements []element) ([]fileNode, []fileLeaf, error) {
	if len(elements) == 0 {
		return nil, nil, errors.New("its schema is empty")
	}
	t := schemaTree{elements: elements, at: 1}
	nodes, err := t.group(&elements[0], "", 0)
	if err != nil {
		return nil, nil, err
	}
	if t.at != len(elements) {
		return nil, nil, fmt.Errorf("its schema has %d elements and %d of them are in the tree", len(elements), t.at)
	}
	return nodes, t.leaves, nil
}

func (t *schemaTree) group(g *element, levels string, depth int) ([]fileNode, error) {
	if depth > levelMax {
		return nil, fmt.Errorf("its schema is nested deeper than %d levels", levelMax)
	}
	var nodes []fileNode
	for range g.children {
		if t.at == len(t.elements) {
			return nil, fmt.Errorf("its schema's group %q has %d children, more than there are elements", g.name, g.children)
		}
		e := &t.elements[t.at]
		t.at++
		node, err := t.child(e, levels, depth+1)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func (t *schemaTree) child(e *element, levels string, depth int) (fileNode, error) {
	switch e.repetition {
	case format.Required:
	case format.Optional:
		levels += "o"
	case format.Repeated:
		levels += "*"
	default:
		return fileNode{}, fmt.Errorf("column %s has unknown repetition %d", e.name, e.repetition)
	}
	n := fileNode{id: int(e.id), name: e.name, repetition: e.repetition, leaf: -1}
	n.rep = strings.Count(levels, "*")
	n.def = len(levels)
	if e.physical < 0 {
		var err error
		n.children, err = t.group(e, levels, depth)
		return n, err
	}
	s := shape{physical: e.physical, levels: levels, logical: e.meaning()}
	if e.physical == format.FixedLenByteArray {
		s.width = e.width
	}
	n.leaf = len(t.leaves)
	t.leaves = append(t.leaves, fileLeaf{id: int(e.id), name: e.name, shape: s})
	return n, nil
}
