package decode

import (
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
)

// field builders for schemas in tests.
func of(name string, k record.Kind) record.Field {
	return record.Field{Name: name, Type: record.Type{Kind: k}}
}

func required(f record.Field) record.Field {
	f.Required = true
	return f
}

func structOf(name string, fields ...record.Field) record.Field {
	return record.Field{Name: name, Type: record.Type{Kind: record.KindStruct, Fields: fields}}
}

func listOf(name string, element record.Field) record.Field {
	element.Name = "element"
	return record.Field{Name: name, Type: record.Type{Kind: record.KindList, Fields: []record.Field{element}}}
}

func mapOf(name string, key, value record.Field) record.Field {
	key.Name, value.Name, key.Required = "key", "value", true
	return record.Field{Name: name, Type: record.Type{Kind: record.KindMap, Fields: []record.Field{key, value}}}
}

func decimalOf(name string, precision, scale int) record.Field {
	return record.Field{Name: name, Type: record.Type{Kind: record.KindDecimal, Precision: precision, Scale: scale}}
}

func fixedOf(name string, length int) record.Field {
	return record.Field{Name: name, Type: record.Type{Kind: record.KindFixed, Length: length}}
}

// everyKind has a column of every kind, and nestings.
func everyKind() *record.Schema {
	return &record.Schema{Fields: []record.Field{
		of("b", record.KindBoolean), of("i", record.KindInt), of("l", record.KindLong),
		of("f", record.KindFloat), of("d", record.KindDouble),
		decimalOf("n", 9, 2), decimalOf("big", 38, 10),
		of("day", record.KindDate), of("t", record.KindTime),
		of("ts", record.KindTimestamp), of("tz", record.KindTimestampTZ),
		of("tsn", record.KindTimestampNs), of("tzn", record.KindTimestampTZNs),
		of("u", record.KindUUID), fixedOf("fx", 3), of("bin", record.KindBinary), of("s", record.KindString),
		structOf("o", required(of("id", record.KindInt)), of("w", record.KindString),
			structOf("in", of("x", record.KindLong), listOf("l", of("", record.KindInt)))),
		listOf("ints", of("", record.KindInt)),
		listOf("musts", required(of("", record.KindInt))),
		listOf("objs", structOf("", of("a", record.KindInt), listOf("t", of("", record.KindString)))),
		listOf("lists", listOf("", of("", record.KindLong))),
		mapOf("m", of("", record.KindString), of("", record.KindLong)),
		mapOf("mi", of("", record.KindInt), structOf("", of("a", record.KindInt), listOf("t", of("", record.KindInt)))),
		mapOf("md", of("", record.KindDouble), required(of("", record.KindString))),
		mapOf("mt", of("", record.KindTimestampTZ), of("", record.KindBoolean)),
		mapOf("mm", of("", record.KindBoolean), mapOf("", of("", record.KindString), of("", record.KindInt))),
	}}
}

func newJSON(tb testing.TB, s *record.Schema, change func(*JSONOptions)) *JSON {
	tb.Helper()
	o := DefaultJSONOptions()
	if change != nil {
		change(&o)
	}
	d, err := NewJSON(s, o)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func blockOf(values ...string) *record.Block {
	b := &record.Block{TopicPartition: record.TopicPartition{Topic: "t", Partition: 3}}
	for i, v := range values {
		b.Records = append(b.Records, record.Record{Offset: int64(i), Value: []byte(v)})
	}
	return b
}

// decodeOne is the row that a value becomes, or its reason after "!".
func decodeOne(tb testing.TB, d *JSON, batch *record.Batch, value string) string {
	tb.Helper()
	batch.Reset()
	d.Decode(blockOf(value), batch)
	if err := checkColumns(batch.Columns, batch.Rows); err != nil {
		tb.Fatalf("%.200s: %v", value, err)
	}
	if len(batch.Rejected)+batch.Rows != 1 {
		tb.Fatalf("%.200s: %d rows and %d rejected", value, batch.Rows, len(batch.Rejected))
	}
	if batch.Rows == 0 {
		return "!" + batch.Rejected[0].Reason
	}
	return showRow(batch.Columns, 0)
}

func TestJSONOptionsChangeWhatIsAccepted(t *testing.T) {
	numbers := func(o *JSONOptions) { o.AcceptNumbersInStrings = true }
	unknown := func(o *JSONOptions) { o.RejectUnknownFields = true }
	twice := func(o *JSONOptions) { o.RejectDuplicateKeys = true }
	shallow := func(o *JSONOptions) { o.DepthMax = 5 }
	for _, c := range []struct {
		name   string
		change func(*JSONOptions)
		in     string
		want   string
	}{
		{"numbers in strings", numbers, `{"i":"-12","l":"\u0031","f":"1.5","d":"1e3","n":"1"}`,
			`i=-12 l=1 f=1.5 d=1000 n=100`},
		{"number and blank", numbers, `{"i":"1 "}`, `!field i at byte 5: "1 " is not a valid int: text after the value`},
		{"empty number", numbers, `{"l":""}`,
			`!field l at byte 5: expected a number or a string for long, found the end of the text`},
		{"no number", numbers, `{"i":"x"}`, `!field i at byte 5: expected a number or a string for int, found 'x'`},
		{"range in string", numbers, `{"i":"3000000000"}`,
			`!field i at byte 5: 3000000000 does not fit int (-2147483648 to 2147483647)`},
		{"infinity in string", numbers, `{"d":"1e999"}`, `!field d at byte 5: 1e999 does not fit double`},
		{"bool in string", numbers, `{"b":"true"}`, `!field b at byte 5: expected true or false for boolean, found a string`},
		{"unknown key", unknown, `{"i":1, "nope":2}`, `!at byte 8: key "nope" is not in the schema`},
		{"unknown key inside", unknown, `{"o":{"id":1,"zz":2}}`, `!field o at byte 13: key "zz" is not in the schema`},
		{"unknown key in case", unknown, `{"I":1}`, `!at byte 1: key "I" is not in the schema`}, // C65
		{"long unknown key", unknown, `{"` + strings.Repeat("k", 50) + `":1}`,
			`!at byte 1: key "` + strings.Repeat("k", 40) + `"... is not in the schema`},
		{"duplicate", twice, `{"i":1,"i":1}`, `!field i at byte 11: the key is there twice`},
		{"duplicate of null", twice, `{"i":null,"i":1}`, `!field i at byte 14: the key is there twice`},
		{"duplicate inside", twice, `{"o":{"id":1,"id":2}}`, `!field o.id at byte 18: the key is there twice`},
		{"duplicate after unescaping", twice, `{"i":1,"\u0069":1}`, `!field i at byte 16: the key is there twice`},
		{"duplicate in a map", twice, `{"m":{"a":1,"b":2,"a":3}}`, `!field m at byte 5: the map has a key twice`},
		{"same key of two objects", twice, `{"objs":[{"a":1},{"a":2}]}`, `objs=[{a=1} {a=2}]`},
		{"duplicate unknown", twice, `{"x":1,"x":1,"i":2}`, `i=2`},
		{"depth reached", shallow, `{"x":[[[[1]]]],"i":2}`, `i=2`},
		{"depth passed", shallow, `{"x":[[[[[1]]]]]}`, `!at byte 9: nested deeper than 5`},
		{"depth passed inside", shallow, `{"o":{"in":{"y":{"z":[{}]}}}}`, `!field o.in at byte 22: nested deeper than 5`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newJSON(t, everyKind(), c.change)
			if diff := cmp.Diff(c.want, decodeOne(t, d, record.NewBatch(everyKind()), c.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSONKeepsRowsWhole(t *testing.T) { // C54: a bad record does not stop the rest
	s := everyKind()
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	good := `{"i":1,"s":"a\tb","o":{"id":2,"in":{"l":[1,2]}},"objs":[{"t":["x"]}],"m":{"k":1},` +
		`"u":"00000000-0000-0000-0000-000000000001"}`
	bad := `{"i":9,"s":"z\tz","o":{"id":9,"in":{"l":[9,9]}},"objs":[{"t":["z"]},{"t":["z",1]}],` +
		`"m":{"k":1},"u":"11111111-0000-0000-0000-000000000001"}`
	for range 2 { // the second time, the batch has rows already
		d.Decode(blockOf(bad, good, bad, bad, `{"s":"c"}`, good, bad), batch)
	}
	if err := checkColumns(batch.Columns, 6); err != nil {
		t.Fatal(err)
	}
	full := `u=00000000000000000000000000000001 s="a\tb" o={id=2 in={l=[1 2]}} objs=[{t=["x"]}] m=["k":1]`
	want := strings.Split(strings.Repeat("i=1 "+full+"\n"+`s="c"`+"\n"+"i=1 "+full+"\n", 2), "\n")[:6]
	var got []string
	for i := range batch.Rows {
		got = append(got, showRow(batch.Columns, i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(batch.Rejected) != 8 || batch.Rejected[1].Record.Offset != 2 || batch.Rejected[1].Topic != "t" {
		t.Errorf("rejected %+v", batch.Rejected)
	}
}

func TestJSONTombstonesAndControls(t *testing.T) { // C69
	s := &record.Schema{Fields: []record.Field{of("i", record.KindInt)}}
	block := &record.Block{Records: []record.Record{
		{Offset: 0, Value: nil}, {Offset: 1, Control: true, Value: []byte("{}")}, {Offset: 2, Value: []byte(`{"i":1}`)},
		{Offset: 3, Value: []byte{}}, {Offset: 4, Value: []byte(" ")}, {Offset: 5, Control: true},
	}}
	for _, reject := range []bool{false, true} {
		d, batch := newJSON(t, s, func(o *JSONOptions) { o.RejectTombstones = reject }), record.NewBatch(s)
		tombstones, controls := d.Decode(block, batch)
		var got []string
		for _, r := range batch.Rejected {
			got = append(got, r.Reason)
		}
		want, wantTombstones := []string{"at byte 0: the record value is empty", "at byte 1: the record value is blank"}, 1
		if reject {
			want, wantTombstones = append([]string{"at byte 0: the record has a null value (a tombstone)"}, want...), 0
		}
		if diff := cmp.Diff(want, got); diff != "" || tombstones != wantTombstones || controls != 2 || batch.Rows != 1 {
			t.Errorf("reject %v: %d tombstones, %d controls, %d rows\n%s", reject, tombstones, controls, batch.Rows, diff)
		}
	}
}

func TestJSONRequired(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		required(of("id", record.KindLong)), required(structOf("o", required(of("x", record.KindInt)))),
		listOf("l", required(structOf("", required(of("y", record.KindInt))))),
		mapOf("m", of("", record.KindString), required(of("", record.KindInt))),
	}}
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	for _, c := range [][2]string{
		{`{"id":1,"o":{"x":2},"l":[{"y":3}],"m":{"a":4}}`, `id=1 o={x=2} l=[{y=3}] m=["a":4]`},
		{`{"o":{"x":2}}`, `!field id at byte 12: missing, but the field is required`},
		{`{"id": null,"o":{"x":2}}`, `!field id at byte 7: null, but the field is required`},
		{`{"id":null,"id":1,"o":{"x":2}}`, `id=1 o={x=2}`},
		{`{"id":1,"id":null,"o":{"x":2}}`, `!field id at byte 13: null, but the field is required`},
		{`{"id":1}`, `!field o at byte 7: missing, but the field is required`},
		{`{"id":1,"o":null}`, `!field o at byte 12: null, but the field is required`},
		{`{"id":1,"o":{}}`, `!field o.x at byte 13: missing, but the field is required`},
		{`{"id":1,"o":{"x":2},"l":[{"y":1},{}]}`, `!field l.element.y at byte 34: missing, but the field is required`},
		{`{"id":1,"o":{"x":2},"l":[null]}`, `!field l.element at byte 25: null, but the field is required`},
		{`{"id":1,"o":{"x":2},"m":{"a":null}}`, `!field m.value at byte 29: null, but the field is required`},
	} {
		if diff := cmp.Diff(c[1], decodeOne(t, d, batch, c[0])); diff != "" {
			t.Errorf("%s\n%s", c[0], diff)
		}
	}
}

func TestNewJSONNamesEveryFault(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		of("a", record.KindInvalid), of("b", record.KindInt), of("b", record.KindLong), decimalOf("c", 39, 0), decimalOf("d",
			4, 5),
		fixedOf("e", 0), {Name: "f", Type: record.Type{Kind: record.KindList}}, structOf("g", of("x\xff", record.KindInt)),
		mapOf("h", listOf("", of("", record.KindInt)), of("", record.KindInt)), of("i", record.Kind(99)),
		listOf("j", listOf("", of("", record.KindInt))),
	}}
	_, err := NewJSON(s, JSONOptions{DepthMax: 2})
	want := "compiling the schema for JSON: field a: type invalid cannot be filled from JSON\n" +
		"field b: there are two fields of this name\n" +
		"field c: decimal precision 39 is not in 1 to 38\n" +
		"field d: decimal scale 5 is not in 0 to 4\n" +
		"field e: a fixed of 0 bytes holds nothing\n" +
		"field f: a list of 0 inner fields\n" +
		"field g.x\xff: the name is not valid UTF-8\n" +
		"field h.key: the schema nests deeper than depth_max 2\n" +
		"field h.key: a JSON key cannot hold a list\n" +
		"field i: type kind(99) cannot be filled from JSON\n" +
		"field j.element: the schema nests deeper than depth_max 2"
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	if _, err := NewJSON(s, JSONOptions{}); err == nil {
		t.Error("a zero JSONOptions is accepted")
	}
}
