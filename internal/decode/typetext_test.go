package decode

import (
	"reflect"
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
)

func TestParseType(t *testing.T) {
	for _, c := range []struct {
		in   string
		want record.Type
	}{
		{"long", record.Type{Kind: record.KindLong}},
		{" Long ", record.Type{Kind: record.KindLong}},
		{"timestamptz_ns", record.Type{Kind: record.KindTimestampTZNs}},
		{"decimal(9,2)", decimalOf("", 9, 2).Type},
		{"decimal( 38 , 0 )", decimalOf("", 38, 0).Type},
		{"fixed[16]", fixedOf("", 16).Type},
		{"list<string>", listOf("", of("", record.KindString)).Type},
		{"list<required string>", listOf("", required(of("", record.KindString))).Type},
		{"map<string, long>", mapOf("", of("", record.KindString), of("", record.KindLong)).Type},
		{"map<string,required list<int>>", mapOf("", of("", record.KindString), required(listOf("", of("",
			record.KindInt)))).Type},
		{"struct<a: int, b: required string>", structOf("", of("a", record.KindInt), required(of("b",
			record.KindString))).Type},
		{"struct<required:int,Größe\n: struct<x.y:uuid>>",
			structOf("", of("required", record.KindInt), structOf("Größe", of("x.y", record.KindUUID))).Type},
		{strings.Repeat("list<", 99) + "int" + strings.Repeat(">", 99), deepList(99)},
	} {
		got, err := ParseType(c.in)
		if err != nil {
			t.Errorf("%.50s: %v", c.in, err)
		}
		// cmp.Diff takes time exponential in the depth.
		if !reflect.DeepEqual(c.want, got) {
			t.Errorf("%.50s: got %s, want %s", c.in, showFields(got.Fields), showFields(c.want.Fields))
		}
	}
}

func deepList(depth int) record.Type {
	t := record.Type{Kind: record.KindInt}
	for range depth {
		t = record.Type{Kind: record.KindList, Fields: []record.Field{{Name: "element", Type: t}}}
	}
	return t
}

func TestParseTypeFaults(t *testing.T) {
	for _, c := range [][2]string{
		{"", `"": at byte 0: expected a type, found the end of the text`},
		{"lnog", `"lnog": at byte 0: there is no type "lnog"`},
		{"invalid", `"invalid": at byte 0: there is no type "invalid"`},
		{"long long", `"long long": at byte 5: text after the type`},
		{"required long", `"required long": at byte 0: required stands before a type inside of <> only`},
		{"decimal", `"decimal": at byte 7: expected (, found the end of the text`},
		{"decimal(39,2)", `"decimal(39,2)": at byte 8: expected a number from 1 to 38`},
		{"decimal(4,5)", `"decimal(4,5)": at byte 10: expected a number from 0 to 4`},
		{"decimal(+4,2)", `"decimal(+4,2)": at byte 8: expected a number from 1 to 38`},
		{"decimal(9;2)", `"decimal(9;2)": at byte 8: expected a number from 1 to 38`},
		{"fixed[0]", `"fixed[0]": at byte 6: expected a number from 1 to 2147483647`},
		{"fixed[9999999999999999999999]",
			`"fixed[9999999999999999999999]": at byte 6: expected a number from 1 to 2147483647`},
		{"fixed(16)", `"fixed(16)": at byte 5: expected [, found '('`},
		{"list<int", `"list<int": at byte 8: expected >, found the end of the text`},
		{"list<>", `"list<>": at byte 5: expected a type, found '>'`},
		{"list<int, int>", `"list<int, int>": at byte 8: expected >, found ','`},
		{"map<int>", `"map<int>": at byte 7: expected ,, found '>'`},
		{"struct<>", `"struct<>": at byte 7: expected the name of a field, found '>'`},
		{"struct<a int>", `"struct<a int>": at byte 9: expected :, found 'i'`},
		{"struct<a:>", `"struct<a:>": at byte 9: expected a type, found '>'`},
		{"struct<a: int, a: long>", `"struct<a: int, a: long>": at byte 15: there are two fields "a"`},
		{"struct<a: int,>", `"struct<a: int,>": at byte 14: expected the name of a field, found '>'`},
		{"long\xff", `the text is not valid UTF-8`},
		{strings.Repeat("list<", 1_000_000),
			`"list<list<list<list<list<list<list<list<"...: at byte 500: nested deeper than 100`},
	} {
		_, err := ParseType(c[0])
		if err == nil {
			t.Errorf("%.50s: no error", c[0])
			continue
		}
		if diff := cmp.Diff(c[1], strings.TrimPrefix(strings.TrimPrefix(err.Error(), "reading type "),
			"reading type: ")); diff != "" {
			t.Errorf("%.50s: %s", c[0], diff)
		}
	}
}

// FuzzParseType shows that a type that is read is written and read back as the same, required apart, and that JSON
// can fill it unless a map has nested keys.
func FuzzParseType(f *testing.F) {
	for _, s := range []string{"long", "decimal(9,2)", "fixed[16]", "list<string>", "map<string, required long>",
		"struct<a: int, b: required struct<c: list<uuid>>>", "map<list<int>,int>", "struct<a:int,a:int>", "list<<",
		"decimal(,)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typ, err := ParseType(text)
		if err != nil {
			return
		}
		again, err := ParseType(typ.String())
		if err != nil || again.String() != typ.String() {
			t.Fatalf("%q is written %q and read %q: %v", text, typ, again, err)
		}
		s := AssignIDs([]record.Field{{Name: "c", Type: typ}})
		_, err = NewJSON(s, JSONOptions{DepthMax: typeDepthMax + 1})
		if err != nil && !strings.Contains(err.Error(), "a JSON key cannot hold") {
			t.Fatalf("%q cannot be decoded: %v", text, err)
		}
	})
}
