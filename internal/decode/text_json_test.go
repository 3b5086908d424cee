package decode

import (
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
)

func textOf(name string) record.Field {
	f := of(name, record.KindString)
	f.Type.JSON = true
	return f
}

// A column of JSON holds whatever the message has there, as it is written.
func TestTextOfAnyValue(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		textOf("any"), required(textOf("must")), structOf("in", textOf("any")), listOf("l", required(textOf("")))}}
	d, batch := newJSON(t, s, func(o *JSONOptions) { o.DepthMax = 4 }), record.NewBatch(s)
	for _, c := range []struct{ name, in, want string }{
		{"number", `{"must":1,"any":-1.50e3}`, `any="-1.50e3" must="1"`},
		{"string", `{"must":1,"any":"a\u00e9\"é"}`, `any="\"a\\u00e9\\\"é\"" must="1"`},
		{"literals", `{"must":true,"any":false}`, `any="false" must="true"`},
		{"object", `{"must":1,"any": { "b" : [1, {}] , "a":null } }`, `any="{ \"b\" : [1, {}] , \"a\":null }" must="1"`},
		{"array", `{"must":[],"any":[[]]}`, `any="[[]]" must="[]"`},
		{"null", `{"must":1,"any":null}`, `must="1"`},
		{"nested", `{"must":1,"in":{"any":[ ]},"l":[1 , "x",{}]}`, `must="1" in={any="[ ]"} l=["1" "\"x\"" "{}"]`},
		{"the last one wins", `{"must":1,"any":"x","any":[2]}`, `any="[2]" must="1"`},
		{"null and required", `{"must":null}`, `!field must at byte 8: null, but the field is required`},
		{"null element", `{"must":1,"l":[null]}`, `!field l.element at byte 15: null, but the field is required`},
		{"half a literal", `{"must":nul}`, `!field must at byte 8: expected a value, found 'n'`},
		{"nothing", `{"must":}`, `!field must at byte 8: expected a value, found '}'`},
		{"leading zero", `{"must":{"a":01}}`, `!field must at byte 13: malformed number (leading zero, or digits missing)`},
		{"bad UTF-8", "{\"must\":[\"\xff\"]}", `!field must at byte 10: invalid UTF-8 in a string`},
		{"half a pair", `{"must":"\ud800"}`, `!field must at byte 9: lone high surrogate in a string`},
		{"as deep as may be", `{"must":[[[]]]}`, `must="[[[]]]"`},
		{"deeper", `{"must":[[[[]]]]}`, `!field must at byte 11: nested deeper than 4`},
		{"deeper in a struct", `{"must":1,"in":{"any":[[[]]]}}`, `!field in.any at byte 24: nested deeper than 4`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, decodeOne(t, d, batch, c.in)); diff != "" {
				t.Errorf("%s\n%s", c.in, diff)
			}
		})
	}
}

func TestJSONKeyIsNoJSONValue(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{mapOf("m", textOf(""), of("", record.KindInt))}}
	if _, err := NewJSON(s, DefaultJSONOptions()); err == nil || !strings.Contains(err.Error(), "field m.key") {
		t.Errorf("a map with keys of any value: %v", err)
	}
}
