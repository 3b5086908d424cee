package bench

import (
	"fmt"

	"firn/internal/decode"
	"firn/internal/gen"
	"firn/internal/record"
)

// The messages to measure with, as templates of the generator, and the columns that they become.
const (
	// narrowTemplate is the reference message with its number as JSON has numbers: 1,001 bytes. The rivals were measured
	// with the same.
	narrowTemplate = `{"logStreamId": {{integer(1000001,2000000)}}, "message": "{{alphaNumeric(962)}}"}`
	narrowColumns  = "struct<logStreamId: long, message: string>"

	// wideTemplate has 20 fields of mixed types, one of them nested, and about 500 bytes.
	wideTemplate = `{"id":{{long(1,9000000000000000000)}},"user_id":{{integer(1,1000000000)}},"session":"{{hex(8)}}",` +
		`"event":"{{random("page_view","click","purchase","add_to_cart","error")}}","ok":{{bool()}},` +
		`"score":{{double(0,1,"%.4f")}},"lat":{{double(-90,90,"%.6f")}},"lon":{{double(-180,180,"%.6f")}},` +
		`"ts":"{{date("01-01-2026 00:00:00","01-01-2027 00:00:00","yyyy-MM-dd'T'HH:mm:ss.SSSX")}}",` +
		`"recv":"{{date("01-01-2026 00:00:00","01-01-2027 00:00:00","yyyy-MM-dd'T'HH:mm:ss.SSSX")}}",` +
		`"price":{{double(0,5000,"%.2f")}},"qty":{{integer(0,50)}},"country":"{{random("DE","US","FR","IL")}}",` +
		`"device":{"os":"{{random("ios","android","windows")}}",` +
		`"ver":"{{integer(0,20)}}.{{integer(0,9)}}.{{integer(0,9)}}","w":{{integer(800,2800)}},"retina":{{bool()}}},` +
		`"referrer":{{random("null","null",'"https://example.com/p/17?q=a4"','"https://example.com/cart"')}},` +
		`"ip":"{{ipv4()}}","ua":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/{{integer(100,130)}}.0.0.0",` +
		`"is_new":{{bool()}},"note":{{random("null","null","null",'"said \"hi\"\nand left"','"gr\u00f6\u00dfe"')}},` +
		`"bytes":{{integer(0,1000000000)}}}`
	wideColumns = "struct<id: long, user_id: long, session: string, event: string, ok: boolean, score: double, " +
		"lat: double, lon: double, ts: timestamptz, recv: timestamptz, price: decimal(9,2), qty: int, country: string, " +
		"device: struct<os: string, ver: string, w: int, retina: boolean>, referrer: string, ip: string, ua: string, " +
		"is_new: boolean, note: string, bytes: long>"
)

// kind is one sort of message: a template and the columns that its fields become.
type kind struct {
	name     string
	template string
	columns  string
	bytes    int64 // about, of one message
}

func narrow() kind { return kind{"narrow", narrowTemplate, narrowColumns, narrowBytes} }

func wide() kind { return kind{"wide", wideTemplate, wideColumns, 500} }

// sampleSeed makes every run measure with the same messages.
const sampleSeed = 7

// blockRecords is how many records a block has, about as many as a fetch of a busy topic partition.
const blockRecords = 4096

// sample is messages in blocks, as a source gives them.
type sample struct {
	blocks []*record.Block
	bytes  int64
}

// newSample makes at least the given million bytes of messages, and at least one block.
func newSample(template string, mb int) (*sample, error) {
	compiled, err := gen.Compile(template, gen.Options{Seed: sampleSeed})
	if err != nil {
		return nil, fmt.Errorf("compiling the message template: %w", err)
	}
	state := compiled.NewState(0)
	s := &sample{}
	for len(s.blocks) == 0 || s.bytes < int64(mb)*1e6 {
		block := newBlock(compiled, state)
		s.blocks = append(s.blocks, block)
		s.bytes += int64(block.Bytes)
	}
	return s, state.Err()
}

// newBlock makes a block whose values lie in one buffer, one after the other, as in a fetched batch.
func newBlock(template *gen.Template, state *gen.State) *record.Block {
	var text []byte
	ends := make([]int, blockRecords)
	for i := range ends {
		text = template.Append(text, state)
		ends[i] = len(text)
	}
	block := &record.Block{
		TopicPartition: record.TopicPartition{Topic: "bench"}, Records: make([]record.Record, blockRecords), Bytes: len(text),
	}
	start := 0
	for i, end := range ends {
		block.Records[i] = record.Record{Offset: int64(i), Value: text[start:end:end]}
		start = end
	}
	return block
}

// schemaOf reads columns written as a struct's type, with the field ids of a new table.
func schemaOf(columns string) (*record.Schema, error) {
	t, err := decode.ParseType(columns)
	if err != nil {
		return nil, err
	}
	return decode.AssignIDs(t.Fields), nil
}
