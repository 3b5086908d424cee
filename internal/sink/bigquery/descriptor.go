package bigquery

import (
	"encoding/base64"
	"fmt"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Names of the messages in a descriptor. No column can have a name that begins as those of structs do: BigQuery keeps
// it for itself.
const (
	rowName    = "Row"
	structName = "__ROOT__%d"
)

// descriptor is the proto2 message that the columns are encoded as, with the messages of structs nested in it. Its
// fields have the columns' names and are numbered in order from 1.
func descriptor(columns []column) *descriptorpb.DescriptorProto {
	root := &descriptorpb.DescriptorProto{Name: proto.String(rowName)}
	fill(root, root, columns)
	return root
}

// fill adds the fields of columns to message, and the messages that they need to root.
func fill(root, message *descriptorpb.DescriptorProto, columns []column) {
	for i := range columns {
		c := &columns[i]
		f := &descriptorpb.FieldDescriptorProto{
			Number: proto.Int32(c.number),
			Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
		value := c
		switch {
		case c.op == opList || c.op == opPacked:
			value = &c.children[0]
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		case c.op == opMap:
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		case c.required:
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED.Enum()
		}
		f.Type = protoType(value.op, c.table.GetType()).Enum()
		if c.op == opPacked {
			f.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(true)}
		}
		if value.op == opStruct || value.op == opMap {
			inner := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf(structName, len(root.NestedType)+1))}
			root.NestedType = append(root.NestedType, inner)
			f.TypeName = inner.Name
			fill(root, inner, value.children)
		}
		setName(f, c.name)
		message.Field = append(message.Field, f)
	}
}

// protoType is the type of a field with values of an op.
func protoType(o op, table storagepb.TableFieldSchema_Type) descriptorpb.FieldDescriptorProto_Type {
	switch o {
	case opBoolean:
		return descriptorpb.FieldDescriptorProto_TYPE_BOOL
	case opDate:
		return descriptorpb.FieldDescriptorProto_TYPE_INT32
	case opFloat, opDouble:
		return descriptorpb.FieldDescriptorProto_TYPE_DOUBLE
	case opInt, opLong, opTime, opDatetime, opTimestamp:
		return descriptorpb.FieldDescriptorProto_TYPE_INT64
	case opStruct, opMap:
		return descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	case opDecimal, opNumberText, opFixed:
		return descriptorpb.FieldDescriptorProto_TYPE_BYTES
	default:
		if table == storagepb.TableFieldSchema_BYTES {
			return descriptorpb.FieldDescriptorProto_TYPE_BYTES
		}
		return descriptorpb.FieldDescriptorProto_TYPE_STRING
	}
}

// setName gives a field its column's name, or where that is no identifier a name made of it and an annotation with the
// column's, as Google's client does (managedwriter/adapt).
func setName(f *descriptorpb.FieldDescriptorProto, name string) {
	f.Name = proto.String(name)
	if protoreflect.Name(name).IsValid() {
		return
	}
	encoded := strings.NewReplacer("+", "_p", "/", "_s", "=", "").Replace(base64.StdEncoding.EncodeToString([]byte(name)))
	f.Name = proto.String("col_" + encoded)
	if f.Options == nil {
		f.Options = &descriptorpb.FieldOptions{}
	}
	proto.SetExtension(f.Options, storagepb.E_ColumnName, name)
}
