package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseParameters(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  map[string]string
	}{
		{"none", nil, map[string]string{}},
		{"an empty flag", []string{""}, map[string]string{}},
		{"commas", []string{"a=b,c=d"}, map[string]string{"a": "b", "c": "d"}},
		{"repeated flags", []string{"a=b", "^:^c=d:e=f,g"}, map[string]string{"a": "b", "c": "d", "e": "f,g"}},
		{"= in a value", []string{"a=b=c,d==="}, map[string]string{"a": "b=c", "d": "=="}},
		{"empty value", []string{"a=,b="}, map[string]string{"a": "", "b": ""}},
		{"JSON with commas", []string{`a={"x":"1,y=2","z":[1,2]},b=[1,2],c=d`},
			map[string]string{"a": `{"x":"1,y=2","z":[1,2]}`, "b": "[1,2]", "c": "d"}},
		{"JSON alone", []string{`a={"x":1,"y":2}`}, map[string]string{"a": `{"x":1,"y":2}`}},
		{"JSON with something behind it", []string{`a={"x":1}y,b=c`}, map[string]string{"a": `{"x":1}y`, "b": "c"}},
		{"what only starts like JSON", []string{`a={x,b=[`}, map[string]string{"a": "{x", "b": "["}},
		{"another delimiter", []string{"^@^servers=h1:1,h2:2@topic=x"},
			map[string]string{"servers": "h1:1,h2:2", "topic": "x"}},
		{"a long delimiter", []string{"^--^a=b-c--d=e"}, map[string]string{"a": "b-c", "d": "e"}},
		{"a delimiter in JSON", []string{`^@^a={"x":"u@h"}@b=c`}, map[string]string{"a": `{"x":"u@h"}`, "b": "c"}},
		{"a lone caret", []string{"^a=b"}, map[string]string{"^a": "b"}},
		{"a caret in a value", []string{"a=^@^b"}, map[string]string{"a": "^@^b"}},
		{"nothing behind the delimiter", []string{"^@^"}, map[string]string{}},
	} {
		got, err := ParseParameters(c.texts...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestParseParametersRefuses(t *testing.T) {
	for want, texts := range map[string][]string{
		"parameter a is given twice": {"a=b,a=b"},
		"parameter b is given twice": {"b=1", "c=2,b=3"},
		`parameter "h2:9092" is not NAME=VALUE; when a value holds ",", choose another delimiter: ` +
			`^@^NAME=VALUE@NAME=VALUE`: {"servers=h1:9092,h2:9092"},
		`parameter "" is not NAME=VALUE; when a value holds ",", choose another delimiter: ` +
			`^@^NAME=VALUE@NAME=VALUE`: {"a=b,"},
		`parameter "=b" is not NAME=VALUE; when a value holds "@", choose another delimiter: ` +
			`^@^NAME=VALUE@NAME=VALUE`: {"^@^=b"},
		`parameter "\"warehouse\":"... is not NAME=VALUE; when a value holds ",", choose another delimiter: ` +
			`^@^NAME=VALUE@NAME=VALUE`: {`p={'type':"rest","warehouse":"gs://b"}`},
		`"" is no delimiter between parameters; write one such as ^@^`:  {"^^a=b"},
		`"=" is no delimiter between parameters; write one such as ^@^`: {"^=^a=b"},
	} {
		got, err := ParseParameters(texts...)
		if err == nil || err.Error() != want || got != nil {
			t.Errorf("%q: got %v, %v, want %s", texts, got, err, want)
		}
	}
}
