package bigquery

import (
	"testing"
	"unicode/utf8"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"
)

// walkSchema has no type whose values have a range.
var walkSchema = bigquery.Schema{
	{Name: "id", Type: bigquery.IntegerFieldType, Required: true},
	{Name: "ids", Type: bigquery.IntegerFieldType, Repeated: true},
	{Name: "name", Type: bigquery.StringFieldType},
	{Name: "raw", Type: bigquery.BytesFieldType, Repeated: true},
	{Name: "x", Type: bigquery.FloatFieldType},
	{Name: "ok", Type: bigquery.BooleanFieldType, Repeated: true},
	{Name: "one", Type: bigquery.RecordFieldType, Schema: bigquery.Schema{
		{Name: "a", Type: bigquery.StringFieldType, Required: true}, {Name: "b", Type: bigquery.IntegerFieldType},
	}},
	{Name: "many", Type: bigquery.RecordFieldType, Repeated: true, Schema: bigquery.Schema{
		{Name: "c", Type: bigquery.FloatFieldType, Repeated: true},
		{Name: "d", Type: bigquery.RecordFieldType, Schema: bigquery.Schema{{Name: "e", Type: bigquery.StringFieldType}}},
	}},
}

// columnsOf makes columns of what the write API shows of a table.
func columnsOf(fields []*storagepb.TableFieldSchema) (columns []*column) {
	for _, f := range fields {
		columns = append(columns, &column{
			name: f.GetName(), kind: f.GetType(), mode: f.GetMode(), fields: columnsOf(f.GetFields()),
			expression: f.GetDefaultValueExpression(),
		})
	}
	return columns
}

func bound(t testing.TB, schema bigquery.Schema) (protoreflect.MessageDescriptor, *message, []*column) {
	t.Helper()
	d, normal := adapted(t, schema)
	table, err := adapt.BQSchemaToStorageTableSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(&storagepb.ProtoSchema{ProtoDescriptor: normal})
	if err != nil {
		t.Fatal(err)
	}
	columns := columnsOf(table.GetFields())
	m, wrong := bind(data, columns)
	if wrong != nil {
		t.Fatal(wrong.text)
	}
	return d, m, columns
}

// drawMessage draws a message with some of its fields; without gaps it has all that are required.
func drawMessage(t *rapid.T, d protoreflect.MessageDescriptor, gaps bool) *dynamicpb.Message {
	m := dynamicpb.NewMessage(d)
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		n := 1
		if f.IsList() {
			n = rapid.IntRange(0, 3).Draw(t, "count")
		} else if (f.Cardinality() != protoreflect.Required || gaps) && rapid.Bool().Draw(t, "missing") {
			continue
		}
		for range n {
			v := drawValue(t, f, gaps)
			if f.IsList() {
				m.Mutable(f).List().Append(v)
			} else {
				m.Set(f, v)
			}
		}
	}
	return m
}

func drawValue(t *rapid.T, f protoreflect.FieldDescriptor, gaps bool) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(rapid.Int64().Draw(t, "int"))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.String().Draw(t, "string"))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.Float64().Draw(t, "double"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	default:
		return protoreflect.ValueOfMessage(drawMessage(t, f.Message(), gaps))
	}
}

// rowOf is what a message says, by the library's reading.
func rowOf(m protoreflect.Message, columns []*column) Row {
	row := empty(columns)
	for _, c := range columns {
		f := m.Descriptor().Fields().ByName(protoreflect.Name(c.name))
		switch {
		case c.repeated():
			list := []any{}
			for i := range m.Get(f).List().Len() {
				list = append(list, valueOf(m.Get(f).List().Get(i), c))
			}
			row[c.name] = list
		case m.Has(f):
			row[c.name] = valueOf(m.Get(f), c)
		}
	}
	return row
}

func valueOf(v protoreflect.Value, c *column) any {
	if c.kind == storagepb.TableFieldSchema_STRUCT {
		return rowOf(v.Message(), c.fields)
	}
	if b, ok := v.Interface().([]byte); ok {
		return append([]byte{}, b...)
	}
	return v.Interface()
}

// clean tells whether a message has no field of an unknown number or another wire type, nothing that is missing, and no
// text that is none.
func clean(m protoreflect.Message) bool {
	ok := len(m.GetUnknown()) == 0 && proto.CheckInitialized(m.Interface()) == nil
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		one := func(v protoreflect.Value) {
			switch f.Kind() {
			case protoreflect.MessageKind:
				ok = ok && clean(v.Message())
			case protoreflect.StringKind:
				ok = ok && utf8.ValidString(v.String())
			}
		}
		if !f.IsList() {
			one(v)
			return true
		}
		for i := range v.List().Len() {
			one(v.List().Get(i))
		}
		return true
	})
	return ok
}

// repeats tells whether a field that is no list comes twice in a message. The walker checks both, and the library keeps
// the second or, of a message, joins them before anything is checked here.
func repeats(d protoreflect.MessageDescriptor, data []byte) bool {
	seen := make(map[protowire.Number]bool)
	for len(data) > 0 {
		number, wire, n := protowire.ConsumeField(data)
		if n < 0 {
			return false
		}
		_, _, tagBytes := protowire.ConsumeTag(data)
		value := data[tagBytes:n]
		data = data[n:]
		f := d.Fields().ByNumber(number)
		if f == nil {
			continue
		}
		if seen[number] && !f.IsList() {
			return true
		}
		seen[number] = true
		if f.Kind() == protoreflect.MessageKind && wire == protowire.BytesType {
			if inner, _ := protowire.ConsumeBytes(value); repeats(f.Message(), inner) {
				return true
			}
		}
	}
	return false
}

// agree holds the walker and the decoder against the library's reading of the same bytes.
func agree(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, d protoreflect.MessageDescriptor, m *message, columns []*column, data []byte) {
	t.Helper()
	var w walker
	good := w.row(m, data)
	read := dynamicpb.NewMessage(d)
	want := proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(data, read) == nil && clean(read)
	if good && !want {
		t.Fatalf("the walker takes %x, which is no row", data)
	}
	if !good && want && !repeats(d, data) {
		t.Fatalf("the walker refuses %x: %s", data, w.reason)
	}
	if !good {
		return
	}
	dec := decoder{columns: columns, fill: func(*field) bool { return false }}
	if diff := cmp.Diff(rowOf(read, columns), dec.row(m, data).row, cmp.Comparer(sameFloat)); diff != "" {
		t.Fatalf("row of %x:\n%s", data, diff)
	}
}

// sameFloat has a NaN be as another.
func sameFloat(a, b float64) bool { return a == b || a != a && b != b }

func TestWalkerAgreesWithTheLibrary(t *testing.T) {
	d, m, columns := bound(t, walkSchema)
	rapid.Check(t, func(t *rapid.T) {
		gaps := rapid.Bool().Draw(t, "gaps")
		data, err := proto.MarshalOptions{AllowPartial: true}.Marshal(drawMessage(t, d, gaps))
		if err != nil {
			t.Fatalf("encoding: %v", err)
		}
		agree(t, d, m, columns, data)
		if len(data) > 0 { // and with a byte changed, or cut short
			at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
			data[at] = rapid.Byte().Draw(t, "byte")
			agree(t, d, m, columns, data)
			agree(t, d, m, columns, data[:at])
		}
	})
}

func FuzzWalker(f *testing.F) {
	f.Add([]byte{8, 1})
	f.Add([]byte{8, 1, 58, 2, 10, 0})
	f.Add([]byte{8, 1, 66, 6, 10, 0, 18, 2, 10, 0})
	d, m, columns := bound(f, walkSchema)
	f.Fuzz(func(t *testing.T, data []byte) {
		agree(t, d, m, columns, data)
	})
}
