package kafka

import (
	"testing"

	"pgregory.net/rapid"

	"firn/internal/record"
)

func TestBlocksAreBounded(t *testing.T) {
	f := func(name string, want []int, sizes ...int) {
		t.Run(name, func(t *testing.T) {
			c := cutter{slabs: new(slabs), bytesMax: blockBytesMax}
			c.start(orders, 0)
			for i, n := range sizes {
				c.add(record.Record{Offset: int64(i), Value: make([]byte, n)}, nil)
			}
			var got []int
			for _, b := range c.end() {
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
		var records []record.Record
		c := cutter{slabs: new(slabs), bytesMax: rapid.IntRange(1, blockBytesMax).Draw(t, "bytes at most")}
		c.start(orders, position)
		for range rapid.IntRange(1, 30).Draw(t, "records") {
			offset += rapid.Int64Range(0, 3).Draw(t, "hole")
			records = append(records, record.Record{
				Offset: offset, Value: make([]byte, rapid.IntRange(0, blockBytesMax/3).Draw(t, "size")),
			})
			c.add(records[len(records)-1], nil)
			offset++
		}
		next, seen := position, 0
		for _, b := range c.end() {
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
			if bytes > c.bytesMax && len(b.Records) > 1 {
				t.Fatalf("a block of %d bytes and %d records, %d are the most", bytes, len(b.Records), c.bytesMax)
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

// The records of a block are used again once it is released, as far as the limit goes, and keep nothing alive.
func TestReleasedRecordsAreUsedAgain(t *testing.T) {
	s := &slabs{bytesMax: slabRecords * recordOverhead}
	c := cutter{slabs: s, bytesMax: blockBytesMax}
	block := func() *record.Block {
		c.start(orders, 0)
		c.add(record.Record{Value: []byte("v")}, nil)
		return c.end()[0]
	}
	one, two := block(), block()
	first := &one.Records[0]
	one.Release()
	two.Release()
	if len(s.idle) != 1 || first.Value != nil || one.Records != nil {
		t.Errorf("%d slabs are idle, want 1; the record is %+v", len(s.idle), first)
	}
	if again := block(); &again.Records[0] != first {
		t.Error("the records are not used again")
	}
	two.Release() // a second time
	if s.bytes != 0 {
		t.Errorf("%d bytes are idle", s.bytes)
	}
}
