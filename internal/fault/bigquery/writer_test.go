package bigquery

import (
	"fmt"
	"strings"
	"testing"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// tryBind binds a descriptor to columns of name and type.
func tryBind(t *testing.T, d *descriptorpb.DescriptorProto, columns ...*column) (*message, *misfit) {
	t.Helper()
	data, err := proto.Marshal(&storagepb.ProtoSchema{ProtoDescriptor: d})
	if err != nil {
		t.Fatal(err)
	}
	return bind(data, columns)
}

func columnOf(name string, k kind) *column {
	return &column{name: name, kind: k, mode: storagepb.TableFieldSchema_NULLABLE}
}

func TestWritersThatDoNotFit(t *testing.T) {
	a := columnOf("a", storagepb.TableFieldSchema_INT64)
	many := columnOf("a", storagepb.TableFieldSchema_INT64)
	many.mode = storagepb.TableFieldSchema_REPEATED
	record := columnOf("a", storagepb.TableFieldSchema_STRUCT)
	record.fields = []*column{columnOf("b", storagepb.TableFieldSchema_INT64)}
	nested := descriptor(typed{name: "a", typ: messageType, of: "Inner"})
	nested.NestedType = []*descriptorpb.DescriptorProto{descriptor(typed{name: "x", typ: int64Type})}
	nested.NestedType[0].Name = proto.String("Inner")
	for _, c := range []struct {
		name  string
		d     *descriptorpb.DescriptorProto
		col   *column
		extra bool
		text  string
	}{
		{"type", descriptor(typed{name: "a", typ: stringType}), a, false,
			"the proto field type string, BigQuery field type INTEGER"},
		{"unsigned", descriptor(typed{name: "a", typ: descriptorpb.FieldDescriptorProto_TYPE_UINT64}), a, false, "uint64"},
		{"group", descriptor(typed{name: "a", typ: descriptorpb.FieldDescriptorProto_TYPE_GROUP}), a, false, "group"},
		{"repeated field", descriptor(typed{name: "a", typ: int64Type, label: repeated}), a, false, "label"},
		{"repeated column", descriptor(typed{name: "a", typ: int64Type}), many, false, "label"},
		{"extra", descriptor(typed{name: "a", typ: int64Type}, typed{name: "b", typ: int64Type}), a, true, "Row.b"},
		{"extra within", nested, record, true, "Row.Inner.x"},
		{"twice", descriptor(typed{name: "a", typ: int64Type}, typed{name: "A", typ: int64Type}), a, false, "named A"},
		{"no such type", descriptor(typed{name: "a", typ: messageType, of: "Other"}), record, false, "Other"},
		{"number 0", &descriptorpb.DescriptorProto{Field: []*descriptorpb.FieldDescriptorProto{
			{Name: proto.String("a"), Type: int64Type.Enum()},
		}}, a, false, "no field number"},
		{"none", nil, a, false, "proto_descriptor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, wrong := tryBind(t, c.d, c.col)
			if wrong == nil || wrong.extra != c.extra || !strings.Contains(wrong.text, c.text) {
				t.Errorf("got %+v, want %q", wrong, c.text)
			}
		})
	}
}

func TestRecursiveWriterIsRefused(t *testing.T) {
	loop := columnOf("a", storagepb.TableFieldSchema_STRUCT)
	loop.fields = []*column{loop}
	_, wrong := tryBind(t, descriptor(typed{name: "a", typ: messageType, of: "Row"}), loop)
	if wrong == nil || !strings.Contains(wrong.text, "deep") {
		t.Errorf("got %+v", wrong)
	}
}

// TestTypeNames has a type named in each way that a descriptor may.
func TestTypeNames(t *testing.T) {
	record := columnOf("a", storagepb.TableFieldSchema_STRUCT)
	record.fields = []*column{columnOf("b", storagepb.TableFieldSchema_INT64)}
	for _, name := range []string{"Inner", "Row.Inner", ".Row.Inner", ".package.Row.Inner"} {
		d := descriptor(typed{name: "a", typ: messageType, of: name})
		d.NestedType = []*descriptorpb.DescriptorProto{descriptor(typed{name: "b", typ: int64Type})}
		d.NestedType[0].Name = proto.String("Inner")
		m, wrong := tryBind(t, d, record)
		if wrong != nil {
			t.Errorf("%s: %s", name, wrong.text)
			continue
		}
		var w walker
		data := []byte{1<<3 | 2, 2, 1 << 3, 7}
		if !w.row(m, data) {
			t.Errorf("%s: %s", name, w.reason)
		}
	}
}

func TestManyRequiredFieldsAndLargeNumbers(t *testing.T) {
	var fields []typed
	var columns []*column
	var row []byte
	for i := range 130 {
		name, number := fmt.Sprintf("c%d", i), int32(i*100+1)
		fields = append(fields, typed{name: name, number: number, typ: int64Type})
		c := columnOf(name, storagepb.TableFieldSchema_INT64)
		c.mode = storagepb.TableFieldSchema_REQUIRED
		columns = append(columns, c)
		row = protowire.AppendVarint(protowire.AppendTag(row, protowire.Number(number), protowire.VarintType), 1)
	}
	m, wrong := tryBind(t, descriptor(fields...), columns...)
	if wrong != nil {
		t.Fatal(wrong.text)
	}
	var w walker
	if !w.row(m, row) {
		t.Error(w.reason)
	}
	if w.row(m, row[2:]) || !strings.Contains(w.reason, "c0") {
		t.Errorf("a row without the first one: %q", w.reason)
	}
}

func TestEnumsAndColumnNames(t *testing.T) {
	d := descriptor(typed{name: "level", typ: enumType, of: "Level"}, typed{name: "n", typ: enumType, of: "Level"},
		typed{name: "col_x", typ: stringType})
	d.EnumType = []*descriptorpb.EnumDescriptorProto{{Name: proto.String("Level"),
		Value: []*descriptorpb.EnumValueDescriptorProto{{Name: proto.String("LOW"), Number: proto.Int32(1)}}}}
	d.Field[2].Options = &descriptorpb.FieldOptions{}
	proto.SetExtension(d.Field[2].Options, storagepb.E_ColumnName, "a-b")
	columns := []*column{columnOf("level", storagepb.TableFieldSchema_STRING),
		columnOf("n", storagepb.TableFieldSchema_INT64), columnOf("a-b", storagepb.TableFieldSchema_STRING)}
	m, wrong := tryBind(t, d, columns...)
	if wrong != nil {
		t.Fatal(wrong.text)
	}
	var w walker
	row := []byte{1 << 3, 1, 2 << 3, 1, 3<<3 | 2, 1, 'x'}
	if !w.row(m, row) {
		t.Fatal(w.reason)
	}
	dec := decoder{columns: columns, fill: func(*field) bool { return false }}
	want := Row{"level": "LOW", "n": int64(1), "a-b": "x"}
	if diff := cmp.Diff(want, dec.row(m, row).row); diff != "" {
		t.Error(diff)
	}
	if w.row(m, []byte{1 << 3, 2}) {
		t.Error("an enum value without a name is taken for text")
	}
}

func TestRange(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", `{"fields":[{"name":"r","type":"RANGE","rangeElementType":{"type":"DATE"}}]}`, "")
	message, normal := adapted(t, bigquery.Schema{{Name: "r", Type: bigquery.RangeFieldType,
		RangeElementType: &bigquery.RangeElementType{Type: bigquery.DateFieldType}}})
	rows := encoded(t, message, `{"r":{"start":0}}`)
	accepted(t, d.open().append(appendRequest(table+"/streams/_default", -1, normal, rows...)), -1)
	if diff := cmp.Diff([]Row{{"r": Row{"start": "1970-01-01", "end": nil}}}, d.Rows(table)); diff != "" {
		t.Error(diff)
	}
	got := d.must("GET", table+"/data", "")["rows"]
	want := []any{map[string]any{"f": []any{map[string]any{"v": "[1970-01-01, UNBOUNDED)"}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNearestType has types whose names end alike: always the same one is taken.
func TestNearestType(t *testing.T) {
	known := map[string]int{"A": 1, "A.A": 2, "A.B": 3, "A.B.B": 4}
	for name, want := range map[string]string{
		".A": "A", ".p.A": "A", ".A.A": "A.A", ".p.A.A": "A.A", ".A.B": "A.B", ".B": "A.B", ".B.B": "A.B.B", ".C": "",
	} {
		if full, _, ok := resolve(known, "A", name); full != want || ok != (want != "") {
			t.Errorf("%s: got %q, want %q", name, full, want)
		}
	}
}
