package matrix

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// readArrow reads with arrow-go into Arrow columns, and prints those.
func readArrow(_ *dataset, data []byte) ([][]byte, error) {
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	table, err := fr.ReadTable(context.Background())
	if err != nil {
		return nil, err
	}
	defer table.Release()
	rows := make([][]byte, table.NumRows())
	for c := range int(table.NumCols()) {
		at := 0
		for _, chunk := range table.Column(c).Data().Chunks() {
			for i := range chunk.Len() {
				begin := byte(',')
				if c == 0 {
					begin = '['
				}
				if rows[at], err = appendArrow(append(rows[at], begin), chunk, i); err != nil {
					return nil, fmt.Errorf("column %s: %w", table.Column(c).Name(), err)
				}
				at++
			}
		}
	}
	for i := range rows {
		rows[i] = append(rows[i], ']')
	}
	return rows, nil
}

func appendArrow(out []byte, a arrow.Array, i int) ([]byte, error) {
	if a.IsNull(i) {
		return append(out, "null"...), nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return strconv.AppendBool(out, a.Value(i)), nil
	case *array.Int32:
		return strconv.AppendInt(out, int64(a.Value(i)), 10), nil
	case *array.Date32:
		return strconv.AppendInt(out, int64(a.Value(i)), 10), nil
	case *array.Int64:
		return strconv.AppendInt(out, a.Value(i), 10), nil
	case *array.Time64:
		return strconv.AppendInt(out, int64(a.Value(i)), 10), nil
	case *array.Timestamp:
		return strconv.AppendInt(out, int64(a.Value(i)), 10), nil
	case *array.Float32:
		return appendFloat(out, float64(a.Value(i))), nil
	case *array.Float64:
		return appendFloat(out, a.Value(i)), nil
	case *array.String:
		return appendString(out, []byte(a.Value(i))), nil
	case *array.Binary:
		return appendHex(out, a.Value(i)), nil
	case *array.FixedSizeBinary:
		return appendHex(out, a.Value(i)), nil
	case *extensions.UUIDArray:
		id := a.Value(i)
		return appendHex(out, id[:]), nil
	case *array.Decimal128:
		return a.Value(i).BigInt().Append(out, 10), nil
	}
	return appendArrowNested(out, a, i)
}

func appendArrowNested(out []byte, a arrow.Array, i int) ([]byte, error) {
	var err error
	out = append(out, '[')
	switch a := a.(type) {
	case *array.Struct:
		for j := range a.NumField() {
			if out, err = appendArrow(separated(out, j), a.Field(j), i); err != nil {
				return nil, err
			}
		}
	case *array.Map: // before List, which it is too
		from, to := a.ValueOffsets(i)
		for j := from; j < to; j++ {
			if out, err = appendArrow(append(separated(out, int(j-from)), '['), a.Keys(), int(j)); err != nil {
				return nil, err
			}
			if out, err = appendArrow(append(out, ','), a.Items(), int(j)); err != nil {
				return nil, err
			}
			out = append(out, ']')
		}
	case *array.List:
		from, to := a.ValueOffsets(i)
		for j := from; j < to; j++ {
			if out, err = appendArrow(separated(out, int(j-from)), a.ListValues(), int(j)); err != nil {
				return nil, err
			}
		}
	default:
		return nil, fmt.Errorf("of type %s", a.DataType())
	}
	return append(out, ']'), nil
}
