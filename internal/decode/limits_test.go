package decode

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"firn/internal/record"
)

func TestJSONDeepNestingIsRejectedWithoutRecursion(t *testing.T) {
	s := everyKind()
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	for _, depth := range []int{10_000, 1_000_000} {
		for name, in := range map[string]string{
			"arrays":      `{"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`,
			"open arrays": `{"x":` + strings.Repeat("[", depth),
			"objects":     `{"x":` + strings.Repeat(`{"x":`, depth) + "1" + strings.Repeat("}", depth) + `}`,
		} {
			if got := decodeOne(t, d, batch, in); !strings.HasSuffix(got, ": nested deeper than 64") {
				t.Errorf("%s %d deep: %s", name, depth, got)
			}
		}
	}
	// The same text passes when it is asked for.
	d = newJSON(t, s, func(o *JSONOptions) { o.DepthMax = 1_000_001 })
	in := `{"x":` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + `,"i":1}`
	if got := decodeOne(t, d, batch, in); got != "i=1" {
		t.Errorf("a million deep within the bound: %s", got)
	}
	if got := decodeOne(t, d, batch, `{"x":[`+in[5:len(in)-7]+`],"i":1}`); !strings.HasSuffix(got, "deeper than 1000001") {
		t.Errorf("one deeper than the bound: %s", got)
	}
}

func TestJSONLargeMessages(t *testing.T) {
	size, entries := 20<<20, 1_000_000
	if testing.Short() || underRace { // what is large is read in one goroutine
		size, entries = 1<<20, 10_000
	}
	s := everyKind()
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	plain := strings.Repeat("x", size)
	for name, c := range map[string]struct{ in, want string }{
		"string":            {`{"s":"` + plain + `"}`, `s="` + plain + `"`},
		"escaped string":    {`{"s":"` + plain + `\n"}`, `s="` + plain + `\n"`},
		"all escapes":       {`{"s":"` + strings.Repeat(`\"`, size/2) + `"}`, `s="` + strings.Repeat(`\"`, size/2) + `"`},
		"unknown string":    {`{"x":"` + plain + `","i":1}`, `i=1`},
		"unknown array":     {`{"x":[1` + strings.Repeat(",1", size/2) + `],"i":1}`, `i=1`},
		"blanks":            {strings.Repeat(" ", size) + `{"i":1}`, `i=1`},
		"long number":       {`{"n":1.` + strings.Repeat("0", size) + `}`, `n=100`},
		"longer number":     {`{"d":0.` + strings.Repeat("3", size) + `}`, `d=0.3333333333333333`},
		"long exponent":     {`{"n":1` + strings.Repeat("0", size) + fmt.Sprintf("e-%d}", size), `n=100`},
		"cut string":        {`{"s":"` + plain, fmt.Sprintf("!field s at byte %d: the text ends inside a string", size+6)},
		"number for string": {`{"i":1` + strings.Repeat("0", size) + `}`, ""},
	} {
		got := decodeOne(t, d, batch, c.in)
		if c.want == "" {
			if !strings.HasPrefix(got, "!field i") || len(got) > 200 {
				t.Errorf("%s: %.300s", name, got)
			}
		} else if got != c.want {
			t.Errorf("%s: got %.100s, want %.100s", name, got, c.want)
		}
	}
	var in strings.Builder // a list, and a map with each key twice
	in.WriteString(`{"ints":[0`)
	for i := range entries {
		fmt.Fprintf(&in, ",%d", i)
	}
	in.WriteString(`],"m":{"a":0`)
	for i := range entries {
		fmt.Fprintf(&in, `,"k%d":%d`, i/2, i)
	}
	in.WriteString("}}")
	batch.Reset()
	d.Decode(blockOf(in.String()), batch)
	if batch.Rows != 1 {
		t.Fatal(batch.Rejected[0].Reason)
	}
	ints, m := &batch.Columns[18], &batch.Columns[22]
	if int(ints.Offsets[1]) != entries+1 || int(m.Offsets[1]) != entries/2+1 ||
		m.Children[1].Ints64[entries/2] != int64(entries-1) {
		t.Errorf("list %d, map %d", ints.Offsets[1], m.Offsets[1])
	}
}

func TestJSONRemembersFewUnknownKeys(t *testing.T) {
	s := everyKind()
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	for i := range 10_000 {
		in := fmt.Sprintf(`{"k%d":[%d],"i":1,"o":{"x%d":"y","id":2},"%s%d":0,"\u006b%d":{}}`, i, i, i, strings.Repeat("k",
			100), i, i)
		if got := decodeOne(t, d, batch, in); got != `i=1 o={id=2}` {
			t.Fatalf("%s: %s", in, got)
		}
	}
	if n, inner := len(d.root.index),
		len(d.root.index["o"].object.index); n > len(s.Fields)+ignoredMax || inner > 3+ignoredMax {
		t.Errorf("%d and %d keys are kept", n, inner)
	}
}

func TestJSONBatchesDoNotShareMemory(t *testing.T) {
	s := everyKind()
	d, first := newJSON(t, s, nil), record.NewBatch(s)
	value := func(c string) string {
		return fmt.Sprintf(`{"s":"%[1]s\n%[1]s","bin":"%[2]s","m":{"%[1]s\t":1},"objs":[{"t":["%[1]s\r"]}]}`,
			strings.Repeat(c, 100), strings.Repeat(c, 100))
	}
	d.Decode(blockOf(value("a"), value("b")), first)
	before := showRow(first.Columns, 0) + showRow(first.Columns, 1)
	second := record.NewBatch(s)
	for range 1000 { // some chunks of the arena
		second.Reset()
		d.Decode(blockOf(value("y"), value("z"), value(`\u0`)), second)
	}
	if after := showRow(first.Columns, 0) + showRow(first.Columns, 1); after != before {
		t.Errorf("the first batch changed:\n%s\n%s", before, after)
	}
}

func TestJSONStringsAliasTheRecord(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{of("s", record.KindString)}}
	block, batch := blockOf(`{"s":"abc"}`), record.NewBatch(s)
	newJSON(t, s, nil).Decode(block, batch)
	got := batch.Columns[0].Bytes[0]
	if &got[0] != &block.Records[0].Value[6] {
		t.Error("a string without escapes was copied")
	}
	if cap(got) != len(got) {
		t.Error("an append to the string would write into the record")
	}
}

func TestJSONDoesNotAllocateInSteadyState(t *testing.T) {
	for name, c := range map[string]struct {
		schema *record.Schema
		values []string
	}{
		"narrow": {narrowSchema(record.KindLong), narrowMessages(256, false)},
		"wide":   {wideSchema(), wideMessages(256, false)},
		"nested": {everyKind(), []string{
			`{"o":{"id":1,"w":"x","in":{"x":2,"l":[1,null,3]}},"ints":[1,2,3,4,5,6,7,8,9],"lists":[[1],[],[2,3]],` +
				`"objs":[{"a":1,"t":["x","y"]},{"a":2,"t":[]}],"m":{"a":1,"b":2},"mi":{"1":{"a":2,"t":[3]}}}`,
			`{"mt":{"1970-01-01T01:00:00Z":true},"mm":{"true":{"a":1,"b":2}},"md":{"1.5":"x"},"x":{"y":[[{}]]}}`,
			`{"u":"f79c3e09-677c-4bbd-a479-3f349cb785e7","big":"1.5","t":"12:00:00","day":"2026-11-29","tzn":1}`,
		}},
		"any order, unknown and duplicate keys": {wideSchema(), []string{
			`{"ok":true,"zz":[1,{"a":"b"}],"device":{"w":1,"os":"x"},"id":3,"qty":1,"qty":2,"score":0.12345678901234567890}`,
			`{"score":1.5,"price":"12.34","device":{"os":"x","q":null},"ts":"2026-11-29T00:00:00.000Z","id":4}`,
		}},
	} {
		d, block := newJSON(t, c.schema, nil), blockOf(c.values...)
		batch := record.NewBatch(c.schema)
		n := testing.AllocsPerRun(20, func() {
			batch.Reset()
			d.Decode(block, batch)
		})
		if n != 0 || batch.Rows != len(c.values) {
			t.Errorf("%s: %v allocations a block, %d rows, rejected %+v", name, n, batch.Rows, batch.Rejected)
		}
	}
}

// Only what is unescaped takes memory that is not reused, since rows alias it: in chunks, not one by one.
func TestJSONAllocatesChunksForEscapes(t *testing.T) {
	s := wideSchema()
	d, block, batch := newJSON(t, s, nil), blockOf(wideMessages(1024, true)...), record.NewBatch(s)
	unescaped := 0
	n := testing.AllocsPerRun(20, func() {
		batch.Reset()
		d.Decode(block, batch)
		for _, r := range block.Records {
			if bytes.IndexByte(r.Value, '\\') >= 0 {
				unescaped++
			}
		}
	})
	if n > 1 || unescaped < 1000 {
		t.Errorf("%v allocations a block, %d records with escapes", n, unescaped)
	}
}

// C62: results are equal under any time zone of the host.
func TestJSONIgnoresTheHostsZone(t *testing.T) {
	in := `{"day":"2024-03-31","ts":"2024-03-31T02:30:00","tz":"2024-03-31T02:30:00Z",` +
		`"tzn":"1969-12-31T19:00:00-05:00","t":"23:00:00"}`
	want := `day=19813 t=82800000000 ts=1711852200000000 tz=1711852200000000 tzn=0`
	if os.Getenv("FIRN_TEST_ZONE_CHILD") != "" {
		s := everyKind()
		if got := decodeOne(t, newJSON(t, s, nil), record.NewBatch(s), in); got != want {
			t.Errorf("TZ=%s: got %s, want %s", os.Getenv("TZ"), got, want)
		}
		return
	}
	for _, zone := range []string{"UTC", "Asia/Kathmandu", "America/Los_Angeles", "Europe/Berlin", "Pacific/Kiritimati",
		"XXX-3:17"} {
		child := exec.Command(os.Args[0], "-test.run=^TestJSONIgnoresTheHostsZone$")
		child.Env = append(os.Environ(), "FIRN_TEST_ZONE_CHILD=1", "TZ="+zone)
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
