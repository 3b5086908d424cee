package parquet

import (
	"encoding/binary"
	"math/bits"
)

// appendDeltaLengths encodes PLAIN byte arrays as DELTA_LENGTH_BYTE_ARRAY (format, Encodings.md): the lengths as
// deltas, and then all bytes. lengths is scratch of 4 bytes a value.
func appendDeltaLengths(out, plain, lengths []byte) []byte {
	lengths = lengths[:0]
	for v := plain; len(v) > 0; v = v[4+binary.LittleEndian.Uint32(v):] {
		lengths = append(lengths, v[:4]...)
	}
	out = appendDeltas(out, lengths, 4)
	for v := plain; len(v) > 0; {
		end := 4 + binary.LittleEndian.Uint32(v)
		out = append(out, v[4:end]...)
		v = v[end:]
	}
	return out
}

// appendDeltaByteArrays encodes PLAIN byte arrays as DELTA_BYTE_ARRAY (format, Encodings.md): how many bytes each has
// in common with the one before, as deltas, and the rest of each as DELTA_LENGTH_BYTE_ARRAY. lengths is scratch of 8
// bytes a value. The first value of a page has nothing in common with another page's.
func appendDeltaByteArrays(out, plain, lengths []byte) []byte {
	n := cap(lengths) / 8
	prefixes, suffixes := lengths[:0:4*n], lengths[4*n:4*n:8*n]
	var previous []byte
	for v := plain; len(v) > 0; {
		end := 4 + binary.LittleEndian.Uint32(v)
		value := v[4:end]
		common := commonPrefix(previous, value)
		prefixes = binary.LittleEndian.AppendUint32(prefixes, uint32(common))
		suffixes = binary.LittleEndian.AppendUint32(suffixes, uint32(len(value)-common))
		previous, v = value, v[end:]
	}
	out = appendDeltas(out, prefixes, 4)
	out = appendDeltas(out, suffixes, 4)
	for v := plain; len(v) > 0; prefixes = prefixes[4:] {
		end := 4 + binary.LittleEndian.Uint32(v)
		out = append(out, v[4+binary.LittleEndian.Uint32(prefixes):end]...)
		v = v[end:]
	}
	return out
}

// commonPrefix is the number of bytes with which both start.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
