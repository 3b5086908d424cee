package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// dictionaryJoin makes one dictionary of those of the sources. The indices of a dictionary that the joined one begins
// with stay as they are, and so do those of any dictionary that is equal to the first.
type dictionaryJoin struct {
	first *chunkSource // the first source with a dictionary
	head  pageHead     // of its dictionary page
	page  []byte       // that page as it is in the part, header first
	all   *dictionary  // the joined values, nil as long as all dictionaries are equal to the first
	held  int64        // bytes in the windows of open sources
}

const (
	// joinHeldBytesMax is what is kept of chunks that were read for their dictionary. Of others only the dictionary is
	// read, and the chunk once more.
	joinHeldBytesMax = 16 << 20
	// dictionaryWindowBytes is read for a dictionary alone at least.
	dictionaryWindowBytes = 64 << 10
)

// joinDictionaries reads the dictionaries of all sources, and says of each source what becomes of its indices.
func (c *chunkJoin) joinDictionaries() error {
	for i := range c.sources {
		s := &c.sources[i]
		if !s.mayHaveDictionary() {
			continue
		}
		if err := c.readDictionary(s); err != nil {
			return fmt.Errorf("%s: reading its dictionary: %w", s.part.File.Path, err)
		}
	}
	return nil
}

func (c *chunkJoin) readDictionary(s *chunkSource) error {
	c.openSource(s)
	if s.size > sourceWindowBytes || c.held+s.size > joinHeldBytesMax {
		s.source.windowBytes = dictionaryWindowBytes
	}
	h, err := s.source.head()
	if err != nil {
		return err
	}
	if h.kind == format.DictionaryPage {
		page, err := s.source.take(h.size + h.compressed)
		if err != nil {
			return err
		}
		s.dictionarySize = int64(len(page))
		if err := c.addDictionary(s, &h, page); err != nil {
			return err
		}
	}
	if s.source.at < s.source.end {
		c.closeSource(s)
	} else {
		c.held += s.size
	}
	return nil
}

func (c *chunkJoin) addDictionary(s *chunkSource, h *pageHead, page []byte) error {
	switch {
	case h.encoding != format.Plain && h.encoding != plainDictionary:
		return fmt.Errorf("it is encoded as %s instead of PLAIN", h.encoding)
	case c.leaf.physical == format.Boolean:
		return errors.New("it is of booleans, which have none")
	case c.first == nil:
		c.first, c.head, c.page = s, *h, bytes.Clone(page)
		return nil
	case c.first.fileChunk.codec == s.fileChunk.codec && bytes.Equal(page, c.page):
		return nil
	}
	if err := c.beginAll(); err != nil {
		return err
	}
	values, err := c.decodeDictionary(s, h, page)
	if err != nil {
		return err
	}
	return c.mergeDictionary(s, values, h.values)
}

// beginAll has the joined dictionary begin with the first.
func (c *chunkJoin) beginAll() error {
	if c.all != nil {
		return nil
	}
	values, err := c.decodeDictionary(c.first, &c.head, c.page)
	if err != nil {
		return err
	}
	all := &dictionary{}
	if err := all.begins(values, c.leaf, c.head.values); err != nil {
		return err
	}
	all.table = make([]uint32, 1<<bits.Len(uint(all.count))) // half of what it becomes
	all.rehash(c.options.Pool, c.leaf.width)
	c.all = all
	return nil
}

// decodeDictionary returns the PLAIN values of a dictionary page. They are good until the next call.
func (c *chunkJoin) decodeDictionary(s *chunkSource, h *pageHead, page []byte) ([]byte, error) {
	if !s.isReadable() {
		return nil, fmt.Errorf("codec %s is not one that can be read", s.fileChunk.codec)
	}
	if err := h.verify(page[h.size:]); err != nil {
		return nil, err
	}
	values, err := c.ws.decoders.decompress(s.codec, c.scratch.dictionary, page[h.size:], h.uncompressed)
	if err != nil {
		return nil, err
	}
	if s.codec != CodecNone {
		c.scratch.dictionary = values
	}
	return values, nil
}

// cutValue is the first value of PLAIN ones, without its length, and the rest.
func (l *leafType) cutValue(values []byte) (value, rest []byte, err error) {
	n := l.width
	if n == 0 {
		if len(values) < 4 {
			return nil, nil, errCut
		}
		size := binary.LittleEndian.Uint32(values)
		values = values[4:]
		if uint64(size) > uint64(len(values)) {
			return nil, nil, errCut
		}
		n = int(size)
	}
	if len(values) < n {
		return nil, nil, errCut
	}
	return values[:n], values[n:], nil
}

// begins fills an empty dictionary with n values as they are, equal ones included: the indices are into them.
func (d *dictionary) begins(values []byte, l *leafType, n int) error {
	d.plain = bytes.Clone(values)
	for range n {
		if l.width == 0 {
			d.starts = append(d.starts, uint32(len(d.plain)-len(values)))
		}
		_, rest, err := l.cutValue(values)
		if err != nil {
			return fmt.Errorf("the dictionary is said to have %d values: %w", n, err)
		}
		values = rest
	}
	d.plain = d.plain[:len(d.plain)-len(values)]
	d.count = n
	return nil
}

// lookUp finds a value, or the slot where it belongs.
func (d *dictionary) lookUp(p *Pool, l *leafType, value []byte) (i uint32, slot uint64, found bool) {
	mask := uint64(len(d.table) - 1)
	if l.width > 0 {
		slot = p.hash(value) & mask
	} else {
		slot = maphash.Bytes(p.seed, value) & mask
	}
	for ; d.table[slot] != 0; slot = (slot + 1) & mask {
		i = d.table[slot] - 1
		known := d.value(i, l.width)
		if l.width == 0 {
			known = known[4:]
		}
		if bytes.Equal(known, value) {
			return i, slot, true
		}
	}
	return 0, slot, false
}

// add appends a value that was not found.
func (d *dictionary) add(p *Pool, l *leafType, value []byte) uint32 {
	if 2*d.count >= len(d.table) {
		d.rehash(p, l.width)
	}
	i, slot, found := d.lookUp(p, l, value)
	if found { // the dictionary had it twice
		return i
	}
	if l.width == 0 {
		d.starts = append(d.starts, uint32(len(d.plain)))
		d.plain = binary.LittleEndian.AppendUint32(p.grow(d.plain, 4+len(value)), uint32(len(value)))
	}
	return d.put(p, slot, value)
}

// mergeDictionary takes the n values of a source's dictionary in, unless they make it too large, and fills remap.
func (c *chunkJoin) mergeDictionary(s *chunkSource, values []byte, n int) error {
	least := c.leaf.width // bytes of a value
	if least == 0 {
		least = 4
	}
	if n > len(values)/least {
		return fmt.Errorf("it is said to have %d values and has %d bytes: %w", n, len(values), errCut)
	}
	const unknown = math.MaxUint32
	remap, added, rest := make([]uint32, n), 0, values
	for k := range remap {
		value, after, err := c.leaf.cutValue(rest)
		if err != nil {
			return err
		}
		i, _, found := c.all.lookUp(c.options.Pool, c.leaf, value)
		if !found {
			i = unknown
			added += len(rest) - len(after)
		}
		remap[k], rest = i, after
	}
	if added > 0 && len(c.all.plain)+added > c.options.DictionaryBytesMax {
		s.plain = true
		return nil
	}
	same, rest := true, values
	for k := range remap {
		value, after, err := c.leaf.cutValue(rest)
		if err != nil {
			return err
		}
		if remap[k] == unknown {
			remap[k] = c.all.add(c.options.Pool, c.leaf, value)
		}
		same, rest = same && remap[k] == uint32(k), after
	}
	if !same {
		s.remap = remap
	}
	return nil
}

// writeDictionary writes the dictionary page, if there is one: the first source's, where that has all values.
func (c *chunkJoin) writeDictionary() error {
	if c.first == nil {
		return nil
	}
	if c.first.fileChunk.codec == c.chunk.codec && (c.all == nil || c.all.count == c.head.values) {
		if _, err := c.out.Write(c.page); err != nil {
			return err
		}
		c.countPage(format.DictionaryPage, c.head.encoding, len(c.page), c.head.size+c.head.uncompressed)
		c.chunk.dictionarySize = int64(len(c.page))
		c.result.PagesCopied++
		c.result.BytesCopied += int64(len(c.page))
		return nil
	}
	if c.all != nil {
		return c.encodeDictionary(c.all.plain, c.all.count)
	}
	plain, err := c.decodeDictionary(c.first, &c.head, c.page)
	if err != nil {
		return err
	}
	return c.encodeDictionary(plain, c.head.values)
}

func (c *chunkJoin) encodeDictionary(plain []byte, count int) error {
	body, err := c.compress(pageOfDictionary, plain, 0)
	if err != nil {
		return err
	}
	header := format.PageHeader{
		Type: format.DictionaryPage, UncompressedPageSize: int32(len(plain)), CompressedPageSize: int32(len(body)),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(count), Encoding: format.Plain}),
	}
	if c.options.PageChecksums || c.head.checksum {
		header.CRC = checksum(body, nil)
	}
	c.result.PagesReencoded++
	c.result.BytesReencoded += int64(len(plain))
	size, err := c.writeAnew(&header, body)
	c.chunk.dictionarySize = int64(size)
	return err
}
