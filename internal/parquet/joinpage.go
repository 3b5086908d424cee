package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// joinScratch is memory that is used again for each page.
type joinScratch struct {
	dictionary []byte     // what a dictionary page holds
	page       []byte     // what a page holds
	anew       []byte     // the same, encoded anew
	compressed []byte     // that, compressed
	indices    []uint32   // of a part of a page
	all        []uint32   // of a page
	defs, reps []uint8    // levels of a page
	plain      dictionary // of a source whose indices become values
}

// joinIndices is how many indices are read at once.
const joinIndices = 16 << 10

// reencodePage writes a page of s with the joined chunk's codec and, if it has indices, with those of the joined
// dictionary or as PLAIN. Its levels stay as they are.
func (c *chunkJoin) reencodePage(s *chunkSource, h *pageHead, info pageInfo) error {
	if !s.isReadable() {
		return fmt.Errorf("codec %s is not one that can be read", s.fileChunk.codec)
	}
	raw, err := s.source.take(h.size + h.compressed)
	if err != nil {
		return err
	}
	p, err := c.decodePage(s, h, raw[h.size:])
	if err != nil {
		return err
	}
	c.result.PagesReencoded++
	c.result.BytesReencoded += int64(h.uncompressed)
	out := append(c.scratch.anew[:0], p.levels...)
	switch {
	case !h.isIndexed() || s.remap == nil && !s.plain:
		out = append(out, p.values...)
	case s.plain:
		return c.writePlainOf(h, p, info)
	default:
		out, err = c.appendRemapped(out, s, p)
	}
	if err != nil {
		return err
	}
	c.scratch.anew = out
	return c.writeDecoded(h, p, out, info)
}

// writeDecoded writes a page whose uncompressed bytes are plain, levels first.
func (c *chunkJoin) writeDecoded(h *pageHead, p decodedPage, plain []byte, info pageInfo) error {
	write := c.writeV1
	if h.kind == format.DataPageV2 {
		write = c.writeV2
	}
	size, err := write(h, p, plain)
	if err != nil {
		return err
	}
	c.addPage(info, size)
	return nil
}

// decodedPage is a data page, decompressed.
type decodedPage struct {
	levels, values []byte
	count          int // of values that are not null
	encoding       format.Encoding
}

func (c *chunkJoin) decodePage(s *chunkSource, h *pageHead, body []byte) (decodedPage, error) {
	p := decodedPage{encoding: h.encoding}
	if err := h.verify(body); err != nil {
		return p, err
	}
	raw := h.repBytes + h.defBytes // 0 in a page v1
	codec := s.codec
	if h.stored {
		codec = CodecNone
	}
	plain, err := c.ws.decoders.decompress(codec, c.scratch.page, body[raw:], h.uncompressed-raw)
	if err != nil {
		return p, err
	}
	if codec != CodecNone {
		c.scratch.page = plain
	}
	if h.kind == format.DataPageV2 {
		p.levels, p.values, p.count = body[:raw], plain, h.values-h.nulls
		return p, nil
	}
	n, count, err := c.leaf.measureLevels(h, plain)
	p.levels, p.values, p.count = plain[:n], plain[n:], count
	return p, err
}

// measureLevels is the bytes of the levels that a page v1 begins with, and the number of values that are not null.
func (l *leafType) measureLevels(h *pageHead, b []byte) (size, count int, err error) {
	if l.rep > 0 {
		if size, err = levelBytes(h.repEncoding, b, bits.Len8(l.rep), h.values); err != nil {
			return 0, 0, err
		}
	}
	if l.def == 0 {
		return size, h.values, nil
	}
	n, err := levelBytes(h.defEncoding, b[size:], bits.Len8(l.def), h.values)
	if err != nil {
		return 0, 0, err
	}
	if h.defEncoding != format.RLE {
		return 0, 0, errBitPacked
	}
	count, err = countLevels(b[size+4:size+n], l.def, h.values)
	return size + n, count, err
}

// errBitPacked means that levels are in an encoding that no writer has used since 2014.
var errBitPacked = errors.New("its levels are bit-packed without runs")

func levelBytes(e format.Encoding, b []byte, width, values int) (int, error) {
	n := (values*width + 7) / 8 // bit-packed
	if e == format.RLE {
		if len(b) < 4 {
			return 0, errCut
		}
		n = 4 + int(binary.LittleEndian.Uint32(b))
	} else if e != format.BitPacked {
		return 0, fmt.Errorf("its levels are encoded as %s", e)
	}
	if n > len(b) {
		return 0, errCut
	}
	return n, nil
}

// eachIndex visits the dictionary indices of a page, some at a time, and says whether more follow.
func (c *chunkJoin) eachIndex(p decodedPage, visit func(indices []uint32, more bool) error) error {
	if p.count == 0 {
		return nil
	}
	if len(p.values) == 0 {
		return errCut
	}
	h, err := newHybridReader(p.values[1:], int(p.values[0]))
	if err != nil {
		return err
	}
	for left := p.count; left > 0; {
		block := c.indexBlock(left)
		if err := h.fill(block); err != nil {
			return fmt.Errorf("reading indices: %w", err)
		}
		left -= len(block)
		if err := visit(block, left > 0); err != nil {
			return err
		}
	}
	return nil
}

// indexBlock is room for up to n indices.
func (c *chunkJoin) indexBlock(n int) []uint32 {
	if c.scratch.indices == nil {
		c.scratch.indices = make([]uint32, joinIndices)
	}
	return c.scratch.indices[:min(n, joinIndices)]
}

// appendRemapped writes a page's indices as those of the joined dictionary.
func (c *chunkJoin) appendRemapped(out []byte, s *chunkSource, p decodedPage) ([]byte, error) {
	width := indexBits(c.all.count)
	out = append(out, byte(width))
	err := c.eachIndex(p, func(indices []uint32, more bool) error {
		for k, i := range indices {
			if int(i) >= len(s.remap) {
				return fmt.Errorf("index %d is outside of a dictionary of %d values", i, len(s.remap))
			}
			indices[k] = s.remap[i]
		}
		out = appendIndexRuns(out, indices, width, more)
		return nil
	})
	return out, err
}

func (c *chunkJoin) writeV1(h *pageHead, p decodedPage, plain []byte) (int, error) {
	body, err := c.compress(kindOf(p.encoding), plain, len(p.levels))
	if err != nil {
		return 0, err
	}
	header := format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(h.values), Encoding: p.encoding, DefinitionLevelEncoding: h.defEncoding,
		RepetitionLevelEncoding: h.repEncoding, Statistics: h.statisticsAnew(p),
	})}
	header.UncompressedPageSize, header.CompressedPageSize = int32(len(plain)), int32(len(body))
	if h.checksum {
		header.CRC = checksum(body, nil)
	}
	return c.writeAnew(&header, body)
}

// writeV2 compresses the values only, and not where that makes them no smaller.
func (c *chunkJoin) writeV2(h *pageHead, p decodedPage, plain []byte) (int, error) {
	values, compressed := plain[len(p.levels):], true
	body, err := c.compress(kindOf(p.encoding), values, 0)
	if err != nil {
		return 0, err
	}
	if c.codec == CodecNone || len(body) >= len(values) {
		body, compressed = values, false
	}
	header := format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
		NumValues: int32(h.values), NumNulls: int32(h.nulls), NumRows: int32(h.rows), Encoding: p.encoding,
		DefinitionLevelsByteLength: int32(h.defBytes), RepetitionLevelsByteLength: int32(h.repBytes),
		IsCompressed: thrift.New(compressed), Statistics: h.statisticsAnew(p),
	})}
	header.UncompressedPageSize, header.CompressedPageSize = int32(len(plain)), int32(len(p.levels)+len(body))
	if h.checksum {
		header.CRC = checksum(p.levels, body)
	}
	return c.writeAnew(&header, p.levels, body)
}

func (h *pageHead) statisticsAnew(p decodedPage) format.Statistics {
	return format.Statistics{
		NullCount: int64(h.values - p.count), MinValue: h.statistics.low, MaxValue: h.statistics.high,
	}
}

// compress returns body by the chunk's codec. It is good until the next call.
func (c *chunkJoin) compress(kind pageKind, body []byte, head int) ([]byte, error) {
	if c.codec == CodecNone {
		return body, nil
	}
	level := 0
	if c.codec == c.options.Codec {
		level = c.options.Level // of another codec it would mean something else
	}
	out, err := c.compressAs(kind, level, c.scratch.compressed[:0], body, head)
	if err != nil {
		return nil, err
	}
	c.scratch.compressed = out
	return out, nil
}

func (c *chunkJoin) compressAs(kind pageKind, level int, out, body []byte, head int) ([]byte, error) {
	if c.codec == CodecZstd {
		return c.ws.appendPage(c.options.Pool.learnedOf(c.leaf), kind, level, out, body, head)
	}
	return c.ws.compress(c.codec, level, out, body)
}

// writeAnew writes a page of our own.
func (c *chunkJoin) writeAnew(header *format.PageHeader, parts ...[]byte) (int, error) {
	head, err := c.ws.encode(header)
	if err != nil {
		return 0, fmt.Errorf("encoding a page header: %w", err)
	}
	size := len(head)
	if _, err := c.out.Write(head); err != nil {
		return 0, err
	}
	for _, b := range parts {
		size += len(b)
		if _, err := c.out.Write(b); err != nil {
			return 0, err
		}
	}
	encoding := header.DataPageHeader.V.Encoding
	switch header.Type {
	case format.DataPageV2:
		encoding = header.DataPageHeaderV2.V.Encoding
	case format.DictionaryPage:
		encoding = header.DictionaryPageHeader.V.Encoding
	default:
	}
	c.countPage(header.Type, encoding, size, len(head)+int(header.UncompressedPageSize))
	return size, nil
}
