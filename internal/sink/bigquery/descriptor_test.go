package bigquery

import (
	"strings"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Names that are no identifiers become what Google's client makes of them, with the column's in an annotation.
func TestNamesThatAreNoIdentifiers(t *testing.T) {
	names := []string{"plain", "größe", "a-b", "9", "with space", "日本", "_x"}
	var columns []*storagepb.TableFieldSchema
	for _, name := range names {
		columns = append(columns, columnOf(name, storagepb.TableFieldSchema_STRING))
	}
	table := tableWith(columns...)
	theirs, err := adapt.StorageSchemaToProto2Descriptor(table, "Row")
	if err != nil {
		t.Fatal(err)
	}
	want := protodesc.ToDescriptorProto(theirs.ParentFile().Messages().Get(0)).GetField()
	got := encoderOf(t, recordSchemaOf(t, table), table).Descriptor().GetField()
	for i, name := range names {
		if got[i].GetName() != want[i].GetName() {
			t.Errorf("%s is %s, and Google's %s", name, got[i].GetName(), want[i].GetName())
		}
		annotated := proto.GetExtension(got[i].GetOptions(), storagepb.E_ColumnName).(string)
		if plain := got[i].GetName() == name; plain != (annotated == "") || !plain && annotated != name {
			t.Errorf("%s is annotated as %q", name, annotated)
		}
	}
}

// Types, labels and the nesting of messages are those of Google's client, but for packed numbers.
func TestDescriptors(t *testing.T) {
	text := storagepb.TableFieldSchema_STRING
	table := tableWith(append(everyType(), must(columnOf("sure", text)),
		structColumn("s", structColumn("t", repeated(columnOf("n", storagepb.TableFieldSchema_DATE)))),
		repeated(structColumn("u", must(columnOf("a", text)))))...)
	d := encoderOf(t, recordSchemaOf(t, table), table).Descriptor()
	types := map[string]string{}
	var walk func(path string, m *descriptorpb.DescriptorProto)
	walk = func(path string, m *descriptorpb.DescriptorProto) {
		for _, f := range m.GetField() {
			show := strings.TrimPrefix(f.GetLabel().String(), "LABEL_") + strings.TrimPrefix(f.GetType().String(), "TYPE")
			if f.GetOptions().GetPacked() {
				show += "_PACKED"
			}
			types[path+f.GetName()] = strings.ToLower(show)
			for _, inner := range d.GetNestedType() {
				if f.TypeName != nil && inner.GetName() == f.GetTypeName() {
					walk(path+f.GetName()+".", inner)
				}
			}
		}
	}
	walk("", d)
	for path, want := range map[string]string{
		"string": "optional_string", "bytes": "optional_bytes", "int64": "optional_int64", "float64": "optional_double",
		"bool": "optional_bool", "numeric": "optional_bytes", "big": "optional_bytes", "date": "optional_int32",
		"time": "optional_int64", "datetime": "optional_int64", "timestamp": "optional_int64", "json": "optional_string",
		"geography": "optional_string", "sure": "required_string", "s": "optional_message", "s.t": "optional_message",
		"s.t.n": "repeated_int32_packed", "u": "repeated_message", "u.a": "required_string",
	} {
		if types[path] != want {
			t.Errorf("%s is %s, want %s", path, types[path], want)
		}
	}
}
