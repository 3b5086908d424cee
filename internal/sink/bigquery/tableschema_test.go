package bigquery

import (
	"strings"
	"testing"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
)

// fieldOf is a field that may be null.
func fieldOf(name string, t record.Type) record.Field { return record.Field{Name: name, Type: t} }

func listType(element record.Type) record.Type {
	return record.Type{Kind: record.KindList, Fields: []record.Field{{Name: "element", Required: true, Type: element}}}
}

func mapType(key, value record.Type) record.Type {
	return record.Type{Kind: record.KindMap, Fields: []record.Field{
		{Name: "key", Required: true, Type: key}, {Name: "value", Type: value}}}
}

// A table that is made of the schema of another one is the same, but for what a schema of records does not know.
func TestTableSchemasAreTheReverse(t *testing.T) {
	table := everyTable()
	made, err := TableSchema(recordSchemaOf(t, table))
	if err != nil {
		t.Fatal(err)
	}
	var forget func(columns []*storagepb.TableFieldSchema)
	forget = func(columns []*storagepb.TableFieldSchema) {
		for _, c := range columns {
			c.MaxLength = 0
			switch {
			case c.GetType() == storagepb.TableFieldSchema_GEOGRAPHY:
				c.Type = storagepb.TableFieldSchema_STRING
			case c.GetType() == storagepb.TableFieldSchema_BIGNUMERIC && c.GetPrecision() == 0:
				c.Type = storagepb.TableFieldSchema_JSON
			case c.GetType() == storagepb.TableFieldSchema_NUMERIC && c.GetPrecision() == 0:
				c.Precision, c.Scale = 38, 9
			}
			forget(c.GetFields())
		}
	}
	forget(table.GetFields())
	if diff := cmp.Diff(table, made, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTableSchemasOfOtherKinds(t *testing.T) {
	text := record.Type{Kind: record.KindString}
	s := &record.Schema{Fields: []record.Field{
		{Name: "int", Required: true, Doc: "a note", Type: record.Type{Kind: record.KindInt}},
		fieldOf("float", record.Type{Kind: record.KindFloat}),
		fieldOf("uuid", record.Type{Kind: record.KindUUID}),
		fieldOf("fixed", record.Type{Kind: record.KindFixed, Length: 3}),
		fieldOf("edge", record.Type{Kind: record.KindDecimal, Precision: 38, Scale: 9}),
		fieldOf("fine", record.Type{Kind: record.KindDecimal, Precision: 12, Scale: 10}),
		fieldOf("large", record.Type{Kind: record.KindDecimal, Precision: 38, Scale: 0}),
		fieldOf("fraction", record.Type{Kind: record.KindDecimal, Precision: 4, Scale: 4}),
		fieldOf("map", mapType(text, listType(record.Type{Kind: record.KindLong}))),
		fieldOf("any", record.Type{Kind: record.KindString, JSON: true}),
	}}
	got, err := TableSchema(s)
	if err != nil {
		t.Fatal(err)
	}
	number := must(columnOf("int", storagepb.TableFieldSchema_INT64))
	number.Description = "a note"
	want := tableWith(number, columnOf("float", storagepb.TableFieldSchema_DOUBLE),
		columnOf("uuid", storagepb.TableFieldSchema_STRING), columnOf("fixed", storagepb.TableFieldSchema_BYTES),
		sized(columnOf("edge", storagepb.TableFieldSchema_NUMERIC), 38, 9, 0),
		sized(columnOf("fine", storagepb.TableFieldSchema_BIGNUMERIC), 12, 10, 0),
		sized(columnOf("large", storagepb.TableFieldSchema_BIGNUMERIC), 38, 0, 0),
		sized(columnOf("fraction", storagepb.TableFieldSchema_NUMERIC), 5, 4, 0),
		repeated(structColumn("map", must(columnOf("key", storagepb.TableFieldSchema_STRING)),
			repeated(columnOf("value", storagepb.TableFieldSchema_INT64)))),
		columnOf("any", storagepb.TableFieldSchema_JSON))
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := NewEncoder(s, got, DefaultLimits()); err != nil {
		t.Errorf("rows do not fit the table that is made for them: %v", err)
	}
}

func TestFieldsThatNoTableHas(t *testing.T) {
	nanos, long := record.Type{Kind: record.KindTimestampNs}, record.Type{Kind: record.KindLong}
	_, err := TableSchema(&record.Schema{Fields: []record.Field{
		fieldOf("n", nanos), fieldOf("ll", listType(listType(long))), fieldOf("lm", listType(mapType(long, long))),
		fieldOf("s", record.Type{Kind: record.KindStruct, Fields: []record.Field{fieldOf("n", nanos)}}),
		fieldOf("e", record.Type{Kind: record.KindStruct}), fieldOf("l", listType(nanos)),
	}})
	for _, want := range []string{
		"field n: ", "field ll: ", "field lm: ", "field s.n: ", "field e: ", "field l.element: ",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}
