package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"

	"firn/internal/record"
)

// checkFile reads a file with parquet-go and with arrow-go and compares both with the rows.
func checkFile(t tb, s *record.Schema, rows [][]any, data []byte) {
	t.Helper()
	checkTriples(t, s, rows, data)
	checkArrow(t, s, rows, data)
}

func checkTriples(t tb, s *record.Schema, rows [][]any, data []byte) {
	t.Helper()
	want, got := shred(s, rows), readTriples(t, data)
	if !slices.EqualFunc(want, got, func(a, b []triple) bool { return slices.EqualFunc(a, b, triple.equal) }) {
		t.Fatalf("parquet-go reads (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func (t triple) equal(o triple) bool {
	return t.Rep == o.Rep && t.Def == o.Def && (t.Value == nil) == (o.Value == nil) && bytes.Equal(t.Value, o.Value)
}

func checkArrow(t tb, s *record.Schema, rows [][]any, data []byte) {
	t.Helper()
	if got := readArrow(t, s, data); !sameValue(anys(rows), anys(got)) {
		t.Fatalf("arrow-go reads (-want +got):\n%s", cmp.Diff(rows, got, cmp.Comparer(sameFloat64),
			cmp.Comparer(sameFloat32)))
	}
}

func anys(rows [][]any) []any {
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = row
	}
	return out
}

// sameValue compares model values as cmp would, and faster.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case [2]any:
		b, ok := b.([2]any)
		return ok && sameValue(a[0], b[0]) && sameValue(a[1], b[1])
	case float32:
		b, ok := b.(float32)
		return ok && sameFloat32(a, b)
	case float64:
		b, ok := b.(float64)
		return ok && sameFloat64(a, b)
	default:
		return a == b
	}
}

func sameFloat64(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
func sameFloat32(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

func openFile(t tb, data []byte) *pq.File {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("parquet-go opens: %v", err)
	}
	return f
}

// readTriples reads every leaf with parquet-go's low-level pages.
func readTriples(t tb, data []byte) [][]triple {
	t.Helper()
	f := openFile(t, data)
	var out [][]triple
	for _, g := range f.RowGroups() {
		for i, chunk := range g.ColumnChunks() {
			if len(out) <= i {
				out = append(out, nil)
			}
			out[i] = append(out[i], readChunk(t, chunk)...)
		}
	}
	return out
}

func readChunk(t tb, chunk pq.ColumnChunk) []triple {
	t.Helper()
	var out []triple
	eachPage(t, chunk, func(values []pq.Value) {
		for _, v := range values {
			out = append(out, triple{v.RepetitionLevel(), v.DefinitionLevel(), valueBytes(v)})
		}
	})
	return out
}

// eachPage visits the values of every page; they are good until the visit ends.
func eachPage(t tb, chunk pq.ColumnChunk, visit func(values []pq.Value)) {
	t.Helper()
	pages := chunk.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("parquet-go reads a page: %v", err)
		}
		values := make([]pq.Value, page.NumValues())
		if n, err := page.Values().ReadValues(values); n != len(values) || (err != nil && !errors.Is(err, io.EOF)) {
			t.Fatalf("parquet-go reads %d of %d values: %v", n, len(values), err)
		}
		visit(values)
		pq.Release(page)
	}
}

func valueBytes(v pq.Value) []byte {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == pq.Boolean && v.Boolean():
		return []byte{1}
	case v.Kind() == pq.Boolean:
		return []byte{0}
	default:
		return v.AppendBytes([]byte{})
	}
}

// readArrow reads the file with pqarrow and turns it into rows of the model.
func readArrow(t tb, s *record.Schema, data []byte) [][]any {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("arrow-go opens: %v", err)
	}
	defer r.Close()
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatalf("arrow-go opens: %v", err)
	}
	table, err := fr.ReadTable(context.Background())
	if err != nil {
		t.Fatalf("arrow-go reads: %v", err)
	}
	defer table.Release()
	rows := make([][]any, table.NumRows())
	for c := range int(table.NumCols()) {
		at := 0
		for _, chunk := range table.Column(c).Data().Chunks() {
			for i := range chunk.Len() {
				rows[at] = append(rows[at], arrowValue(t, &s.Fields[c].Type, chunk, i))
				at++
			}
		}
	}
	return rows
}

func arrowValue(t tb, typ *record.Type, a arrow.Array, i int) any {
	t.Helper()
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int32:
		return a.Value(i)
	case *array.Date32:
		return int32(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Float32:
		return a.Value(i)
	case *array.Float64:
		return a.Value(i)
	case *array.String:
		return []byte(a.Value(i))
	case *array.Binary:
		return append([]byte{}, a.Value(i)...)
	case *array.FixedSizeBinary:
		return append([]byte{}, a.Value(i)...)
	case *extensions.UUIDArray:
		id := a.Value(i)
		return id[:]
	case *array.Decimal128:
		return decimalValue(typ, a.Value(i))
	default:
		return nestedValue(t, typ, a, i)
	}
}

func decimalValue(typ *record.Type, d decimal.Decimal128) any {
	if typ.Precision <= 18 {
		return int64(d.LowBits())
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(d.HighBits())), d.LowBits())
}

func nestedValue(t tb, typ *record.Type, a arrow.Array, i int) any {
	t.Helper()
	switch a := a.(type) {
	case *array.Struct:
		fields := make([]any, a.NumField())
		for j := range fields {
			fields[j] = arrowValue(t, &typ.Fields[j].Type, a.Field(j), i)
		}
		return fields
	case *array.Map: // before List, which it is too
		from, to := a.ValueOffsets(i)
		pairs := make([]any, 0, to-from)
		for j := int(from); j < int(to); j++ {
			pairs = append(pairs, [2]any{
				arrowValue(t, &typ.Fields[0].Type, a.Keys(), j), arrowValue(t, &typ.Fields[1].Type, a.Items(), j),
			})
		}
		return pairs
	case *array.List:
		from, to := a.ValueOffsets(i)
		elements := make([]any, 0, to-from)
		for j := int(from); j < int(to); j++ {
			elements = append(elements, arrowValue(t, &typ.Fields[0].Type, a.ListValues(), j))
		}
		return elements
	}
	t.Fatalf("arrow-go reads type %s as %T", typ, a)
	return nil
}
