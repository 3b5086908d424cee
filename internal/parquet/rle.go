package parquet

import (
	"encoding/binary"
	"math/bits"
)

// hybrid writes Parquet's hybrid of runs and bit-packed groups (format, Encodings.md, "Run Length Encoding /
// Bit-Packing Hybrid"). Values come one run at a time, so that a page of one level costs one call.
type hybrid struct {
	out     []byte
	width   int    // bits of a value
	value   uint32 // of the pending run
	count   int    // length of the pending run
	group   [8]uint32
	grouped int // values in group
	header  int // where the open bit-packed run's header is in out; -1 when none is open
	groups  int // groups in the open bit-packed run
}

// bitPackedGroupsMax keeps the header of a bit-packed run in one byte.
const bitPackedGroupsMax = 63

// runLengthMin is the shortest run worth its own header: a bit-packed group holds 8.
const runLengthMin = 8

func newHybrid(out []byte, width int) hybrid { return hybrid{out: out, width: width, header: -1} }

// add appends n times value.
func (h *hybrid) add(value uint32, n int) {
	if n == 0 {
		return
	}
	if value == h.value || h.count == 0 {
		h.value = value
		h.count += n
		return
	}
	h.settle()
	h.value, h.count = value, n
}

// settle writes the pending run: what completes the open group first, then a run of its own when it is long enough.
func (h *hybrid) settle() {
	for h.count > 0 && h.grouped > 0 {
		h.pack()
	}
	if h.count >= runLengthMin {
		h.closeGroups()
		h.out = appendRun(h.out, h.value, h.count, h.width)
		h.count = 0
	}
	for h.count > 0 {
		h.pack()
	}
}

// pack moves one value of the pending run into the group, and writes the group when it is full.
func (h *hybrid) pack() {
	h.group[h.grouped] = h.value
	h.grouped++
	h.count--
	if h.grouped < len(h.group) {
		return
	}
	if h.header < 0 || h.groups == bitPackedGroupsMax {
		h.closeGroups()
		h.header = len(h.out)
		h.out = append(h.out, 0)
	}
	h.out = appendGroup(h.out, &h.group, h.width)
	h.grouped = 0
	h.groups++
}

func (h *hybrid) closeGroups() {
	if h.header >= 0 {
		h.out[h.header] = byte(h.groups<<1 | 1)
	}
	h.header, h.groups = -1, 0
}

// finish returns the bytes. The last group is filled up with zeros, which readers drop by the page's value count.
func (h *hybrid) finish() []byte {
	h.settle()
	if h.grouped > 0 {
		h.value, h.count = 0, len(h.group)-h.grouped
		for h.count > 0 {
			h.pack()
		}
	}
	h.closeGroups()
	return h.out
}

// appendBareLevels writes lead times top and then the levels.
func appendBareLevels(out []byte, top uint8, lead int, levels []uint8) []byte {
	h := newHybrid(out, bits.Len8(top))
	h.add(uint32(top), lead)
	for _, level := range levels {
		h.add(uint32(level), 1)
	}
	return h.finish()
}

// appendSizedLevels writes them with the 4-byte length that a page v1 has before them.
func appendSizedLevels(out []byte, top uint8, lead int, levels []uint8) []byte {
	at := len(out)
	out = appendBareLevels(append(out, 0, 0, 0, 0), top, lead, levels)
	binary.LittleEndian.PutUint32(out[at:], uint32(len(out)-at-4))
	return out
}

// appendIndices writes dictionary indices below count, with the byte of their width that comes first.
func appendIndices(out []byte, indices []uint32, count int) []byte {
	width := indexBits(count)
	return appendIndexRuns(append(out, byte(width)), indices, width, false)
}

// indexBits is the width of indices below count. A width of 0 is legal for a dictionary of one value, and 1 is what
// every reader knows.
func indexBits(count int) int { return max(1, bits.Len32(uint32(count-1))) }

// appendIndexRuns writes indices of a width. When more will follow, the last group is not filled up.
func appendIndexRuns(out []byte, indices []uint32, width int, more bool) []byte {
	header, groups := -1, 0 // of the open bit-packed run
	for len(indices) > 0 {
		run := runLength(indices)
		if run < runLengthMin && len(indices) >= 8 {
			if header < 0 || groups == bitPackedGroupsMax {
				header, groups = len(out), 0
				out = append(out, 0)
			}
			out = appendGroup(out, (*[8]uint32)(indices), width)
			groups++
			out[header] = byte(groups<<1 | 1)
			indices = indices[8:]
			continue
		}
		if run < runLengthMin && !more { // fewer than 8 are left
			h := hybrid{out: out, width: width, header: header, groups: groups}
			for _, index := range indices {
				h.add(index, 1)
			}
			return h.finish()
		}
		out, header = appendRun(out, indices[0], run, width), -1
		indices = indices[run:]
	}
	return out
}

// runLength is how often the first index is repeated.
func runLength(indices []uint32) int {
	n := 1
	for n < len(indices) && indices[n] == indices[0] {
		n++
	}
	return n
}

func appendRun(out []byte, value uint32, n, width int) []byte {
	out = binary.AppendUvarint(out, uint64(n)<<1)
	for shift := 0; shift < width; shift += 8 {
		out = append(out, byte(value>>shift))
	}
	return out
}

// appendGroup packs 8 values, first value lowest.
func appendGroup(out []byte, v *[8]uint32, width int) []byte {
	if width > 16 {
		return appendWideGroup(out, v, width)
	}
	w := uint(width)
	low := uint64(v[0]) | uint64(v[1])<<w | uint64(v[2])<<(2*w) | uint64(v[3])<<(3*w)
	high := uint64(v[4]) | uint64(v[5])<<w | uint64(v[6])<<(2*w) | uint64(v[7])<<(3*w)
	var packed [16]byte
	binary.LittleEndian.PutUint64(packed[:], low|high<<(4*w))
	binary.LittleEndian.PutUint64(packed[8:], high>>(64-4*w))
	return append(out, packed[:width]...)
}

func appendWideGroup(out []byte, values *[8]uint32, width int) []byte {
	var acc uint64
	filled := 0
	for _, v := range values {
		acc |= uint64(v) << filled
		for filled += width; filled >= 8; filled -= 8 {
			out = append(out, byte(acc))
			acc >>= 8
		}
	}
	return out
}
