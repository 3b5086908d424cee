package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

func TestBlocksAreBounded(t *testing.T) {
	f := func(name string, want []int, sizes ...int) {
		t.Run(name, func(t *testing.T) {
			var records []*kgo.Record
			for i, n := range sizes {
				records = append(records, &kgo.Record{Offset: int64(i), Value: make([]byte, n)})
			}
			var got []int
			for _, b := range appendBlocks(nil, orders, 0, records) {
				got = append(got, len(b.Records))
			}
			if len(got) != len(want) {
				t.Fatalf("blocks of %v records, want %v", got, want)
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("blocks of %v records, want %v", got, want)
				}
			}
		})
	}
	f("one", []int{1}, 1)
	f("just full", []int{2}, blockBytesMax-1, 1)
	f("one byte more", []int{1, 1}, blockBytesMax, 1)
	f("too large alone", []int{1, 1, 1}, 1, blockBytesMax+1, 1)
	f("empty ones", []int{3}, 0, 0, 0)
	many := make([]int, blockRecordsMax+1)
	f("many small ones", []int{blockRecordsMax, 1}, many...)
}

// Whatever the records, the blocks hold each once, in order, and their ranges tile.
func TestBlocksTile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		position := rapid.Int64Range(0, 1<<40).Draw(t, "position")
		offset := position
		var records []*kgo.Record
		for range rapid.IntRange(1, 30).Draw(t, "records") {
			offset += rapid.Int64Range(0, 3).Draw(t, "hole")
			records = append(records, &kgo.Record{
				Offset: offset, Value: make([]byte, rapid.IntRange(0, blockBytesMax/3).Draw(t, "size")),
			})
			offset++
		}
		next, seen := position, 0
		for _, b := range appendBlocks(nil, orders, position, records) {
			if b.Range.From != next || len(b.Records) == 0 {
				t.Fatalf("block from %d of %d records, want from %d", b.Range.From, len(b.Records), next)
			}
			bytes := 0
			for _, r := range b.Records {
				if r.Offset != records[seen].Offset {
					t.Fatalf("offset %d, want %d", r.Offset, records[seen].Offset)
				}
				bytes += len(r.Value)
				seen++
			}
			if bytes != b.Bytes {
				t.Fatalf("a block of %d bytes counts %d", bytes, b.Bytes)
			}
			next = b.Range.To
		}
		if next != offset || seen != len(records) {
			t.Fatalf("%d records to %d, want %d to %d", seen, next, len(records), offset)
		}
	})
}
