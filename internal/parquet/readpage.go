package parquet

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

// pageHead is a page's header, checked by itself. The page's bytes follow it.
type pageHead struct {
	kind         format.PageType
	size         int // of the header
	compressed   int // bytes that follow
	uncompressed int
	checksum     bool // whether there is one
	crc          int32
	values       int // nulls included; of a dictionary, its values
	encoding     format.Encoding
	statistics   fileStatistics

	// Of a page v1.
	defEncoding, repEncoding format.Encoding

	// Of a page v2, which has its levels first, never compressed.
	nulls, rows        int
	repBytes, defBytes int
	stored             bool // the values are not compressed
}

// isIndexed says whether the page's values are in the dictionary.
func (h *pageHead) isIndexed() bool {
	return h.kind != format.DictionaryPage && isDictionary(h.encoding)
}

// plainDictionary is what format 1.0 called the encoding of both pages of indices and dictionary pages.
const plainDictionary format.Encoding = 2

func isDictionary(e format.Encoding) bool {
	return e == format.RLEDictionary || e == plainDictionary
}

// parsePageHead reads the PageHeader that b begins with. It is errCut when b ends before the header does.
func parsePageHead(b []byte) (pageHead, error) {
	c, h, last := compact{b: b}, pageHead{kind: -1, encoding: -1, compressed: -1}, int16(0)
	of := format.PageType(-1) // which of the headers inside there is
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 1:
			h.kind = format.PageType(c.int32(typ))
		case 2:
			h.uncompressed = int(c.int32(typ))
		case 3:
			h.compressed = int(c.int32(typ))
		case 4:
			h.checksum, h.crc = true, c.int32(typ)
		case 5:
			of = format.DataPage
			c.dataPageHead(typ, &h)
		case 7:
			of = format.DictionaryPage
			c.dictionaryPageHead(typ, &h)
		case 8:
			of = format.DataPageV2
			c.dataPageV2Head(typ, &h)
		default:
			c.skip(typ)
		}
	}
	if c.err != nil {
		return h, c.err
	}
	h.size = c.at
	if of != h.kind {
		return h, fmt.Errorf("a page of type %s has no header of that type", h.kind)
	}
	return h, h.check()
}

func (c *compact) dataPageHead(typ byte, h *pageHead) {
	if !c.want(typ, compactStruct) {
		return
	}
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 1:
			h.values = int(c.int32(typ))
		case 2:
			h.encoding = format.Encoding(c.int32(typ))
		case 3:
			h.defEncoding = format.Encoding(c.int32(typ))
		case 4:
			h.repEncoding = format.Encoding(c.int32(typ))
		case 5:
			h.statistics = c.statistics(typ)
		default:
			c.skip(typ)
		}
	}
}

func (c *compact) dictionaryPageHead(typ byte, h *pageHead) {
	if !c.want(typ, compactStruct) {
		return
	}
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 1:
			h.values = int(c.int32(typ))
		case 2:
			h.encoding = format.Encoding(c.int32(typ))
		default:
			c.skip(typ)
		}
	}
}

func (c *compact) dataPageV2Head(typ byte, h *pageHead) {
	if !c.want(typ, compactStruct) {
		return
	}
	last := int16(0)
	for typ, more := c.next(&last); more; typ, more = c.next(&last) {
		switch last {
		case 1:
			h.values = int(c.int32(typ))
		case 2:
			h.nulls = int(c.int32(typ))
		case 3:
			h.rows = int(c.int32(typ))
		case 4:
			h.encoding = format.Encoding(c.int32(typ))
		case 5:
			h.defBytes = int(c.int32(typ))
		case 6:
			h.repBytes = int(c.int32(typ))
		case 7:
			h.stored = !c.bool(typ)
		case 8:
			h.statistics = c.statistics(typ)
		default:
			c.skip(typ)
		}
	}
}

// verify compares the page's bytes with its checksum, if it has one.
func (h *pageHead) verify(body []byte) error {
	if h.checksum && checksum(body, nil) != h.crc {
		return errors.New("its bytes are not those of its checksum: the file is damaged")
	}
	return nil
}

func (h *pageHead) check() error {
	switch {
	case h.compressed < 0 || h.uncompressed < 0:
		return fmt.Errorf("a page is said to have %d bytes, %d uncompressed", h.compressed, h.uncompressed)
	case h.values < 0:
		return fmt.Errorf("a page is said to have %d values", h.values)
	case h.statistics.nulls < 0 || h.statistics.nulls > int64(h.values):
		return fmt.Errorf("a page is said to have %d nulls in %d values", h.statistics.nulls, h.values)
	case h.encoding < 0:
		return errors.New("a page has no encoding")
	case h.kind == format.DataPageV2:
		return h.checkV2()
	}
	return nil
}

func (h *pageHead) checkV2() error {
	switch levels := h.repBytes + h.defBytes; {
	case h.repBytes < 0 || h.defBytes < 0 || levels > h.compressed || levels > h.uncompressed:
		return fmt.Errorf("a page of %d bytes is said to have %d of repetition and %d of definition levels", h.compressed,
			h.repBytes, h.defBytes)
	case h.nulls < 0 || h.nulls > h.values || h.rows < 0 || h.rows > h.values:
		return fmt.Errorf("a page is said to have %d nulls and %d rows in %d values", h.nulls, h.rows, h.values)
	}
	return nil
}
