package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/bloom/xxhash"
	"github.com/parquet-go/parquet-go/format"
)

// Bloom asks for a bloom filter of a column: for each row group, a set that tells which values are certainly not in it
// (format, BloomFilter.md).
type Bloom struct {
	// ValuesMax is the number of distinct values in a row group that the filter is made for at most; 0 is as many as
	// there are.
	ValuesMax int64
	// FalseShare is the share of other values that the filter may let through, between 0 and 1; 0 is the default of
	// 0.01. A filter that may not be as large as that takes lets more through.
	FalseShare float64
}

const (
	bloomShareDefault    = 0.01
	bloomBytesMaxDefault = 1 << 20
	bloomBytesMaxMax     = 128 << 20 // what readers take
	bloomBlockBytes      = 32
)

func (b Bloom) check() error {
	if b.ValuesMax < 0 {
		return fmt.Errorf("bloom filter of %d values is negative", b.ValuesMax)
	}
	if !(b.FalseShare >= 0 && b.FalseShare < 1) {
		return fmt.Errorf("share of false positives %v is not between 0 and 1", b.FalseShare)
	}
	return nil
}

// bloomBytes is the size of a filter for n distinct values: a power of two, which can be folded, of at most bytesMax.
func bloomBytes(n int64, share float64, bytesMax int) int {
	// With 8 words a block of which each has a bit for every value, the share is about (1-e^(-8n/bits))^8.
	perValue := -8 / math.Log(1-math.Pow(share, 1.0/8)) / 8
	want := float64(n) * perValue
	size := bloomBlockBytes
	for float64(size) < want && 2*size <= bytesMax {
		size *= 2
	}
	return size
}

// bloom is the filter of an open column chunk. It keeps the hashes of values as long as they are smaller than the
// largest filter, and then fills that one: a filter of a power of two folds down to any smaller one.
type bloom struct {
	share    float64
	bytesMax int
	hashes   []byte // 8 bytes each
	filter   []byte // nil as long as there are only hashes
}

// newBloom takes checked options.
func newBloom(o Bloom, bytesMax int) *bloom {
	b := &bloom{share: o.FalseShare, bytesMax: bytesMax}
	if b.share == 0 {
		b.share = bloomShareDefault
	}
	if o.ValuesMax > 0 {
		b.bytesMax = bloomBytes(o.ValuesMax, b.share, bytesMax)
	} else {
		b.bytesMax = bloomBytes(math.MaxInt64, b.share, bytesMax)
	}
	return b
}

// setBlooms gives the leaves the filters that the options ask for.
func (f *File) setBlooms() error {
	if err := f.layout.checkBlooms(f.options.Blooms); err != nil {
		return err
	}
	for i := range f.leaves {
		if o, ok := f.options.Blooms[f.leaves[i].id]; ok {
			f.leaves[i].bloom = newBloom(o, f.options.BloomBytesMax)
		}
	}
	return nil
}

func (l *layout) checkBlooms(blooms map[int]Bloom) error {
	for id := range blooms {
		i := slices.IndexFunc(l.leaves, func(t leafType) bool { return t.id == id })
		if i < 0 {
			return fmt.Errorf("bloom filter for field %d: there is no column of values with this id", id)
		}
		if t := &l.leaves[i]; t.physical == format.Boolean {
			return fmt.Errorf("bloom filter for column %s: it is of booleans, which have none", t.dotted)
		}
	}
	return nil
}

// observe adds values in PLAIN.
func (b *bloom) observe(p *Pool, t *leafType, plain []byte) {
	switch t.physical {
	case format.ByteArray:
		for len(plain) > 0 {
			n := 4 + int(binary.LittleEndian.Uint32(plain))
			b.add(p, xxhash.Sum64(plain[4:n]))
			plain = plain[n:]
		}
	case format.Float:
		for ; len(plain) > 0; plain = plain[4:] {
			v := binary.LittleEndian.Uint32(plain)
			b.add(p, xxhash.Sum64Uint32(v))
			if v<<1 == 0 { // zero: a reader may look for the other one, which is equal
				b.add(p, xxhash.Sum64Uint32(v^1<<31))
			}
		}
	case format.Double:
		for ; len(plain) > 0; plain = plain[8:] {
			v := binary.LittleEndian.Uint64(plain)
			b.add(p, xxhash.Sum64Uint64(v))
			if v<<1 == 0 {
				b.add(p, xxhash.Sum64Uint64(v^1<<63))
			}
		}
	default:
		for ; len(plain) > 0; plain = plain[t.width:] {
			b.add(p, xxhash.Sum64(plain[:t.width]))
		}
	}
}

func (b *bloom) add(p *Pool, hash uint64) {
	if b.filter != nil {
		bloomInsert(b.filter, hash)
		return
	}
	b.hashes = binary.LittleEndian.AppendUint64(p.grow(b.hashes, 8), hash)
	if len(b.hashes) >= b.bytesMax {
		b.fill(p, b.bytesMax)
	}
}

// fill moves the hashes into a filter of a size.
func (b *bloom) fill(p *Pool, size int) {
	b.filter = p.get(size)[:size]
	clear(b.filter)
	for h := b.hashes; len(h) > 0; h = h[8:] {
		bloomInsert(b.filter, binary.LittleEndian.Uint64(h))
	}
	b.dropHashes(p)
}

// dropHashes keeps a small buffer.
func (b *bloom) dropHashes(p *Pool) {
	b.hashes = b.hashes[:0]
	if cap(b.hashes) > idleBytesMax {
		p.put(b.hashes)
		b.hashes = nil
	}
}

// bloomSalts are the format's.
var bloomSalts = [8]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}

// bloomInsert sets a bit in each word of the block that the hash's upper half chooses.
func bloomInsert(filter []byte, hash uint64) {
	at := (hash >> 32) * uint64(len(filter)/bloomBlockBytes) >> 32 * bloomBlockBytes
	block, key := filter[at:at+bloomBlockBytes], uint32(hash)
	for i, salt := range bloomSalts {
		word := block[4*i : 4*i+4]
		binary.LittleEndian.PutUint32(word, binary.LittleEndian.Uint32(word)|1<<(key*salt>>27))
	}
}

// finish returns the filter, in a buffer of the pool, and is ready for the next chunk.
func (b *bloom) finish(p *Pool) []byte {
	if b.filter == nil {
		b.fill(p, bloomBytes(int64(len(b.hashes)/8), b.share, b.bytesMax))
	}
	filter := b.filter
	b.filter = nil
	for len(filter) > bloomBlockBytes && bloomFoldedShare(filter) <= b.share {
		filter = bloomFold(filter)
	}
	if cap(filter) <= 2*len(filter) {
		return filter
	}
	small := append(p.get(len(filter)), filter...)
	p.put(filter)
	return small
}

// bloomFold is the filter of half the size: block i of it answers for the blocks 2i and 2i+1, because a hash chooses
// its block by its upper bits.
func bloomFold(filter []byte) []byte {
	half := len(filter) / 2
	for to := 0; to < half; to += 8 {
		from := 2*to - to%bloomBlockBytes
		a, b := binary.LittleEndian.Uint64(filter[from:]), binary.LittleEndian.Uint64(filter[from+bloomBlockBytes:])
		binary.LittleEndian.PutUint64(filter[to:], a|b)
	}
	return filter[:half]
}

// bloomFoldedShare is the share of random values that the filter of half the size would let through.
func bloomFoldedShare(filter []byte) float64 {
	const pair = 2 * bloomBlockBytes
	total := 0.0
	for at := 0; at < len(filter); at += pair {
		share := 1.0
		for word := at; word < at+bloomBlockBytes; word += 4 {
			a, b := binary.LittleEndian.Uint32(filter[word:]), binary.LittleEndian.Uint32(filter[word+bloomBlockBytes:])
			share *= float64(bits.OnesCount32(a|b)) / 32
		}
		total += share
	}
	return total / float64(len(filter)/pair)
}

// estimate is the size of the filter if it were finished now with so many further values, all different.
func (b *bloom) estimate(further int) int64 {
	switch {
	case b == nil:
		return 0
	case b.filter != nil:
		return int64(len(b.filter))
	default:
		return int64(bloomBytes(int64(len(b.hashes)/8+further), b.share, b.bytesMax))
	}
}

func (b *bloom) held() int64 {
	if b == nil {
		return 0
	}
	return int64(cap(b.hashes) + cap(b.filter))
}

// release empties the filter and gives large buffers back.
func (b *bloom) release(p *Pool) {
	if b == nil {
		return
	}
	p.put(b.filter)
	b.filter = nil
	b.dropHashes(p)
}

// writeBlooms writes the filters, after the page index as parquet-java does.
func (f *File) writeBlooms(out *countingWriter, ws *workspace) error {
	for g := range f.groups {
		for i := range f.groups[g].chunks {
			filter := f.groups[g].chunks[i].bloom
			if filter == nil {
				continue
			}
			at := out.bytes
			if err := ws.writeBloom(out, filter); err != nil {
				return err
			}
			m := &ws.meta.RowGroups[g].Columns[i].MetaData
			m.BloomFilterOffset, m.BloomFilterLength = at, int32(out.bytes-at)
		}
	}
	return nil
}

// writeBloom writes a filter with its header.
func (w *workspace) writeBloom(out io.Writer, filter []byte) error {
	header, err := w.encode(&format.BloomFilterHeader{
		NumBytes:    int32(len(filter)),
		Algorithm:   format.BloomFilterAlgorithm{Value: &format.SplitBlockAlgorithm{}},
		Hash:        format.BloomFilterHash{Value: &format.XxHash{}},
		Compression: format.BloomFilterCompression{Value: &format.BloomFilterUncompressed{}},
	})
	if err != nil {
		return fmt.Errorf("encoding a bloom filter: %w", err)
	}
	if _, err := out.Write(header); err != nil {
		return err
	}
	_, err = out.Write(filter)
	return err
}
