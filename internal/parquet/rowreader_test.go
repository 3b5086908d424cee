package parquet

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"firn/internal/record"
)

// TestRowReader reads every type in every nesting, with every codec, both versions of pages and every encoding.
func TestRowReader(t *testing.T) {
	codecs := []Codec{CodecNone, CodecSnappy, CodecGzip, CodecZstd, CodecLZ4Raw}
	for i, c := range matrix() {
		t.Run(c.name, func(t *testing.T) {
			o := Options{
				Codec: codecs[i%len(codecs)], PageBytesMax: 1 << 10, RowGroupBytesMax: 1 << 13, PageVersion: 1 + i/2%2,
				DictionaryBytesMax: i % 2 * 256, PageChecksums: i%3 == 0,
			}
			rows := repeat(c.rows, 1+i%3*150)
			data, _ := writeFile(t, c.schema, rows, o, 11)
			checkRows(t, c.schema, rows, data, RowReaderOptions{BatchRows: 1 + i%70})
			for _, e := range otherEncodingsOf(t, c.schema) {
				o.Encodings, o.DictionaryBytesMax, o.PageVersion = EncodingsAuto, 0, 3-o.PageVersion
				f := newFile(t, c.schema, o)
				forceEncoding(f, e)
				data, _ := fillFile(t, f, c.schema, rows, 11)
				checkRows(t, c.schema, rows, data, RowReaderOptions{})
			}
		})
	}
}

// TestRowReaderRoundTrip writes random rows of random schemas with random options, and reads some columns of them in
// batches of any size.
func TestRowReaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := (&schemaGen{t: rt}).schema()
		rows := someRows(rt, s, 60)
		o := Options{
			PageVersion:        rapid.IntRange(1, 2).Draw(rt, "version"),
			Encodings:          rapid.SampledFrom([]Encodings{EncodingsCompatible, EncodingsAuto}).Draw(rt, "encodings"),
			PageRowsMax:        rapid.SampledFrom([]int{0, 1, 17}).Draw(rt, "page rows"),
			Codec:              rapid.SampledFrom([]Codec{CodecNone, CodecSnappy, CodecZstd}).Draw(rt, "codec"),
			PageBytesMax:       rapid.IntRange(pageBytesMinMax, 4<<10).Draw(rt, "page"),
			RowGroupBytesMax:   int64(rapid.IntRange(1, 16<<10).Draw(rt, "row group")),
			DictionaryBytesMax: rapid.SampledFrom([]int{0, 16, 1 << 10, 1 << 20}).Draw(rt, "dictionary"),
		}
		data, _ := writeFile(rt, s, rows, o, rapid.IntRange(1, 100).Draw(rt, "step"))
		ro := RowReaderOptions{
			BatchRows:   rapid.SampledFrom([]int{0, 1, 7, 100}).Draw(rt, "batch"),
			BatchBytes:  rapid.SampledFrom([]int{0, 1, 1000}).Draw(rt, "batch bytes"),
			WindowBytes: rapid.SampledFrom([]int{0, 1}).Draw(rt, "window"),
		}
		checkRows(rt, s, rows, data, ro)
		some, chosen := project(rt, s, rows)
		checkRows(rt, some, chosen, data, ro)
	})
}

// project chooses columns in any order, and adds one that the file does not have.
func project(t *rapid.T, s *record.Schema, rows [][]any) (*record.Schema, [][]any) {
	order := rapid.Permutation(s.Fields).Draw(t, "order")
	order = order[:rapid.IntRange(0, len(order)).Draw(t, "columns")]
	added := record.Field{ID: 1 << 20, Name: "added", Type: listOf(1<<20+1, false, record.Type{Kind: record.KindDate})}
	out := &record.Schema{Fields: append(slices.Clone(order), added)}
	chosen := make([][]any, len(rows))
	for i, row := range rows {
		for _, f := range order {
			at := slices.IndexFunc(s.Fields, func(o record.Field) bool { return o.ID == f.ID })
			chosen[i] = append(chosen[i], row[at])
		}
		chosen[i] = append(chosen[i], nil)
	}
	return out, chosen
}

// TestRowReaderOfNewColumns reads a struct of whose columns the file has none that are asked for, in and outside of
// lists.
func TestRowReaderOfNewColumns(t *testing.T) {
	long := record.Type{Kind: record.KindLong}
	old := structOf(record.Field{ID: 3, Name: "x", Type: long})
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "s", Type: old},
		{ID: 2, Name: "l", Type: listOf(4, false, structOf(record.Field{ID: 5, Name: "x", Type: long}))},
		{ID: 6, Name: "m", Type: mapOf(7, false, long, structOf(record.Field{ID: 9, Name: "x", Type: long}))},
	}}
	rows := [][]any{
		{nil, nil, nil}, {[]any{nil}, []any{}, []any{}},
		{
			[]any{int64(1)}, []any{nil, []any{int64(4)}, []any{nil}},
			[]any{[2]any{int64(6), nil}, [2]any{int64(7), []any{nil}}},
		},
	}
	data, _ := writeFile(t, s, rows, Options{}, 2)
	text := record.Type{Kind: record.KindString}
	fresh := func(id int) record.Type { return structOf(record.Field{ID: id, Name: "y", Type: text}) }
	want := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "s", Type: fresh(20)}, {ID: 2, Name: "l", Type: listOf(4, false, fresh(21))},
		{ID: 6, Name: "m", Type: mapOf(7, false, long, fresh(22))},
	}}
	checkRows(t, want, [][]any{
		{nil, nil, nil}, {[]any{nil}, []any{}, []any{}},
		{[]any{nil}, []any{nil, []any{nil}, []any{nil}}, []any{[2]any{int64(6), nil}, [2]any{int64(7), []any{nil}}}},
	}, data, RowReaderOptions{})
}

// TestRowReaderPromotes reads old types as those that Iceberg lets them become.
func TestRowReaderPromotes(t *testing.T) {
	decimal := func(precision int) record.Type {
		return record.Type{Kind: record.KindDecimal, Precision: precision, Scale: 2}
	}
	kind := func(k record.Kind) record.Type { return record.Type{Kind: k} }
	for _, c := range []struct {
		from, to record.Type
		is, want []any
	}{
		{kind(record.KindInt), kind(record.KindLong), []any{int32(-7), nil, int32(8)}, []any{int64(-7), nil, int64(8)}},
		{kind(record.KindFloat), kind(record.KindDouble), []any{float32(-1.5), nil}, []any{-1.5, nil}},
		{decimal(9), decimal(18), []any{int64(-999999999), nil}, []any{int64(-999999999), nil}},
		{decimal(9), decimal(38), []any{int64(-5), int64(12)}, []any{decimal16(-5), decimal16(12)}},
		{decimal(18), decimal(20), []any{int64(-5), nil}, []any{decimal16(-5), nil}},
		{decimal(20), decimal(38), []any{decimal16(-5), decimal16(1 << 60)}, []any{decimal16(-5), decimal16(1 << 60)}},
	} {
		for _, required := range []bool{false, true} {
			was := &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: c.from}}}
			now := &record.Schema{Fields: []record.Field{{ID: 1, Name: "other", Type: c.to, Required: required}}}
			for _, dictionary := range []int{0, 1 << 10} {
				data, _ := writeFile(t, was, single(c.is), Options{DictionaryBytesMax: dictionary}, 10)
				checkRows(t, now, single(c.want), data, RowReaderOptions{})
			}
		}
	}
}

func single(values []any) [][]any {
	rows := make([][]any, len(values))
	for i, v := range values {
		rows[i] = []any{v}
	}
	return rows
}

// TestRowReaderRefuses says what a file does not have.
func TestRowReaderRefuses(t *testing.T) {
	kind := func(k record.Kind) record.Type { return record.Type{Kind: k} }
	long, text := kind(record.KindLong), kind(record.KindString)
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "id", Type: long}, {ID: 2, Name: "l", Type: listOf(3, false, long)},
		{ID: 4, Name: "s", Type: structOf(record.Field{ID: 5, Name: "x", Type: long})},
	}}
	data, _ := writeFile(t, s, [][]any{{nil, nil, nil}}, Options{}, 10)
	for name, c := range map[string]struct {
		field record.Field
		want  string
	}{
		"another type":      {record.Field{ID: 1, Name: "id", Type: text}, "column id: it is INT64"},
		"a smaller type":    {record.Field{ID: 1, Name: "id", Type: kind(record.KindInt)}, "column id: it is INT64"},
		"a required column": {record.Field{ID: 9, Name: "new", Required: true, Type: long}, "no column new of field id 9"},
		"a list of a value": {record.Field{ID: 1, Name: "id", Type: listOf(8, false, long)}, "column id is no group"},
		"a value of a list": {record.Field{ID: 2, Name: "l", Type: long}, "column l is a group"},
		"a struct of a value": {record.Field{ID: 1, Name: "id", Type: structOf(record.Field{ID: 8, Name: "x", Type: long})},
			"column id is a column of values"},
		"a list of others": {record.Field{ID: 2, Name: "l", Type: listOf(8, false, long)}, "no l.element of field id 8"},
		"in a struct": {record.Field{ID: 4, Name: "s", Type: structOf(record.Field{ID: 5, Name: "x", Type: text})},
			"column s.x: it is INT64"},
	} {
		t.Run(name, func(t *testing.T) {
			err := rowsFail(t, &record.Schema{Fields: []record.Field{c.field}}, data)
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestRowReaderUse says what is no use of a reader.
func TestRowReaderUse(t *testing.T) {
	s, rows := referenceSchema(), words("a", 10, 10)
	data, _ := writeFile(t, s, rows, Options{}, 10)
	f, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewRowReader(nil, f, s, RowReaderOptions{BatchRows: -1}); err == nil {
		t.Error("no error for a batch of -1 rows")
	}
	r, err := NewRowReader(bytes.NewReader(data), f, s, RowReaderOptions{})
	if err != nil || r.Rows() != 10 || !f.Has(1) || f.Has(99) {
		t.Fatalf("%d rows, error %v", r.Rows(), err)
	}
	if _, err := r.Next(record.NewBatch(&record.Schema{})); err == nil {
		t.Error("no error for a batch of another schema")
	}
	r.Close()
	r.Close()
	if _, err := r.Next(record.NewBatch(s)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("error %v of a reader that is closed", err)
	}
}

// TestRowReaderIsBounded reads a file of large row groups through a small window.
func TestRowReaderIsBounded(t *testing.T) {
	s, rows := referenceSchema(), words("abcdefgh", 4000, 1000)
	data, _ := writeFile(t, s, rows, Options{PageBytesMax: 32 << 10}, 500)
	file := &countingReader{Reader: bytes.NewReader(data)}
	f, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRowReader(file, f, s, RowReaderOptions{BatchBytes: 64 << 10, WindowBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := record.NewBatch(s)
	for err = nil; err == nil; _, err = r.Next(b) {
		held := 0
		for _, l := range r.leaves {
			held += cap(l.source.window)
			for i := range l.pages {
				held += l.pages[i].held()
			}
		}
		if held > 1<<20 {
			t.Fatalf("%d bytes are held", held)
		}
	}
	if !errors.Is(err, io.EOF) || slices.Max(file.reads) > windowBytesMin {
		t.Errorf("reads of up to %d bytes, error %v", slices.Max(file.reads), err)
	}
}

// FuzzRowReader reads files that may be anything: an error, or rows.
func FuzzRowReader(f *testing.F) {
	for _, data := range seedFiles(f) {
		f.Add(data)
	}
	schemas := rowSchemas()
	f.Fuzz(func(_ *testing.T, data []byte) {
		footer, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
		if err != nil || footer.Rows > 1e4 || mostValues(footer) > 1e5 { // nulls take no bytes, and time all the same
			return
		}
		for _, s := range schemas {
			_, _ = readRows(s, data, RowReaderOptions{BatchRows: 13}) // an error is as good as rows
		}
	})
}

// mostValues is the values of the longest column chunk.
func mostValues(f *Footer) (most int64) {
	for _, g := range f.groups {
		for i := range g.chunks {
			most = max(most, g.chunks[i].values)
		}
	}
	return most
}

// rowSchemas are those of the matrix that differ in shape.
func rowSchemas() []*record.Schema {
	var out []*record.Schema
	for i, c := range matrix() {
		if i%7 == 0 {
			out = append(out, c.schema)
		}
	}
	return out
}

// TestRowDamage reads files with bytes that were changed: an error, or as many rows as the footer says.
func TestRowDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	cases, refused := matrix(), 0
	for i := 0; i < len(cases); i += 2 {
		c := cases[i]
		rows := repeat(c.rows, 60)
		o := Options{
			Codec: Codec(i / 2 % 5), PageBytesMax: 512, DictionaryBytesMax: i % 3 << 10, PageVersion: 1 + i/2%2, PageRowsMax: 9,
			Encodings: EncodingsAuto,
		}
		data, _ := writeFile(t, c.schema, rows, o, 7)
		for range 60 {
			bad := bytes.Clone(data)
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] = byte(rng.Uint32())
			}
			got, err := readRows(c.schema, bad, RowReaderOptions{})
			if err != nil {
				refused++
				continue
			}
			f, err := ReadFooter(bytes.NewReader(bad), int64(len(bad))) // whose own number of rows may be the damage
			if err != nil || int64(len(got)) != f.Rows {
				t.Fatalf("%s: %d rows, want %d, error %v", c.name, len(got), f.Rows, err)
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was found")
	}
}
