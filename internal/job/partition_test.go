package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePartitionField(t *testing.T) {
	for text, want := range map[string]PartitionField{
		"id":                        {"id", "identity", 0},
		" a.b ":                     {"a.b", "identity", 0},
		"identity(id)":              {"id", "identity", 0},
		"bucket(id, 16)":            {"id", "bucket", 16},
		" bucket ( id , 16 ) ":      {"id", "bucket", 16},
		"truncate(name,2147483647)": {"name", "truncate", 1<<31 - 1},
		"year(ts)":                  {"ts", "year", 0},
		"month(ts)":                 {"ts", "month", 0},
		"day(ts)":                   {"ts", "day", 0},
		"hour(ts)":                  {"ts", "hour", 0},
		"void(my column)":           {"my column", "void", 0},
	} {
		got, err := ParsePartitionField(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	for _, text := range []string{"", " ", "bucket(16, id)", "bucket(id,)", "bucket(id, -1)", "bucket(id, 2147483648)",
		"day(a, b, c)", "day(day(ts))", "day ts)", "a,b", "Day(ts)", "void()"} {
		if got, err := ParsePartitionField(text); err == nil {
			t.Errorf("%q was taken as %+v", text, got)
		}
	}
}
