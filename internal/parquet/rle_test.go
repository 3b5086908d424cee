package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// decodeHybrid reads n values of a width, as the format describes them.
func decodeHybrid(t tb, b []byte, width, n int) []uint32 {
	t.Helper()
	var out []uint32
	for len(out) < n {
		header, k := binary.Uvarint(b)
		if k <= 0 {
			t.Fatalf("no header after %d values of %d", len(out), n)
		}
		b = b[k:]
		if header&1 == 0 {
			size := (width + 7) / 8
			value := uint32(0)
			for i, c := range b[:size] {
				value |= uint32(c) << (8 * i)
			}
			out = append(out, slices.Repeat([]uint32{value}, int(header>>1))...)
			b = b[size:]
			continue
		}
		count := int(header>>1) * 8
		for i := range count {
			value := uint32(0)
			for bit := range width {
				at := i*width + bit
				value |= uint32(b[at/8]>>(at%8)&1) << bit
			}
			out = append(out, value)
		}
		b = b[count*width/8:]
	}
	if len(b) > 0 || len(out) > n+7 {
		t.Fatalf("%d bytes left and %d values, want %d", len(b), len(out), n)
	}
	return out[:n]
}

func TestHybrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 32).Draw(t, "width")
		var want []uint32
		h := newHybrid(nil, width)
		for range rapid.IntRange(0, 40).Draw(t, "runs") {
			value := rapid.Uint32Range(0, uint32(1<<width-1)).Draw(t, "value")
			n := rapid.SampledFrom([]int{0, 1, 2, 3, 7, 8, 9, 30, 600}).Draw(t, "length")
			h.add(value, n)
			want = append(want, slices.Repeat([]uint32{value}, n)...)
		}
		if got := decodeHybrid(t, h.finish(), width, len(want)); !slices.Equal(want, got) {
			t.Fatalf("want %v\n got %v", want, got)
		}
	})
}

func TestHybridSizes(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []uint8
		lead   int
		want   int // bytes
	}{
		{"one level is one run", nil, 1 << 17, 4},
		{"alternating is packed", slices.Repeat([]uint8{0, 1}, 252), 0, 1 + 63},
		{"a null in the middle", append([]uint8{0}, slices.Repeat([]uint8{1}, 1000)...), 1000, 2 + 1 + 2 + 2 + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := len(appendBareLevels(nil, 1, c.lead, c.values)); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

func TestIndicesNameTheirWidth(t *testing.T) {
	for _, count := range []int{1, 2, 3, 256, 257, 70000} {
		indices := []uint32{0, uint32(count - 1), 0, uint32(count / 2)}
		b := appendIndices(nil, indices, count)
		if want := max(1, bits.Len(uint(count-1))); int(b[0]) != want {
			t.Errorf("width %d for %d values, want %d", b[0], count, want)
		}
		if got := decodeHybrid(t, b[1:], int(b[0]), len(indices)); !slices.Equal(indices, got) {
			t.Errorf("want %v, got %v", indices, got)
		}
	}
}

// Indices come eight at a time, and give what they give one by one.
func TestAppendIndices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 20).Draw(t, "width")
		count := 1 << width
		var indices []uint32
		h := newHybrid([]byte{byte(width)}, width)
		for range rapid.IntRange(0, 200).Draw(t, "runs") {
			value := rapid.Uint32Range(0, uint32(count-1)).Draw(t, "value")
			n := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 3, 7, 8, 9, 30, 600}).Draw(t, "length")
			h.add(value, n)
			indices = append(indices, slices.Repeat([]uint32{value}, n)...)
		}
		got := appendIndices(nil, indices, count)
		if want := h.finish(); !slices.Equal(want, got) {
			t.Fatalf("%d indices of %d bits: %x, want %x", len(indices), width, got, want)
		}
		if values := decodeHybrid(t, got[1:], width, len(indices)); !slices.Equal(indices, values) {
			t.Fatalf("read %v, want %v", values, indices)
		}
	})
}
