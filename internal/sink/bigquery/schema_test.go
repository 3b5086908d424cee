package bigquery

import (
	"strings"
	"testing"

	"firn/internal/decode"
	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// typesOf shows the fields of a schema, a line each.
func typesOf(s *record.Schema) string {
	var lines []string
	for _, f := range s.Fields {
		line := f.Name + " " + f.Type.String()
		if f.Type.JSON {
			line += " of JSON"
		}
		if f.Required {
			line += " required"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestRecordSchemas(t *testing.T) {
	inner := structColumn("in", must(columnOf("a", storagepb.TableFieldSchema_INT64)),
		repeated(structColumn("b", columnOf("c", storagepb.TableFieldSchema_BOOL))))
	columns := append(everyType(), inner, must(columnOf("sure", storagepb.TableFieldSchema_STRING)),
		repeated(sized(columnOf("list", storagepb.TableFieldSchema_NUMERIC), 5, 0, 0)),
		&storagepb.TableFieldSchema{Name: "six", Type: storagepb.TableFieldSchema_TIMESTAMP,
			TimestampPrecision: wrapperspb.Int64(6)})
	got := recordSchemaOf(t, tableWith(columns...))
	want := `string string
short string
bytes binary
few binary
int64 long
float64 double
bool boolean
numeric decimal(38, 9)
money decimal(9, 2)
big string of JSON
precise decimal(38, 30)
date date
time time
datetime timestamp
timestamp timestamptz
json string of JSON
geography string
in struct<a: long, b: list<struct<c: boolean>>>
sure string required
list list<decimal(5, 0)>
six timestamptz`
	if diff := cmp.Diff(want, typesOf(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in, _ := got.Find("in")
	if b := in.Type.Fields[1]; !in.Type.Fields[0].Required || !b.Type.Fields[0].Required {
		t.Errorf("modes inside a struct are not kept: %+v", in)
	}
	seen := map[int]bool{}
	eachField(got.Fields, func(f *record.Field) {
		if seen[f.ID] || f.ID == 0 {
			t.Errorf("field %s has id %d", f.Name, f.ID)
		}
		seen[f.ID] = true
	})
	if _, err := decode.NewJSON(got, decode.DefaultJSONOptions()); err != nil {
		t.Errorf("messages cannot be decoded by it: %v", err)
	}
}

func eachField(fields []record.Field, visit func(*record.Field)) {
	for i := range fields {
		visit(&fields[i])
		eachField(fields[i].Type.Fields, visit)
	}
}

// All that is not supported is told at once, by the column's path.
func TestColumnsThatAreNotSupported(t *testing.T) {
	fine := columnOf("pico", storagepb.TableFieldSchema_TIMESTAMP)
	fine.TimestampPrecision = wrapperspb.Int64(12)
	_, err := RecordSchema(tableWith(columnOf("i", storagepb.TableFieldSchema_INTERVAL),
		structColumn("s", repeated(columnOf("r", storagepb.TableFieldSchema_RANGE)), columnOf("u", 0)), fine))
	for _, want := range []string{
		"column i: type INTERVAL is not supported", "column s.r: type RANGE", "column s.u: type TYPE_UNSPECIFIED",
		"column pico: TIMESTAMP(12) is not supported",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

func TestSchemasWithChanges(t *testing.T) {
	plain := recordSchemaOf(t, tableWith(columnOf("a", storagepb.TableFieldSchema_STRING)))
	plain.Fields = append(make([]record.Field, 0, 8), plain.Fields...)
	with := WithChanges(plain)
	want := "a string\n_CHANGE_TYPE string required\n_CHANGE_SEQUENCE_NUMBER string"
	if got := typesOf(with); got != want {
		t.Errorf("got\n%s", got)
	}
	WithChanges(plain).Fields[1].Name = "other"
	if len(plain.Fields) != 1 || with.Fields[1].Name != ChangeType {
		t.Error("it shares fields with another schema")
	}
}

func TestTypesByTheirNamesInSQL(t *testing.T) {
	for want, c := range map[string]*storagepb.TableFieldSchema{
		"FLOAT64":            columnOf("", storagepb.TableFieldSchema_DOUBLE),
		"NUMERIC":            columnOf("", storagepb.TableFieldSchema_NUMERIC),
		"BIGNUMERIC(40, 38)": sized(columnOf("", storagepb.TableFieldSchema_BIGNUMERIC), 40, 38, 0),
		"STRING(5)":          sized(columnOf("", storagepb.TableFieldSchema_STRING), 0, 0, 5),
		"BYTES":              columnOf("", storagepb.TableFieldSchema_BYTES),
		"STRUCT":             structColumn(""),
	} {
		if got := typeName(c); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
