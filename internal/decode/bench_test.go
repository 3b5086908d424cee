package decode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"firn/internal/record"
)

// narrowSchema is the reference message's: an integer and 962 alphanumerics, together 1,002 bytes.
func narrowSchema(id record.Kind) *record.Schema {
	return &record.Schema{Fields: []record.Field{of("logStreamId", id), of("message", record.KindString)}}
}

// narrowMessages are reference messages; the reference generator writes the integer in quotes.
func narrowMessages(n int, quoted bool) []string {
	const alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]string, n)
	text := make([]byte, 962)
	for i := range values {
		for j := range text {
			text[j] = alphanumerics[r.IntN(len(alphanumerics))]
		}
		id := strconv.Itoa(1_000_001 + r.IntN(1_000_000))
		if quoted {
			id = strconv.Quote(id)
		}
		values[i] = fmt.Sprintf(`{"logStreamId": %s, "message": "%s"}`, id, text)
	}
	return values
}

func wideSchema() *record.Schema {
	return &record.Schema{Fields: []record.Field{
		of("id", record.KindLong), of("user_id", record.KindLong), of("session", record.KindString), of("event",
			record.KindString),
		of("ok", record.KindBoolean), of("score", record.KindDouble), of("lat", record.KindDouble), of("lon",
			record.KindDouble),
		of("ts", record.KindTimestampTZ), of("recv", record.KindTimestampTZ), decimalOf("price", 9, 2), of("qty",
			record.KindInt),
		of("country", record.KindString),
		structOf("device", of("os", record.KindString), of("ver", record.KindString), of("w", record.KindInt), of("retina",
			record.KindBoolean)),
		of("referrer", record.KindString), of("ip", record.KindString), of("ua", record.KindString), of("is_new",
			record.KindBoolean),
		of("note", record.KindString), of("bytes", record.KindLong),
	}}
}

// wideMessages have 20 fields and about 500 bytes; with notes, a fifth of them have escapes or other alphabets.
func wideMessages(n int, notes bool) []string {
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	values := make([]string, n)
	for i := range values {
		ts := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(86_400_000)) * time.Millisecond)
		note := "null"
		if k := r.IntN(10); notes && k < 2 {
			note = []string{`"said \"hi\"\nand left \u00e9"`, `"größe 日本語 ok"`}[k]
		}
		referrer := "null"
		if r.IntN(2) == 0 {
			referrer = fmt.Sprintf(`"https://example.com/p/%d?q=%d"`, r.IntN(1000), r.IntN(1_000_000))
		}
		values[i] = fmt.Sprintf(`{"id":%d,"user_id":%d,"session":"%016x","event":"%s","ok":%t,`+
			`"score":%.4f,"lat":%.6f,"lon":%.6f,`+
			`"ts":"%s","recv":"%s","price":%d.%02d,"qty":%d,"country":"%s",`+
			`"device":{"os":"%s","ver":"%d.%d.%d","w":%d,"retina":%t},`+
			`"referrer":%s,"ip":"%d.%d.%d.%d","ua":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/%d.0.0.0",`+
			`"is_new":%t,"note":%s,"bytes":%d}`,
			r.Int64(), r.IntN(1<<30), r.Uint64(), pick("page_view", "click", "purchase", "add_to_cart", "error"), r.IntN(2) == 0,
			r.Float64(), r.Float64()*180-90, r.Float64()*360-180,
			ts.Format("2006-01-02T15:04:05.000Z07:00"), ts.Format("2006-01-02T15:04:05.000000Z07:00"), r.IntN(5000), r.IntN(100),
			r.IntN(50),
			pick("DE", "US", "FR", "IL"), pick("ios", "android", "windows"), r.IntN(20), r.IntN(9), r.IntN(9), 800+r.IntN(2000),
			r.IntN(2) == 0,
			referrer, r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(256), 100+r.IntN(30), r.IntN(2) == 0, note,
			r.IntN(1_000_000_000))
	}
	return values
}

// floatMessages have ten doubles with all their digits, as programs print them.
func floatMessages(n int) []string {
	r := rand.New(rand.NewPCG(5, 5))
	values := make([]string, n)
	for i := range values {
		var members []string
		for k := range 10 {
			members = append(members, fmt.Sprintf(`"d%d":%v`, k, (r.Float64()-0.5)*1000))
		}
		values[i] = "{" + strings.Join(members, ",") + "}"
	}
	return values
}

func floatSchema() *record.Schema {
	s := &record.Schema{}
	for k := range 10 {
		s.Fields = append(s.Fields, of("d"+strconv.Itoa(k), record.KindDouble))
	}
	return s
}

// uuidMessages are a UUID and two instants.
func uuidMessages(n int) []string {
	r := rand.New(rand.NewPCG(6, 6))
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf(`{"id":"%08x-%04x-%04x-%04x-%012x",`, r.Uint32(), r.IntN(1<<16), r.IntN(1<<16), r.IntN(1<<16),
			r.Int64N(1<<48))
		values[i] += fmt.Sprintf(`"from":"2026-11-29T%02d:%02d:00Z","to":"2026-11-29T12:00:%02d.%09dZ"}`,
			r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e9))
	}
	return values
}

// BenchmarkJSON decodes blocks of 4,096 records; ns/record is the price of one.
func BenchmarkJSON(b *testing.B) {
	numbers := func(o *JSONOptions) { o.AcceptNumbersInStrings = true }
	for _, c := range []struct {
		name   string
		schema *record.Schema
		change func(*JSONOptions)
		values []string
	}{
		{"narrow", narrowSchema(record.KindLong), nil, narrowMessages(4096, false)},
		{"narrow,number in string", narrowSchema(record.KindLong), numbers, narrowMessages(4096, true)},
		{"narrow,two strings", narrowSchema(record.KindString), nil, narrowMessages(4096, true)},
		{"wide", wideSchema(), nil, wideMessages(4096, false)},
		{"wide,escapes", wideSchema(), nil, wideMessages(4096, true)},
		{"floats", floatSchema(), nil, floatMessages(4096)},
		{"uuid", &record.Schema{Fields: []record.Field{
			of("id", record.KindUUID), of("from", record.KindTimestampTZ), of("to", record.KindTimestampTZNs),
		}}, nil, uuidMessages(4096)},
		{"wide,2 of 20 fields", &record.Schema{Fields: []record.Field{of("id", record.KindLong), of("bytes",
			record.KindLong)}},
			nil, wideMessages(4096, true)},
	} {
		b.Run(c.name, func(b *testing.B) { decodeBlocks(b, newJSON(b, c.schema, c.change), c.schema, c.values) })
	}
}

// BenchmarkMarks compares strings that end where marks say with strings that are scanned when they are met.
func BenchmarkMarks(b *testing.B) {
	defer func(before bool) { marking = before }(marking)
	for _, on := range []bool{true, false} {
		marking = on && hasAVX2
		narrow, wide := narrowSchema(record.KindLong), wideSchema()
		name := map[bool]string{true: "AVX2", false: "words"}[marking]
		b.Run("narrow,"+name, func(b *testing.B) {
			decodeBlocks(b, newJSON(b, narrow, nil), narrow, narrowMessages(4096, false))
		})
		b.Run("wide,"+name, func(b *testing.B) {
			decodeBlocks(b, newJSON(b, wide, nil), wide, wideMessages(4096, true))
		})
	}
}

func decodeBlocks(b *testing.B, d *JSON, s *record.Schema, values []string) {
	b.Helper()
	block, batch, total := blockOf(values...), record.NewBatch(s), 0
	for _, v := range values {
		total += len(v)
	}
	b.SetBytes(int64(total))
	b.ReportAllocs()
	for b.Loop() {
		batch.Reset()
		d.Decode(block, batch)
	}
	if batch.Rows != len(values) {
		b.Fatal(batch.Rejected[0].Reason)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(values)), "ns/record")
}

func BenchmarkScan(b *testing.B) {
	for _, n := range []int{8, 40, 962} {
		text := append(bytes.Repeat([]byte("x"), n), '"')
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if i, _ := scanWords(text, 0); i != n {
					b.Fatal(i)
				}
			}
		})
	}
}
