package wire

import (
	"errors"
	"strings"
	"testing"

	"firn/internal/decode"
	"firn/internal/job"
)

// typeTexts are types as users write them, well or badly.
var typeTexts = []string{
	"long", " long ", "LONG", "Long\t", "int", "boolean", "float", "double", "date", "time", "timestamp", "timestamptz",
	"timestamp_ns", "timestamptz_ns", "uuid", "binary", "string", "fixed[16]", "fixed [ 16 ]", "decimal(9,2)",
	"decimal ( 38 , 38 )", "decimal(1, 0)", "list<int>", "list < required int >", "map<string, long>",
	"map<required string, required list<int>>", "struct<a: int, b: string>", "struct<a: required int>",
	"struct<a:struct<b:struct<c:map<string,list<decimal(9,2)>>>>>", "list<list<list<int>>>",
	"struct<required: int>", "struct<required: required int>", "struct<int: int, long: long>", "struct<a-b: int>",
	strings.Repeat("list<", 99) + "int" + strings.Repeat(">", 99),

	"", " ", "text", "integer", "bigint", "long long", "long,", "long>", "required long", "required", "decimal",
	"decimal()", "decimal(9)", "decimal(9,)", "decimal(9,2", "decimal(9,2))", "decimal(0,0)", "decimal(39,0)",
	"decimal(9,10)", "decimal(9,-1)", "decimal(+9,2)", "decimal(9,2.0)", "decimal(09,02)", "decimal(9;2)", "fixed",
	"fixed[]", "fixed[0]", "fixed[-1]", "fixed[1e3]", "fixed[2147483647]", "fixed[2147483648]",
	"fixed[99999999999999999999]", "fixed(16)", "list", "list<>", "list<int", "list<int>>", "list<int,int>",
	"list<required>", "list<required required int>", "map<int>", "map<string,>", "map<,int>", "map<string,int,int>",
	"struct", "struct<>", "struct<a>", "struct<a:>", "struct<:int>", "struct<a int>", "struct<a: int,>",
	"struct<a: int b: int>", "struct<a: int, a: int>", "struct<a b: int>", "struct<a: int>x", "struct<A: int, a: int>",
	"\u00e9", "long\u00a0", "li\x00st<int>", "\xff", "struct<\xff: int>", "struct<\u00e9: int>", "LIST<INT>",
	strings.Repeat("list<", 100) + "int" + strings.Repeat(">", 100),
	strings.Repeat("list<", 101) + "int" + strings.Repeat(">", 101),
	strings.Repeat("struct<a:", 5000),
}

// jobAccepts tells whether the check of a job file takes a type. Other faults of the job do not count.
func jobAccepts(text string) bool {
	j := job.Default()
	j.Decode.Schema.Fields = []job.SchemaField{{Name: "c", Type: text}}
	if faults, ok := errors.AsType[job.Faults](j.Validate()); ok {
		for _, f := range faults {
			if strings.HasPrefix(f.Path, "decode.schema.fields") {
				return false
			}
		}
	}
	return true
}

func mustAgree(t *testing.T, text string) {
	t.Helper()
	_, err := decode.ParseType(text)
	if accepted := jobAccepts(text); accepted != (err == nil) {
		t.Errorf("type %.100q: the check of the job file accepts it: %t; the decoder says %v", text, accepted, err)
	}
}

// A job file is checked without the decoder, so that faults are told with their lines. Both must take the same types:
// else a job would pass its check and fail at its start, or be refused for no reason.
func TestTypesOfAJobFileAreThoseOfTheDecoder(t *testing.T) {
	accepted := 0
	for _, text := range typeTexts {
		mustAgree(t, text)
		if jobAccepts(text) {
			accepted++
		}
	}
	if accepted < 30 || accepted > len(typeTexts)-30 {
		t.Errorf("%d of %d are accepted, which compares little", accepted, len(typeTexts))
	}
}

func FuzzTypesOfAJobFileAreThoseOfTheDecoder(f *testing.F) {
	for _, text := range typeTexts {
		f.Add(text)
	}
	f.Fuzz(mustAgree)
}
