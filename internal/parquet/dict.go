package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"

	"firn/internal/record"
)

// dictionary collects the distinct values of a column chunk. It starts with every chunk, is given up on its first page
// where it does not pay, and is closed where it grows too large: the pages after that are PLAIN.
type dictionary struct {
	active     bool     // values go into the dictionary
	pages      int      // data pages of indices in this chunk
	checkpoint int      // number of values of the first page at which the dictionary is judged next
	skip       int      // chunks to go without one, because it did not pay
	plain      []byte   // the distinct values, in PLAIN
	starts     []uint32 // where each byte array starts in plain
	seen       []uint32 // the last page that has each byte array
	count      int      // distinct values
	table      []uint32 // open addressing: 1 + index, or 0
	indices    []uint32 // of the open page
}

const (
	// dictionaryTrial and dictionaryTrial2 are the values after which the first page's dictionary is judged. All
	// different among 128 means thousands of values or more: of 1000 equally frequent ones it happens in 1 of 3000
	// chunks. Three quarters different among 1024 means more than some 1700.
	dictionaryTrial  = 128
	dictionaryTrial2 = 1024
	// dictionarySkip is how many chunks go without a dictionary after it did not pay. Hashing 1 KB costs as much as
	// half of writing it, so columns of unique text should rarely try.
	dictionarySkip = 7
	// dictionarySpanBytes bounds what is added between two looks at the dictionary's size.
	dictionarySpanBytes = 64 << 10
	// dictionaryPageOverheadBytes is what a dictionary page costs beside its values.
	dictionaryPageOverheadBytes = 32
)

// begin starts a chunk.
func (d *dictionary) begin(allowed bool) {
	d.active, d.pages, d.checkpoint = false, 0, dictionaryTrial
	switch {
	case !allowed:
	case d.skip > 0:
		d.skip--
	default:
		d.active = true
	}
}

// room is how many entries and bytes the open page takes, and how many bytes may be added before a review.
func (d *dictionary) room(p *page, width, bytesLeft int) (entries, bytes, spanBytes int) {
	entries = dictionaryEntriesMax - p.entries
	if d.pages > 0 {
		return entries, math.MaxInt32, dictionarySpanBytes
	}
	if values := d.checkpoint - p.count; values < dictionaryTrial2 {
		return entries, bytesLeft, max(values, 1) * max(width, 8)
	}
	return entries, bytesLeft, dictionarySpanBytes
}

// addIndices puts values into the dictionary and their indices into the page. Texts are looked up where they lie;
// others take their PLAIN form first.
func (l *leaf) addIndices(f *File, w *workspace, c *record.Column, dense []int32, size int) error {
	d := &l.dict
	d.indices = slices.Grow(d.indices, len(dense))
	if l.width == 0 {
		for _, x := range dense {
			d.indices = append(d.indices, l.textIndex(f.options.Pool, c.Bytes[x]))
		}
		return nil
	}
	values, err := l.appendPlain(slices.Grow(w.values[:0], size), c, dense)
	w.values = values
	if err != nil {
		return err
	}
	for ; len(values) > 0; values = values[l.width:] {
		d.indices = append(d.indices, d.fixedIndex(f.options.Pool, values[:l.width]))
	}
	return nil
}

// textIndex is the place of a byte array in the dictionary, where it is put when it is new. The page's bounds take it
// into account when the page has it for the first time.
func (l *leaf) textIndex(p *Pool, value []byte) uint32 {
	d := &l.dict
	if 2*d.count >= len(d.table) {
		d.rehash(p, 0)
	}
	mask := uint64(len(d.table) - 1)
	slot := maphash.Bytes(p.seed, value) & mask
	for ; d.table[slot] != 0; slot = (slot + 1) & mask {
		i := d.table[slot] - 1
		if !bytes.Equal(d.text(i), value) {
			continue
		}
		if d.seen[i] != uint32(d.pages) {
			d.seen[i] = uint32(d.pages)
			l.page.stats.observeBytes(value, l.keep)
		}
		return i
	}
	l.page.stats.observeBytes(value, l.keep)
	d.starts = append(d.starts, uint32(len(d.plain)))
	d.seen = append(d.seen, uint32(d.pages))
	d.plain = binary.LittleEndian.AppendUint32(p.grow(d.plain, 4+len(value)), uint32(len(value)))
	return d.put(p, slot, value)
}

// fixedIndex is textIndex for values of a fixed width, whose bounds were taken before.
func (d *dictionary) fixedIndex(p *Pool, value []byte) uint32 {
	if 2*d.count >= len(d.table) {
		d.rehash(p, len(value))
	}
	mask := uint64(len(d.table) - 1)
	slot := p.hash(value) & mask
	for ; d.table[slot] != 0; slot = (slot + 1) & mask {
		if i := d.table[slot] - 1; bytes.Equal(d.plain[int(i)*len(value):(int(i)+1)*len(value)], value) {
			return i
		}
	}
	return d.put(p, slot, value)
}

// put appends a new value and gives it the slot.
func (d *dictionary) put(p *Pool, slot uint64, value []byte) uint32 {
	i := uint32(d.count)
	d.table[slot] = i + 1
	d.count++
	d.plain = append(p.grow(d.plain, len(value)), value...)
	return i
}

// text is byte array i.
func (d *dictionary) text(i uint32) []byte {
	at := d.starts[i]
	return d.plain[at+4:][:binary.LittleEndian.Uint32(d.plain[at:])]
}

// value is the PLAIN form of value i.
func (d *dictionary) value(i uint32, width int) []byte {
	if width > 0 {
		return d.plain[int(i)*width : (int(i)+1)*width]
	}
	at := int(d.starts[i])
	return d.plain[at : at+4+int(binary.LittleEndian.Uint32(d.plain[at:]))]
}

// hash is that of value i.
func (d *dictionary) hash(p *Pool, i uint32, width int) uint64 {
	if width == 0 {
		return maphash.Bytes(p.seed, d.text(i))
	}
	return p.hash(d.value(i, width))
}

func (d *dictionary) rehash(p *Pool, width int) {
	d.table = make([]uint32, max(64, 2*len(d.table)))
	mask := uint64(len(d.table) - 1)
	for i := range uint32(d.count) {
		slot := d.hash(p, i, width) & mask
		for d.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		d.table[slot] = i + 1
	}
}

// hash is keyed with a random seed, so that no input can be made to collide.
func (p *Pool) hash(value []byte) uint64 {
	switch len(value) {
	case 4:
		return p.mix(uint64(binary.LittleEndian.Uint32(value)))
	case 8:
		return p.mix(binary.LittleEndian.Uint64(value))
	default:
		return maphash.Bytes(p.seed, value)
	}
}

func (p *Pool) mix(x uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	high, low := bits.Mul64(x^p.key, odd)
	return high ^ low
}

// reviewDictionary gives the dictionary up where a trial shows that it does not pay, and closes it when it is full.
func (l *leaf) reviewDictionary(f *File, w *workspace) error {
	d := &l.dict
	if !d.active {
		return nil
	}
	if d.pages == 0 {
		if l.page.count >= d.checkpoint && l.failsTrial() || len(d.plain) > f.options.DictionaryBytesMax {
			l.dismissDictionary(f.options.Pool)
		}
		return nil
	}
	if len(d.plain) <= f.options.DictionaryBytesMax {
		return nil
	}
	err := l.finishPage(f, w)
	d.active = false
	return err
}

func (l *leaf) failsTrial() bool {
	d := &l.dict
	if d.checkpoint == dictionaryTrial {
		d.checkpoint = dictionaryTrial2
		return d.count >= l.page.count-1
	}
	d.checkpoint = math.MaxInt
	return d.count > l.page.count/4*3
}

// pays compares the first page as it would be with and without the dictionary.
func (d *dictionary) pays(p *page) bool {
	indexBytes := p.count * bits.Len32(uint32(d.count)) / 8
	return 2*d.count <= p.count && len(d.plain)+indexBytes+dictionaryPageOverheadBytes < p.bytes
}

// dismissDictionary turns the indices of the open page, the chunk's first, back into PLAIN values.
func (l *leaf) dismissDictionary(p *Pool) {
	d := &l.dict
	if len(d.indices) > 0 {
		plain := p.grow(l.page.plain[:0], frontBytes+l.page.bytes)[:frontBytes]
		for _, i := range d.indices {
			plain = append(plain, d.value(i, l.width)...)
		}
		l.page.plain = plain
	}
	d.clear(p)
	d.active, d.skip = false, dictionarySkip
}

// clear forgets the values. It keeps small buffers and gives the large ones away.
func (d *dictionary) clear(p *Pool) {
	d.count, d.starts, d.seen, d.indices = 0, d.starts[:0], d.seen[:0], d.indices[:0]
	if len(d.table) > dictionaryTrial2 {
		d.table = nil
	}
	clear(d.table)
	if cap(d.starts)+cap(d.seen)+cap(d.indices) > dictionaryTrial2 {
		d.starts, d.seen, d.indices = nil, nil, nil
	}
	d.plain = d.plain[:0]
	if cap(d.plain) > idleBytesMax {
		p.put(d.plain)
		d.plain = nil
	}
}

func (d *dictionary) held() int64 {
	return int64(cap(d.plain)) + 4*int64(cap(d.starts)+cap(d.seen)+cap(d.indices)+cap(d.table))
}
