package bench

import (
	"encoding/json"
	"testing"

	"firn/internal/decode"
	"firn/internal/record"
)

// TestSampleIsWhatBothSidesRead: the schema, the rival's row and the messages belong together, and all columns are
// used.
func TestSampleIsWhatBothSidesRead(t *testing.T) {
	for _, c := range decodeCases() {
		t.Run(c.name, func(t *testing.T) {
			messages, err := newSample(c.template, 0)
			if err != nil {
				t.Fatal(err)
			}
			schema, err := schemaOf(c.columns)
			if err != nil {
				t.Fatal(err)
			}
			o := decode.DefaultJSONOptions()
			o.RejectUnknownFields, o.AcceptNumbersInStrings = true, c.numbersInStrings
			d, err := decode.NewJSON(schema, o)
			if err != nil {
				t.Fatal(err)
			}
			batch := record.NewBatch(schema)
			d.Decode(messages.blocks[0], batch)
			if len(batch.Rejected) > 0 {
				t.Fatal(batch.Rejected[0].Reason)
			}
			for i := range batch.Columns {
				if !anyTrue(batch.Columns[i].Valid) {
					t.Errorf("column %s is always null", schema.Fields[i].Name)
				}
			}
			for _, r := range messages.blocks[0].Records {
				if err := json.Unmarshal(r.Value, c.row()); err != nil {
					t.Fatalf("%s: %v", r.Value, err)
				}
			}
		})
	}
}

func anyTrue(values []bool) bool {
	for _, v := range values {
		if v {
			return true
		}
	}
	return false
}

func TestSampleIsTheSameEachTime(t *testing.T) {
	a, err := newSample(wideTemplate, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newSample(wideTemplate, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(a.blocks[0].Records[17].Value), string(b.blocks[0].Records[17].Value); got != want {
		t.Errorf("%s and %s", got, want)
	}
}

func TestNarrowMessagesHaveTheirSize(t *testing.T) {
	messages, err := newSample(narrowTemplate, 5)
	if err != nil {
		t.Fatal(err)
	}
	if messages.bytes < 5e6 || len(messages.blocks) != 2 {
		t.Errorf("%d bytes in %d blocks", messages.bytes, len(messages.blocks))
	}
	for _, r := range messages.blocks[0].Records {
		if len(r.Value) != narrowBytes {
			t.Fatalf("%d bytes, want %d: %s", len(r.Value), narrowBytes, r.Value)
		}
	}
}
