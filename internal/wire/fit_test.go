package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

func long(id int, name string) record.Field {
	return record.Field{ID: id, Name: name, Type: record.Type{Kind: record.KindLong}}
}

func structOf(id int, name string, fields ...record.Field) record.Field {
	return record.Field{ID: id, Name: name, Type: record.Type{Kind: record.KindStruct, Fields: fields}}
}

func TestFit(t *testing.T) {
	table := &record.Schema{ID: 3, Fields: []record.Field{
		long(5, "a"), long(6, "b"), structOf(7, "s", long(8, "x"), long(9, "y")),
	}}
	needed := long(1, "a")
	needed.Required = true
	required := &record.Schema{Fields: []record.Field{needed}}
	decimal := func(precision int) *record.Schema {
		t := record.Type{Kind: record.KindDecimal, Precision: precision, Scale: 2}
		return &record.Schema{Fields: []record.Field{{Name: "a", Type: t}}}
	}
	f := func(name string, declared, table *record.Schema, want []record.Field, faults ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			got, err := fit(declared, table)
			if len(faults) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got.Fields); d != "" {
					t.Error(d)
				}
				return
			}
			if err == nil {
				t.Fatal("it fits")
			}
			if d := cmp.Diff(faults, strings.Split(err.Error(), "\n")); d != "" {
				t.Error(d)
			}
		})
	}
	f("the table's own", table, table, table.Fields)
	f("other order and other ids",
		&record.Schema{Fields: []record.Field{structOf(1, "s", long(2, "y")), long(3, "a")}}, table,
		[]record.Field{long(5, "a"), structOf(7, "s", long(9, "y"))})
	f("three faults at once", &record.Schema{Fields: []record.Field{
		{Name: "a", Type: record.Type{Kind: record.KindString}}, structOf(0, "s", long(0, "z")), long(0, "new"),
	}}, table, nil,
		"the schema says string for a and the table has long",
		"the schema's field s.z (long) is not in the table",
		"the schema's field new (long) is not in the table")
	f("required column left out", &record.Schema{}, required, nil,
		"the table's column a is required and the schema does not have it")
	f("wider decimal", decimal(9), decimal(10), nil,
		"the schema says decimal(9, 2) for a and the table has decimal(10, 2)")
}
