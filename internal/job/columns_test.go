package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestColumns(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, c := range []struct {
		name       string
		keep, drop []string
		want       []string
	}{
		{"all", nil, nil, names},
		{"keep, in the schema's order", []string{"c", "a"}, nil, []string{"a", "c"}},
		{"drop", nil, []string{"b"}, []string{"a", "c"}},
		{"keep a column that is not there", []string{"a", "d"}, nil, nil},
		{"drop a column that is not there", nil, []string{"B"}, nil},
		{"drop everything", nil, names, nil},
	} {
		got, err := (&Decode{Keep: c.keep, Drop: c.drop}).Columns(names)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
