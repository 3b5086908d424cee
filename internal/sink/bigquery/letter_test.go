package bigquery

import (
	"encoding/json"
	"testing"
)

// A refused row can be read by a person, whoever refused it.
func TestRefusedRowsAreText(t *testing.T) {
	w := newWorld(t)
	b := w.batch(4, 6, func(int64) string { return "a" })
	e := encoderOf(t, w.rows, w.table)
	rows, _ := e.Append(nil, b, 0, b.Rows)
	f, err := newRefusals(e.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	named, err := f.named(rows, []RowError{{Index: 1, Message: "no"}})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := ofBatch(b, []Refused{{Row: 1, Field: "s", Reason: "no"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(named, ours...) {
		var row map[string]any
		if err := json.Unmarshal(r.Row, &row); err != nil || row["s"] != "a" || r.Reason != "no" {
			t.Errorf("%s, %v: %v", r.Row, r, err)
		}
	}
	if _, err := f.named(rows, []RowError{{Index: 2}}); err == nil {
		t.Error("no error for a row that is not there")
	}
}
