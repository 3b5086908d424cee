package literal

import (
	"fmt"

	"github.com/klauspost/compress/fse"
)

// Table is a Huffman code, with what it takes to write it. It never changes, and is safe for concurrent use.
type Table struct {
	lengths     lengths
	longest     uint8
	paired      [256]bool // the bytes that pairs are made of
	pairsPay    bool
	description []byte  // as a frame has it (RFC 8878 section 4.2.1)
	waste       float64 // bits for each bit of entropy
	codes       codes
}

// codes are by byte, pairs by two bytes, the first one low.
type (
	codes [256]uint32
	pairs [1 << 16]uint32
)

// The form of codes and pairs: the code, above a bit that says that there is one, above its length. So a
// form shifts by its length as it is, since a shift takes the low six bits, and forms are added to add their lengths.
const (
	codeShift  = 8
	hasCode    = 1 << 7
	lengthMask = 63
)

const (
	// pairLengthMax is the longest code in a pair: three pairs of such codes fit in 64 bits with what is left of a byte.
	pairLengthMax = 9
	// pairBytesMax is how many different bytes pairs are made of: making them costs the square.
	pairBytesMax = 128
	// pairShareMin is the part of all bytes that must be in pairs for them to pay: six bytes with one that is not take
	// ten times as long.
	pairShareMin = 0.97
)

// newTable makes the code for bytes that occur as often as counted. There must be two different ones at least.
func newTable(h *histogram) (*Table, error) {
	t := &Table{lengths: *huffmanLengths(h, lengthMax)}
	if entropy := h.entropyBits(); entropy > 0 {
		t.waste = float64(t.lengths.bits(h)) / entropy
	}
	t.assign()
	t.choosePairs(h)
	if err := t.describe(); err != nil {
		return nil, err
	}
	return t, nil
}

// choosePairs takes the most frequent bytes, which have the shortest codes.
func (t *Table) choosePairs(h *histogram) {
	var inPairs, all uint64
	count := 0
	for length := uint8(1); length <= lengthMax; length++ {
		for s, l := range t.lengths {
			if l != length {
				continue
			}
			all += uint64(h[s])
			if length <= pairLengthMax && count < pairBytesMax {
				t.paired[s] = true
				inPairs += uint64(h[s])
				count++
			}
		}
	}
	t.pairsPay = float64(inPairs) >= pairShareMin*float64(all)
}

// bits is what the counted bytes take. A byte without a code counts as nothing.
func (l *lengths) bits(h *histogram) (total uint64) {
	for s, n := range h {
		total += uint64(n) * uint64(l[s])
	}
	return total
}

// fits is whether the table serves the counted bytes about as well as a new one would.
func (t *Table) fits(h *histogram) bool {
	for s, n := range h {
		if n > 0 && t.lengths[s] == 0 {
			return false
		}
	}
	const stale = 1.01
	return float64(t.lengths.bits(h)) <= stale*t.waste*h.entropyBits()+float64(8*len(t.description))
}

// assign gives out the codes: the longest first, from 0 up, within a length in the order of the bytes.
func (t *Table) assign() {
	next := uint32(0)
	for length := uint8(lengthMax); length > 0; length-- {
		for s, l := range t.lengths {
			if l == length {
				t.codes[s] = next<<codeShift | hasCode | uint32(l)
				t.longest = max(t.longest, l)
				next++
			}
		}
		next >>= 1
	}
}

// describe writes the weights of all bytes up to the last one that occurs, whose weight follows from the others: by
// FSE where that is shorter, else by four bits each, which is possible for 128.
func (t *Table) describe() error {
	var weights []byte
	last := 0
	for s, l := range t.lengths {
		if l > 0 {
			last = s
		}
	}
	for _, l := range t.lengths[:last] {
		w := byte(0)
		if l > 0 {
			w = t.longest + 1 - l
		}
		weights = append(weights, w)
	}
	coder := fse.Scratch{TableLog: 6}
	coded, err := fse.Compress(weights, &coder)
	if err == nil && len(coded) < 128 && (len(coded) < len(weights)/2 || len(weights) > 128) {
		t.description = append([]byte{byte(len(coded))}, coded...)
		return nil
	}
	if len(weights) > 128 {
		return fmt.Errorf("describing a Huffman code of %d bytes: %w", len(weights)+1, fse.ErrIncompressible)
	}
	t.description = []byte{byte(127 + len(weights))}
	for i := 0; i < len(weights); i += 2 {
		packed := weights[i] << 4
		if i+1 < len(weights) {
			packed |= weights[i+1]
		}
		t.description = append(t.description, packed)
	}
	return nil
}
