package parquet

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// hybridReader reads what hybrid writes, from bytes that may be anything.
type hybridReader struct {
	b       []byte
	width   int
	value   uint32 // of the open run
	run     int    // values left in it
	packed  []byte // of the open bit-packed run
	at      int    // the next value in it
	grouped int    // values in it
}

func newHybridReader(b []byte, width int) (hybridReader, error) {
	if width < 0 || width > 32 {
		return hybridReader{}, fmt.Errorf("numbers of %d bits", width)
	}
	return hybridReader{b: b, width: width}, nil
}

// fill reads as many values as out has room for.
func (h *hybridReader) fill(out []uint32) error {
	for len(out) > 0 {
		switch {
		case h.run > 0:
			n := min(h.run, len(out))
			for i := range out[:n] {
				out[i] = h.value
			}
			h.run -= n
			out = out[n:]
		case h.at < h.grouped:
			n := min(h.grouped-h.at, len(out))
			unpack(out[:n], h.packed, h.at, h.width)
			h.at += n
			out = out[n:]
		default:
			if err := h.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// next opens a run.
func (h *hybridReader) next() error {
	head, n := binary.Uvarint(h.b)
	if n <= 0 {
		return errCut
	}
	h.b = h.b[n:]
	if head&1 == 0 {
		return h.openRun(head >> 1)
	}
	groups := head >> 1
	if h.width == 0 {
		h.value, h.run = 0, int(min(groups, 1<<28))*8
		return nil
	}
	size := len(h.b) // some writers leave the end of the last group out
	if groups < uint64(size/h.width)+1 {
		size = min(size, int(groups)*h.width)
	}
	h.packed, h.b = h.b[:size], h.b[size:]
	h.at, h.grouped = 0, size*8/h.width
	return nil
}

func (h *hybridReader) openRun(n uint64) error {
	bytes := (h.width + 7) / 8
	if len(h.b) < bytes {
		return errCut
	}
	h.value = 0
	for i, b := range h.b[:bytes] {
		h.value |= uint32(b) << (8 * i)
	}
	h.b = h.b[bytes:]
	h.run = int(min(n, 1<<31))
	return nil
}

// unpack reads the values from number at on.
func unpack(out []uint32, b []byte, at, width int) {
	mask := uint64(1)<<width - 1
	for i := range out {
		bit := (at + i) * width
		k := bit >> 3
		var v uint64
		if k+8 <= len(b) {
			v = binary.LittleEndian.Uint64(b[k:])
		} else {
			var last [8]byte
			copy(last[:], b[k:])
			v = binary.LittleEndian.Uint64(last[:])
		}
		out[i] = uint32(v >> (bit & 7) & mask)
	}
}

// countLevels is how many of n levels are the highest one.
func countLevels(b []byte, top uint8, n int) (int, error) {
	h, err := newHybridReader(b, bits.Len8(top))
	if err != nil {
		return 0, err
	}
	var block [1024]uint32
	count := 0
	for n > 0 {
		if h.run > 0 {
			k := min(h.run, n)
			if h.value == uint32(top) {
				count += k
			}
			h.run, n = h.run-k, n-k
			continue
		}
		part := block[:min(n, len(block))]
		if err := h.fill(part); err != nil {
			return 0, fmt.Errorf("reading levels: %w", err)
		}
		for _, level := range part {
			if level == uint32(top) {
				count++
			}
		}
		n -= len(part)
	}
	return count, nil
}
