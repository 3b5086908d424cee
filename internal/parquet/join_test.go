package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"firn/internal/record"
)

// contextOf is the test's context; a drawn case has none of its own.
func contextOf(t tb) context.Context {
	if t, ok := t.(*testing.T); ok {
		return t.Context()
	}
	return context.Background()
}

// TestJoinMatrix joins every type in every nesting. The parts have equal dictionaries or none, so that no page is
// encoded anew.
func TestJoinMatrix(t *testing.T) {
	for _, c := range matrix() {
		t.Run(c.name, func(t *testing.T) {
			rows := repeat(c.rows, 150)
			for i := range 4 {
				o := Options{Codec: CodecZstd, PageBytesMax: 1 << 10, DictionaryBytesMax: i % 2 << 20, PageVersion: 1 + i/2}
				part := partOf(t, c.schema, rows, o)
				data, joined := joinParts(t, c.schema, []Part{part, part, part}, o)
				all := slices.Concat(rows, rows, rows)
				checkFile(t, c.schema, all, data)
				checkMetrics(t, c.schema, all, joined.File)
				if joined.PagesReencoded != 0 || joined.BytesReencoded != 0 {
					t.Fatalf("%d pages were encoded anew", joined.PagesReencoded)
				}
				if f := openFile(t, data); len(f.RowGroups()) != 1 {
					t.Fatalf("%d row groups", len(f.RowGroups()))
				}
				checkIndexes(t, data)
			}
		})
	}
}

// TestJoinAnything joins random rows of random schemas, written with random options, and reads them back with two
// other implementations.
func TestJoinAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := (&schemaGen{t: rt}).schema()
		codecs := []Codec{rapid.SampledFrom([]Codec{CodecNone, CodecSnappy, CodecGzip, CodecZstd}).Draw(rt, "codec")}
		mixed := rapid.IntRange(0, 3).Draw(rt, "mixed") == 0
		if mixed {
			codecs = []Codec{CodecNone, CodecSnappy, CodecGzip, CodecZstd, CodecLZ4Raw}
		}
		var all [][]any
		var parts []Part
		for range rapid.IntRange(0, 5).Draw(rt, "parts") {
			rows := someRows(rt, s, 30)
			parts = append(parts, partOf(rt, s, rows, Options{
				Codec:              rapid.SampledFrom(codecs).Draw(rt, "codec of part"),
				PageChecksums:      rapid.Bool().Draw(rt, "checksums"),
				PageVersion:        rapid.IntRange(1, 2).Draw(rt, "version"),
				Encodings:          rapid.SampledFrom([]Encodings{EncodingsCompatible, EncodingsAuto}).Draw(rt, "encodings"),
				PageRowsMax:        rapid.SampledFrom([]int{0, 1, 17}).Draw(rt, "page rows"),
				PageBytesMax:       rapid.IntRange(pageBytesMinMax, 4<<10).Draw(rt, "page"),
				RowGroupBytesMax:   int64(rapid.IntRange(1, 16<<10).Draw(rt, "row group")),
				DictionaryBytesMax: rapid.SampledFrom([]int{0, 16, 1 << 10, 1 << 20}).Draw(rt, "dictionary"),
			}))
			all = append(all, rows...)
		}
		data, joined := joinParts(rt, s, parts, Options{
			Codec:              rapid.SampledFrom(codecs).Draw(rt, "codec of all"),
			RowGroupBytesMax:   int64(rapid.IntRange(1, 64<<10).Draw(rt, "row group of all")),
			DictionaryBytesMax: rapid.SampledFrom([]int{0, 16, 1 << 10, 1 << 20}).Draw(rt, "dictionary of all"),
		})
		checkMetrics(rt, s, all, joined.File)
		if len(all) == 0 {
			return
		}
		checkArrow(rt, s, all, data)
		if !mixed { // parquet-go takes the codec of the first row group for all
			checkTriples(rt, s, all, data)
		}
	})
}

// words is rows of a number and of one of n texts that start with a letter.
func words(letter string, rows, n int) [][]any {
	out := make([][]any, rows)
	for i := range out {
		out[i] = []any{int64(i), fmt.Appendf(nil, "%s of %d", letter, i*i%n)}
	}
	return out
}

// TestJoinRemaps joins parts whose dictionaries differ, in both versions of pages and with every codec.
func TestJoinRemaps(t *testing.T) {
	s := referenceSchema()
	parts := [][][]any{words("a", 3000, 30), words("b", 3000, 40), words("a", 3000, 20), words("a", 500, 30)}
	parts[1][17][1] = nil
	all := slices.Concat(parts...)
	for _, codec := range []Codec{CodecNone, CodecSnappy, CodecGzip, CodecZstd, CodecLZ4Raw} {
		for version := range 2 {
			t.Run(fmt.Sprintf("%s version %d", codec, version+1), func(t *testing.T) {
				o := Options{Codec: codec, DictionaryBytesMax: 1 << 20, PageVersion: version + 1, PageRowsMax: 1000,
					PageChecksums: version == 0}
				var files []Part
				for _, rows := range parts {
					files = append(files, partOf(t, s, rows, o))
				}
				data, joined := joinParts(t, s, files, o)
				checkArrow(t, s, all, data)
				checkMetrics(t, s, all, joined.File)
				f := openFile(t, data)
				if codec != CodecLZ4Raw {
					checkTriples(t, s, all, data)
					checkIndexes(t, data)
				}
				// The first part's pages stay, and those of the last, whose texts come in the same order.
				const dictionary, remapped, copied = 1, 6, 4
				if joined.PagesReencoded != dictionary+remapped {
					t.Errorf("%d pages were encoded anew, want %d", joined.PagesReencoded, dictionary+remapped)
				}
				kind := []format.PageType{format.DataPage, format.DataPageV2}[version]
				want := map[format.PageEncodingStats]int32{
					{PageType: format.DictionaryPage, Encoding: format.Plain}: 1,
					{PageType: kind, Encoding: format.RLEDictionary}:          remapped + copied,
				}
				if got := encodingStats(f, 1); !maps.Equal(got, want) {
					t.Errorf("pages are %v, want %v", got, want)
				}
			})
		}
	}
}

// TestJoinFullDictionary has no room for the second part's values.
func TestJoinFullDictionary(t *testing.T) {
	s := referenceSchema()
	parts := [][][]any{words("a", 2000, 30), words("b", 2000, 40), words("a", 2000, 30)}
	slices.Reverse(parts[2])
	for _, version := range []int{1, 2} {
		o := Options{Codec: CodecZstd, DictionaryBytesMax: 1 << 20, PageVersion: version}
		var files []Part
		for _, rows := range parts {
			files = append(files, partOf(t, s, rows, o))
		}
		o.DictionaryBytesMax = 150
		data, joined := joinParts(t, s, files, o)
		checkFile(t, s, slices.Concat(parts...), data)
		if indexed, plain := pageCountsOf(t, data, 1); indexed != 2 || plain != 1 {
			t.Errorf("%d pages of indices and %d of values, want 2 and 1", indexed, plain)
		}
		if joined.PagesReencoded != 2 {
			t.Errorf("%d pages encoded anew, want 2", joined.PagesReencoded)
		}
	}
}

func pageCountsOf(t *testing.T, data []byte, leaf int) (indexed, plain int32) {
	t.Helper()
	for s, n := range encodingStats(openFile(t, data), leaf) {
		switch {
		case s.PageType == format.DictionaryPage:
		case s.Encoding == format.RLEDictionary:
			indexed += n
		case s.Encoding == format.Plain:
			plain += n
		}
	}
	return indexed, plain
}

// TestJoinWithAndWithoutDictionary copies all pages: values can follow indices, and the other way round.
func TestJoinWithAndWithoutDictionary(t *testing.T) {
	s, rows := referenceSchema(), words("a", 2000, 30)
	with, without := Options{Codec: CodecSnappy, DictionaryBytesMax: 1 << 20}, Options{Codec: CodecSnappy}
	files := []Part{partOf(t, s, rows, without), partOf(t, s, rows, with), partOf(t, s, rows, without),
		partOf(t, s, rows, with)}
	data, joined := joinParts(t, s, files, with)
	checkFile(t, s, slices.Concat(rows, rows, rows, rows), data)
	if joined.PagesReencoded != 0 || joined.PagesCopied != 4+4+1 {
		t.Errorf("%d pages encoded anew and %d copied, want 0 and 9", joined.PagesReencoded, joined.PagesCopied)
	}
	if indexed, plain := pageCountsOf(t, data, 1); indexed != 2 || plain != 2 {
		t.Errorf("%d pages of indices and %d of values, want 2 and 2", indexed, plain)
	}
}

// TestJoinCodecs gives the pages of all parts the codec of most.
func TestJoinCodecs(t *testing.T) {
	s, rows := referenceSchema(), words("a", 2000, 2000)
	for _, version := range []int{1, 2} {
		var files []Part
		for _, codec := range []Codec{CodecZstd, CodecNone, CodecZstd, CodecSnappy, CodecLZ4Raw, CodecGzip, CodecZstd} {
			files = append(files, partOf(t, s, rows, Options{Codec: codec, PageVersion: version, PageChecksums: true}))
		}
		data, joined := joinParts(t, s, files, Options{})
		checkFile(t, s, repeat(rows, len(files)*len(rows)), data)
		if joined.PagesReencoded == 0 || joined.PagesCopied == 0 {
			t.Errorf("%d pages encoded anew and %d copied", joined.PagesReencoded, joined.PagesCopied)
		}
	}
}

// TestJoinRowGroups puts row groups together up to the limit, and leaves larger ones as they are.
func TestJoinRowGroups(t *testing.T) {
	s, rows := referenceSchema(), words("a", 1000, 1000)
	part := partOf(t, s, rows, Options{})
	size := part.File.ColumnSizes[1] + part.File.ColumnSizes[2]
	for _, c := range []struct {
		limit int64
		want  []int64
	}{
		{size - 1, []int64{1000, 1000, 1000, 1000, 1000}},
		{2 * size, []int64{2000, 2000, 1000}},
		{3*size - 1, []int64{2000, 2000, 1000}},
		{5 * size, []int64{5000}},
	} {
		data, joined := joinParts(t, s, slices.Repeat([]Part{part}, 5), Options{RowGroupBytesMax: c.limit})
		checkFile(t, s, repeat(rows, 5000), data)
		var got []int64
		for _, g := range openFile(t, data).Metadata().RowGroups {
			got = append(got, g.NumRows)
		}
		if !slices.Equal(got, c.want) || joined.PagesReencoded != 0 {
			t.Errorf("limit %d: row groups of %d rows, want %d", c.limit, got, c.want)
		}
	}
}

// TestJoinNothing makes a file without rows.
func TestJoinNothing(t *testing.T) {
	s := referenceSchema()
	empty := partOf(t, s, nil, Options{})
	for _, parts := range [][]Part{nil, {empty}, {empty, empty}} {
		data, joined := joinParts(t, s, parts, Options{})
		if f := openFile(t, data); f.NumRows() != 0 || joined.File.Rows != 0 {
			t.Errorf("%d rows", f.NumRows())
		}
	}
}

// TestJoinReads reads a small part once for the footer and once for each chunk, and a large chunk in large pieces.
func TestJoinReads(t *testing.T) {
	s := referenceSchema()
	small := partOf(t, s, words("a", 1000, 10), Options{DictionaryBytesMax: 1 << 20})
	other := partOf(t, s, words("b", 1000, 10), Options{DictionaryBytesMax: 1 << 20})
	var long [][]any
	for i := range 12 {
		long = append(long, []any{int64(i), bytes.Repeat([]byte{'x'}, 1<<20)})
	}
	large := partOf(t, s, long, Options{})
	readers := make([]*countingReader, 3)
	parts := []Part{small, other, large}
	for i := range parts {
		readers[i] = &countingReader{Reader: parts[i].Bytes.(*bytes.Reader)}
		parts[i].Bytes = readers[i]
	}
	joinParts(t, s, parts, Options{DictionaryBytesMax: 1 << 20})
	for _, r := range readers[:2] {
		if len(r.reads) != 3 {
			t.Errorf("reads of %d bytes of a small part, want 3", r.reads)
		}
	}
	if n := len(readers[2].reads); n > 6 {
		t.Errorf("reads of %d bytes of a large part", readers[2].reads)
	}
}

// TestJoinRefuses says what does not fit.
func TestJoinRefuses(t *testing.T) {
	s, rows := referenceSchema(), words("a", 100, 100)
	part := partOf(t, s, rows, Options{})
	field := func(change func(f *record.Field)) *record.Schema {
		out := referenceSchema()
		change(&out.Fields[1])
		return out
	}
	for name, c := range map[string]struct {
		schema *record.Schema
		want   string
	}{
		"id":        {field(func(f *record.Field) { f.ID = 7 }), "no column message of field id 7"},
		"type":      {field(func(f *record.Field) { f.Type.Kind = record.KindBinary }), "logical type STRING"},
		"physical":  {field(func(f *record.Field) { f.Type.Kind = record.KindLong }), "BYTE_ARRAY"},
		"required":  {field(func(f *record.Field) { f.Required = true }), `levels "o"`},
		"fewer":     {&record.Schema{Fields: s.Fields[:1]}, "2 columns of values, the table has 1"},
		"in a list": {field(func(f *record.Field) { f.ID, f.Type = 9, listOf(2, true, f.Type) }), "o*"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Join(t.Context(), io.Discard, []Part{part}, JoinOptions{Schema: c.schema})
			if !errors.Is(err, ErrSchemaDiffers) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	other := part
	other.File.Rows++
	if _, err := Join(t.Context(), io.Discard, []Part{other}, JoinOptions{Schema: s}); err == nil ||
		!strings.Contains(err.Error(), "described to have 101") {
		t.Errorf("error %v for another file's description", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Join(ctx, io.Discard, []Part{part}, JoinOptions{Schema: s}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v when cancelled", err)
	}
}

// TestJoinFailures stops at what fails: each read, and writes.
func TestJoinFailures(t *testing.T) {
	s, rows := referenceSchema(), words("a", 1000, 10)
	o := Options{DictionaryBytesMax: 1 << 20, PageRowsMax: 100}
	data, d := writeFile(t, s, rows, o, 100)
	for n := range 10 {
		r := &failingReader{Reader: bytes.NewReader(data), left: n}
		part := Part{Bytes: r, SizeBytes: int64(len(data)), File: d}
		_, err := Join(t.Context(), io.Discard, []Part{part}, JoinOptions{Schema: s})
		if failed := r.left < 0; failed != errors.Is(err, errOfReader) {
			t.Fatalf("read %d: error %v", n, err)
		}
	}
	parts := slices.Repeat([]Part{asPart(data, d)}, 300)
	if _, err := Join(t.Context(), &failingWriter{}, parts, JoinOptions{Schema: s}); err == nil {
		t.Error("no error when nothing can be written")
	}
}

var errOfReader = errors.New("the store is gone")

type failingReader struct {
	*bytes.Reader
	left int
}

func (r *failingReader) ReadAt(b []byte, at int64) (int, error) {
	if r.left--; r.left < 0 {
		return 0, errOfReader
	}
	return r.Reader.ReadAt(b, at)
}

// TestJoinRemapsLongPages has more indices in a page than are read at once, in runs that end anywhere.
func TestJoinRemapsLongPages(t *testing.T) {
	s := referenceSchema()
	var all [][]any
	var files []Part
	for k := range 3 {
		var rows [][]any
		for i := range 2*dictionaryEntriesMax + 77 {
			rows = append(rows, []any{int64(i % 3), fmt.Appendf(nil, "text %d", (i+k)/(9+k)*(k+1)%23)})
		}
		all = append(all, rows...)
		files = append(files, partOf(t, s, rows, Options{DictionaryBytesMax: 1 << 20}))
	}
	data, joined := joinParts(t, s, files, Options{DictionaryBytesMax: 1 << 20})
	checkFile(t, s, all, data)
	if joined.PagesReencoded == 0 || joined.BytesReencoded < 2*dictionaryEntriesMax/8 {
		t.Errorf("%d pages of %d bytes encoded anew", joined.PagesReencoded, joined.BytesReencoded)
	}
}

// TestJoinFindsDamage does not give a page that is damaged a new checksum.
func TestJoinFindsDamage(t *testing.T) {
	s, rows := referenceSchema(), words("a", 1000, 10)
	o := Options{DictionaryBytesMax: 1 << 20, PageChecksums: true}
	other := partOf(t, s, words("b", 1000, 10), o)
	data, d := writeFile(t, s, rows, o, 100)
	f, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	text := f.groups[0].chunks[1]
	for name, at := range map[string]int64{"dictionary": text.from + 60, "indices": text.from + text.size - 20} {
		bad := bytes.Clone(data)
		bad[at] ^= 1
		_, err := Join(t.Context(), io.Discard, []Part{other, asPart(bad, d)}, JoinOptions{Schema: s, Options: o})
		if err == nil || !strings.Contains(err.Error(), "the file is damaged") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
