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
		h.out = binary.AppendUvarint(h.out, uint64(h.count)<<1)
		for shift := 0; shift < h.width; shift += 8 {
			h.out = append(h.out, byte(h.value>>shift))
		}
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
	var acc uint64
	filled := 0
	for _, v := range h.group {
		acc |= uint64(v) << filled
		for filled += h.width; filled >= 8; filled -= 8 {
			h.out = append(h.out, byte(acc))
			acc >>= 8
		}
	}
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

// appendIndices writes dictionary indices below count, with the byte of their width that comes first. A width of 0
// is legal for a dictionary of one value, and 1 is what every reader knows.
func appendIndices(out []byte, indices []uint32, count int) []byte {
	width := max(1, bits.Len32(uint32(count-1)))
	h := newHybrid(append(out, byte(width)), width)
	for _, index := range indices {
		h.add(index, 1)
	}
	return h.finish()
}
