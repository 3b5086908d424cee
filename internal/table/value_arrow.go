package table

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// appendValue appends value i of an Arrow array as JSON. The Iceberg type tells what Arrow leaves open: a UUID from
// other 16 bytes, the names of struct fields.
func appendValue(dst []byte, t iceberg.Type, a arrow.Array, i int) ([]byte, error) {
	if a.IsNull(i) {
		return append(dst, "null"...), nil
	}
	if e, ok := a.(array.ExtensionArray); ok {
		return appendValue(dst, t, e.Storage(), i)
	}
	switch a := a.(type) {
	case *array.Boolean:
		return strconv.AppendBool(dst, a.Value(i)), nil
	case *array.Int32:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10), nil
	case *array.Int64:
		return strconv.AppendInt(dst, a.Value(i), 10), nil
	case *array.Float32:
		return appendFloat(dst, float64(a.Value(i)), 32), nil
	case *array.Float64:
		return appendFloat(dst, a.Value(i), 64), nil
	case *array.Struct:
		return appendStruct(dst, t, a, i)
	case *array.Map: // before lists: a map is one
		return appendMap(dst, t, a, i)
	case array.ListLike:
		return appendList(dst, t, a, i)
	}
	text, err := scalarText(t, a, i)
	if err != nil {
		return nil, err
	}
	return jsonString(dst, text), nil
}

// appendFloat writes what JSON has no number for as a string.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return jsonString(dst, floatText(f, bits))
	}
	return append(dst, floatText(f, bits)...)
}

// scalarText is the text of the types that JSON holds as a string.
func scalarText(t iceberg.Type, a arrow.Array, i int) (string, error) {
	switch a := a.(type) {
	case *array.String:
		return a.Value(i), nil
	case *array.LargeString:
		return a.Value(i), nil
	case *array.Binary:
		return hex.EncodeToString(a.Value(i)), nil
	case *array.LargeBinary:
		return hex.EncodeToString(a.Value(i)), nil
	case *array.FixedSizeBinary:
		return fixedText(t, a.Value(i)), nil
	case *array.Date32:
		return dateText(int32(a.Value(i))), nil
	case *array.Time64:
		return timeText(int64(a.Value(i))), nil
	case *array.Timestamp:
		return arrowTimestamp(a, i), nil
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return decimalText(a.Value(i).BigInt(), int(scale)), nil
	default:
		return "", fmt.Errorf("values of type %s (Arrow %s) cannot be printed; leave the column out", t, a.DataType())
	}
}

func fixedText(t iceberg.Type, raw []byte) string {
	if id, err := uuid.FromBytes(raw); err == nil && t.Equals(iceberg.PrimitiveTypes.UUID) {
		return id.String()
	}
	return hex.EncodeToString(raw)
}

func arrowTimestamp(a *array.Timestamp, i int) string {
	t := a.DataType().(*arrow.TimestampType)
	zone := ""
	if t.TimeZone != "" {
		zone = "Z"
	}
	if t.Unit == arrow.Nanosecond {
		return timestampNsText(int64(a.Value(i)), zone)
	}
	return timestampText(int64(a.Value(i)), zone)
}

func appendStruct(dst []byte, t iceberg.Type, a *array.Struct, i int) ([]byte, error) {
	st, ok := t.(*iceberg.StructType)
	if !ok || len(st.FieldList) != a.NumField() {
		return nil, fmt.Errorf("a value of type %s came as Arrow %s", t, a.DataType())
	}
	dst = append(dst, '{')
	for k, f := range st.FieldList {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonString(dst, f.Name), ':')
		var err error
		if dst, err = appendValue(dst, f.Type, a.Field(k), i); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendList(dst []byte, t iceberg.Type, a array.ListLike, i int) ([]byte, error) {
	lt, ok := t.(*iceberg.ListType)
	if !ok {
		return nil, fmt.Errorf("a value of type %s came as Arrow %s", t, a.DataType())
	}
	dst = append(dst, '[')
	from, to := a.ValueOffsets(i)
	for k := from; k < to; k++ {
		if k > from {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, lt.Element, a.ListValues(), int(k)); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// appendMap writes a map as an array of {"key":..,"value":..}, since keys of any type are allowed and their order is
// the file's.
func appendMap(dst []byte, t iceberg.Type, a *array.Map, i int) ([]byte, error) {
	mt, ok := t.(*iceberg.MapType)
	if !ok {
		return nil, fmt.Errorf("a value of type %s came as Arrow %s", t, a.DataType())
	}
	dst = append(dst, '[')
	from, to := a.ValueOffsets(i)
	for k := from; k < to; k++ {
		if k > from {
			dst = append(dst, ',')
		}
		var err error
		dst = append(dst, `{"key":`...)
		if dst, err = appendValue(dst, mt.KeyType, a.Keys(), int(k)); err != nil {
			return nil, err
		}
		dst = append(dst, `,"value":`...)
		if dst, err = appendValue(dst, mt.ValueType, a.Items(), int(k)); err != nil {
			return nil, err
		}
		dst = append(dst, '}')
	}
	return append(dst, ']'), nil
}
