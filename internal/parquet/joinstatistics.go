package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// boundJoin is the smallest or largest of bounds, of which some may not be known.
type boundJoin struct {
	value   []byte
	unknown bool
}

// take takes a bound into account; sign is -1 for the smallest and 1 for the largest. compare orders bounds and says
// whether both are some.
func (b *boundJoin) take(value []byte, sign int, compare func(a, b []byte) (int, bool)) {
	if value == nil || b.unknown {
		b.unknown = true
		return
	}
	if b.value == nil {
		b.value = value
	}
	order, ok := compare(value, b.value)
	switch {
	case !ok:
		b.unknown = true
	case order*sign > 0:
		b.value = value
	}
}

// known is the bound of all.
func (b *boundJoin) known() []byte {
	if b.unknown {
		return nil
	}
	return b.value
}

// joinStatistics makes the chunk's statistics of its sources'.
func (c *chunkJoin) joinStatistics() {
	var low, high boundJoin
	all := fileStatistics{nullsKnown: true}
	for i := range c.sources {
		s := &c.sources[i]
		nulls, known := s.nulls(c.leaf)
		all.nullsKnown = all.nullsKnown && known
		all.nulls += nulls
		if known && nulls == s.values {
			continue // it has no bounds to take into account
		}
		if !s.ordered {
			low.unknown, high.unknown = true, true
		}
		low.take(s.statistics.low, -1, c.leaf.comparePlain)
		high.take(s.statistics.high, 1, c.leaf.comparePlain)
	}
	all.low, all.high = low.known(), high.known()
	c.chunk.statistics = all
}

// nulls is how many nulls a chunk of the leaf has, and whether that is known.
func (c *fileChunk) nulls(l *leafType) (int64, bool) {
	if l.def == 0 {
		return 0, true
	}
	return c.statistics.nulls, c.statistics.nullsKnown
}

// comparePlain orders bounds in PLAIN, without the length of a byte array.
func (l *leafType) comparePlain(a, b []byte) (int, bool) {
	switch l.order {
	case orderInt:
		return compareInts(l, a, b)
	case orderFloat:
		return compareFloats(l, a, b)
	case orderSigned:
		if len(a) != l.width || len(b) != l.width {
			return 0, false
		}
		return compareSigned(a, b), true
	default:
		if l.physical == format.FixedLenByteArray && (len(a) != l.width || len(b) != l.width) {
			return 0, false
		}
		return bytes.Compare(a, b), true
	}
}

// compareSingle orders bounds in Iceberg's single-value serialisation.
func (l *leafType) compareSingle(a, b []byte) (int, bool) {
	if l.kind != record.KindDecimal {
		return l.comparePlain(a, b)
	}
	if len(a) == 0 || len(b) == 0 || len(a) > 16 || len(b) > 16 {
		return 0, false
	}
	return compareSigned(widen(a), widen(b)), true
}

// widen makes a big-endian number 16 bytes long.
func widen(v []byte) []byte {
	out := bytes.Repeat([]byte{byte(int8(v[0]) >> 7)}, 16)
	copy(out[16-len(v):], v)
	return out
}

// compareSigned orders big-endian two's complement of one length.
func compareSigned(a, b []byte) int {
	if order := cmp.Compare(int8(a[0]), int8(b[0])); order != 0 {
		return order
	}
	return bytes.Compare(a[1:], b[1:])
}

func compareInts(l *leafType, a, b []byte) (int, bool) {
	if len(a) != l.width || len(b) != l.width {
		return 0, false
	}
	switch l.width {
	case 1:
		return cmp.Compare(a[0], b[0]), a[0] <= 1 && b[0] <= 1
	case 4:
		return cmp.Compare(int32(binary.LittleEndian.Uint32(a)), int32(binary.LittleEndian.Uint32(b))), true
	default:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b))), true
	}
}

// compareFloats orders -0 before +0. A NaN is no bound.
func compareFloats(l *leafType, a, b []byte) (int, bool) {
	if len(a) != l.width || len(b) != l.width {
		return 0, false
	}
	x, y := floatOfBytes(a), floatOfBytes(b)
	if x == 0 && y == 0 {
		return cmp.Compare(boolInt(math.Signbit(y)), boolInt(math.Signbit(x))), true
	}
	return cmp.Compare(x, y), x == x && y == y
}

func floatOfBytes(b []byte) float64 {
	if len(b) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
