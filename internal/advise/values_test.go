package advise

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

func TestValues(t *testing.T) {
	schema := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "id", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "who", Type: record.Type{Kind: record.KindStruct, Fields: []record.Field{
			{ID: 3, Name: "name", Type: record.Type{Kind: record.KindString}},
		}}},
	}}
	b := record.NewBatch(schema)
	for i, name := range []string{"a", "", "b"} {
		for k := range b.Columns {
			b.Columns[k].Grow()
			b.Columns[k].Valid[i] = true
		}
		b.Columns[0].Ints64[i] = int64(i)
		c := &b.Columns[1].Children[0]
		c.Valid[i], c.Bytes[i] = name != "", []byte(name)
	}
	b.Rows = 3
	f := func(path string, kind record.Kind, want ...string) {
		t.Helper()
		got, k, err := Values(b, path)
		if err != nil || k != kind {
			t.Errorf("%s: kind %s, error %v", path, k, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
	f("id", record.KindLong, "=0", "=1", "=2")
	f("who.name", record.KindString, "=a", "", "=b") // a null is no empty text
	for _, path := range []string{"nope", "who.nope", "id.x"} {
		if _, _, err := Values(b, path); err == nil {
			t.Errorf("%s was found", path)
		}
	}
	if Bucketable(record.KindDouble) || !Bucketable(record.KindString) || !Bucketable(record.KindTimestampTZ) {
		t.Error("the spec makes buckets of texts and times, not of floats")
	}
}
