package decode

import (
	"strings"
	"testing"

	"firn/internal/record"
)

// An Avro millis type says what an integer counts; a text is what it says. (C59)
func TestIntegersOfAvroMillisTypesCountMilliseconds(t *testing.T) {
	schema, err := SchemaFromAvro([]byte(`{"type": "record", "name": "r", "fields": [
		{"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
		{"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
		{"name": "fine", "type": {"type": "long", "logicalType": "timestamp-micros"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewJSON(schema, DefaultJSONOptions())
	if err != nil {
		t.Fatal(err)
	}
	batch := record.NewBatch(schema)
	block := &record.Block{Records: []record.Record{
		{Value: []byte(`{"at": 1700000000123, "clock": 86399999, "fine": 1700000000123456}`)},
		{Value: []byte(`{"at": "2023-11-14T22:13:20.123Z", "clock": "23:59:59.999", "fine": "2023-11-14T22:13:20.123456Z"}`)},
		{Value: []byte(`{"at": 9223372036854776, "clock": 0, "fine": 0}`)},
		{Value: []byte(`{"at": 0, "clock": 86400000, "fine": 0}`)},
	}}
	d.Decode(block, batch)
	if batch.Rows != 2 || len(batch.Rejected) != 2 {
		t.Fatalf("%d rows, rejected %v", batch.Rows, batch.Rejected)
	}
	for row := range 2 {
		at, clock, fine := batch.Columns[0].Ints64[row], batch.Columns[1].Ints64[row], batch.Columns[2].Ints64[row]
		if at != 1700000000123000 || clock != 86399999000 || fine != 1700000000123456 {
			t.Errorf("row %d: %d %d %d", row, at, clock, fine)
		}
	}
	for i, want := range []string{
		"does not fit timestamptz (-9223372036854775 to 9223372036854775)",
		"does not fit time (0 to 86399999)",
	} {
		if got := batch.Rejected[i].Reason; !strings.Contains(got, want) {
			t.Errorf("rejected because %s, want %s", got, want)
		}
	}
}
