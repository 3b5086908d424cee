package bigquery

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestLatest holds what is visible of changes against a model: of each key the change with the highest number, the
// later one among equals.
func TestLatest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "changes")
		var visible []stored
		last := make(map[int64]stored)
		for i := range n {
			key := rapid.Int64Range(0, 3).Draw(t, "key")
			s := stored{
				row:      Row{"id": key, "n": int64(i)},
				change:   rapid.SampledFrom([]string{"UPSERT", "DELETE"}).Draw(t, "change"),
				sequence: []uint64{rapid.Uint64Range(0, 4).Draw(t, "number")},
			}
			visible = append(visible, s)
			if before, ok := last[key]; !ok || s.sequence[0] >= before.sequence[0] {
				last[key] = s
			}
		}
		want := make(map[int64]any)
		for key, s := range last {
			if s.change == "UPSERT" {
				want[key] = s.row["n"]
			}
		}
		got := make(map[int64]any)
		for _, row := range latest(visible, []string{"id"}) {
			got[row["id"].(int64)] = row["n"]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLogCheck(t *testing.T) {
	at := func(stream string, offset int64, n int) Append {
		return Append{Stream: stream, Offset: offset, Rows: make([]Row, n)}
	}
	for name, c := range map[string]struct {
		log Log
		ok  bool
	}{
		"sound":          {Log{at("a", 0, 2), at("b", 0, 1), at("a", 2, 1), at("d", -1, 5), at("d", -1, 5)}, true},
		"gap":            {Log{at("a", 0, 2), at("a", 3, 1)}, false},
		"duplicate":      {Log{at("a", 0, 2), at("a", 0, 2)}, false},
		"does not begin": {Log{at("a", 1, 1)}, false},
	} {
		if err := c.log.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChecksumTellsOrderAndSums(t *testing.T) {
	sums := make(map[uint64]string)
	for i := range 1000 {
		text := strconv.Itoa(i)
		if other, ok := sums[Checksum([]byte(text))]; ok {
			t.Errorf("%s and %s have the same checksum", text, other)
		}
		sums[Checksum([]byte(text))] = text
	}
	if Checksum([]byte("a"))+Checksum([]byte("d")) == Checksum([]byte("b"))+Checksum([]byte("c")) {
		t.Error("two pairs of rows have the same sum")
	}
}
