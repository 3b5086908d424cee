package iceberg

import (
	"encoding/binary"
	"math/bits"
)

const (
	murmurC1 = 0xcc9e2d51
	murmurC2 = 0x1b873593
)

func murmurMix(h, k uint32) uint32 {
	h ^= bits.RotateLeft32(k*murmurC1, 15) * murmurC2
	return bits.RotateLeft32(h, 13)*5 + 0xe6546b64
}

func murmurEnd(h, length uint32) uint32 {
	h ^= length
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// hashLong is Iceberg's bucket hash of an integer value: murmur3 x86 32 bit, seed 0, of its 8 bytes little-endian
// (spec appendix B).
func hashLong(v int64) uint32 {
	h := murmurMix(0, uint32(uint64(v)))
	return murmurEnd(murmurMix(h, uint32(uint64(v)>>32)), 8)
}

// hashBytes is the same hash of bytes.
func hashBytes(b []byte) uint32 {
	var h uint32
	n := uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		h = murmurMix(h, binary.LittleEndian.Uint32(b))
	}
	if len(b) > 0 {
		var k uint32
		for i := len(b) - 1; i >= 0; i-- {
			k = k<<8 | uint32(b[i])
		}
		h ^= bits.RotateLeft32(k*murmurC1, 15) * murmurC2
	}
	return murmurEnd(h, n)
}
