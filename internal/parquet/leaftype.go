package parquet

import (
	"fmt"
	"math/big"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// leafType is what is fixed about a leaf column.
type leafType struct {
	id       int
	path     []string
	dotted   string
	kind     record.Kind
	physical format.Type
	width    int   // bytes of a value in PLAIN; 0 for byte arrays, 1 for booleans until they are packed
	source   int   // bytes of a value in record.Column.Fixed
	limit    int64 // decimal of up to 18 digits: the first magnitude that does not fit
	order    order
	def, rep uint8 // highest levels
	repeated bool  // inside a list or map
}

// order is how the values of a leaf compare, and so what their bounds are made of.
type order uint8

const (
	orderInt    order = iota // booleans and whole numbers of up to 64 bits
	orderFloat               // NaN apart, -0 before +0
	orderBytes               // bytewise unsigned
	orderSigned              // big-endian two's complement
)

// newLeafType maps a primitive type to Parquet (Iceberg specification, appendix A, Parquet).
func newLeafType(t record.Type) (leafType, error) {
	l := leafType{kind: t.Kind}
	switch t.Kind {
	case record.KindBoolean:
		l.physical, l.width = format.Boolean, 1
	case record.KindInt, record.KindDate:
		l.physical, l.width = format.Int32, 4
	case record.KindLong, record.KindTime, record.KindTimestamp, record.KindTimestampTZ, record.KindTimestampNs,
		record.KindTimestampTZNs:
		l.physical, l.width = format.Int64, 8
	case record.KindFloat:
		l.physical, l.width, l.order = format.Float, 4, orderFloat
	case record.KindDouble:
		l.physical, l.width, l.order = format.Double, 8, orderFloat
	case record.KindString, record.KindBinary:
		l.physical, l.order = format.ByteArray, orderBytes
	case record.KindUUID:
		l.physical, l.width, l.order = format.FixedLenByteArray, 16, orderBytes
	case record.KindFixed:
		if t.Length <= 0 || t.Length > fixedBytesMax {
			return l, fmt.Errorf("fixed length %d is not between 1 and %d", t.Length, fixedBytesMax)
		}
		l.physical, l.width, l.order = format.FixedLenByteArray, t.Length, orderBytes
	case record.KindDecimal:
		return l.decimal(t)
	default:
		return l, fmt.Errorf("type %s has no form in parquet", t.Kind)
	}
	l.source = t.Width()
	return l, nil
}

// fixedBytesMax keeps a value far below the 2 GiB that a page can have.
const fixedBytesMax = 1 << 24

func (l leafType) decimal(t record.Type) (leafType, error) {
	if t.Precision < 1 || t.Precision > 38 || t.Scale < 0 || t.Scale > t.Precision {
		return l, fmt.Errorf("decimal(%d, %d) is outside of precision 1 to 38 and scale 0 to precision",
			t.Precision, t.Scale)
	}
	end := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
	switch {
	case t.Precision <= 9:
		l.physical, l.width, l.limit = format.Int32, 4, end.Int64()
	case t.Precision <= 18:
		l.physical, l.width, l.limit = format.Int64, 8, end.Int64()
	default:
		// The largest magnitude is 10^P-1, and there is one sign bit.
		bits := end.Sub(end, big.NewInt(1)).BitLen() + 1
		l.physical, l.width, l.order = format.FixedLenByteArray, (bits+7)/8, orderSigned
		l.source = t.Width()
	}
	return l, nil
}

// annotate sets the logical type, and the older converted type where it means the same: a reader of 2014 knows
// nothing else, and DuckDB takes a string without UTF8 for a blob. The converted types of time and timestamp mean an
// instant in UTC, so they are not written for values without a zone.
func annotate(e *format.SchemaElement, t record.Type) {
	switch t.Kind {
	case record.KindString:
		e.LogicalType.Value, e.ConvertedType = &format.StringType{}, thrift.New(deprecated.UTF8)
	case record.KindUUID:
		e.LogicalType.Value = &format.UUIDType{}
	case record.KindDate:
		e.LogicalType.Value, e.ConvertedType = &format.DateType{}, thrift.New(deprecated.Date)
	case record.KindTime:
		e.LogicalType.Value = &format.TimeType{Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}
	case record.KindTimestamp:
		e.LogicalType.Value = timestamp(false, &format.MicroSeconds{})
	case record.KindTimestampTZ:
		e.LogicalType.Value, e.ConvertedType = timestamp(true, &format.MicroSeconds{}), thrift.New(deprecated.TimestampMicros)
	case record.KindTimestampNs:
		e.LogicalType.Value = timestamp(false, &format.NanoSeconds{})
	case record.KindTimestampTZNs:
		e.LogicalType.Value = timestamp(true, &format.NanoSeconds{})
	case record.KindDecimal:
		precision, scale := int32(t.Precision), int32(t.Scale)
		e.LogicalType.Value = &format.DecimalType{Precision: precision, Scale: scale}
		e.ConvertedType = thrift.New(deprecated.Decimal)
		e.Precision, e.Scale = thrift.New(precision), thrift.New(scale)
	default: // the physical type says all
	}
}

func timestamp(utc bool, unit format.TimeUnitValue) *format.TimestampType {
	return &format.TimestampType{IsAdjustedToUTC: utc, Unit: format.TimeUnit{Value: unit}}
}
