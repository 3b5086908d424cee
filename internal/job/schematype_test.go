package job

import (
	"strings"
	"testing"
)

func TestCheckType(t *testing.T) {
	for _, text := range []string{
		"boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz", "timestamp_ns",
		"timestamptz_ns", "uuid", "binary", "string", "LONG", " long ", "decimal(38,38)", "decimal ( 9 , 2 )", "fixed[16]",
		"list<string>", "list<required int>", "map<string, list<struct<a: int, b: required double>>>",
		"struct<\u00fcber: int,list: string>", "struct<required: int>",
		strings.Repeat("list<", typeDepthMax-1) + "int" + strings.Repeat(">", typeDepthMax-1),
	} {
		if err := checkType(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "varchar", "required int", "decimal", "decimal(0,0)", "decimal(9)", "decimal(9,10)", "decimal(+9,2)", "fixed",
		"fixed(16)", "fixed[2147483648]", "list", "list<>", "list<int", "list<int>>", "map<int>", "map<int,int,int>",
		"struct<>", "struct<a>", "struct<a int>", "struct<a b: int>", "struct<a: int, >", "struct<a: int; b: int>",
		strings.Repeat("list<", typeDepthMax) + "int" + strings.Repeat(">", typeDepthMax),
		strings.Repeat("list<", 1000),
	} {
		if err := checkType(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
