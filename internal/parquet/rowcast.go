package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// cast is how values of a file become those of a column.
type cast uint8

const (
	castBool          cast = iota
	castInt                // to Ints32
	castIntToLong          // to Ints64
	castLong               // to Ints64
	castMillis             // milliseconds to microseconds, in Ints64
	castInt96              // a day and its nanoseconds to microseconds, in Ints64
	castFloat              // to Floats32
	castFloatToDouble      // to Floats64
	castDouble             // to Floats64
	castBytes              // to Bytes
	castFixed              // of one length, to Fixed
	castIntToWide          // to the 16 bytes of a decimal
	castLongToWide
	castFixedToLong // big-endian two's complement to Ints64
	castFixedToWide // the same to the 16 bytes of a decimal
	castBytesToLong
	castBytesToWide
)

// plainWidth is the bytes of a value in PLAIN; 0 for byte arrays, 1 for booleans once they are unpacked.
func plainWidth(s shape) int {
	switch s.physical {
	case format.Boolean:
		return 1
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return int(s.width)
	default:
		return 0
	}
}

// castOf is how a column of a file is read as the type (Iceberg specification, "Schema Evolution", type promotion), or
// why it cannot be.
func castOf(t *record.Type, s shape) (cast, error) {
	c, ok := cast(0), false
	switch t.Kind {
	case record.KindBoolean:
		c, ok = castBool, s.physical == format.Boolean && s.logical.kind == 0
	case record.KindInt:
		c, ok = castInt, s.physical == format.Int32 && s.logical.isWhole(32)
	case record.KindLong:
		c, ok = longCast(s)
	case record.KindDate:
		c, ok = castInt, s.physical == format.Int32 && s.logical.kind == logicalDate
	case record.KindTime, record.KindTimestamp, record.KindTimestampTZ, record.KindTimestampNs,
		record.KindTimestampTZNs:
		c, ok = timeCast(t.Kind, s)
	case record.KindFloat:
		c, ok = castFloat, s.physical == format.Float && s.logical.kind == 0
	case record.KindDouble:
		c, ok = doubleCast(s)
	case record.KindString, record.KindBinary:
		c, ok = castBytes, s.physical == format.ByteArray && s.logical.isText()
	case record.KindUUID, record.KindFixed:
		c = castFixed
		ok = s.physical == format.FixedLenByteArray && int(s.width) == t.Width() &&
			(s.logical.kind == 0 || s.logical.kind == logicalUUID)
	case record.KindDecimal:
		c, ok = decimalCast(t, s)
	default:
	}
	if !ok {
		return 0, fmt.Errorf("it is %s in the file, which is not read as %s: %w", s, t, ErrSchemaDiffers)
	}
	return c, nil
}

// isWhole tells whether the values are whole numbers that fit in so many bits with a sign.
func (a annotation) isWhole(bits int) bool {
	if a.kind != logicalInteger {
		return a.kind == 0
	}
	return a.signed && int(a.bits) <= bits || !a.signed && int(a.bits) < bits
}

func (a annotation) isText() bool {
	switch a.kind {
	case 0, logicalString, logicalEnum, logicalJSON, logicalBSON:
		return true
	default:
		return false
	}
}

func longCast(s shape) (cast, bool) {
	if s.physical == format.Int32 {
		return castIntToLong, s.logical.isWhole(32)
	}
	return castLong, s.physical == format.Int64 && s.logical.isWhole(64)
}

func doubleCast(s shape) (cast, bool) {
	if s.physical == format.Float {
		return castFloatToDouble, s.logical.kind == 0
	}
	return castDouble, s.physical == format.Double && s.logical.kind == 0
}

// timeCast takes the units of the specification, and of tables that were migrated: milliseconds, and the 96 bits of
// Impala and of Spark 2, which are instants in UTC.
func timeCast(k record.Kind, s shape) (cast, bool) {
	zoned := k == record.KindTimestampTZ || k == record.KindTimestampTZNs
	nanos := k == record.KindTimestampNs || k == record.KindTimestampTZNs
	a := s.logical
	switch {
	case s.physical == format.Int96:
		return castInt96, zoned && !nanos
	case s.physical != format.Int64:
		return 0, false
	case k == record.KindTime:
		return castLong, a.kind == logicalTime && a.unit == unitMicros
	case a.kind != logicalTimestamp || a.utc != zoned:
		return 0, false
	case nanos:
		return castLong, a.unit == unitNanos
	case a.unit == unitMillis:
		return castMillis, true
	default:
		return castLong, a.unit == unitMicros
	}
}

func decimalCast(t *record.Type, s shape) (cast, bool) {
	a := s.logical
	if a.kind != logicalDecimal || int(a.scale) != t.Scale || int(a.precision) > t.Precision {
		return 0, false
	}
	wide := t.Precision > 18
	pick := func(narrow, other cast) (cast, bool) {
		if wide {
			return other, true
		}
		return narrow, true
	}
	switch s.physical {
	case format.Int32:
		return pick(castIntToLong, castIntToWide)
	case format.Int64:
		return pick(castLong, castLongToWide)
	case format.FixedLenByteArray:
		c, _ := pick(castFixedToLong, castFixedToWide)
		return c, s.width > 0
	case format.ByteArray:
		return pick(castBytesToLong, castBytesToWide)
	default:
		return 0, false
	}
}

// errDigits means that a decimal of a file is larger than what its column holds.
var errDigits = errors.New("a decimal has more digits than its column")

// appendPlain takes n values off b, which is PLAIN, and appends them to the column's buffer, but not to its length.
// Byte arrays stay where they are in b.
func (l *rowLeaf) appendPlain(c *record.Column, b []byte, n int) (rest []byte, err error) {
	if l.width == 0 {
		return l.appendArrays(c, b, n)
	}
	if n > len(b)/l.width {
		return nil, errCut
	}
	values := b[:n*l.width]
	switch l.cast {
	case castBool:
		for _, v := range values {
			c.Bools = append(c.Bools, v != 0)
		}
	case castInt:
		c.Ints32 = slices.Grow(c.Ints32, n)
		for ; len(values) > 0; values = values[4:] {
			c.Ints32 = append(c.Ints32, int32(binary.LittleEndian.Uint32(values)))
		}
	case castLong:
		c.Ints64 = slices.Grow(c.Ints64, n)
		for ; len(values) > 0; values = values[8:] {
			c.Ints64 = append(c.Ints64, int64(binary.LittleEndian.Uint64(values)))
		}
	case castDouble:
		c.Floats64 = slices.Grow(c.Floats64, n)
		for ; len(values) > 0; values = values[8:] {
			c.Floats64 = append(c.Floats64, math.Float64frombits(binary.LittleEndian.Uint64(values)))
		}
	case castFixed:
		c.Fixed = append(c.Fixed, values...)
	default:
		err = l.appendConverted(c, values)
	}
	return b[n*l.width:], err
}

// appendConverted appends values of a width that take more than a copy.
func (l *rowLeaf) appendConverted(c *record.Column, values []byte) error {
	for ; len(values) >= l.width; values = values[l.width:] {
		if err := l.appendOne(c, values[:l.width]); err != nil {
			return err
		}
	}
	return nil
}

// Julian day of 1970-01-01, and the microseconds of a day, for timestamps of 96 bits.
const (
	julianEpoch  = 2440588
	microsOfADay = 86_400_000_000
)

func (l *rowLeaf) appendOne(c *record.Column, v []byte) error {
	switch l.cast {
	case castIntToLong:
		c.Ints64 = append(c.Ints64, int64(int32(binary.LittleEndian.Uint32(v))))
	case castFloat:
		c.Floats32 = append(c.Floats32, math.Float32frombits(binary.LittleEndian.Uint32(v)))
	case castFloatToDouble:
		c.Floats64 = append(c.Floats64, float64(math.Float32frombits(binary.LittleEndian.Uint32(v))))
	case castMillis:
		millis := int64(binary.LittleEndian.Uint64(v))
		if millis > math.MaxInt64/1000 || millis < math.MinInt64/1000 {
			return fmt.Errorf("timestamp of %d milliseconds is beyond what microseconds can be", millis)
		}
		c.Ints64 = append(c.Ints64, millis*1000)
	case castInt96:
		nanos, day := binary.LittleEndian.Uint64(v), int64(int32(binary.LittleEndian.Uint32(v[8:])))
		day -= julianEpoch
		if nanos >= 1000*microsOfADay || max(day, -day) >= math.MaxInt64/microsOfADay {
			return fmt.Errorf("timestamp of %d nanoseconds on day %d is none", nanos, day)
		}
		c.Ints64 = append(c.Ints64, day*microsOfADay+int64(nanos/1000))
	case castIntToWide:
		c.Fixed = appendWide(c.Fixed, int64(int32(binary.LittleEndian.Uint32(v))))
	case castLongToWide:
		c.Fixed = appendWide(c.Fixed, int64(binary.LittleEndian.Uint64(v)))
	case castFixedToLong, castBytesToLong:
		n, err := bigEndian(v)
		c.Ints64 = append(c.Ints64, n)
		return err
	default:
		var wide [16]byte
		err := extendSign(wide[:], v)
		c.Fixed = append(c.Fixed, wide[:]...)
		return err
	}
	return nil
}

func appendWide(out []byte, v int64) []byte {
	out = binary.BigEndian.AppendUint64(out, uint64(v>>63))
	return binary.BigEndian.AppendUint64(out, uint64(v))
}

func bigEndian(v []byte) (int64, error) {
	var b [8]byte
	err := extendSign(b[:], v)
	return int64(binary.BigEndian.Uint64(b[:])), err
}

// extendSign writes the big-endian number v, of any length, into all of out.
func extendSign(out, v []byte) error {
	sign := byte(0)
	if len(v) > 0 {
		sign = byte(int8(v[0]) >> 7)
	}
	for len(v) > len(out) {
		if v[0] != sign {
			return errDigits
		}
		v = v[1:]
	}
	if len(v) > 0 && byte(int8(v[0])>>7) != sign {
		return errDigits
	}
	n := len(out) - len(v)
	for i := range out[:n] {
		out[i] = sign
	}
	copy(out[n:], v)
	return nil
}

// appendArrays is appendPlain for byte arrays.
func (l *rowLeaf) appendArrays(c *record.Column, b []byte, n int) ([]byte, error) {
	for range n {
		if len(b) < 4 {
			return nil, errCut
		}
		size := int(binary.LittleEndian.Uint32(b))
		if size > len(b)-4 {
			return nil, errCut
		}
		v := b[4 : 4+size : 4+size]
		b = b[4+size:]
		if l.cast == castBytes {
			c.Bytes = append(c.Bytes, v)
		} else if err := l.appendOne(c, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}
