package parquet

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"firn/internal/record"
)

// TestJoinSplitsPlainPages writes pages of long values, whose dictionary is full, as several that are not too large.
func TestJoinSplitsPlainPages(t *testing.T) {
	text := record.Type{Kind: record.KindString}
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "required", Required: true, Type: text},
		{ID: 2, Name: "optional", Type: text},
		{ID: 3, Name: "list", Type: listOf(4, false, text)},
		{ID: 5, Name: "fixed", Type: record.Type{Kind: record.KindFixed, Length: 100}},
	}}
	rowsOf := func(letter byte) [][]any {
		var rows [][]any
		for i := range 3000 {
			long := append(bytes.Repeat([]byte{letter}, 90), fmt.Appendf(nil, "%10d", i%20)...)
			row := []any{long, long, []any{long, nil, long}[:i%4%3], long}
			if i%7 == 0 || i > 1000 && i < 2000 {
				row[1], row[2], row[3] = nil, nil, nil
			}
			rows = append(rows, row)
		}
		return rows
	}
	first, second := rowsOf('a'), rowsOf('b')
	for _, version := range []int{1, 2} {
		o := Options{Codec: CodecSnappy, PageVersion: version, DictionaryBytesMax: 1 << 20, PageChecksums: true,
			PageBytesMax: 10 << 10, PageRowsMax: 1500}
		parts := []Part{partOf(t, s, first, o), partOf(t, s, second, o)}
		o.DictionaryBytesMax = 1
		data, joined := joinParts(t, s, parts, o)
		all := slices.Concat(first, second)
		checkFile(t, s, all, data)
		checkMetrics(t, s, all, joined.File)
		if checkIndexes(t, data) != 4 {
			t.Error("not all columns have a page index")
		}
		f, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for leaf := range 4 {
			indexed, plain := pageCountsOf(t, data, leaf)
			if indexed < 2 || indexed > 4 || plain < 4 {
				t.Errorf("column %s has %d pages of indices and %d of values", f.leaves[leaf].name, indexed, plain)
			}
			var p pageSource
			p.pool = NewPool(0)
			p.open(bytes.NewReader(data), f.groups[0].chunks[leaf].from, f.groups[0].chunks[leaf].size)
			for p.left() > 0 {
				h, err := p.head()
				if err != nil {
					t.Fatal(err)
				}
				if h.uncompressed > 11<<10 {
					t.Errorf("a page of %d bytes", h.uncompressed)
				}
				if _, err := p.take(h.size + h.compressed); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
