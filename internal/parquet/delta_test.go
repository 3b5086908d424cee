package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"pgregory.net/rapid"
)

// The encoders are held against parquet-go's decoders here, and in files against those of other readers.

// numbers draws runs of numbers whose differences need every width, and overflow.
func numbers(t *rapid.T) []int64 {
	var out []int64
	for range rapid.IntRange(0, 5).Draw(t, "runs") {
		width := rapid.IntRange(0, 64).Draw(t, "width")
		n := rapid.SampledFrom([]int{1, 2, 31, 32, 33, 127, 128, 129, 300}).Draw(t, "length")
		at := rapid.SampledFrom([]int64{0, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32}).Draw(t, "start")
		for range n {
			out = append(out, at)
			at += int64(rapid.Uint64Range(0, 1<<width-1).Draw(t, "step")) - int64(1)<<width>>1
		}
	}
	return out
}

func TestDeltas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkDeltas(t, numbers(t)) })
}

func TestDeltasAtTheEdges(t *testing.T) {
	for name, values := range map[string][]int64{
		"none": nil, "one": {5}, "least": {math.MinInt64}, "greatest": {math.MaxInt64},
		"from end to end":         {math.MinInt64, math.MaxInt64, math.MinInt64, 0, math.MaxInt64},
		"32 bits":                 {math.MinInt32, math.MaxInt32, math.MinInt32, 0, math.MaxInt32},
		"same":                    slices.Repeat([]int64{7}, 1000),
		"a block":                 slices.Repeat([]int64{1, 2}, 64),
		"a block after the first": slices.Repeat([]int64{math.MaxInt64, 2, math.MinInt64}, 43),
	} {
		t.Run(name, func(t *testing.T) { checkDeltas(t, values) })
	}
}

func checkDeltas(t tb, values []int64) {
	t.Helper()
	var plain64, plain32 []byte
	var values32 []int32
	for _, v := range values {
		plain64 = binary.LittleEndian.AppendUint64(plain64, uint64(v))
		plain32 = binary.LittleEndian.AppendUint32(plain32, uint32(v))
		values32 = append(values32, int32(v))
	}
	var e delta.BinaryPackedEncoding
	encoded := appendDeltas(nil, plain64, 8)
	if got, err := e.DecodeInt64(nil, encoded); err != nil || !slices.Equal(got, values) {
		t.Fatalf("64 bits: %v, want %v, got %v", err, values, got)
	}
	if bound := deltaBytesMax(len(values), 8); len(encoded) > bound {
		t.Fatalf("64 bits: %d bytes, more than the bound %d", len(encoded), bound)
	}
	encoded = appendDeltas(nil, plain32, 4)
	if got, err := e.DecodeInt32(nil, encoded); err != nil || !slices.Equal(got, values32) {
		t.Fatalf("32 bits: %v, want %v, got %v", err, values32, got)
	}
	if bound := deltaBytesMax(len(values), 4); len(encoded) > bound {
		t.Fatalf("32 bits: %d bytes, more than the bound %d", len(encoded), bound)
	}
}

// TestDeltaSizes pins that no miniblock is wider than it needs to be.
func TestDeltaSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(i int) int64
		want int // header of 5, first value of 1, and 2 blocks with 5 bytes of head each
	}{
		{"same", func(int) int64 { return 7 }, 16},
		{"sequence", func(i int) int64 { return int64(i) }, 16},
		// 1 and -1 are 2 and 0 from the smallest: 7 miniblocks of 2 bits, and one of zeros, 1 from it.
		{"up and down", func(i int) int64 { return int64(i % 2 >> (i / 200)) }, 16 + 7*8 + 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			var plain []byte
			for i := range 257 {
				plain = binary.LittleEndian.AppendUint64(plain, uint64(c.f(i)))
			}
			if got := len(appendDeltas(nil, plain, 8)); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

func TestDeltaByteArrays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.IntRange(1, 256).Draw(t, "alphabet")
		values := rapid.SliceOfN(rapid.SliceOfN(rapid.ByteRange(0, byte(alphabet-1)), 0, 40), 0, 300).Draw(t, "values")
		var plain, joined []byte
		offsets := []uint32{0}
		for _, v := range values {
			plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(v))), v...)
			joined = append(joined, v...)
			offsets = append(offsets, uint32(len(joined)))
		}
		lengths := make([]byte, 0, 8*len(values))
		got, at, err := (&delta.LengthByteArrayEncoding{}).DecodeByteArray(nil, appendDeltaLengths(nil, plain, lengths), nil)
		if err != nil || !bytes.Equal(got, joined) || !slices.Equal(at, offsets) {
			t.Fatalf("lengths: %v, want %q, got %q at %v", err, values, got, at)
		}
		got, at, err = (&delta.ByteArrayEncoding{}).DecodeByteArray(nil, appendDeltaByteArrays(nil, plain, lengths), nil)
		if err != nil || !bytes.Equal(got, joined) || !slices.Equal(at, offsets) {
			t.Fatalf("prefixes: %v, want %q, got %q at %v", err, values, got, at)
		}
	})
}

func TestCommonPrefix(t *testing.T) {
	for n := range 40 {
		a := bytes.Repeat([]byte{'x'}, n)
		for cut := range n + 1 {
			b := append(append([]byte{}, a[:cut]...), "yyy"...)
			if got := commonPrefix(a, b); got != cut {
				t.Errorf("%d bytes of %d in common, got %d", cut, n, got)
			}
			if got := commonPrefix(a[:cut], a); got != cut {
				t.Errorf("%d bytes and %d in common: got %d", cut, n, got)
			}
		}
	}
}

func TestStreams(t *testing.T) {
	for _, width := range []int{1, 3, 4, 8, 16} {
		for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 100} {
			plain := make([]byte, n*width)
			for i := range plain {
				plain[i] = byte(i*7 + i>>8)
			}
			encoded := appendStreams([]byte("before"), plain, width)[len("before"):]
			for i := range encoded {
				if want := plain[i%n*width+i/n]; encoded[i] != want {
					t.Fatalf("%d values of %d bytes: byte %d is %d, want %d", n, width, i, encoded[i], want)
				}
			}
			if len(encoded) != len(plain) {
				t.Errorf("%d values of %d bytes: %d bytes", n, width, len(encoded))
			}
		}
	}
	want := []float64{0, -1.5, math.Inf(1), math.MaxFloat64, 5, 6, 7, 8, 9}
	var plain []byte
	for _, v := range want {
		plain = binary.LittleEndian.AppendUint64(plain, math.Float64bits(v))
	}
	got, err := (&bytestreamsplit.Encoding{}).DecodeDouble(nil, appendStreams(nil, plain, 8))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v, got %v", err, want, got)
	}
}
