package table

import (
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	"github.com/google/go-cmp/cmp"
)

func typ(k record.Kind) record.Type { return record.Type{Kind: k} }

// allTypes is a schema with a field of each kind, and nested ones, numbered as a new table is.
func allTypes() *record.Schema {
	var fields []record.Field
	add := func(t record.Type) {
		name := strings.NewReplacer("<", "_", ">", "", "(", "_", ")", "", ", ", "_", "[", "_", "]", "", ":", "").
			Replace("f_" + t.String())
		fields = append(fields, record.Field{Name: name, Type: t, Required: len(fields)%2 == 0, Doc: "a " + t.String()})
	}
	for _, p := range primitives {
		add(typ(p.kind))
	}
	add(record.Type{Kind: record.KindDecimal, Precision: 9, Scale: 2})
	add(record.Type{Kind: record.KindDecimal, Precision: 38, Scale: 38})
	add(record.Type{Kind: record.KindFixed, Length: 7})
	list := record.Type{Kind: record.KindList, Fields: []record.Field{{Name: "element", Type: typ(record.KindString)}}}
	add(list)
	add(record.Type{Kind: record.KindMap, Fields: []record.Field{
		{Name: "key", Required: true, Type: typ(record.KindString)}, {Name: "value", Type: list},
	}})
	add(record.Type{Kind: record.KindStruct, Fields: []record.Field{
		{Name: "a", Required: true, Type: typ(record.KindLong)},
		{Name: "b", Type: record.Type{Kind: record.KindStruct, Fields: []record.Field{{Name: "c", Type: list}}}},
	}})
	return freshIDs(&record.Schema{Fields: fields})
}

func TestSchemaRoundTrip(t *testing.T) {
	want := allTypes()
	there, err := icebergSchema(want)
	if err != nil {
		t.Fatal(err)
	}
	back, err := recordSchema(there)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, back); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRecordSchemaUnsupported(t *testing.T) {
	deep := &iceberg.StructType{FieldList: []iceberg.NestedField{{ID: 2, Name: "b", Type: iceberg.VariantType{}}}}
	_, err := recordSchema(iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "a", Type: deep}))
	if err == nil || !strings.Contains(err.Error(), "a.b") || !strings.Contains(err.Error(), "variant") {
		t.Errorf("error %v, want one that names a.b and variant", err)
	}
	for _, unsupported := range []iceberg.Type{iceberg.UnknownType{}, iceberg.GeometryType{}, iceberg.GeographyType{}} {
		s := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "a", Type: unsupported})
		if _, err := recordSchema(s); err == nil {
			t.Errorf("type %s was taken", unsupported)
		}
	}
}

func TestIcebergSchemaFaults(t *testing.T) {
	one := func(f record.Type) []record.Field { return []record.Field{{ID: 1, Name: "a", Type: f}} }
	for name, c := range map[string]struct {
		fields []record.Field
		want   string
	}{
		"none":            {nil, "no fields"},
		"invalid":         {one(record.Type{}), "field a: type invalid"},
		"precision":       {one(record.Type{Kind: record.KindDecimal, Precision: 39}), "field a: decimal(39, 0)"},
		"scale":           {one(record.Type{Kind: record.KindDecimal, Precision: 3, Scale: 4}), "field a: decimal(3, 4)"},
		"length":          {one(record.Type{Kind: record.KindFixed}), "field a: fixed[0]"},
		"list of nothing": {one(record.Type{Kind: record.KindList}), "field a: a list"},
		"map of one":      {one(record.Type{Kind: record.KindMap, Fields: one(typ(record.KindInt))}), "same id 1"},
		"empty struct":    {one(record.Type{Kind: record.KindStruct}), "field a: a struct"},
		"no name":         {[]record.Field{{ID: 1, Type: typ(record.KindInt)}}, "no name"},
		"name twice": {
			append(one(typ(record.KindInt)), record.Field{ID: 2, Name: "a", Type: typ(record.KindInt)}), "a is there twice",
		},
		"id twice": {
			append(one(typ(record.KindInt)), record.Field{ID: 1, Name: "b", Type: typ(record.KindInt)}), "same id 1",
		},
		"deep": {
			one(record.Type{Kind: record.KindList, Fields: []record.Field{{ID: 2, Name: "element"}}}), "a.element",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := icebergSchema(&record.Schema{Fields: c.fields})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
