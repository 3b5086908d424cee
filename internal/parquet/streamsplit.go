package parquet

import "encoding/binary"

// appendStreams encodes PLAIN values of a width as BYTE_STREAM_SPLIT (format, Encodings.md): the first byte of every
// value, then the second of every value, and so on. Codecs find more in them, because bytes of one place are alike.
func appendStreams(out, plain []byte, width int) []byte {
	from := len(out)
	out = reserve(out, len(plain))[:from+len(plain)]
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
	var square [8]uint64
	i := 0
	for ; i+8 <= n; i += 8 {
		values := plain[8*i : 8*i+64]
		for k := range square {
			square[k] = binary.LittleEndian.Uint64(values[8*k:])
		}
		transpose(&square)
		for stream, bytes := range square {
			binary.LittleEndian.PutUint64(to[stream*n+i:], bytes)
		}
	}
	return i
}

// splitStreams4 takes 16 values of 4 bytes at a time: two halves side by side in the square.
func splitStreams4(to, plain []byte, n int) int {
	var square [8]uint64
	i := 0
	for ; i+16 <= n; i += 16 {
		values := plain[4*i : 4*i+64]
		for k := range square {
			low, high := binary.LittleEndian.Uint32(values[4*k:]), binary.LittleEndian.Uint32(values[32+4*k:])
			square[k] = uint64(high)<<32 | uint64(low)
		}
		transpose(&square)
		for stream, bytes := range square[:4] {
			binary.LittleEndian.PutUint64(to[stream*n+i:], bytes)
			binary.LittleEndian.PutUint64(to[stream*n+i+8:], square[4+stream])
		}
	}
	return i
}

// transpose turns a square of 8 times 8 bytes over: byte k of word i becomes byte i of word k. It exchanges halves of
// 4, then 2, then 1 bytes between words that are as far apart.
func transpose(s *[8]uint64) {
	for i := range 4 {
		s[i], s[i+4] = exchange(s[i], s[i+4], 32, 0x00000000FFFFFFFF)
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		s[i], s[i+2] = exchange(s[i], s[i+2], 16, 0x0000FFFF0000FFFF)
	}
	for i := 0; i < 8; i += 2 {
		s[i], s[i+1] = exchange(s[i], s[i+1], 8, 0x00FF00FF00FF00FF)
	}
}

// exchange swaps the bits of low that the mask leaves out with those of high that it names.
func exchange(low, high uint64, shift int, mask uint64) (uint64, uint64) {
	x := (low>>shift ^ high) & mask
	return low ^ x<<shift, high ^ x
}
