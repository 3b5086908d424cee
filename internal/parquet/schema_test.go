package parquet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"firn/internal/record"
)

var convertedNames = map[deprecated.ConvertedType]string{
	deprecated.UTF8: "UTF8", deprecated.List: "LIST", deprecated.Map: "MAP", deprecated.Decimal: "DECIMAL",
	deprecated.Date: "DATE", deprecated.TimestampMicros: "TIMESTAMP_MICROS",
}

// TestSchemaElements checks the tree in the footer: names, field ids on every named element, repetition, converted
// types. The logical types are checked with another reader's eyes in TestOtherReaders. C64
func TestSchemaElements(t *testing.T) {
	long, text := record.Type{Kind: record.KindLong}, record.Type{Kind: record.KindString}
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "id", Required: true, Type: long},
		{ID: 2, Name: "tags", Type: listOf(3, true, text)},
		{ID: 4, Name: "props", Required: true, Type: mapOf(5, false, text, record.Type{Kind: record.KindDecimal,
			Precision: 20, Scale: 2})},
		{ID: 7, Name: "s", Type: structOf(
			record.Field{ID: 8, Name: "t", Type: record.Type{Kind: record.KindTimestamp}},
			record.Field{ID: 9, Name: "tz", Type: record.Type{Kind: record.KindTimestampTZ}})},
		{ID: 10, Name: "d.d", Type: record.Type{Kind: record.KindDate}},
	}}
	data, _ := writeFile(t, s, nil, Options{}, 1)
	type element struct {
		Name       string
		ID         int32
		Repetition string
		Physical   string
		Converted  string
		Children   int32
	}
	var got []element
	for i, e := range openFile(t, data).Metadata().Schema {
		x := element{Name: e.Name, ID: e.FieldID, Children: e.NumChildren.V}
		if i > 0 {
			x.Repetition = e.RepetitionType.V.String()
		}
		if e.Type.Valid {
			x.Physical = e.Type.V.String()
		}
		if e.ConvertedType.Valid {
			x.Converted = convertedNames[e.ConvertedType.V]
		}
		got = append(got, x)
	}
	want := []element{
		{"table", 0, "", "", "", 5},
		{"id", 1, "REQUIRED", "INT64", "", 0},
		{"tags", 2, "OPTIONAL", "", "LIST", 1},
		{"list", 0, "REPEATED", "", "", 1},
		{"element", 3, "REQUIRED", "BYTE_ARRAY", "UTF8", 0},
		{"props", 4, "REQUIRED", "", "MAP", 1},
		{"key_value", 0, "REPEATED", "", "", 2},
		{"key", 5, "REQUIRED", "BYTE_ARRAY", "UTF8", 0},
		{"value", 6, "OPTIONAL", "FIXED_LEN_BYTE_ARRAY", "DECIMAL", 0},
		{"s", 7, "OPTIONAL", "", "", 2},
		{"t", 8, "OPTIONAL", "INT64", "", 0},
		{"tz", 9, "OPTIONAL", "INT64", "TIMESTAMP_MICROS", 0},
		{"d.d", 10, "OPTIONAL", "INT32", "DATE", 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
}

func TestColumnNames(t *testing.T) {
	long := record.Type{Kind: record.KindLong}
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "a", Type: long}, {ID: 2, Name: "b.c", Type: structOf(record.Field{ID: 3, Name: "x", Type: long})},
		{ID: 4, Name: "l", Type: listOf(5, false, long)}, {ID: 6, Name: "m", Type: mapOf(7, false, long, long)},
	}}
	got, err := ColumnNames(s)
	want := map[int]string{1: "a", 3: "b.c.x", 5: "l.element", 7: "m.key", 8: "m.value"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := ColumnNames(&record.Schema{}); err == nil {
		t.Error("no error for a schema without columns")
	}
}

func TestDecimalWidths(t *testing.T) {
	for precision := 1; precision <= 38; precision++ {
		l, err := newLeafType(record.Type{Kind: record.KindDecimal, Precision: precision})
		if err != nil {
			t.Fatal(err)
		}
		want := decimalBytes[precision]
		switch {
		case precision <= 9:
			want = 4
		case precision <= 18:
			want = 8
		}
		if l.width != want {
			t.Errorf("decimal(%d) has %d bytes, want %d", precision, l.width, want)
		}
	}
}

func TestSchemasThatParquetCannotHold(t *testing.T) {
	long := record.Type{Kind: record.KindLong}
	deep := long
	for id := 1000; id > 800; id-- {
		deep = listOf(id, false, deep)
	}
	for _, c := range []struct {
		name, want string
		fields     []record.Field
	}{
		{"no columns", "at least one column", nil},
		{"no id", "column a: field id 0", []record.Field{{Name: "a", Type: long}}},
		{"same id", "columns a and s.b have the same field id 1", []record.Field{
			{ID: 1, Name: "a", Type: long}, {ID: 2, Name: "s", Type: structOf(record.Field{ID: 1, Name: "b", Type: long})}}},
		{"same name", "column a is there twice", []record.Field{{ID: 1, Name: "a", Type: long}, {ID: 2, Name: "a",
			Type: long}}},
		{"empty struct", "column a: a struct without fields", []record.Field{{ID: 1, Name: "a",
			Type: record.Type{Kind: record.KindStruct}}}},
		{"list without element", "column a: a list has one", []record.Field{{ID: 1, Name: "a",
			Type: record.Type{Kind: record.KindList}}}},
		{"map without value", "column a: a map has a key", []record.Field{{ID: 1, Name: "a",
			Type: record.Type{Kind: record.KindMap}}}},
		{"invalid kind", "column a: type invalid", []record.Field{{ID: 1, Name: "a"}}},
		{"unknown kind", "column a: type kind(99)", []record.Field{{ID: 1, Name: "a", Type: record.Type{Kind: 99}}}},
		{"precision", "decimal(39, 0)", []record.Field{{ID: 1, Name: "a", Type: record.Type{Kind: record.KindDecimal,
			Precision: 39}}}},
		{"scale", "decimal(3, 4)", []record.Field{{ID: 1, Name: "a", Type: record.Type{Kind: record.KindDecimal,
			Precision: 3, Scale: 4}}}},
		{"fixed", "fixed length 0", []record.Field{{ID: 1, Name: "a", Type: record.Type{Kind: record.KindFixed}}}},
		{"too deep", "nested deeper than 255", []record.Field{{ID: 1, Name: "a", Type: deep}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewFile(&record.Schema{Fields: c.fields}, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := NewFile(nil, Options{}); err == nil {
		t.Error("no error for a nil schema")
	}
}

// TestPageIndex checks that every page is where the index says, with bounds that hold for its values.
func TestPageIndex(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "id", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "tags", Type: listOf(3, false, record.Type{Kind: record.KindString})},
		{ID: 4, Name: "name", Type: record.Type{Kind: record.KindString}},
	}}
	var rows [][]any
	for i := range 2000 {
		name := any([]byte(strings.Repeat(string(rune('a'+i%26)), 20)))
		if i > 500 && i < 1500 {
			name = nil
		}
		rows = append(rows, []any{int64(i), []any{[]byte{byte('a' + i%3)}, nil, []byte("x")}[:i%4], name})
	}
	for _, dictionary := range []int{0, 1 << 20} {
		data, _ := writeFile(t, s, rows, Options{Codec: CodecSnappy, PageBytesMax: 1 << 10,
			DictionaryBytesMax: dictionary}, 100)
		checkFile(t, s, rows, data)
		f := openFile(t, data)
		for i, chunk := range f.RowGroups()[0].ColumnChunks() {
			checkPageIndex(t, i, chunk)
		}
	}
}

func checkPageIndex(t *testing.T, leaf int, chunk pq.ColumnChunk) {
	t.Helper()
	columns, err := chunk.ColumnIndex()
	if err != nil {
		t.Fatalf("leaf %d: %v", leaf, err)
	}
	offsets, err := chunk.OffsetIndex()
	if err != nil {
		t.Fatalf("leaf %d: %v", leaf, err)
	}
	if columns.NumPages() != offsets.NumPages() {
		t.Fatalf("leaf %d: indexes of %d and %d pages", leaf, columns.NumPages(), offsets.NumPages())
	}
	pages := chunk.Pages()
	defer pages.Close()
	row := int64(0)
	for i := range columns.NumPages() {
		if offsets.FirstRowIndex(i) != row {
			t.Errorf("leaf %d page %d starts at row %d, want %d", leaf, i, offsets.FirstRowIndex(i), row)
		}
		if err := pages.SeekToRow(row); err != nil {
			t.Fatal(err)
		}
		page, err := pages.ReadPage()
		if err != nil {
			t.Fatal(err)
		}
		if page.NumNulls() != columns.NullCount(i) {
			t.Errorf("leaf %d page %d has %d nulls, index says %d", leaf, i, page.NumNulls(), columns.NullCount(i))
		}
		if columns.NullPage(i) != (page.NumNulls() == page.NumValues()) {
			t.Errorf("leaf %d page %d: null page is %v", leaf, i, columns.NullPage(i))
		}
		checkPageBounds(t, chunk.Type(), page, columns.MinValue(i), columns.MaxValue(i))
		row += page.NumRows()
		pq.Release(page)
	}
}

func checkPageBounds(t *testing.T, typ pq.Type, page pq.Page, low, high pq.Value) {
	t.Helper()
	values := make([]pq.Value, page.NumValues())
	n, _ := page.Values().ReadValues(values)
	for _, v := range values[:n] {
		if !v.IsNull() && (typ.Compare(low, v) > 0 || typ.Compare(high, v) < 0) {
			t.Fatalf("value %v is outside of %v to %v", v, low, high)
		}
	}
}
