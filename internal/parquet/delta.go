package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// DELTA_BINARY_PACKED (format, Encodings.md): blocks of differences to the value before, from the smallest one of the
// block, bit-packed with a width for each of four miniblocks.
const (
	deltaBlock = 128
	deltaMini  = 32
	deltaMinis = deltaBlock / deltaMini
)

// deltaBytesMax bounds the encoding of n numbers of a width in bytes.
func deltaBytesMax(n, width int) int {
	const head, blockHead = 32, binary.MaxVarintLen64 + deltaMinis
	return head + (n/deltaBlock+1)*blockHead + (n+deltaMini)*width
}

// appendDeltas encodes PLAIN numbers of 4 or 8 bytes. Differences wrap around as the format wants, so that none needs
// more bits than a number.
func appendDeltas(out, plain []byte, width int) []byte {
	n := len(plain) / width
	out = append(binary.AppendUvarint(out, deltaBlock), deltaMinis)
	out = binary.AppendUvarint(out, uint64(n))
	if n == 0 {
		return append(out, 0) // the first value
	}
	var block [deltaBlock]int64
	if width == 4 {
		previous := int32(binary.LittleEndian.Uint32(plain))
		out = binary.AppendVarint(out, int64(previous))
		for plain = plain[4:]; len(plain) > 0; {
			k := min(deltaBlock, len(plain)/4)
			low := differences32(block[:k], plain, previous)
			out = appendDeltaBlock(out, &block, k, low)
			previous = int32(binary.LittleEndian.Uint32(plain[4*k-4:]))
			plain = plain[4*k:]
		}
		return out
	}
	previous := int64(binary.LittleEndian.Uint64(plain))
	out = binary.AppendVarint(out, previous)
	for plain = plain[8:]; len(plain) > 0; {
		k := min(deltaBlock, len(plain)/8)
		low := differences64(block[:k], plain, previous)
		out = appendDeltaBlock(out, &block, k, low)
		previous = int64(binary.LittleEndian.Uint64(plain[8*k-8:]))
		plain = plain[8*k:]
	}
	return out
}

// differences32 fills block and returns its smallest difference.
func differences32(block []int64, plain []byte, previous int32) int64 {
	low := int32(math.MaxInt32)
	for i := range block {
		v := int32(binary.LittleEndian.Uint32(plain[4*i:]))
		d := v - previous
		previous, low, block[i] = v, min(low, d), int64(d)
	}
	return int64(low)
}

func differences64(block []int64, plain []byte, previous int64) int64 {
	low := int64(math.MaxInt64)
	for i := range block {
		v := int64(binary.LittleEndian.Uint64(plain[8*i:]))
		d := v - previous
		previous, low, block[i] = v, min(low, d), d
	}
	return low
}

// appendDeltaBlock writes the first k differences. The last miniblock is filled up, and those after it have neither
// width nor bytes.
func appendDeltaBlock(out []byte, block *[deltaBlock]int64, k int, low int64) []byte {
	for i := k; i%deltaMini != 0; i++ {
		block[i] = low
	}
	out = binary.AppendVarint(out, low)
	widths := len(out)
	out = append(out, 0, 0, 0, 0)
	for m := 0; m*deltaMini < k; m++ {
		mini := (*[deltaMini]int64)(block[m*deltaMini:])
		all := uint64(0)
		for _, d := range mini {
			all |= uint64(d - low)
		}
		width := bits.Len64(all)
		out[widths+m] = byte(width)
		out = appendPacked(out, mini, low, width)
	}
	return out
}

// appendPacked writes 32 differences from low, first value lowest, in 4 bytes for each bit of the width.
func appendPacked(out []byte, mini *[deltaMini]int64, low int64, width int) []byte {
	if width == 0 {
		return out
	}
	from := len(out)
	out = slices.Grow(out, 4*width)[:from+4*width]
	to := out[from:]
	acc, filled, step := uint64(0), uint(0), uint(width)
	for _, d := range mini {
		v := uint64(d - low)
		acc |= v << (filled & 63)
		filled += step
		if filled >= 64 {
			binary.LittleEndian.PutUint64(to, acc)
			to = to[8:]
			filled -= 64
			acc = v >> (step - filled)
		}
	}
	if filled > 0 { // 32 times an odd width is half a word more
		binary.LittleEndian.PutUint32(to, uint32(acc))
	}
	return out
}
