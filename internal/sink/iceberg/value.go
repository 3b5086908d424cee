package iceberg

import (
	"encoding/binary"
	"math"
	"math/big"

	"firn/internal/record"
)

// intAt is a value that fits 64 bits: integers, dates and times as they are, booleans as 0 and 1, floats as their bits.
func intAt(c *record.Column, i int) int64 {
	switch c.Field.Type.Kind {
	case record.KindBoolean:
		if c.Bools[i] {
			return 1
		}
		return 0
	case record.KindInt, record.KindDate:
		return int64(c.Ints32[i])
	case record.KindFloat:
		return int64(math.Float32bits(c.Floats32[i]))
	case record.KindDouble:
		return int64(math.Float64bits(c.Floats64[i]))
	default:
		return c.Ints64[i]
	}
}

// widen is the values of c as intAt gives them: the column's own where they have 64 bits, else in scratch.
func widen(c *record.Column, scratch []int64) []int64 {
	switch c.Field.Type.Kind {
	case record.KindInt, record.KindDate:
		for i, v := range c.Ints32[:len(scratch)] {
			scratch[i] = int64(v)
		}
	case record.KindBoolean, record.KindFloat, record.KindDouble:
		for i := range scratch {
			scratch[i] = intAt(c, i)
		}
	default:
		return c.Ints64[:len(scratch)]
	}
	return scratch
}

// bytesAt is a value that is kept in bytes.
func bytesAt(c *record.Column, i int) []byte {
	if c.Fixed != nil {
		return c.FixedAt(i)
	}
	return c.Bytes[i]
}

// serialise is a partition value in Iceberg's single-value binary serialisation (spec appendix D).
func serialise(t record.Type, v int64, b []byte) []byte {
	switch t.Kind {
	case record.KindBoolean:
		return []byte{byte(v)}
	case record.KindInt, record.KindDate, record.KindFloat:
		return binary.LittleEndian.AppendUint32(nil, uint32(v))
	case record.KindDecimal:
		if t.Precision > 18 {
			return minimal(b)
		}
		return minimal(binary.BigEndian.AppendUint64(nil, uint64(v)))
	case record.KindString, record.KindBinary, record.KindFixed, record.KindUUID:
		return append([]byte{}, b...)
	default:
		return binary.LittleEndian.AppendUint64(nil, uint64(v))
	}
}

// minimalDecimal is the unscaled value of a decimal in as few bytes as it needs.
func minimalDecimal(c *record.Column, i int) []byte {
	if c.Field.Type.Precision > 18 {
		return minimal(c.FixedAt(i))
	}
	return minimal(binary.BigEndian.AppendUint64(nil, uint64(c.Ints64[i])))
}

// minimal drops leading bytes of a big-endian two's complement number that only repeat its sign.
func minimal(b []byte) []byte {
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:]
	}
	return b
}

// bigFromBytes reads a big-endian two's complement number.
func bigFromBytes(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(len(b)*8)))
	}
	return v
}

// bigToBytes writes a big-endian two's complement number of a width; the caller knows that it fits.
func bigToBytes(v *big.Int, width int) []byte {
	if v.Sign() < 0 {
		v = new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(width*8)))
	}
	return v.FillBytes(make([]byte, width))
}
