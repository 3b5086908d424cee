package decode

import (
	"fmt"
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
)

// avroRecord is a record r of the fields, each "name": type.
func avroRecord(fields ...string) string {
	for i, f := range fields {
		name, typ, _ := strings.Cut(f, ":")
		fields[i] = fmt.Sprintf(`{"name":%q,"type":%s}`, name, typ)
	}
	return `{"type":"record","name":"r","fields":[` + strings.Join(fields, ",") + `]}`
}

// showFields is the fields as name: type, with ! after a required one.
func showFields(fields []record.Field) string {
	s := make([]string, len(fields))
	for i, f := range fields {
		inner := f.Type.String()
		if len(f.Type.Fields) > 0 {
			inner = f.Type.Kind.String() + "<" + showFields(f.Type.Fields) + ">"
		}
		s[i] = f.Name + ": " + inner
		if f.Required {
			s[i] += "!"
		}
	}
	return strings.Join(s, ", ")
}

func TestSchemaFromAvroTypes(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"primitives", avroRecord(`a:"boolean"`, `b:"int"`, `c:"long"`, `d:"float"`, `e:"double"`, `f:"bytes"`, `g:"string"`),
			`a: boolean!, b: int!, c: long!, d: float!, e: double!, f: binary!, g: string!`},
		{"unions with null", avroRecord(`a:["null","long"]`, `b:["long","null"]`, `c:["long"]`),
			`a: long, b: long, c: long!`},
		{"primitive as object", avroRecord(`a:{"type":"long"}`, `b:["null",{"type":"string","avro.java.string":"String"}]`),
			`a: long!, b: string`},
		{"decimals", avroRecord(`a:{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`,
			`b:{"type":"fixed","name":"f","size":16,"logicalType":"decimal","precision":38}`),
			`a: decimal(9, 2)!, b: decimal(38, 0)!`},
		{"dates and times", avroRecord(`a:{"type":"int","logicalType":"date"}`,
			`b:{"type":"int","logicalType":"time-millis"}`,
			`c:{"type":"long","logicalType":"time-micros"}`), `a: date!, b: time!, c: time!`},
		{"timestamps", avroRecord(`a:{"type":"long","logicalType":"timestamp-millis"}`,
			`b:{"type":"long","logicalType":"timestamp-micros"}`,
			`c:{"type":"long","logicalType":"timestamp-nanos"}`), `a: timestamptz!, b: timestamptz!, c: timestamptz_ns!`},
		{"local timestamps", avroRecord(`a:{"type":"long","logicalType":"local-timestamp-millis"}`,
			`b:{"type":"long","logicalType":"local-timestamp-micros"}`,
			`c:{"type":"long","logicalType":"local-timestamp-nanos"}`,
			`d:{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false}`), // C63
			`a: timestamp!, b: timestamp!, c: timestamp_ns!, d: timestamp!`},
		{"uuids", avroRecord(`a:{"type":"string","logicalType":"uuid"}`,
			`b:{"type":"fixed","name":"f","size":16,"logicalType":"uuid"}`),
			`a: uuid!, b: uuid!`}, // C60
		{"unknown logical type", avroRecord(`a:{"type":"string","logicalType":"colour"}`), `a: string!`},
		{"fixed and enum", avroRecord(`a:{"type":"fixed","name":"f","size":3}`,
			`b:{"type":"enum","name":"e","symbols":["X"]}`),
			`a: fixed[3]!, b: string!`},
		{"containers", avroRecord(`a:{"type":"array","items":["null","int"]}`, `b:{"type":"map","values":"long"}`,
			`c:["null",{"type":"array","items":{"type":"map","values":["null","string"]}}]`),
			`a: list<element: int>!, b: map<key: string!, value: long!>!, c: list<element: map<key: string!, value: string>!>`},
		{"nested records", avroRecord(`a:{"type":"record","name":"s","fields":[{"name":"x","type":"int"}]}`),
			`a: struct<x: int!>!`},
		{"references", `{"type":"record","name":"r","namespace":"n.m","fields":[
			{"name":"a","type":{"type":"record","name":"s","fields":[
				{"name":"x","type":{"type":"fixed","name":"other.f","size":2}}]}},
			{"name":"b","type":["null","s"]}, {"name":"c","type":"n.m.s"},
			{"name":"d","type":"other.f"}, {"name":"e","type":{"type":"s"}}]}`,
			`a: struct<x: fixed[2]!>!, b: struct<x: fixed[2]!>, c: struct<x: fixed[2]!>!, d: fixed[2]!, ` +
				`e: struct<x: fixed[2]!>!`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := SchemaFromAvro([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, showFields(s.Fields)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchemaFromAvroIDsAndDocs(t *testing.T) {
	s, err := SchemaFromAvro([]byte(`{"type":"record","name":"r","fields":[
		{"name":"a","doc":"of an a","type":{"type":"record","name":"s","fields":[
			{"name":"x","type":{"type":"array","items":"int"}}]}},
		{"name":"b","type":"s"},{"name":"c","type":{"type":"map","values":"int"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "a:1!<x:4!<element:5!>> b:2!<x:6!<element:7!>> c:3!<key:8! value:9!>"
	if diff := cmp.Diff(want, showIDs(s.Fields)); diff != "" {
		t.Error(diff)
	}
	if s.Fields[0].Doc != "of an a" {
		t.Errorf("doc %q", s.Fields[0].Doc)
	}
}

func TestSchemaFromAvroFaults(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no JSON", `{"type":`, `unexpected end of JSON input`},
		{"text after", avroRecord(`a:"int"`) + "x", `invalid character 'x' after top-level value`},
		{"no record", `"string"`, `it must be a record: {"type": "record", ...}`},
		{"an array", `{"type":"array","items":"int"}`, `it must be a record: {"type": "record", ...}`},
		{"bad UTF-8", "{\"type\":\"\xff\"}", `the text is not valid UTF-8`},
		{"no name", `{"type":"record","fields":[]}`, `a record without a name`},
		{"no fields", `{"type":"record","name":"r","fields":[]}`, `a record without fields`},
		{"unnamed field", `{"type":"record","name":"r","fields":[{"type":"int"},7]}`,
			"field 1 of the record has no name\nfield 2 of the record has no name"},
		{"no type", `{"type":"record","name":"r","fields":[{"name":"a"}]}`,
			`field a: expected a type: a name, an object or a union`},
		{"two of a name", avroRecord(`a:"int"`, `a:"int"`), `field a: there are two fields of this name`},
		{"case", avroRecord(`a:{"Type":"int"}`), `field a: the property type must be a name`},
		{"type in type", avroRecord(`a:{"type":{"type":"int"}}`), `field a: the property type must be a name`},
		{"every fault", avroRecord(`a:["int","string"]`, `b:["null"]`, `c:"nope"`, `d:"null"`, `e:[["null","int"]]`),
			"field a: a union of 2 types: a column has one type, which may be in a union with null\n" +
				"field b: a union without a type other than null\n" +
				"field c: there is no type \"nope\", and none of that name is defined before\n" +
				"field d: there is no type \"null\", and none of that name is defined before\n" +
				"field e: a union inside of a union"},
		{"deep path",
			avroRecord(`a:{"type":"array","items":{"type":"map","values":` +
				`{"type":"record","name":"s","fields":[{"name":"x","type":"y"}]}}}`),
			`field a.element.value.x: there is no type "y", and none of that name is defined before`},
		{"recursion", avroRecord(`a:["null","r"]`), `field a: "r" holds itself, and a table's schema cannot`},
		{"inner recursion",
			avroRecord(`a:{"type":"record","name":"s","fields":[{"name":"x","type":{"type":"array","items":"s"}}]}`),
			`field a.x.element: "s" holds itself, and a table's schema cannot`},
		{"defined twice", avroRecord(`a:{"type":"fixed","name":"f","size":1}`, `b:{"type":"fixed","name":"f","size":1}`),
			`field b: the name "f" is defined twice`},
		{"used before", avroRecord(`a:"f"`, `b:{"type":"fixed","name":"f","size":1}`),
			`field a: there is no type "f", and none of that name is defined before`},
		{"size", avroRecord(`a:{"type":"fixed","name":"f","size":0.5}`),
			`field a: the size of a fixed must be a number from 1`},
		{"precision", avroRecord(`a:{"type":"bytes","logicalType":"decimal","precision":39}`),
			`field a: the precision of a decimal must be a number from 1 to 38`},
		{"scale", avroRecord(`a:{"type":"bytes","logicalType":"decimal","precision":3,"scale":4}`),
			`field a: the scale of a decimal must be a number from 0 to its precision`},
		{"decimal of long", avroRecord(`a:{"type":"long","logicalType":"decimal","precision":3}`),
			`field a: the logical type decimal does not annotate long`},
		{"decimal too wide", avroRecord(`a:{"type":"fixed","name":"f","size":2,"logicalType":"decimal","precision":5}`),
			`field a: fixed[2] does not hold 5 digits`},
		{"date of string", avroRecord(`a:{"type":"string","logicalType":"date"}`),
			`field a: the logical type date does not annotate string`},
		{"uuid of fixed 8", avroRecord(`a:{"type":"fixed","name":"f","size":8,"logicalType":"uuid"}`),
			`field a: the logical type uuid does not annotate fixed[8]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := SchemaFromAvro([]byte(c.in))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff("reading Avro schema: "+c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A few lines of references name 2^40 fields, and a text of brackets nests without end.
func TestSchemaFromAvroIsBounded(t *testing.T) {
	fields := []string{`t0:{"type":"record","name":"t0","fields":[{"name":"x","type":"int"}]}`}
	for i := range 40 {
		fields = append(fields, fmt.Sprintf(
			`t%[1]d:{"type":"record","name":"t%[1]d","fields":[{"name":"x","type":"t%[2]d"},{"name":"y","type":"t%[2]d"}]}`, i+1,
			i))
	}
	_, err := SchemaFromAvro([]byte(avroRecord(fields...)))
	if err == nil || !strings.Contains(err.Error(), "more than 10000 fields") {
		t.Errorf("doubling: %v", err)
	}
	in := strings.Repeat(`{"type":"array","items":`, 5000) + `"int"` + strings.Repeat("}", 5000)
	if _, err = SchemaFromAvro([]byte(avroRecord("a:" + in))); err == nil || !strings.Contains(err.Error(),
		"nested deeper than 100") {
		t.Errorf("brackets: %v", err)
	}
	fields = []string{`t0:{"type":"record","name":"t0","fields":[{"name":"x","type":"int"}]}`}
	for i := range 150 {
		fields = append(fields,
			fmt.Sprintf(`t%[1]d:{"type":"record","name":"t%[1]d","fields":[{"name":"x","type":"t%[2]d"}]}`, i+1, i))
	}
	if _, err = SchemaFromAvro([]byte(avroRecord(fields...))); err == nil || !strings.Contains(err.Error(),
		"nested deeper than 100") {
		t.Errorf("chain: %v", err)
	}
}

// FuzzSchemaFromAvro shows that a schema that is read can be decoded by, and has the ids 1 to n.
func FuzzSchemaFromAvro(f *testing.F) {
	f.Add(avroRecord(`a:["null","long"]`, `b:{"type":"array","items":{"type":"map","values":["null","string"]}}`))
	f.Add(avroRecord(`a:{"type":"record","name":"n.s","fields":[{"name":"x","type":"int"}]}`, `b:"n.s"`, `c:["null","r"]`))
	f.Add(avroRecord(`a:{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`,
		`a:{"type":"fixed","name":"f","size":16}`))
	f.Add(avroRecord(`a:{"type":"enum","name":"e","symbols":["X"]}`, `b:{"type":"long","logicalType":"timestamp-nanos"}`))
	f.Add(`{"type":"record","name":"r","fields":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := SchemaFromAvro([]byte(text))
		if err != nil {
			return
		}
		if _, err = NewJSON(s, JSONOptions{DepthMax: typeDepthMax + 1}); err != nil {
			t.Fatalf("cannot be decoded: %v", err)
		}
		ids := map[int]bool{}
		countIDs(s.Fields, ids)
		for i := 1; i <= len(ids); i++ {
			if !ids[i] {
				t.Fatalf("no field has id %d of %d", i, len(ids))
			}
		}
	})
}

func countIDs(fields []record.Field, ids map[int]bool) {
	for _, f := range fields {
		ids[f.ID] = true
		countIDs(f.Type.Fields, ids)
	}
}
