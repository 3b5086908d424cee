package bigquery

import "testing"

func TestTableNames(t *testing.T) {
	for in, want := range map[string]TableName{
		"p-1.d.t":            {"p-1", "d", "t"},
		"p-1:d.t":            {"p-1", "d", "t"},
		"example.com:p.d.t":  {"example.com:p", "d", "t"},
		"d.t":                {"q", "d", "t"},
		"p.d.größe 日本-1":     {"p", "d", "größe 日本-1"},
		"":                   {},
		"t":                  {},
		"p.d.":               {},
		"p.d.t/streams/x":    {},
		"p.d-1.t":            {},
		"projects/p/tables/": {},
	} {
		got, err := ParseTableName(in, "q")
		if got != want || (err == nil) != (want != TableName{}) {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
	if _, err := ParseTableName("d.t", ""); err == nil {
		t.Error("a table in no project")
	}
	n := TableName{"p", "d", "t"}
	const stream = "projects/p/datasets/d/tables/t/streams/_default"
	if n.String() != "p.d.t" || n.DefaultStream() != stream || !isDefault(stream) {
		t.Error(n, n.DefaultStream())
	}
	if isDefault(testStream) {
		t.Errorf("%s is no default stream", testStream)
	}
}
