package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// openPlain reads the dictionary of a source whose indices become values.
func (c *chunkJoin) openPlain(s *chunkSource) error {
	if !s.plain {
		return nil
	}
	page, err := readAt(s.part.Bytes, s.from, int(s.dictionarySize))
	if err != nil {
		return err
	}
	h, err := parsePageHead(page)
	if err != nil {
		return err
	}
	values, err := c.decodeDictionary(s, &h, page)
	if err != nil {
		return err
	}
	c.scratch.plain = dictionary{}
	if err := c.scratch.plain.begins(values, c.leaf, h.values); err != nil {
		return err
	}
	if c.bloom != nil {
		c.bloom.observe(c.options.Pool, c.leaf, c.scratch.plain.plain)
	}
	return nil
}

// plainValuesMax bounds the values of a page that is written without its dictionary. The writers of other systems stop
// at 20,000 or a million.
const plainValuesMax = 1 << 24

// writePlainOf writes a page of indices as PLAIN values: as one page with the levels that it has, or as several where
// it becomes too large.
func (c *chunkJoin) writePlainOf(h *pageHead, p decodedPage, info pageInfo) error {
	if h.values > plainValuesMax {
		return fmt.Errorf("it has %d values, more than the %d that are written without a dictionary", h.values,
			plainValuesMax)
	}
	d, all, size := &c.scratch.plain, c.scratch.all[:0], 0
	err := c.eachIndex(p, func(indices []uint32, _ bool) error {
		for _, i := range indices {
			if int(i) >= d.count {
				return fmt.Errorf("index %d is outside of a dictionary of %d values", i, d.count)
			}
			size += d.size(i, c.leaf.width)
		}
		all = append(all, indices...)
		return nil
	})
	c.scratch.all = all
	if err != nil {
		return err
	}
	p.encoding = format.Plain
	if size > c.options.PageBytesMax {
		return c.splitPlain(h, p, info)
	}
	return c.writePlain(h, p, all, info)
}

// size is the bytes of value i in PLAIN.
func (d *dictionary) size(i uint32, width int) int {
	if width > 0 {
		return width
	}
	return 4 + int(binary.LittleEndian.Uint32(d.plain[d.starts[i]:]))
}

func (c *chunkJoin) writePlain(h *pageHead, p decodedPage, indices []uint32, info pageInfo) error {
	out := append(c.scratch.anew[:0], p.levels...)
	for _, i := range indices {
		out = append(out, c.scratch.plain.value(i, c.leaf.width)...)
	}
	c.scratch.anew = out
	return c.writeDecoded(h, p, out, info)
}

// splitPlain writes the values of a page in pages of whole rows. A page ends with the row that reaches the limit.
func (c *chunkJoin) splitPlain(h *pageHead, p decodedPage, info pageInfo) error {
	if err := c.readLevels(h, p.levels); err != nil {
		return err
	}
	defs, reps, indices := c.scratch.defs, c.scratch.reps, c.scratch.all
	var part plainPart
	for i := range h.values {
		if part.bytes >= c.options.PageBytesMax && (c.leaf.rep == 0 || reps[i] == 0) {
			if err := c.writePart(h, part, &info); err != nil {
				return err
			}
			part = plainPart{from: i, first: part.first + part.count}
		}
		part.values++
		if c.leaf.rep == 0 || reps[i] == 0 {
			part.rows++
		}
		if c.leaf.def > 0 && defs[i] < c.leaf.def {
			continue
		}
		if part.first+part.count == len(indices) {
			return errNulls
		}
		part.bytes += c.scratch.plain.size(indices[part.first+part.count], c.leaf.width)
		part.count++
	}
	if part.first+part.count != len(indices) {
		return errNulls
	}
	return c.writePart(h, part, &info)
}

// errNulls means that the header of a page v2 counts other nulls than there are.
var errNulls = errors.New("its header does not count the nulls that it has")

// plainPart is a part of a page that is split.
type plainPart struct {
	from, values int // entries
	rows         int
	first, count int // indices
	bytes        int // in PLAIN
}

// writePart writes a part of the page. Bounds of the page are some of the part, too.
func (c *chunkJoin) writePart(h *pageHead, part plainPart, info *pageInfo) error {
	own, of, out := *h, *info, decodedPage{count: part.count, encoding: format.Plain}
	own.values, own.rows, own.nulls = part.values, part.rows, part.values-part.count
	own.defEncoding, own.repEncoding = format.RLE, format.RLE
	appendLevels := appendSizedLevels
	if h.kind == format.DataPageV2 {
		appendLevels = appendBareLevels
	}
	if c.leaf.rep > 0 {
		out.levels = appendLevels(out.levels, c.leaf.rep, 0, c.scratch.reps[part.from:part.from+part.values])
	}
	reps := len(out.levels)
	if c.leaf.def > 0 {
		out.levels = appendLevels(out.levels, c.leaf.def, 0, c.scratch.defs[part.from:part.from+part.values])
	}
	if h.kind == format.DataPageV2 {
		own.repBytes, own.defBytes = reps, len(out.levels)-reps
	}
	info.firstRow += int64(part.rows)
	of.nulls, of.hasValues = int64(own.nulls), part.count > 0
	if !of.hasValues {
		of.low, of.high = nil, nil
	}
	return c.writePlain(&own, out, c.scratch.all[part.first:part.first+part.count], of)
}

// readLevels fills the scratch with the levels of a page.
func (c *chunkJoin) readLevels(h *pageHead, levels []byte) error {
	reps, defs := levels[:h.repBytes], levels[h.repBytes:]
	if h.kind == format.DataPage {
		n := 0
		if c.leaf.rep > 0 {
			if h.repEncoding != format.RLE {
				return errBitPacked
			}
			n = 4 + int(binary.LittleEndian.Uint32(levels)) // measured before
			reps = levels[4:n]
		}
		if defs = levels[n:]; c.leaf.def > 0 {
			defs = defs[4:]
		}
	}
	var err error
	if c.scratch.reps, err = c.levelsOf(c.scratch.reps, reps, c.leaf.rep, h.values); err != nil {
		return err
	}
	c.scratch.defs, err = c.levelsOf(c.scratch.defs, defs, c.leaf.def, h.values)
	return err
}

// levelsOf reads n levels up to top into out's memory, and none where there is only one.
func (c *chunkJoin) levelsOf(out []uint8, b []byte, top uint8, n int) ([]uint8, error) {
	out = out[:0]
	if top == 0 {
		return out, nil
	}
	h, err := newHybridReader(b, bits.Len8(top))
	if err != nil {
		return out, err
	}
	for n > 0 {
		block := c.indexBlock(n)
		if err := h.fill(block); err != nil {
			return out, fmt.Errorf("reading levels: %w", err)
		}
		for _, level := range block {
			out = append(out, uint8(level))
		}
		n -= len(block)
	}
	return out, nil
}
