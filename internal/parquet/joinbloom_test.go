package parquet

import (
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

// TestJoinBlooms looks every value up in filters of joined chunks, of all types, with dictionaries that are equal,
// different, too large, or not there.
func TestJoinBlooms(t *testing.T) {
	for _, c := range matrix() {
		t.Run(c.name, func(t *testing.T) {
			rows := repeat(c.rows, 40)
			backwards := slices.Clone(rows)
			slices.Reverse(backwards)
			blooms := bloomsOf(t, c.schema)
			for i, limit := range []int{0, 20, 1 << 20} {
				var parts []Part
				for k, part := range [][][]any{rows, backwards, rows} {
					parts = append(parts, partOf(t, c.schema, part, Options{Codec: CodecSnappy, PageVersion: 1 + k%2,
						DictionaryBytesMax: (k + i) % 2 << 20, PageRowsMax: 30}))
				}
				data, _ := joinParts(t, c.schema, parts, Options{Blooms: blooms, DictionaryBytesMax: limit})
				checkBlooms(t, data)
				checkFile(t, c.schema, slices.Concat(rows, backwards, rows), data)
			}
		})
	}
}

// TestJoinBloomsExclude lets few other values through, though the parts' own filters are full.
func TestJoinBloomsExclude(t *testing.T) {
	s := referenceSchema()
	blooms := map[int]Bloom{1: {FalseShare: 0.01}, 2: {}}
	var parts []Part
	for i := range int64(20) {
		var rows [][]any
		for k := range int64(500) {
			rows = append(rows, []any{1000*i + k, []byte("x")})
		}
		parts = append(parts, partOf(t, s, rows, Options{Blooms: blooms}))
	}
	data, joined := joinParts(t, s, parts, Options{Blooms: blooms})
	if joined.PagesReencoded != 0 {
		t.Errorf("%d pages were encoded anew", joined.PagesReencoded)
	}
	checkBlooms(t, data)
	m := openFile(t, data).Metadata().RowGroups[0].Columns[0].MetaData
	filter := data[m.BloomFilterOffset+int64(m.BloomFilterLength)-16<<10:][:16<<10]
	if share := passing(filter); share > 0.02 {
		t.Errorf("a filter lets %.3f of other values through", share)
	}
}

// TestJoinBloomsOfOtherEncodings leaves the filter out where a page is neither PLAIN nor of indices.
func TestJoinBloomsOfOtherEncodings(t *testing.T) {
	s, rows := referenceSchema(), words("a", 500, 500)
	o := Options{Blooms: map[int]Bloom{1: {}, 2: {}}, Encodings: EncodingsAuto}
	f := newFile(t, s, o)
	forceEncoding(f, format.DeltaBinaryPacked)
	data, d := fillFile(t, f, s, rows, 100)
	joined, _ := joinParts(t, s, []Part{asPart(data, d), asPart(data, d)}, o)
	checkFile(t, s, slices.Concat(rows, rows), joined)
	columns := openFile(t, joined).Metadata().RowGroups[0].Columns
	if columns[0].MetaData.BloomFilterOffset != 0 || columns[1].MetaData.BloomFilterOffset == 0 {
		t.Errorf("filters at %d and %d, want none and one", columns[0].MetaData.BloomFilterOffset,
			columns[1].MetaData.BloomFilterOffset)
	}
}
