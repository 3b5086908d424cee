package bigquery

import (
	"bytes"
	"testing"

	"firn/internal/decode"
	"firn/internal/record"
)

// Whatever a message holds, a server reads it as the columns have it, or the row is refused.
func FuzzRows(f *testing.F) {
	f.Add([]byte(`{"string":"a","int64":-1,"numeric":"1.5","big":1e20,"date":"2026-11-29","time":"12:00:00","json":[1]}`))
	f.Add([]byte(`{"short":"größer","few":"AAAAAA==","strings":["a","b"],"int64s":[1,-2],"dates":["0001-01-01"]}`))
	f.Add([]byte(`{"timestamp":"9999-12-31T23:59:59.999999Z","datetime":"0001-01-01T00:00:00","inner":{"money":-1.25}}`))
	f.Add([]byte(`{"structs":[{"float64":1.5,"inner":{"jsons":[1,"x",null],"bigs":["-1e-38",5.8e38]}},{}],"bools":[]}`))
	table := everyTable()
	rows, err := RecordSchema(table)
	if err != nil {
		f.Fatal(err)
	}
	d, err := decode.NewJSON(rows, decode.DefaultJSONOptions())
	if err != nil {
		f.Fatal(err)
	}
	e, batch := encoderOf(f, rows, table), record.NewBatch(rows)
	f.Fuzz(func(t *testing.T, in []byte) {
		batch.Reset()
		block := &record.Block{}
		for line := range bytes.Lines(in) {
			block.Records = append(block.Records, record.Record{Value: line})
		}
		d.Decode(block, batch)
		checkAgainstModel(t, e, batch, table)
	})
}

// Bytes that are no rows give an error.
func FuzzWithoutRows(f *testing.F) {
	f.Add([]byte{rowsTag, 1, 'a', rowsTag, 0}, 1)
	f.Add([]byte{rowsTag, 0xff}, 0)
	f.Fuzz(func(t *testing.T, rows []byte, index int) {
		left, err := WithoutRows(nil, rows, []int{index})
		if err == nil && len(left) >= len(rows) {
			t.Errorf("%d bytes of %d are left without row %d", len(left), len(rows), index)
		}
	})
}
