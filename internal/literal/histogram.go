package literal

import (
	"encoding/binary"
	"math"

	"firn/internal/prefetch"
)

// histogram counts how often each byte occurs.
type histogram [256]uint32

// count adds the bytes of src. Four counters take turns, since adding to the one that was just added to waits for it.
func (h *histogram) count(src []byte) {
	var a, b, c, d histogram
	for ; len(src) >= 8; src = src[8:] {
		v := binary.LittleEndian.Uint64(src)
		a[byte(v)]++
		b[byte(v>>8)]++
		c[byte(v>>16)]++
		d[byte(v>>24)]++
		a[byte(v>>32)]++
		b[byte(v>>40)]++
		c[byte(v>>48)]++
		d[byte(v>>56)]++
	}
	for _, x := range src {
		h[x]++
	}
	for i := range h {
		h[i] += a[i] + b[i] + c[i] + d[i]
	}
}

// A sample is pieces of sampleRun bytes, evenly spread, of sampleBytes in all. A page that was filled little by little
// is no longer in the cache, where each piece costs as much as its first line: so they are few and long.
const (
	sampleBytes = 16 << 10
	sampleRun   = 1 << 10
)

// sample counts a part of src, or all of it where it is short.
func (h *histogram) sample(src []byte) {
	if len(src) <= 2*sampleBytes {
		h.count(src)
		return
	}
	const runs = sampleBytes / sampleRun
	step := (len(src) - sampleRun) / (runs - 1)
	for i := range runs {
		at := i * step
		prefetch.Bytes(src[min(at+step, len(src)-sampleRun):][:sampleRun])
		for _, x := range src[at : at+sampleRun] {
			h[x]++
		}
	}
}

// total is the number of bytes counted, distinct how many different ones there are.
func (h *histogram) total() (total uint64, distinct int) {
	for _, n := range h {
		total += uint64(n)
		if n > 0 {
			distinct++
		}
	}
	return total, distinct
}

// entropyBits is the least number of bits that the bytes take when each is coded by itself (Shannon).
func (h *histogram) entropyBits() float64 {
	total, _ := h.total()
	var bits float64
	for _, n := range h {
		if n > 0 {
			bits -= float64(n) * math.Log2(float64(n)/float64(total))
		}
	}
	return bits
}
