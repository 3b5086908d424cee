package parquet

import (
	"encoding/binary"
	"slices"
)

// appendStreams encodes PLAIN values of a width as BYTE_STREAM_SPLIT (format, Encodings.md): the first byte of every
// value, then the second of every value, and so on. Codecs find more in them, because bytes of one place are alike.
func appendStreams(out, plain []byte, width int) []byte {
	from := len(out)
	out = slices.Grow(out, len(plain))[:from+len(plain)]
	to, n := out[from:], len(plain)/width
	done := 0
	switch width {
	case 4:
		done = splitStreams4(to, plain, n)
	case 8:
		done = splitStreams8(to, plain, n)
	}
	for stream := range width {
		bytes := to[stream*n : (stream+1)*n]
		at := done*width + stream
		for i := done; i < n; i++ {
			bytes[i] = plain[at]
			at += width
		}
	}
	return out
}

// splitStreams8 takes 8 values of 8 bytes at a time, and returns how many it took.
func splitStreams8(to, plain []byte, n int) int {
	i := 0
	for ; i+8 <= n; i += 8 {
		v := (*[64]byte)(plain[8*i:])
		storeStreams(to[i:], n,
			binary.LittleEndian.Uint64(v[0:]), binary.LittleEndian.Uint64(v[8:]),
			binary.LittleEndian.Uint64(v[16:]), binary.LittleEndian.Uint64(v[24:]),
			binary.LittleEndian.Uint64(v[32:]), binary.LittleEndian.Uint64(v[40:]),
			binary.LittleEndian.Uint64(v[48:]), binary.LittleEndian.Uint64(v[56:]))
	}
	return i
}

// storeStreams turns a square of 8 times 8 bytes over: byte k of word i becomes byte i of word k, which goes to the
// stream k, n bytes after the stream before. Halves of 4, then 2, then 1 bytes are exchanged between words that are as
// far apart.
func storeStreams(to []byte, n int, a, b, c, d, e, f, g, h uint64) {
	a, e = exchange(a, e, 32, 0x00000000FFFFFFFF)
	b, f = exchange(b, f, 32, 0x00000000FFFFFFFF)
	c, g = exchange(c, g, 32, 0x00000000FFFFFFFF)
	d, h = exchange(d, h, 32, 0x00000000FFFFFFFF)
	a, c = exchange(a, c, 16, 0x0000FFFF0000FFFF)
	b, d = exchange(b, d, 16, 0x0000FFFF0000FFFF)
	e, g = exchange(e, g, 16, 0x0000FFFF0000FFFF)
	f, h = exchange(f, h, 16, 0x0000FFFF0000FFFF)
	a, b = exchange(a, b, 8, 0x00FF00FF00FF00FF)
	c, d = exchange(c, d, 8, 0x00FF00FF00FF00FF)
	e, f = exchange(e, f, 8, 0x00FF00FF00FF00FF)
	g, h = exchange(g, h, 8, 0x00FF00FF00FF00FF)
	binary.LittleEndian.PutUint64(to, a)
	binary.LittleEndian.PutUint64(to[n:], b)
	binary.LittleEndian.PutUint64(to[2*n:], c)
	binary.LittleEndian.PutUint64(to[3*n:], d)
	binary.LittleEndian.PutUint64(to[4*n:], e)
	binary.LittleEndian.PutUint64(to[5*n:], f)
	binary.LittleEndian.PutUint64(to[6*n:], g)
	binary.LittleEndian.PutUint64(to[7*n:], h)
}

// exchange swaps the bits of low that the mask leaves out with those of high that it names.
func exchange(low, high uint64, shift uint, mask uint64) (uint64, uint64) {
	x := (low>>shift ^ high) & mask
	return low ^ x<<shift, high ^ x
}

// splitStreams4 takes 8 values of 4 bytes at a time, and returns how many it took.
func splitStreams4(to, plain []byte, n int) int {
	i := 0
	for ; i+8 <= n; i += 8 {
		v := (*[32]byte)(plain[4*i:])
		// Two squares of 4 times 4 bytes side by side.
		a, b := pair(v[0:], v[16:]), pair(v[4:], v[20:])
		c, d := pair(v[8:], v[24:]), pair(v[12:], v[28:])
		a, c = exchange(a, c, 16, 0x0000FFFF0000FFFF)
		b, d = exchange(b, d, 16, 0x0000FFFF0000FFFF)
		a, b = exchange(a, b, 8, 0x00FF00FF00FF00FF)
		c, d = exchange(c, d, 8, 0x00FF00FF00FF00FF)
		binary.LittleEndian.PutUint64(to[i:], a)
		binary.LittleEndian.PutUint64(to[n+i:], b)
		binary.LittleEndian.PutUint64(to[2*n+i:], c)
		binary.LittleEndian.PutUint64(to[3*n+i:], d)
	}
	return i
}

func pair(low, high []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(high))<<32 | uint64(binary.LittleEndian.Uint32(low))
}
