package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/prefetch"
	"firn/internal/record"
)

// addValues appends the values of c at the places dense, of so many bytes, to the page or to the dictionary.
func (l *leaf) addValues(f *File, w *workspace, c *record.Column, dense []int32, bytes int) error {
	if len(dense) == 0 {
		return nil
	}
	if l.dict.active {
		return l.addIndices(f, w, c, dense, bytes)
	}
	need := frontBytes + bytes
	if len(l.page.plain) == 0 {
		need = max(need, l.page.room)
	}
	plain := f.options.Pool.grow(l.page.plain, need)
	if len(plain) == 0 {
		plain = plain[:frontBytes]
	}
	out, err := l.appendPlain(plain, c, dense)
	l.page.plain = out
	return err
}

// appendPlain encodes values as PLAIN (format, Encodings.md), and takes them into the page's bounds.
func (l *leaf) appendPlain(out []byte, c *record.Column, dense []int32) ([]byte, error) {
	b := &l.page.stats
	switch {
	case l.physical == format.Boolean:
		return appendBooleans(out, c.Bools, dense, b), nil
	case l.kind == record.KindDecimal && l.order == orderInt:
		return l.appendDecimals(out, c.Ints64, dense)
	case l.physical == format.Int32:
		return appendInts32(out, c.Ints32, dense, b), nil
	case l.physical == format.Int64:
		return appendInts64(out, c.Ints64, dense, b), nil
	case l.physical == format.Float:
		for _, x := range dense {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(c.Floats32[x]))
			b.observeFloat(float64(c.Floats32[x]))
		}
		return out, nil
	case l.physical == format.Double:
		return appendFloats64(out, c.Floats64, dense, b), nil
	case l.physical == format.ByteArray:
		return appendByteArrays(out, c.Bytes, dense, b, l.keep), nil
	default:
		return l.appendFixed(out, c.Fixed, dense)
	}
}

func appendBooleans(out []byte, values []bool, dense []int32, b *bounds) []byte {
	for _, x := range dense {
		v := byte(0)
		if values[x] {
			v = 1
		}
		out = append(out, v)
		b.observeInts(int64(v), int64(v))
	}
	return out
}

func appendInts32(out []byte, values, dense []int32, b *bounds) []byte {
	low, high := values[dense[0]], values[dense[0]]
	out, to := extend(out, 4*len(dense))
	for i, x := range dense {
		v := values[x]
		low, high = min(low, v), max(high, v)
		binary.LittleEndian.PutUint32(to[4*i:], uint32(v))
	}
	b.observeInts(int64(low), int64(high))
	return out
}

func appendInts64(out []byte, values []int64, dense []int32, b *bounds) []byte {
	low, high := values[dense[0]], values[dense[0]]
	out, to := extend(out, 8*len(dense))
	for i, x := range dense {
		v := values[x]
		low, high = min(low, v), max(high, v)
		binary.LittleEndian.PutUint64(to[8*i:], uint64(v))
	}
	b.observeInts(low, high)
	return out
}

// extend makes out longer by n bytes, which are to be written.
func extend(out []byte, n int) (all, added []byte) {
	all = slices.Grow(out, n)[:len(out)+n]
	return all, all[len(out):]
}

func appendFloats64(out []byte, values []float64, dense []int32, b *bounds) []byte {
	low, high, nans := math.Inf(1), math.Inf(-1), 0
	out, to := extend(out, 8*len(dense))
	for i, x := range dense {
		v := values[x]
		binary.LittleEndian.PutUint64(to[8*i:], math.Float64bits(v))
		if v != v {
			nans++
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	b.nans += int64(nans)
	if nans < len(dense) {
		b.observeFloat(low)
		b.observeFloat(high)
	}
	return out
}

// Rows of one partition value lie far apart in a batch, and its open page was last written to a while ago, so that each
// value is the first touch of its memory and of where it goes. Both are asked for while the values before are copied.
const (
	prefetchAhead    = 2
	prefetchBytesMin = 256
	prefetchBytesMax = 4 << 10 // from there the processor has seen what comes
)

// prefetchValue asks for a value that is prefetchAhead after the one to be appended to out, and for its place.
func prefetchValue(out, v []byte) {
	if len(v) < prefetchBytesMin {
		return
	}
	n := min(len(v), prefetchBytesMax)
	prefetch.Bytes(v[:n])
	if at := len(out) + prefetchAhead*len(v); at+n <= cap(out) {
		prefetch.Bytes(out[at : at+n])
	}
}

func appendByteArrays(out []byte, values [][]byte, dense []int32, b *bounds, keep int) []byte {
	for i, x := range dense {
		if ahead := i + prefetchAhead; ahead < len(dense) {
			prefetchValue(out, values[dense[ahead]])
		}
		v := values[x]
		out = binary.LittleEndian.AppendUint32(out, uint32(len(v)))
		out = append(out, v...)
		b.observeBytes(v, keep)
	}
	return out
}

func (l *leaf) appendDecimals(out []byte, values []int64, dense []int32) ([]byte, error) {
	for _, x := range dense {
		v := values[x]
		if v <= -l.limit || v >= l.limit {
			return out, fmt.Errorf("column %s: a decimal has more digits than its precision", l.dotted)
		}
		out = appendInt(out, &l.leafType, v)
		l.page.stats.observeInts(v, v)
	}
	return out, nil
}

// appendFixed takes the last width bytes of each source value: a decimal is kept in 16 and written in fewer.
func (l *leaf) appendFixed(out, values []byte, dense []int32) ([]byte, error) {
	skip := l.source - l.width
	for _, x := range dense {
		v := values[int(x)*l.source : (int(x)+1)*l.source]
		sign := byte(int8(v[skip]) >> 7)
		for _, high := range v[:skip] {
			if high != sign {
				return out, fmt.Errorf("column %s: a decimal has more digits than its precision", l.dotted)
			}
		}
		out = append(out, v[skip:]...)
		l.observeFixed(v[skip:])
	}
	return out, nil
}

func (l *leaf) observeFixed(v []byte) {
	if l.order != orderSigned {
		l.page.stats.observeBytes(v, l.keep)
		return
	}
	var flipped [16]byte
	n := copy(flipped[:], v)
	flipSign(flipped[:])
	l.page.stats.observeBytes(flipped[:n], l.keep)
}

// packBooleans turns one byte a value into one bit, in place, first value lowest (PLAIN).
func packBooleans(values []byte) []byte {
	n := (len(values) + 7) / 8
	for i := range n {
		packed := byte(0)
		for bit, v := range values[8*i : min(8*i+8, len(values))] {
			packed |= v << bit
		}
		values[i] = packed
	}
	return values[:n]
}
