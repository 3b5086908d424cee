package parquet

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

// readRows reads a whole file in batches, and checks that these follow each other.
func readRows(s *record.Schema, data []byte, o RowReaderOptions) ([][]any, error) {
	f, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	r, err := NewRowReader(bytes.NewReader(data), f, s, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rows := [][]any{}
	b := record.NewBatch(s)
	for {
		first, err := r.Next(b)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if first != int64(len(rows)) || b.Rows < 1 || o.BatchRows > 0 && b.Rows > o.BatchRows {
			return nil, errors.New("batches do not follow each other")
		}
		for i := range b.Rows {
			row := make([]any, len(s.Fields))
			for j := range b.Columns {
				if b.Columns[j].Len != b.Rows {
					return nil, errors.New("a column has another length than its batch")
				}
				row[j] = valueAt(&b.Columns[j], i)
			}
			rows = append(rows, row)
		}
	}
}

// valueAt is a value of the model, in its own memory.
func valueAt(c *record.Column, i int) any {
	if !c.Valid[i] {
		return nil
	}
	switch t := &c.Field.Type; t.Kind {
	case record.KindBoolean:
		return c.Bools[i]
	case record.KindInt, record.KindDate:
		return c.Ints32[i]
	case record.KindFloat:
		return c.Floats32[i]
	case record.KindDouble:
		return c.Floats64[i]
	case record.KindString, record.KindBinary:
		return append([]byte{}, c.Bytes[i]...)
	case record.KindStruct:
		fields := make([]any, len(c.Children))
		for j := range fields {
			fields[j] = valueAt(&c.Children[j], i)
		}
		return fields
	case record.KindList:
		elements := []any{}
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			elements = append(elements, valueAt(&c.Children[0], int(j)))
		}
		return elements
	case record.KindMap:
		pairs := []any{}
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			pairs = append(pairs, [2]any{valueAt(&c.Children[0], int(j)), valueAt(&c.Children[1], int(j))})
		}
		return pairs
	default:
		if t.Width() > 0 {
			return append([]byte{}, c.FixedAt(i)...)
		}
		return c.Ints64[i]
	}
}

// checkRows reads a file and compares it with the rows.
func checkRows(t tb, s *record.Schema, rows [][]any, data []byte, o RowReaderOptions) {
	t.Helper()
	got, err := readRows(s, data, o)
	if err != nil {
		t.Fatal(err)
	}
	if !sameValue(anys(rows), anys(got)) {
		t.Fatalf("read (-want +got):\n%s", cmp.Diff(rows, got, cmp.Comparer(sameFloat64), cmp.Comparer(sameFloat32)))
	}
}

// rowsFail reads a file that is expected to be refused.
func rowsFail(t *testing.T, s *record.Schema, data []byte) error {
	t.Helper()
	_, err := readRows(s, data, RowReaderOptions{})
	if err == nil {
		t.Fatal("no error")
	}
	return err
}
