package bigquery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

type protoType = descriptorpb.FieldDescriptorProto_Type

const stringType = descriptorpb.FieldDescriptorProto_TYPE_STRING

// Names of the pseudo-columns of change data capture.
const (
	changeTypeName     = "_CHANGE_TYPE"
	changeSequenceName = "_CHANGE_SEQUENCE_NUMBER"
)

// message is a writer's message bound to a table's columns.
type message struct {
	fields   []*field
	dense    []*field // by number, as far as numbers are small
	sparse   map[protowire.Number]*field
	needed   int       // how many fields have a place in need
	absent   []*column // that the writer does not know
	change   bool      // has _CHANGE_TYPE
	sequence bool      // has _CHANGE_SEQUENCE_NUMBER
}

// field is one of a writer's fields.
type field struct {
	name     string // the column's
	number   protowire.Number
	typ      protoType
	wire     protowire.Type
	repeated bool
	needed   bool // the writer's label or the column's mode says so
	labelled bool // the writer's label says so
	place    int  // among those needed
	col      *column
	inner    *message // of a STRUCT or RANGE
	enum     map[int32]string
}

func (m *message) field(number protowire.Number) *field {
	if int(number) < len(m.dense) {
		return m.dense[number]
	}
	return m.sparse[number]
}

// pseudo is columns that no table has. They are bound as if they were columns.
var pseudo = []*column{
	{name: changeTypeName, kind: storagepb.TableFieldSchema_STRING, mode: storagepb.TableFieldSchema_REQUIRED},
	{name: changeSequenceName, kind: storagepb.TableFieldSchema_STRING, mode: storagepb.TableFieldSchema_NULLABLE},
}

// misfit is why a writer's schema cannot be used for a table.
type misfit struct {
	extra bool // it has fields that the table does not
	text  string
}

func misfitf(format string, args ...any) *misfit {
	return &misfit{text: "Invalid proto schema: " + fmt.Sprintf(format, args...)}
}

// binder binds the messages of one descriptor.
type binder struct {
	types map[string]*descriptorpb.DescriptorProto // by full name
	enums map[string]*descriptorpb.EnumDescriptorProto
	depth int
}

const structDepthMax = 15 // BigQuery's own

// bind makes a message of a serialized ProtoSchema.
func bind(schema []byte, columns []*column) (*message, *misfit) {
	var s storagepb.ProtoSchema
	if err := proto.Unmarshal(schema, &s); err != nil {
		return nil, misfitf("it cannot be read: %v", err)
	}
	root := s.GetProtoDescriptor()
	if root == nil {
		return nil, misfitf("proto_descriptor is not set")
	}
	b := &binder{
		types: make(map[string]*descriptorpb.DescriptorProto), enums: make(map[string]*descriptorpb.EnumDescriptorProto),
	}
	b.collect(root.GetName(), root)
	m, wrong := b.message(root, root.GetName(), columns, true)
	if wrong != nil {
		return nil, wrong
	}
	return m, nil
}

func (b *binder) collect(path string, d *descriptorpb.DescriptorProto) {
	b.types[path] = d
	for _, e := range d.GetEnumType() {
		b.enums[path+"."+e.GetName()] = e
	}
	for _, nested := range d.GetNestedType() {
		b.collect(path+"."+nested.GetName(), nested)
	}
}

// resolve looks a type's name up as protoc does: in the scope that it is named in, then in those around it. A name that
// begins with a dot is a full one, of which the package is not known.
func resolve[T any](known map[string]T, scope, name string) (full string, found T, ok bool) {
	if whole, absolute := strings.CutPrefix(name, "."); absolute {
		return nearest(known, whole)
	}
	for {
		full = strings.TrimPrefix(scope+"."+name, ".")
		if found, ok = known[full]; ok {
			return full, found, true
		}
		if scope == "" {
			return "", found, false
		}
		scope = scope[:max(strings.LastIndexByte(scope, '.'), 0)]
	}
}

// nearest looks for the type whose name ends as another one does, with the fewest characters more or less: a type
// within one of the same name is not taken for it.
func nearest[T any](known map[string]T, whole string) (full string, found T, ok bool) {
	least := 0
	for _, name := range slices.Sorted(maps.Keys(known)) {
		apart := max(len(name)-len(whole), len(whole)-len(name))
		if !strings.HasSuffix("."+whole, "."+name) && !strings.HasSuffix("."+name, "."+whole) || ok && apart >= least {
			continue
		}
		full, found, ok, least = name, known[name], true, apart
	}
	return full, found, ok
}

func (b *binder) message(
	d *descriptorpb.DescriptorProto, path string, columns []*column, top bool,
) (*message, *misfit) {
	if b.depth++; b.depth > structDepthMax {
		return nil, misfitf("%s is nested more than %d deep", path, structDepthMax)
	}
	defer func() { b.depth-- }()
	m := &message{sparse: make(map[protowire.Number]*field)}
	bound := make(map[*column]bool)
	for _, fd := range d.GetField() {
		name := columnName(fd)
		c := find(columns, name)
		if c == nil && top {
			c = find(pseudo, name)
			m.change = m.change || c == pseudo[0]
			m.sequence = m.sequence || c == pseudo[1]
		}
		if c == nil {
			return nil, &misfit{extra: true, text: fmt.Sprintf("There is a schema mismatch and it is caused by user schema"+
				" has extra field than bigquery schema: %s.%s", path, name)}
		}
		if bound[c] {
			return nil, misfitf("%s: two fields are named %s", path, name)
		}
		bound[c] = true
		f, wrong := b.field(fd, path, c)
		if wrong != nil {
			return nil, wrong
		}
		if m.field(f.number) != nil {
			return nil, misfitf("%s: two fields have number %d", path, f.number)
		}
		m.add(f)
	}
	for _, c := range columns {
		if bound[c] {
			continue
		}
		if c.required() && c.expression == "" {
			return nil, misfitf("%s: The required field %s is missing in the proto message", path, c.name)
		}
		m.absent = append(m.absent, c)
	}
	return m, nil
}

// denseMax is the highest number that is looked up in a slice.
const denseMax = 1024

func (m *message) add(f *field) {
	if f.needed {
		f.place = m.needed
		m.needed++
	}
	m.fields = append(m.fields, f)
	if f.number > denseMax {
		m.sparse[f.number] = f
		return
	}
	for len(m.dense) <= int(f.number) {
		m.dense = append(m.dense, nil)
	}
	m.dense[f.number] = f
}

// columnName is the annotation's, where a column's name is no identifier.
func columnName(fd *descriptorpb.FieldDescriptorProto) string {
	if fd.GetOptions() != nil && proto.HasExtension(fd.GetOptions(), storagepb.E_ColumnName) {
		if name, ok := proto.GetExtension(fd.GetOptions(), storagepb.E_ColumnName).(string); ok {
			return name
		}
	}
	return fd.GetName()
}

func (b *binder) field(fd *descriptorpb.FieldDescriptorProto, path string, c *column) (*field, *misfit) {
	at := path + "." + fd.GetName()
	number := protowire.Number(fd.GetNumber())
	if !number.IsValid() {
		return nil, misfitf("%s: %d is no field number", at, fd.GetNumber())
	}
	f := &field{
		name: c.name, number: number, typ: fd.GetType(), col: c,
		repeated: fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED,
		labelled: fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REQUIRED,
	}
	f.needed = f.labelled || c.required()
	if f.repeated != c.repeated() {
		return nil, misfitf("The proto field label mismatched with BigQuery field at %s, the proto field label %s,"+
			" BigQuery field mode %s", at, fd.GetLabel(), c.mode)
	}
	if !fits(f.typ, c.kind) {
		return nil, misfitf("The proto field mismatched with BigQuery field at %s, the proto field type %s,"+
			" BigQuery field type %s", at, protoName(f.typ), kindName(c.kind))
	}
	f.wire = wireType(f.typ)
	return f, b.bindType(f, fd, path)
}

// bindType binds the type that a field names, if it does.
func (b *binder) bindType(f *field, fd *descriptorpb.FieldDescriptorProto, path string) *misfit {
	unknown := misfitf("%s.%s: type %s is not in the descriptor", path, fd.GetName(), fd.GetTypeName())
	if f.typ == descriptorpb.FieldDescriptorProto_TYPE_MESSAGE {
		full, inner, ok := resolve(b.types, path, fd.GetTypeName())
		if !ok {
			return unknown
		}
		var wrong *misfit
		f.inner, wrong = b.message(inner, full, f.col.fields, false)
		return wrong
	}
	if f.typ == descriptorpb.FieldDescriptorProto_TYPE_ENUM {
		_, enum, ok := resolve(b.enums, path, fd.GetTypeName())
		if !ok {
			return unknown
		}
		f.enum = make(map[int32]string)
		for _, v := range enum.GetValue() {
			f.enum[v.GetNumber()] = v.GetName()
		}
	}
	return nil
}

func protoName(t protoType) string {
	return strings.ToLower(strings.TrimPrefix(t.String(), "TYPE_"))
}

func wireType(t protoType) protowire.Type {
	switch t {
	case descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, descriptorpb.FieldDescriptorProto_TYPE_FIXED64,
		descriptorpb.FieldDescriptorProto_TYPE_SFIXED64:
		return protowire.Fixed64Type
	case descriptorpb.FieldDescriptorProto_TYPE_FLOAT, descriptorpb.FieldDescriptorProto_TYPE_FIXED32,
		descriptorpb.FieldDescriptorProto_TYPE_SFIXED32:
		return protowire.Fixed32Type
	case descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_BYTES,
		descriptorpb.FieldDescriptorProto_TYPE_MESSAGE:
		return protowire.BytesType
	default:
		return protowire.VarintType
	}
}

// shape is what kinds of values a writer's type has.
type shape int

const (
	shapeNone     shape = iota
	shapeBool           // bool
	shapeInteger        // all that fit an INT64
	shapeUnsigned       // uint64 and fixed64
	shapeFloat          // float, double
	shapeText
	shapeBytes
	shapeMessage
	shapeEnum
)

func shapeOf(t protoType) shape {
	switch t {
	case descriptorpb.FieldDescriptorProto_TYPE_BOOL:
		return shapeBool
	case descriptorpb.FieldDescriptorProto_TYPE_UINT64, descriptorpb.FieldDescriptorProto_TYPE_FIXED64:
		return shapeUnsigned
	case descriptorpb.FieldDescriptorProto_TYPE_FLOAT, descriptorpb.FieldDescriptorProto_TYPE_DOUBLE:
		return shapeFloat
	case descriptorpb.FieldDescriptorProto_TYPE_STRING:
		return shapeText
	case descriptorpb.FieldDescriptorProto_TYPE_BYTES:
		return shapeBytes
	case descriptorpb.FieldDescriptorProto_TYPE_MESSAGE:
		return shapeMessage
	case descriptorpb.FieldDescriptorProto_TYPE_ENUM:
		return shapeEnum
	case descriptorpb.FieldDescriptorProto_TYPE_GROUP:
		return shapeNone
	default:
		return shapeInteger
	}
}

// shapes is which values become which type ("Supported protocol buffer and Arrow data types" in BigQuery's documents).
var shapes = map[kind][]shape{
	storagepb.TableFieldSchema_BOOL:       {shapeBool, shapeInteger, shapeUnsigned},
	storagepb.TableFieldSchema_BYTES:      {shapeBytes, shapeText},
	storagepb.TableFieldSchema_DATE:       {shapeInteger, shapeText},
	storagepb.TableFieldSchema_DATETIME:   {shapeInteger, shapeText},
	storagepb.TableFieldSchema_TIME:       {shapeInteger, shapeText},
	storagepb.TableFieldSchema_DOUBLE:     {shapeFloat},
	storagepb.TableFieldSchema_GEOGRAPHY:  {shapeText},
	storagepb.TableFieldSchema_INT64:      {shapeInteger, shapeEnum},
	storagepb.TableFieldSchema_INTERVAL:   {shapeText},
	storagepb.TableFieldSchema_JSON:       {shapeText},
	storagepb.TableFieldSchema_NUMERIC:    {shapeInteger, shapeUnsigned, shapeFloat, shapeText, shapeBytes},
	storagepb.TableFieldSchema_BIGNUMERIC: {shapeInteger, shapeUnsigned, shapeFloat, shapeText, shapeBytes},
	storagepb.TableFieldSchema_STRING:     {shapeText, shapeEnum},
	storagepb.TableFieldSchema_TIMESTAMP:  {shapeInteger, shapeText},
	storagepb.TableFieldSchema_STRUCT:     {shapeMessage},
	storagepb.TableFieldSchema_RANGE:      {shapeMessage},
}

func fits(t protoType, k kind) bool {
	return slices.Contains(shapes[k], shapeOf(t))
}
