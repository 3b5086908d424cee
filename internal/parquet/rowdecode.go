package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// What follows turns the values of a page into PLAIN ones, which it appends to out. The bytes may be anything, and
// values is how many there may be, nulls included.

// errExpands means that a page would become larger than any that is read.
var errExpands = fmt.Errorf("they become more than the %d bytes that a page may have", pageReadBytesMax)

// unpackBooleans writes a byte for each bit.
func unpackBooleans(out, b []byte, values int) []byte {
	n := min(8*len(b), values)
	out = slices.Grow(out, n)
	for i := range n {
		out = append(out, b[i>>3]>>(i&7)&1)
	}
	return out
}

// readBooleans reads runs, which have their length before them.
func readBooleans(out, b []byte, values int) ([]byte, error) {
	if len(b) == 0 { // there are only nulls
		return out, nil
	}
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return out, errCut
	}
	h, err := newHybridReader(b[4:4+binary.LittleEndian.Uint32(b)], 1)
	if err != nil {
		return out, err
	}
	var block [1024]uint32
	for values > 0 {
		if h.run == 0 && h.at >= h.grouped {
			if len(h.b) == 0 { // the nulls have none
				return out, nil
			}
			if err := h.next(); err != nil {
				return out, err
			}
			continue
		}
		n := min(values, len(block), max(h.run, h.grouped-h.at))
		if err := h.fill(block[:n]); err != nil {
			return out, err
		}
		for _, v := range block[:n] {
			out = append(out, byte(v))
		}
		values -= n
	}
	return out, nil
}

// deltaHead is what a DELTA_BINARY_PACKED sequence begins with.
type deltaHead struct {
	mini  int // values of a miniblock
	minis int // of a block
	total int
	first int64
}

const (
	deltaBlockMax = 1 << 16
	deltaWidthMax = 64
)

func readDeltaHead(b []byte, values int) (h deltaHead, rest []byte, err error) {
	c := compact{b: b}
	block, minis, total := c.uvarint(), c.uvarint(), c.uvarint()
	h.first = c.zigzag()
	switch {
	case c.err != nil:
		return h, nil, c.err
	case total > uint64(values):
		return h, nil, fmt.Errorf("there are %d, in a page of %d values", total, values)
	case block == 0 || block > deltaBlockMax || minis == 0 || block%minis != 0 || block/minis%8 != 0:
		return h, nil, fmt.Errorf("blocks of %d values in %d parts", block, minis)
	}
	h.mini, h.minis, h.total = int(block/minis), int(minis), int(total)
	return h, b[c.at:], nil
}

// readDeltas reads DELTA_BINARY_PACKED numbers of 4 or 8 bytes (format, Encodings.md), and returns what follows them.
func readDeltas(out, b []byte, width, values int) (plain, rest []byte, err error) {
	if len(b) == 0 { // there are only nulls
		return out, nil, nil
	}
	h, b, err := readDeltaHead(b, values)
	if err != nil || h.total == 0 {
		return out, b, err
	}
	if h.total > pageReadBytesMax/width {
		return out, nil, errExpands
	}
	out = slices.Grow(out, h.total*width)
	v := h.first
	out = appendNumber(out, v, width)
	for left := h.total - 1; left > 0; {
		c := compact{b: b}
		low := c.zigzag()
		if c.err != nil || len(b)-c.at < h.minis {
			return out, nil, errCut
		}
		widths := b[c.at : c.at+h.minis]
		b = b[c.at+h.minis:]
		for _, bits := range widths {
			if left == 0 {
				break
			}
			size := h.mini * int(bits) / 8
			if bits > deltaWidthMax || size > len(b) {
				return out, nil, errCut
			}
			n := min(left, h.mini)
			for i := range n {
				v += low + int64(unpackWide(b, i, int(bits)))
				out = appendNumber(out, v, width)
			}
			b = b[size:]
			left -= n
		}
	}
	return out, b, nil
}

func appendNumber(out []byte, v int64, width int) []byte {
	if width == 4 {
		return binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(out, uint64(v))
}

// unpackWide is value i of a width of up to 64 bits.
func unpackWide(b []byte, i, width int) uint64 {
	bit := i * width
	k, shift := bit>>3, bit&7
	v := load64(b, k) >> shift
	if shift+width > 64 {
		v |= load64(b, k+8) << (64 - shift)
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// load64 is the 8 bytes at k, as far as there are any.
func load64(b []byte, k int) uint64 {
	if k+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[k:])
	}
	var last [8]byte
	if k < len(b) {
		copy(last[:], b[k:])
	}
	return binary.LittleEndian.Uint64(last[:])
}

// readDeltaLengths reads DELTA_LENGTH_BYTE_ARRAY.
func readDeltaLengths(out, b []byte, values int) ([]byte, error) {
	lengths, data, err := readDeltas(nil, b, 4, values)
	if err != nil {
		return out, err
	}
	if len(data)+len(lengths) > pageReadBytesMax {
		return out, errExpands
	}
	out = slices.Grow(out, len(data)+len(lengths))
	for ; len(lengths) > 0; lengths = lengths[4:] {
		n := uint64(binary.LittleEndian.Uint32(lengths))
		if n > uint64(len(data)) {
			return out, errCut
		}
		out = append(append(out, lengths[:4]...), data[:n]...)
		data = data[n:]
	}
	return out, nil
}

// errPrefix means that a value shares more bytes with the one before than that has.
var errPrefix = errors.New("a value begins with more than the one before it")

// readDeltaByteArrays reads DELTA_BYTE_ARRAY, of byte arrays or of values of a width.
func readDeltaByteArrays(out, b []byte, width, values int) ([]byte, error) {
	prefixes, b, err := readDeltas(nil, b, 4, values)
	if err != nil {
		return out, err
	}
	suffixes, data, err := readDeltas(nil, b, 4, values)
	if err != nil {
		return out, err
	}
	if len(prefixes) != len(suffixes) {
		return out, fmt.Errorf("there are %d prefixes and %d suffixes", len(prefixes)/4, len(suffixes)/4)
	}
	var previous []byte
	for ; len(prefixes) > 0; prefixes, suffixes = prefixes[4:], suffixes[4:] {
		common, n := uint64(binary.LittleEndian.Uint32(prefixes)), uint64(binary.LittleEndian.Uint32(suffixes))
		size := common + n
		switch {
		case common > uint64(len(previous)):
			return out, errPrefix
		case n > uint64(len(data)):
			return out, errCut
		case uint64(len(out))+size+4 > pageReadBytesMax:
			return out, errExpands
		case width > 0 && size != uint64(width):
			return out, fmt.Errorf("a value has %d bytes instead of %d", size, width)
		}
		if width == 0 {
			out = binary.LittleEndian.AppendUint32(out, uint32(size))
		}
		from := len(out)
		out = append(append(out, previous[:common]...), data[:n]...)
		previous, data = out[from:], data[n:]
	}
	return out, nil
}

// readStreams reads BYTE_STREAM_SPLIT.
func readStreams(out, b []byte, width int) ([]byte, error) {
	n := len(b) / width
	if n*width != len(b) {
		return out, fmt.Errorf("%d bytes are no values of %d", len(b), width)
	}
	out = slices.Grow(out, len(b))[:len(out)+len(b)]
	for stream := range width {
		at := stream
		for _, v := range b[stream*n : (stream+1)*n] {
			out[at] = v
			at += width
		}
	}
	return out, nil
}
