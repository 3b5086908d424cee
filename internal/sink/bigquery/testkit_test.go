package bigquery

import (
	"testing"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// columnOf is a nullable column.
func columnOf(name string, t storagepb.TableFieldSchema_Type) *storagepb.TableFieldSchema {
	return &storagepb.TableFieldSchema{Name: name, Type: t, Mode: storagepb.TableFieldSchema_NULLABLE}
}

func repeated(c *storagepb.TableFieldSchema) *storagepb.TableFieldSchema {
	c.Mode = storagepb.TableFieldSchema_REPEATED
	return c
}

func must(c *storagepb.TableFieldSchema) *storagepb.TableFieldSchema {
	c.Mode = storagepb.TableFieldSchema_REQUIRED
	return c
}

func sized(c *storagepb.TableFieldSchema, precision, scale, length int64) *storagepb.TableFieldSchema {
	c.Precision, c.Scale, c.MaxLength = precision, scale, length
	return c
}

func structColumn(name string, fields ...*storagepb.TableFieldSchema) *storagepb.TableFieldSchema {
	c := columnOf(name, storagepb.TableFieldSchema_STRUCT)
	c.Fields = fields
	return c
}

func tableWith(columns ...*storagepb.TableFieldSchema) *storagepb.TableSchema {
	return &storagepb.TableSchema{Fields: columns}
}

// everyType has a column of every type that can be written.
func everyType() []*storagepb.TableFieldSchema {
	return []*storagepb.TableFieldSchema{
		columnOf("string", storagepb.TableFieldSchema_STRING),
		sized(columnOf("short", storagepb.TableFieldSchema_STRING), 0, 0, 5),
		columnOf("bytes", storagepb.TableFieldSchema_BYTES),
		sized(columnOf("few", storagepb.TableFieldSchema_BYTES), 0, 0, 3),
		columnOf("int64", storagepb.TableFieldSchema_INT64),
		columnOf("float64", storagepb.TableFieldSchema_DOUBLE),
		columnOf("bool", storagepb.TableFieldSchema_BOOL),
		columnOf("numeric", storagepb.TableFieldSchema_NUMERIC),
		sized(columnOf("money", storagepb.TableFieldSchema_NUMERIC), 9, 2, 0),
		columnOf("big", storagepb.TableFieldSchema_BIGNUMERIC),
		sized(columnOf("precise", storagepb.TableFieldSchema_BIGNUMERIC), 38, 30, 0),
		columnOf("date", storagepb.TableFieldSchema_DATE),
		columnOf("time", storagepb.TableFieldSchema_TIME),
		columnOf("datetime", storagepb.TableFieldSchema_DATETIME),
		columnOf("timestamp", storagepb.TableFieldSchema_TIMESTAMP),
		columnOf("json", storagepb.TableFieldSchema_JSON),
		columnOf("geography", storagepb.TableFieldSchema_GEOGRAPHY),
	}
}

// everyTable has every type plain, in an array, in a struct, and in a struct in an array of structs.
func everyTable() *storagepb.TableSchema {
	lists := everyType()
	for i, c := range lists {
		lists[i] = repeated(c)
		c.Name += "s"
	}
	inner := structColumn("inner", append(everyType(), lists...)...)
	columns := append(everyType(), lists...)
	return tableWith(append(columns, inner, repeated(structColumn("structs", append(everyType(), inner)...)))...)
}

func recordSchemaOf(tb testing.TB, table *storagepb.TableSchema) *record.Schema {
	tb.Helper()
	s, err := RecordSchema(table)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func encoderOf(tb testing.TB, rows *record.Schema, table *storagepb.TableSchema) *Encoder {
	tb.Helper()
	e, err := NewEncoder(rows, table, DefaultLimits())
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// messageOf makes a descriptor usable, as a server does that knows nothing but it.
func messageOf(tb testing.TB, d *descriptorpb.DescriptorProto) protoreflect.MessageDescriptor {
	tb.Helper()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("rows.proto"), Syntax: proto.String("proto2"), MessageType: []*descriptorpb.DescriptorProto{d},
	}, nil)
	if err != nil {
		tb.Fatalf("the descriptor is not valid: %v", err)
	}
	return file.Messages().Get(0)
}

// messagesOf reads the rows of a request by their descriptor.
func messagesOf(tb testing.TB, rows []byte, d protoreflect.MessageDescriptor) []*dynamicpb.Message {
	tb.Helper()
	parsed := &storagepb.ProtoRows{}
	if err := proto.Unmarshal(rows, parsed); err != nil {
		tb.Fatalf("the rows are no ProtoRows: %v", err)
	}
	var messages []*dynamicpb.Message
	for i, row := range parsed.GetSerializedRows() {
		m := dynamicpb.NewMessage(d)
		if err := proto.Unmarshal(row, m); err != nil {
			tb.Fatalf("row %d: %v", i, err)
		}
		if unknown := m.GetUnknown(); len(unknown) > 0 {
			tb.Fatalf("row %d has %d bytes of unknown fields", i, len(unknown))
		}
		messages = append(messages, m)
	}
	return messages
}
