package parquet

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	apache "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// foreignSchema is of types that Arrow has, too.
func foreignSchema() *record.Schema {
	return &record.Schema{ID: 5, Fields: []record.Field{
		{ID: 1, Name: "id", Required: true, Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "text", Type: record.Type{Kind: record.KindString}},
		{ID: 3, Name: "at", Type: record.Type{Kind: record.KindTimestampTZ}},
		{ID: 4, Name: "tags", Type: listOf(5, false, record.Type{Kind: record.KindString})},
		{ID: 6, Name: "share", Type: record.Type{Kind: record.KindDouble}},
	}}
}

func foreignRows(seed, n int) [][]any {
	var rows [][]any
	for i := range n {
		x := i*seed + seed
		row := []any{int64(x), fmt.Appendf(nil, "text %d", x%17), int64(1_700_000_000_000_000 + x), nil, float64(x) / 3}
		if x%5 > 0 {
			row[3] = []any{[]byte{byte('a' + x%7)}, nil, []byte("t")}[:x%4]
		}
		if x%11 == 0 {
			row[1], row[2], row[4] = nil, nil, nil
		}
		rows = append(rows, row)
	}
	return rows
}

func fieldID(id int) arrow.Metadata {
	return arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(id)})
}

// foreignPart has arrow-go write the rows.
func foreignPart(t *testing.T, rows [][]any, properties ...apache.WriterProperty) Part {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Metadata: fieldID(1)},
		{Name: "other name", Type: arrow.BinaryTypes.String, Nullable: true, Metadata: fieldID(2)},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, Nullable: true,
			Metadata: fieldID(3)},
		{Name: "tags", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.BinaryTypes.String, Nullable: true,
			Metadata: fieldID(5)}), Nullable: true, Metadata: fieldID(4)},
		{Name: "share", Type: arrow.PrimitiveTypes.Float64, Nullable: true, Metadata: fieldID(6)},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for _, row := range rows {
		for i, v := range row {
			appendArrow(t, b.Field(i), v)
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(s, &out, apache.NewWriterProperties(properties...), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return asPart(out.Bytes(), record.DataFile{Path: "foreign", Rows: int64(len(rows))})
}

func appendArrow(t *testing.T, b array.Builder, v any) {
	t.Helper()
	switch b := b.(type) {
	case *array.StringBuilder:
		if v != nil {
			b.Append(string(v.([]byte)))
			return
		}
	case *array.Int64Builder:
		b.Append(v.(int64))
		return
	case *array.TimestampBuilder:
		if v != nil {
			b.Append(arrow.Timestamp(v.(int64)))
			return
		}
	case *array.Float64Builder:
		if v != nil {
			b.Append(v.(float64))
			return
		}
	case *array.ListBuilder:
		if v != nil {
			b.Append(true)
			for _, e := range v.([]any) {
				appendArrow(t, b.ValueBuilder(), e)
			}
			return
		}
	default:
		t.Fatalf("no values of %T", b)
	}
	b.AppendNull()
}

// TestJoinForeign joins files of arrow-go with each other and with our own.
func TestJoinForeign(t *testing.T) {
	s := foreignSchema()
	first, second, own := foreignRows(1, 3000), foreignRows(3, 2000), foreignRows(7, 500)
	all := slices.Concat(first, second, own)
	for name, properties := range map[string][]apache.WriterProperty{
		"default":       nil,
		"v2":            {apache.WithDataPageVersion(apache.DataPageV2), apache.WithBatchSize(64)},
		"snappy":        {apache.WithCompression(compress.Codecs.Snappy)},
		"plain":         {apache.WithDictionaryDefault(false), apache.WithCompression(compress.Codecs.Zstd)},
		"no statistics": {apache.WithStats(false)},
		"brotli": {apache.WithCompression(compress.Codecs.Brotli), apache.WithDictionaryDefault(false),
			apache.WithDataPageSize(900), apache.WithBatchSize(64)},
		"small pages": {apache.WithDataPageSize(900), apache.WithBatchSize(64), apache.WithPageIndexEnabled(true)},
		"groups":      {apache.WithMaxRowGroupLength(700), apache.WithPageIndexEnabled(true)},
	} {
		t.Run(name, func(t *testing.T) {
			parts := []Part{foreignPart(t, first, properties...), foreignPart(t, second, properties...),
				partOf(t, s, own, Options{DictionaryBytesMax: 1 << 20, Codec: CodecSnappy})}
			data, joined := joinParts(t, s, parts, Options{DictionaryBytesMax: 1 << 20})
			checkArrow(t, s, all, data)
			d := joined.File
			if len(d.LowerBounds) != 0 || len(d.NaNValueCounts) != 0 {
				t.Errorf("bounds %x and NaNs %v, of which the parts' descriptions say nothing", d.LowerBounds, d.NaNValueCounts)
			}
			f := openFile(t, data)
			if groups := len(f.RowGroups()); (groups == 2) != (name == "brotli") || groups > 2 {
				t.Errorf("%d row groups", groups)
			}
			_, known := d.NullValueCounts[2]
			if known == (name == "no statistics") {
				t.Errorf("nulls are known: %v", known)
			}
			if n := f.Metadata().RowGroups[0].Columns[1].MetaData.Statistics.MinValue; (n == nil) != (name == "no statistics") {
				t.Errorf("smallest text of the first row group %q", n)
			}
			if name != "brotli" {
				checkIndexes(t, data)
			}
		})
	}
}

// TestJoinUnknownNulls does not say that there are none.
func TestJoinUnknownNulls(t *testing.T) {
	s, rows := foreignSchema(), foreignRows(1, 100)
	part := foreignPart(t, rows, apache.WithStats(false))
	data, _ := joinParts(t, s, []Part{part, part}, Options{})
	f, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for i, c := range f.groups[0].chunks {
		known[f.leaves[i].name] = c.statistics.nullsKnown
	}
	want := map[string]bool{"id": true, "text": false, "at": false, "element": false, "share": false}
	if !maps.Equal(known, want) {
		t.Errorf("nulls are known of %v, want %v", known, want)
	}
	if f.groups[0].chunks[0].codec != format.Uncompressed {
		t.Errorf("codec %s", f.groups[0].chunks[0].codec)
	}
}
