package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// bounds is the smallest and largest value seen, and counts, of a page, a chunk or a file. Values of variable length
// are kept up to a prefix: the order of prefixes is the order of values, so the prefix of the smallest value is the
// smallest prefix.
type bounds struct {
	values int64 // entries, nulls included
	nulls  int64
	nans   int64
	any    bool // whether there are bounds
	ints   struct{ low, high int64 }
	floats struct{ low, high float64 }
	low    []byte
	high   []byte
	hiCut  bool   // a value that is at the high prefix goes on after it
	low8   uint64 // the first 8 bytes of low, to settle most comparisons at once
	high8  uint64
}

// reset keeps the buffers.
func (b *bounds) reset() { *b = bounds{low: b.low[:0], high: b.high[:0]} }

func (b *bounds) observeInts(low, high int64) {
	if !b.any {
		b.any = true
		b.ints.low, b.ints.high = low, high
		return
	}
	b.ints.low, b.ints.high = min(b.ints.low, low), max(b.ints.high, high)
}

func (b *bounds) observeFloat(v float64) {
	switch {
	case v != v:
		b.nans++
	case !b.any:
		b.any = true
		b.floats.low, b.floats.high = v, v
	default:
		// min and max order -0 before +0.
		b.floats.low, b.floats.high = min(b.floats.low, v), max(b.floats.high, v)
	}
}

// first8 is the first 8 bytes as a number that compares as they do, short values filled with zeros.
func first8(v []byte) uint64 {
	if len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	var x uint64
	for i, c := range v {
		x |= uint64(c) << (56 - 8*i)
	}
	return x
}

// observeBytes takes v into account up to keep bytes.
func (b *bounds) observeBytes(v []byte, keep int) {
	x := first8(v)
	if b.any && x > b.low8 && x < b.high8 {
		return
	}
	cut := len(v) > keep
	if cut {
		v = v[:keep]
	}
	b.observePrefix(v, x, cut)
}

func (b *bounds) observePrefix(v []byte, x uint64, cut bool) {
	if !b.any {
		b.any = true
		b.low, b.low8 = append(b.low[:0], v...), x
		b.high, b.high8, b.hiCut = append(b.high[:0], v...), x, cut
		return
	}
	if bytes.Compare(v, b.low) < 0 {
		b.low, b.low8 = append(b.low[:0], v...), x
	}
	switch bytes.Compare(v, b.high) {
	case 1:
		b.high, b.high8, b.hiCut = append(b.high[:0], v...), x, cut
	case 0:
		b.hiCut = b.hiCut || cut
	}
}

// merge takes all of o into account.
func (b *bounds) merge(o *bounds, by order) {
	b.values += o.values
	b.nulls += o.nulls
	b.nans += o.nans
	if !o.any {
		return
	}
	switch by {
	case orderInt:
		b.observeInts(o.ints.low, o.ints.high)
	case orderFloat:
		b.observeFloat(o.floats.low)
		b.observeFloat(o.floats.high)
	default:
		b.observePrefix(o.low, o.low8, false)
		b.observePrefix(o.high, o.high8, o.hiCut)
	}
}

// flipSign makes big-endian two's complement compare bytewise, and back.
func flipSign(v []byte) { v[0] ^= 0x80 }

// limits is the bounds as PLAIN values of the leaf's physical type. A nil high means that none can be said.
func (b *bounds) limits(t *leafType, length int) (low, high []byte) {
	if !b.any {
		return nil, nil
	}
	switch t.order {
	case orderInt:
		return appendInt(nil, t, b.ints.low), appendInt(nil, t, b.ints.high)
	case orderFloat:
		return b.floatLimits(t)
	case orderSigned:
		low, high = bytes.Clone(b.low), bytes.Clone(b.high)
		flipSign(low)
		flipSign(high)
		return low, high
	default:
		return b.byteLimits(t, length)
	}
}

// byteLimits cuts texts and binaries to length, the high one up; values of a fixed length are kept whole.
func (b *bounds) byteLimits(t *leafType, length int) (low, high []byte) {
	if t.kind == record.KindString {
		return truncateText(b.low, length), truncateTextUp(b.high, b.hiCut, length)
	}
	if t.physical == format.FixedLenByteArray {
		return bytes.Clone(b.low), bytes.Clone(b.high)
	}
	n := min(length, len(b.low))
	return append(make([]byte, 0, n), b.low[:n]...), truncateBytesUp(b.high, b.hiCut, length) // empty is not nil
}

func appendInt(out []byte, t *leafType, v int64) []byte {
	switch t.physical {
	case format.Boolean:
		return append(out, byte(v))
	case format.Int32:
		return binary.LittleEndian.AppendUint32(out, uint32(v))
	default:
		return binary.LittleEndian.AppendUint64(out, uint64(v))
	}
}

// floatLimits widens zeros: a reader may not tell -0 from +0, so a low of zero is -0 and a high of zero is +0
// (parquet.thrift, ColumnOrder).
func (b *bounds) floatLimits(t *leafType) (low, high []byte) {
	lo, hi := b.floats.low, b.floats.high
	if lo == 0 {
		lo = math.Copysign(0, -1)
	}
	if hi == 0 {
		hi = 0
	}
	if t.physical == format.Float {
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(lo))),
			binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(hi)))
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(lo)),
		binary.LittleEndian.AppendUint64(nil, math.Float64bits(hi))
}

// prefixLen is the bytes of the first n code points of v, and whether v has more.
func prefixLen(v []byte, n int) (int, bool) {
	at := 0
	for ; n > 0 && at < len(v); n-- {
		_, size := utf8.DecodeRune(v[at:])
		at += size
	}
	return at, at < len(v)
}

// truncateText is the first n code points, which sort at or before every string that starts with them.
func truncateText(v []byte, n int) []byte {
	at, _ := prefixLen(v, n)
	if !utf8.Valid(v[:at]) {
		return nil
	}
	return append(make([]byte, 0, at), v[:at]...)
}

// truncateTextUp sorts at or after every string that starts with v's first n code points: the last code point that has
// a successor is replaced by it, and nil when there is none. The surrogates U+D800 to U+DFFF are no code points. cut
// says that v itself is the start of a longer string, of at least n code points.
func truncateTextUp(v []byte, cut bool, n int) []byte {
	at, more := prefixLen(v, n)
	out := append(make([]byte, 0, at+1), v[:at]...)
	if !utf8.Valid(out) {
		return nil
	}
	if !more && !cut {
		return out
	}
	for len(out) > 0 {
		r, size := utf8.DecodeLastRune(out)
		out = out[:len(out)-size]
		switch {
		case r == surrogateMin-1:
			return utf8.AppendRune(out, surrogateMax+1)
		case r < utf8.MaxRune:
			return utf8.AppendRune(out, r+1)
		}
	}
	return nil
}

const (
	surrogateMin = 0xD800
	surrogateMax = 0xDFFF
)

// truncateBytesUp sorts at or after every value that starts with v's first n bytes, and nil when all of them are 0xFF.
func truncateBytesUp(v []byte, cut bool, n int) []byte {
	if len(v) <= n && !cut {
		return append(make([]byte, 0, len(v)), v...)
	}
	for i := min(n, len(v)) - 1; i >= 0; i-- {
		if v[i] < 0xFF {
			out := append(make([]byte, 0, i+1), v[:i+1]...)
			out[i]++
			return out
		}
	}
	return nil
}

// singleValue is a bound in Iceberg's single-value binary serialisation (specification, appendix D), from its PLAIN
// form. They differ for decimals only: big-endian, in as few bytes as hold the sign.
func singleValue(t *leafType, plain []byte) []byte {
	if t.kind != record.KindDecimal {
		return plain
	}
	if t.physical != format.FixedLenByteArray {
		plain = slices.Clone(plain)
		slices.Reverse(plain)
	}
	for len(plain) > 1 && plain[0] == byte(int8(plain[1])>>7) {
		plain = plain[1:]
	}
	return plain
}
