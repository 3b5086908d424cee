package parquet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// forceEncoding makes all pages of f that have no dictionary be encoded so.
func forceEncoding(f *File, e format.Encoding) {
	for i := range f.leaves {
		f.leaves[i].learned = &learned{encoding: encodingChoice{encoding: e, due: math.MaxInt64}}
	}
}

// TestEncodingsOfTheMatrix writes every type in every nesting in every encoding that it can have.
func TestEncodingsOfTheMatrix(t *testing.T) {
	for _, c := range matrix() {
		t.Run(c.name, func(t *testing.T) {
			for _, e := range otherEncodingsOf(t, c.schema) {
				for i, rows := range [][][]any{c.rows, repeat(c.rows, 300)} {
					o := Options{PageBytesMax: 1 << 10, RowGroupBytesMax: 1 << 12, Encodings: EncodingsAuto, PageVersion: 1 + i}
					f := newFile(t, c.schema, o)
					forceEncoding(f, e)
					data, _ := fillFile(t, f, c.schema, rows, 7)
					checkFile(t, c.schema, rows, data)
				}
			}
		})
	}
}

func otherEncodingsOf(t *testing.T, s *record.Schema) map[string]format.Encoding {
	t.Helper()
	l, err := newLayout(s)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]format.Encoding{}
	for i := range l.leaves {
		for _, e := range l.leaves[i].otherEncodings() {
			out[e.String()] = e
		}
	}
	return out
}

// DuckDB 1.5 refuses byte stream split for all but these.
func TestByteStreamSplitIsForFloats(t *testing.T) {
	for _, s := range samples() {
		l, err := newLeafType(s.typ)
		if err != nil {
			t.Fatal(err)
		}
		float := s.typ.Kind == record.KindFloat || s.typ.Kind == record.KindDouble
		if got := slices.Contains(l.otherEncodings(), format.ByteStreamSplit); got != float {
			t.Errorf("%s may be split into byte streams: %v, want %v", s.name, got, float)
		}
	}
}

// TestAutoPicks shows what wins on which data.
func TestAutoPicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte('a' + rng.IntN(26))
		}
		return out
	}
	walk := 20.0
	step := func(int) any { walk += rng.Float64(); return walk }
	for _, c := range []struct {
		name  string
		kind  record.Kind
		value func(i int) any
		codec Codec
		want  format.Encoding
	}{
		{"a sequence", record.KindLong, func(i int) any { return int64(i) }, CodecNone, format.DeltaBinaryPacked},
		{"days in order", record.KindDate, func(i int) any { return int32(i) }, CodecZstd, format.DeltaBinaryPacked},
		{"instants with jitter", record.KindTimestamp,
			func(i int) any { return int64(1764374400000000 + i*1000 + rng.IntN(900)) }, CodecZstd, format.DeltaBinaryPacked},
		{"random numbers", record.KindLong, func(int) any { return int64(rng.Uint64()) }, CodecZstd, format.Plain},
		{"a walk", record.KindDouble, step, CodecZstd, format.ByteStreamSplit},
		{"a walk, uncompressed", record.KindDouble, step, CodecNone, format.Plain},
		{"random long text", record.KindString, func(int) any { return random(300) }, CodecZstd, format.Plain},
		{"random short text", record.KindString, func(int) any { return random(5) }, CodecNone, format.DeltaLengthByteArray},
		{"sorted keys", record.KindString, func(i int) any { return fmt.Appendf(nil, "https://example.org/%08d", i) },
			CodecNone, format.DeltaByteArray},
		{"booleans", record.KindBoolean, func(i int) any { return i%2 == 0 }, CodecNone, format.Plain},
		{"nothing", record.KindLong, func(int) any { return nil }, CodecNone, format.Plain},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: record.Type{Kind: c.kind}}}}
			rows := make([][]any, 5000)
			for i := range rows {
				rows[i] = []any{c.value(i)}
			}
			o := Options{Codec: c.codec, PageBytesMax: 8 << 10, Encodings: EncodingsAuto}
			data, _ := writeFile(t, s, rows, o, 500)
			checkFile(t, s, rows, data)
			checkEncodings(t, data, map[format.Encoding]bool{c.want: true})
			plain, _ := writeFile(t, s, rows, Options{Codec: c.codec, PageBytesMax: 8 << 10}, 500)
			checkEncodings(t, plain, map[format.Encoding]bool{format.Plain: true})
			if (len(data) < len(plain)) != (c.want != format.Plain) {
				t.Errorf("%d bytes, %d in PLAIN", len(data), len(plain))
			}
		})
	}
}

// checkEncodings compares the encodings of the first column's data pages with those in the footer.
func checkEncodings(t *testing.T, data []byte, want map[format.Encoding]bool) {
	t.Helper()
	for _, g := range openFile(t, data).Metadata().RowGroups {
		m := &g.Columns[0].MetaData
		for _, s := range m.EncodingStats {
			if s.PageType != format.DictionaryPage && !want[s.Encoding] {
				t.Errorf("%d pages are %s, want %v", s.Count, s.Encoding, want)
			}
		}
		listed := map[format.Encoding]bool{}
		for _, e := range m.Encoding {
			listed[e] = true
		}
		if len(listed) != len(m.Encoding) || len(listed) != len(m.EncodingStats)+1 || !listed[format.RLE] {
			t.Errorf("the footer lists %v for %v", m.Encoding, m.EncodingStats)
		}
	}
}

// A column whose data changes is judged again, and files of one pool know what the others learned.
func TestEncodingIsJudgedAgain(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: record.Type{Kind: record.KindLong}}}}
	rng := rand.New(rand.NewPCG(1, 2))
	const perPage = 64
	o := Options{PageBytesMax: frontBytes + 8*perPage, Encodings: EncodingsAuto, Pool: NewPool(1 << 20)}
	var rows [][]any
	for i := range 3 * encodingJudgeEvery * perPage {
		v := int64(i)
		if i < encodingJudgeEvery*perPage {
			v = int64(rng.Uint64())
		}
		rows = append(rows, []any{v})
	}
	data, _ := writeFile(t, s, rows, o, 1000)
	checkFile(t, s, rows, data)
	checkEncodings(t, data, map[format.Encoding]bool{format.Plain: true, format.DeltaBinaryPacked: true})
	counts := map[format.Encoding]int32{}
	for _, e := range openFile(t, data).Metadata().RowGroups[0].Columns[0].MetaData.EncodingStats {
		counts[e.Encoding] = e.Count
	}
	if p, d := counts[format.Plain], counts[format.DeltaBinaryPacked]; p < encodingJudgeEvery || d < encodingJudgeEvery {
		t.Errorf("%d pages are PLAIN and %d deltas, want %d at least", p, d, encodingJudgeEvery)
	}
	data, _ = writeFile(t, s, rows[:perPage], o, 1000)
	checkEncodings(t, data, map[format.Encoding]bool{format.DeltaBinaryPacked: true})
}

// A pool may hold what a column of another type learned under the same id and name.
func TestEncodingOfAnotherType(t *testing.T) {
	f := newFile(t, textSchema(), Options{Encodings: EncodingsAuto})
	forceEncoding(f, format.DeltaBinaryPacked)
	rows := texts(100, func(i int) int { return i })
	data, _ := fillFile(t, f, textSchema(), rows, 10)
	checkFile(t, textSchema(), rows, data)
	checkEncodings(t, data, map[format.Encoding]bool{format.Plain: true})
}
