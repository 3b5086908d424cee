package literal

import (
	"encoding/binary"
	"slices"
)

const (
	frameMagic = 0xFD2FB528
	// blockBytesMax is the most that a block may hold (RFC 8878 section 3.1.1.2.4), and the window: nothing in a frame
	// refers to what came before, so a reader needs no more memory for it.
	blockBytesMax = 128 << 10
	// frameHeaderBytes: magic, descriptor, window, content size.
	frameHeaderBytes = 10
	blockHeaderBytes = 3
	// codedBytesMin is the least that is worth a code.
	codedBytesMin = 64
)

// The types of a block.
const (
	blockRaw = iota
	blockRLE
	blockCompressed
)

// FrameBytesMax is the most that AppendFrame appends for n bytes.
func FrameBytesMax(n int) int {
	blocks := n/blockBytesMax + 2
	return frameHeaderBytes + n + blocks*blockHeaderBytes + blockRoom(min(n, blockBytesMax), lengthMax)
}

// AppendFrame appends a zstd frame that holds src, of less than 4 GiB. The first head bytes of it are stored: they are
// of another kind than the rest. Known is a code that may fit, or nil; the code that is best known after it is
// returned, for what comes next of the same kind.
func (e *Encoder) AppendFrame(dst, src []byte, head int, known *Table) ([]byte, *Table) {
	f := frame{encoder: e, out: appendHeader(dst, len(src))}
	for head > 0 && len(src) > head {
		n := min(head, blockBytesMax)
		f.raw(src[:n], 0)
		src, head = src[n:], head-n
	}
	f.table = known.best(src)
	f.blocks(src, f.block)
	return f.out, f.table
}

// AppendStored appends a zstd frame that holds src as it is.
func AppendStored(dst, src []byte) []byte {
	f := frame{out: appendHeader(dst, len(src))}
	f.blocks(src, f.raw)
	return f.out
}

// appendHeader begins a frame of so many bytes (RFC 8878 section 3.1.1.1).
func appendHeader(dst []byte, size int) []byte {
	const contentSizeOfFour, window = 2 << 6, 7 << 3 // 2^(10+7) bytes
	dst = binary.LittleEndian.AppendUint32(dst, frameMagic)
	return binary.LittleEndian.AppendUint32(append(dst, contentSizeOfFour, window), uint32(size))
}

// blocks has src written, a block at a time.
func (f *frame) blocks(src []byte, write func(src []byte, last byte)) {
	for len(src) > blockBytesMax {
		write(src[:blockBytesMax], 0)
		src = src[blockBytesMax:]
	}
	write(src, 1)
}

// best is t where it fits src, else a new code, or nil where none helps.
func (t *Table) best(src []byte) *Table {
	if len(src) < codedBytesMin {
		return t
	}
	var sample histogram
	sample.sample(src)
	if t != nil && t.fits(&sample) {
		return t
	}
	var all histogram
	all.count(src)
	return t.renew(&all)
}

// renew makes a code for the counted bytes. It covers the bytes of t too, so that rare ones, which come and go, are
// covered after a while.
func (t *Table) renew(h *histogram) *Table {
	if _, distinct := h.total(); distinct < 2 {
		return t
	}
	if t != nil {
		for s, l := range t.lengths {
			if l > 0 && h[s] == 0 {
				h[s] = 1
			}
		}
	}
	n, err := newTable(h)
	if err != nil {
		return t
	}
	return n
}

// frame is a frame that is being written.
type frame struct {
	encoder *Encoder // nil: all is stored
	out     []byte
	table   *Table
	sent    *Table // the code that the reader has from an earlier block
}

func (f *frame) header(kind, size int, last byte) {
	h := uint32(last) | uint32(kind)<<1 | uint32(size)<<3
	f.out = append(f.out, byte(h), byte(h>>8), byte(h>>16))
}

func (f *frame) raw(src []byte, last byte) {
	f.header(blockRaw, len(src), last)
	f.out = append(f.out, src...)
}

// block writes one block: of a code where that is shorter, else as it is.
func (f *frame) block(src []byte, last byte) {
	if len(src) >= codedBytesMin && same(src) {
		f.header(blockRLE, len(src), last)
		f.out = append(f.out, src[0])
		return
	}
	start, sent := len(f.out), f.sent
	if len(src) >= codedBytesMin && f.coded(src, last) {
		return
	}
	f.out, f.sent = f.out[:start], sent
	f.raw(src, last)
}

// same is whether all bytes are equal.
func same(src []byte) bool {
	for _, b := range src {
		if b != src[0] {
			return false
		}
	}
	return true
}

// coded writes a block of coded literals and no sequences. It is false, and what was written is to be dropped, when it
// is not shorter than src.
func (f *frame) coded(src []byte, last byte) bool {
	size, ok := f.literals(src, last)
	if !ok { // a byte that the sample did not have
		var h histogram
		h.count(src)
		if renewed := f.table.renew(&h); renewed != f.table {
			f.table = renewed
			size, ok = f.literals(src, last)
		}
	}
	return ok && size < len(src)
}

// The types of literals, and the form of their header with sizes of 18 bits and four streams (section 3.1.1.3.1.1).
const (
	literalsCompressed  = 2
	literalsTreeless    = 3
	literalsFourBy18    = 3 << 2
	literalsHeaderBytes = 5
	jumpBytes           = 6
	streams             = 4
)

// blockRoom is what a block of n bytes with codes of at most longest bits may write to.
func blockRoom(n int, longest uint8) int {
	const header, description = blockHeaderBytes + literalsHeaderBytes + jumpBytes, 256
	return header + description + streams*streamBytesMax((n+streams-1)/streams, longest) + 1
}

// literals writes the block and returns its size. It is false when a byte has no code.
func (f *frame) literals(src []byte, last byte) (int, bool) {
	t := f.table
	if t == nil {
		return 0, false
	}
	start := len(f.out)
	out := slices.Grow(f.out, blockRoom(len(src), t.longest))
	body := out[start+blockHeaderBytes : cap(out)]
	at, kind := literalsHeaderBytes, uint64(literalsTreeless)
	if t != f.sent {
		kind = literalsCompressed
		at += copy(body[at:], t.description)
	}
	size, ok := t.putStreams(body[at:], src, f.encoder.pairsOf(t))
	if !ok {
		return 0, false
	}
	coded := at - literalsHeaderBytes + size
	h := kind | literalsFourBy18 | uint64(len(src))<<4 | uint64(coded)<<22
	body[0], body[1], body[2], body[3], body[4] = byte(h), byte(h>>8), byte(h>>16), byte(h>>24), byte(h>>32)
	const noSequences = 0
	body[literalsHeaderBytes+coded] = noSequences
	total := literalsHeaderBytes + coded + 1
	if total > blockBytesMax {
		return total, false
	}
	f.out = out[:start]
	f.header(blockCompressed, total, last)
	f.out = f.out[:start+blockHeaderBytes+total]
	f.sent = t
	return total, true
}

// putStreams writes src as four streams of equal length with their sizes in front.
func (t *Table) putStreams(out, src []byte, p *pairs) (int, bool) {
	part := (len(src) + streams - 1) / streams
	at := jumpBytes
	for i := range streams {
		n, ok := t.putStream(out[at:], src[min(i*part, len(src)):min((i+1)*part, len(src))], p)
		if !ok {
			return 0, false
		}
		if i < streams-1 {
			binary.LittleEndian.PutUint16(out[2*i:], uint16(n))
		}
		at += n
	}
	return at, true
}
