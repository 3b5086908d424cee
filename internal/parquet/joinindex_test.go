package parquet

import (
	"bytes"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// TestJoinLongIndexes reads page indexes that are longer than what is read with the footer.
func TestJoinLongIndexes(t *testing.T) {
	s, rows := referenceSchema(), words("a text of more than sixteen", 2500, 2500)
	part := partOf(t, s, rows, Options{PageRowsMax: 1, RowGroupBytesMax: 60 << 10})
	data, _ := joinParts(t, s, []Part{part, part}, Options{})
	checkFile(t, s, slices.Concat(rows, rows), data)
	if n := checkIndexes(t, data); n != 2 {
		t.Errorf("%d chunks have a page index, want 2", n)
	}
}

// TestJoinIndexOfSinglePages makes an index for parts that have none, because each of their chunks is one page.
func TestJoinIndexOfSinglePages(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "id", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "tags", Type: listOf(3, false, record.Type{Kind: record.KindString})},
	}}
	parts := []Part{
		partOf(t, s, [][]any{{int64(1), []any{[]byte("a"), nil}}, {nil, nil}}, Options{}),
		partOf(t, s, [][]any{{nil, nil}, {nil, []any{}}, {nil, nil}}, Options{PageVersion: 2}),
		partOf(t, s, [][]any{{int64(-4), []any{[]byte("b"), []byte("")}}}, Options{}),
	}
	data, _ := joinParts(t, s, parts, Options{})
	if n := checkIndexes(t, data); n != 2 {
		t.Errorf("%d chunks have a page index, want 2", n)
	}
	f, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		places, _, err := f.readPageIndex(bytes.NewReader(data), &f.groups[0].chunks[i], 6)
		if err != nil || len(places) != 3 || places[1].FirstRowIndex != 2 || places[2].FirstRowIndex != 5 {
			t.Errorf("pages at %+v, error %v", places, err)
		}
	}
}

// TestJoinIndexThatLies leaves out what an index says of pages that are elsewhere.
func TestJoinIndexThatLies(t *testing.T) {
	c := fileChunk{from: 100, size: 50}
	place := func(offset int64, size int32, row int64) format.PageLocation {
		return format.PageLocation{Offset: offset, CompressedPageSize: size, FirstRowIndex: row}
	}
	for name, places := range map[string][]format.PageLocation{
		"none":          nil,
		"before":        {place(99, 10, 0)},
		"beyond":        {place(140, 11, 0)},
		"row":           {place(100, 10, 1)},
		"same row":      {place(100, 10, 0), place(110, 10, 0)},
		"too many rows": {place(100, 10, 0), place(110, 10, 7)},
		"overlapping":   {place(100, 10, 0), place(109, 10, 1)},
		"negative size": {place(100, -1, 0)},
	} {
		if c.holds(places, 7) {
			t.Errorf("%s: %+v fit", name, places)
		}
	}
	if !c.holds([]format.PageLocation{place(105, 10, 0), place(115, 35, 6)}, 7) {
		t.Error("places that fit do not")
	}
	if parseColumnIndex([]byte{1, 2, 3}) != nil || parseOffsetIndex([]byte{1, 2, 3}) != nil {
		t.Error("an index of three bytes")
	}
}
