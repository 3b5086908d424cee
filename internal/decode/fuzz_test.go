package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"firn/internal/record"
)

// fuzzSchema has a column of every kind, of Avro's millis types, and of names that JSON escapes.
func fuzzSchema() *record.Schema {
	s := everyKind()
	for _, k := range []record.Kind{record.KindTime, record.KindTimestamp, record.KindTimestampTZ} {
		f := of("ms_"+k.String(), k)
		f.Type.Millis = true
		s.Fields = append(s.Fields, f)
	}
	text := of("any", record.KindString)
	text.Type.JSON = true
	s.Fields = append(s.Fields, text, structOf("nest", text))
	for _, name := range []string{"", `"\/`, "\n", "größe", "😀", "a name longer than two words"} {
		s.Fields = append(s.Fields, structOf(name, of(name, record.KindDouble)))
	}
	return s
}

// FuzzJSON compares each record with a slow model: encoding/json takes the text apart, what it is lax about is checked
// apart, and big numbers and package time read the values.
func FuzzJSON(f *testing.F) {
	for _, c := range valueCases {
		f.Add([]byte(c.in), byte(0))
		f.Add([]byte(c.in), byte(15))
	}
	for _, v := range wideMessages(3, true) {
		f.Add([]byte(v), byte(1))
	}
	f.Add([]byte(`{"x":`+strings.Repeat("[", 63)+strings.Repeat("]", 63)+`,"l":1}`), byte(0))
	f.Add([]byte(`{"x":`+strings.Repeat("[", 64)+strings.Repeat("]", 64)+`,"l":1}`), byte(0))
	f.Add([]byte(`{"i":"1","l":"-9223372036854775808","f":"1e38","d":"0.1","n":"1e2"}`), byte(1))
	f.Add([]byte(`{"i":"0x1p-2","d":"1_000","f":"Inf","l":"+1"}`), byte(1))
	f.Add([]byte(`{"":{"":1},"\"\\/":{"\u0022\\\/":2},"\n":{"\u000a":3},"gr\u00f6ße":{"größe":4}}`), byte(0))
	f.Add([]byte(`{"\ud83d\ude00":{"😀":5}}`), byte(0))
	f.Add([]byte(`{"a name longer than two words":{"a name longer than two words" : 1},"a name longer":1}`), byte(0))
	f.Add([]byte(`{"ms_time":86399999,"ms_timestamp":-1,"ms_timestamptz":9223372036854775}`), byte(0))
	f.Add([]byte(`{"any": {"a": [1, "x\u00e9", null] } ,"nest":{"any":-1e5}}`), byte(8))
	f.Add([]byte(`{"any":[[[[[[1]]]]]],"any":"\ud83d"}`), byte(8))
	f.Add([]byte(`{"tz":"2026-11-29T12:00:00.123456Z","tzn":"2026-11-29T12:00:00.123456789Z"}`), byte(0))
	s := fuzzSchema()
	f.Fuzz(func(t *testing.T, in []byte, flags byte) {
		o := DefaultJSONOptions()
		o.AcceptNumbersInStrings = flags&1 != 0
		o.RejectDuplicateKeys = flags&2 != 0
		o.RejectUnknownFields = flags&4 != 0
		if flags&8 != 0 {
			o.DepthMax = 6
		}
		want, why := modelRow(in, s, o)
		defer func(before bool) { marking = before }(marking)
		for range 2 {
			d, err := NewJSON(s, o)
			if err != nil {
				t.Fatal(err)
			}
			batch := record.NewBatch(s)
			d.Decode(blockOf(string(in), `{"s":"between"}`, string(in)), batch)
			if err := checkColumns(batch.Columns, batch.Rows); err != nil {
				t.Fatal(err)
			}
			compareWithModel(t, batch, want, why)
			marking = false
		}
	})
}

// compareWithModel checks a batch of the record, a good one, and the record again; why is empty when the row is good.
func compareWithModel(t *testing.T, batch *record.Batch, want, why string) {
	t.Helper()
	if why != "" {
		if batch.Rows != 1 || len(batch.Rejected) != 2 {
			t.Fatalf("%d rows: %s; the model rejects it: %s", batch.Rows, showRow(batch.Columns, 0), why)
		}
		if batch.Rejected[0].Reason != batch.Rejected[1].Reason {
			t.Fatalf("two reasons: %s\n%s", batch.Rejected[0].Reason, batch.Rejected[1].Reason)
		}
		if r := batch.Rejected[0].Reason; len(r) > 400 || !utf8.ValidString(r) {
			t.Fatalf("reason %q", r)
		}
		return
	}
	if len(batch.Rejected) > 0 {
		t.Fatalf("rejected: %s; the model takes it: %s", batch.Rejected[0].Reason, want)
	}
	if first, again := showRow(batch.Columns, 0), showRow(batch.Columns, 2); first != want || again != want {
		t.Fatalf("got   %s\nagain %s\nmodel %s", first, again, want)
	}
	if batch.Rows != 3 || showRow(batch.Columns, 1) != `s="between"` {
		t.Fatalf("%d rows, between them %s", batch.Rows, showRow(batch.Columns, 1))
	}
}

func TestModelReadsTheCases(t *testing.T) {
	s := everyKind()
	for _, c := range valueCases {
		want, why := modelRow([]byte(c.in), s, DefaultJSONOptions())
		if why == "" && want != c.want || why != "" && !strings.HasPrefix(c.want, "!") {
			t.Errorf("%s: the model says %s %s, want %s", c.name, want, why, c.want)
		}
	}
}

// jsonValue is a JSON value with the keys of objects in order, duplicates included.
type jsonValue struct {
	text   string
	scalar any // string, json.Number, bool or nil
	kind   json.Delim
	keys   []string
	values []*jsonValue
}

// readJSON takes a text apart, or returns why it is no strict JSON of that depth.
func readJSON(in []byte, depthMax int) (*jsonValue, string) {
	switch {
	case !utf8.Valid(in):
		return nil, "invalid UTF-8"
	case !json.Valid(in):
		return nil, "no JSON"
	case hasLoneSurrogate(in):
		return nil, "lone surrogate"
	}
	decoder := json.NewDecoder(bytes.NewReader(in))
	decoder.UseNumber()
	v, why := readJSONValue(decoder, in, depthMax)
	if why == "" {
		why = differsFromMap(v, in)
	}
	return v, why
}

// differsFromMap checks that the value is what encoding/json makes of the text by itself: maps, in which the last one
// of equal keys wins.
func differsFromMap(v *jsonValue, in []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(in))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil {
		return err.Error()
	}
	if !reflect.DeepEqual(v.whole(), whole) {
		panic(fmt.Sprintf("tokens make %v, and encoding/json %v", v.whole(), whole))
	}
	return ""
}

// whole is the value as encoding/json makes it.
func (v *jsonValue) whole() any {
	switch v.kind {
	case '{':
		m := map[string]any{}
		for i, key := range v.keys {
			m[key] = v.values[i].whole()
		}
		return m
	case '[':
		list := make([]any, len(v.values))
		for i, e := range v.values {
			list[i] = e.whole()
		}
		return list
	default:
		return v.scalar
	}
}

func readJSONValue(decoder *json.Decoder, in []byte, depth int) (*jsonValue, string) {
	from := decoder.InputOffset()
	v, why := readJSONTokens(decoder, in, depth)
	if why == "" {
		v.text = strings.TrimLeft(string(in[from:decoder.InputOffset()]), " \t\r\n,:")
	}
	return v, why
}

func readJSONTokens(decoder *json.Decoder, in []byte, depth int) (*jsonValue, string) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err.Error()
	}
	kind, ok := token.(json.Delim)
	if !ok {
		return &jsonValue{scalar: token}, ""
	}
	if depth == 0 {
		return nil, "too deep"
	}
	v := &jsonValue{kind: kind}
	for decoder.More() {
		if kind == '{' {
			key, err := decoder.Token()
			if err != nil {
				return nil, err.Error()
			}
			v.keys = append(v.keys, key.(string))
		}
		inner, why := readJSONValue(decoder, in, depth-1)
		if why != "" {
			return nil, why
		}
		v.values = append(v.values, inner)
	}
	_, err = decoder.Token()
	if err != nil {
		return nil, err.Error()
	}
	return v, ""
}

// hasLoneSurrogate looks for a \uD800 to \uDFFF that is not one of a pair, in valid JSON.
func hasLoneSurrogate(in []byte) bool {
	text := strings.ToLower(string(in))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if text[i] != 'u' || text[i+1:i+3] < "d8" || text[i+1:i+3] > "df" {
			continue
		}
		rest := text[i+5:]
		if text[i+1:i+3] >= "dc" || !strings.HasPrefix(rest, `\u`) || rest[2:4] < "dc" || rest[2:4] > "df" {
			return true
		}
		i += 10
	}
	return false
}
