package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	pq "github.com/parquet-go/parquet-go"

	"firn/internal/record"
)

// readParquetGo reads the pages of each column with parquet-go, and puts the rows together from their levels.
func readParquetGo(d *dataset, data []byte) ([][]byte, error) {
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var rows [][]byte
	for _, g := range f.RowGroups() {
		var columns [][][]pq.Value
		for i, chunk := range g.ColumnChunks() {
			values, err := readChunk(chunk)
			if err != nil {
				return nil, fmt.Errorf("leaf %d: %w", i, err)
			}
			columns = append(columns, split(values, 0))
			if n := len(columns[i]); int64(n) != g.NumRows() {
				return nil, fmt.Errorf("leaf %d has %d rows in a row group of %d", i, n, g.NumRows())
			}
		}
		for i := range int(g.NumRows()) {
			rows = append(rows, assembleRow(d.schema, columns, i))
		}
	}
	return rows, nil
}

func readChunk(chunk pq.ColumnChunk) ([]pq.Value, error) {
	pages := chunk.Pages()
	defer pages.Close()
	var out []pq.Value
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		values := make([]pq.Value, page.NumValues())
		if n, err := page.Values().ReadValues(values); n != len(values) || (err != nil && !errors.Is(err, io.EOF)) {
			return nil, fmt.Errorf("%d of %d values: %w", n, len(values), err)
		}
		for _, v := range values {
			out = append(out, v.Clone())
		}
		pq.Release(page)
	}
}

// split cuts values before each that has a repetition level of at most rep.
func split(values []pq.Value, rep int) [][]pq.Value {
	var out [][]pq.Value
	from := 0
	for i := 1; i <= len(values); i++ {
		if i == len(values) || values[i].RepetitionLevel() <= rep {
			out = append(out, values[from:i])
			from = i
		}
	}
	return out
}

func assembleRow(s *record.Schema, columns [][][]pq.Value, row int) []byte {
	out := []byte{'['}
	for i := range s.Fields {
		n := leafCount(&s.Fields[i])
		var leaves [][]pq.Value
		for _, c := range columns[:n] {
			leaves = append(leaves, c[row])
		}
		out = assemble(separated(out, i), &s.Fields[i], s.Fields[i].Required, leaves, 0, 0)
		columns = columns[n:]
	}
	return append(out, ']')
}

func leafCount(f *record.Field) int {
	if f.Type.Fields == nil {
		return 1
	}
	n := 0
	for i := range f.Type.Fields {
		n += leafCount(&f.Type.Fields[i])
	}
	return n
}

// assemble is the text of one value from the entries that its leaves have of it. def is the definition level of what
// it lies in and depth the number of lists and maps around it.
func assemble(out []byte, f *record.Field, required bool, leaves [][]pq.Value, def, depth int) []byte {
	first := leaves[0][0]
	if !required {
		def++
	}
	if first.DefinitionLevel() < def {
		return append(out, "null"...)
	}
	switch f.Type.Kind {
	case record.KindStruct:
		out = append(out, '[')
		for i := range f.Type.Fields {
			child := &f.Type.Fields[i]
			n := leafCount(child)
			out = assemble(separated(out, i), child, child.Required, leaves[:n], def, depth)
			leaves = leaves[n:]
		}
		return append(out, ']')
	case record.KindList, record.KindMap:
		if first.DefinitionLevel() == def {
			return append(out, "[]"...)
		}
		return assembleElements(out, f, leaves, def+1, depth+1)
	}
	return appendParquetGo(out, &f.Type, first)
}

func assembleElements(out []byte, f *record.Field, leaves [][]pq.Value, def, depth int) []byte {
	var elements [][][]pq.Value // of each leaf
	for _, l := range leaves {
		elements = append(elements, split(l, depth))
	}
	fields := f.Type.Fields
	out = append(out, '[')
	for i := range elements[0] {
		var of [][]pq.Value
		for _, e := range elements {
			of = append(of, e[i])
		}
		out = separated(out, i)
		if f.Type.Kind == record.KindList {
			out = assemble(out, &fields[0], fields[0].Required, of, def, depth)
			continue
		}
		n := leafCount(&fields[0])
		out = assemble(append(out, '['), &fields[0], true, of[:n], def, depth)
		out = append(assemble(append(out, ','), &fields[1], fields[1].Required, of[n:], def, depth), ']')
	}
	return append(out, ']')
}

func appendParquetGo(out []byte, t *record.Type, v pq.Value) []byte {
	switch v.Kind() {
	case pq.Boolean:
		return strconv.AppendBool(out, v.Boolean())
	case pq.Int32:
		return strconv.AppendInt(out, int64(v.Int32()), 10)
	case pq.Int64:
		return strconv.AppendInt(out, v.Int64(), 10)
	case pq.Float:
		return appendFloat(out, float64(v.Float()))
	case pq.Double:
		return appendFloat(out, v.Double())
	}
	switch t.Kind {
	case record.KindString:
		return appendString(out, v.ByteArray())
	case record.KindDecimal:
		return bigOf(v.ByteArray()).Append(out, 10)
	default:
		return appendHex(out, v.ByteArray())
	}
}
