package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// chunk is the finished pages of one column in one row group.
type chunk struct {
	dictionary   rope // the dictionary page
	data         rope // the data pages
	uncompressed int64
	taken        int64 // memory of the pages' values before they were encoded
	rows         int64
	pagesOf      [format.ByteStreamSplit + 1]int32 // data pages by encoding
	pages        []pageInfo
	stats        bounds
	bloom        []byte // the finished filter; nil when there is none
}

// pageInfo is what the page index says of a page.
type pageInfo struct {
	offset    int64 // in the chunk's data
	size      int32
	firstRow  int64
	nulls     int64
	hasValues bool
	low, high []byte
}

// finishPage encodes, compresses and appends the open page to the chunk.
func (l *leaf) finishPage(f *File, w *workspace) error {
	p := &l.page
	if p.entries == 0 {
		return nil
	}
	if l.dict.active && l.dict.pages == 0 && !l.dict.pays(p) {
		l.dismissDictionary(f.options.Pool)
	}
	l.chunk.taken += l.taken()
	if l.dict.active {
		l.encodeIndices(f.options.Pool)
	}
	p.plain = f.options.Pool.grow(p.plain, frontBytes) // also when there are only nulls
	if len(p.plain) < frontBytes {
		p.plain = p.plain[:frontBytes]
	}
	if l.bloom != nil && !l.dict.active {
		l.bloom.observe(f.options.Pool, &l.leafType, p.plain[frontBytes:])
	}
	encoding, err := l.encodeValues(f, w)
	if err != nil {
		return fmt.Errorf("encoding a page of column %s: %w", l.dotted, err)
	}
	info := l.describe()
	before := l.chunk.data.bytes
	if err := l.writePage(f, w, encoding); err != nil {
		return fmt.Errorf("writing a page of column %s: %w", l.dotted, err)
	}
	l.chunk.pagesOf[encoding]++
	info.offset, info.size = before, int32(l.chunk.data.bytes-before)
	l.chunk.pages = append(l.chunk.pages, info)
	l.chunk.rows += int64(p.rows)
	l.chunk.stats.merge(&p.stats, l.order)
	p.reset()
	return nil
}

// encodeValues makes the open page's bytes final, but for the levels.
func (l *leaf) encodeValues(f *File, w *workspace) (format.Encoding, error) {
	p := &l.page
	switch {
	case l.dict.active:
		return format.RLEDictionary, nil // its indices are there already
	case l.physical == format.Boolean:
		p.plain = p.plain[:frontBytes+len(packBooleans(p.plain[frontBytes:]))]
		return format.Plain, nil
	default:
		return l.encodePage(f, w)
	}
}

// describe is the page's part of the page index, but for its place.
func (l *leaf) describe() pageInfo {
	b := &l.page.stats
	info := pageInfo{firstRow: l.chunk.rows, nulls: b.nulls, hasValues: b.values > b.nulls}
	info.low, info.high = b.limits(&l.leafType, l.metrics.length())
	return info
}

func (l *leaf) encodeIndices(p *Pool) {
	d := &l.dict
	// Two bytes a run header of at most 8 values, and a width of at most 4 bytes, bound the encoding from above.
	plain := p.grow(l.page.plain[:0], frontBytes+16+5*len(d.indices))[:frontBytes]
	l.page.plain = appendIndices(plain, d.indices, d.count)
	d.indices = d.indices[:0]
	d.pages++
}

// writePage appends header, levels and values. The levels go right before the values where the front has room, so
// that all are one run of bytes.
func (l *leaf) writePage(f *File, w *workspace, encoding format.Encoding) error {
	p := &l.page
	l.encodeLevels(w, f.options.PageVersion)
	if len(w.levelBuf) > frontBytes-headerBytesMax {
		n := len(p.plain)
		p.plain = f.options.Pool.grow(p.plain, len(w.levelBuf))[:n+len(w.levelBuf)]
		copy(p.plain[frontBytes+len(w.levelBuf):], p.plain[frontBytes:n])
		copy(p.plain[frontBytes:], w.levelBuf)
		return l.emit(f, w, frontBytes, encoding)
	}
	from := frontBytes - len(w.levelBuf)
	copy(p.plain[from:], w.levelBuf)
	return l.emit(f, w, from, encoding)
}

// emit writes the page whose uncompressed bytes are plain[from:].
func (l *leaf) emit(f *File, w *workspace, from int, encoding format.Encoding) error {
	p, c := &l.page, &l.chunk
	body, raw := p.plain[from:], 0 // the first raw bytes are never compressed
	if f.options.PageVersion == 2 {
		raw = len(w.levelBuf)
	}
	compressed, err := l.compressPage(f, w, kindOf(encoding), body[raw:], len(w.levelBuf)-raw)
	if err != nil {
		return err
	}
	size := len(body)
	if compressed != nil {
		size = raw + len(compressed)
	}
	header := l.dataHeader(f.options.PageVersion, len(w.levelBuf), encoding, compressed != nil)
	header.UncompressedPageSize, header.CompressedPageSize = int32(len(body)), int32(size)
	if f.options.PageChecksums && compressed == nil {
		header.CRC = checksum(body, nil)
	} else if f.options.PageChecksums {
		header.CRC = checksum(body[:raw], compressed)
	}
	head, err := w.encode(&header)
	if err != nil {
		return fmt.Errorf("encoding a page header: %w", err)
	}
	c.uncompressed += int64(len(head) + len(body))
	if compressed != nil {
		c.data.append(f.options.Pool, head)
		c.data.append(f.options.Pool, body[:raw])
		c.data.append(f.options.Pool, compressed)
		f.options.Pool.put(compressed)
		return nil
	}
	from -= copy(p.plain[from-len(head):], head)
	if len(p.plain)-from < adoptBytesMin {
		c.data.append(f.options.Pool, p.plain[from:])
		return nil
	}
	c.data.adopt(p.plain, from)
	p.plain, p.room = nil, len(p.plain)
	return nil
}

// adoptBytesMin is the size from which an uncompressed page becomes a piece of the file as it is. Below it the copy is
// cheaper than the unused end of the buffer.
const adoptBytesMin = 16 << 10

// compress returns body compressed in a buffer of the pool, or nil when the column's codec is none. The first head
// bytes are levels.
func (l *leaf) compress(f *File, w *workspace, kind pageKind, body []byte, head int) ([]byte, error) {
	codec, err := l.codecOf(f, w, kind, body, head)
	if err != nil || codec == CodecNone {
		return nil, err
	}
	out := f.options.Pool.get(compressBound(len(body)))
	if codec == CodecZstd {
		return w.appendPage(l.learned, kind, f.options.Level, out, body, head)
	}
	return w.compress(codec, f.options.Level, out, body)
}

// compressPage compresses what a page has compressed. A page v2 says whether it is: it is not where that makes it no
// smaller, and never where it has no values, from which some codecs make bytes.
func (l *leaf) compressPage(f *File, w *workspace, kind pageKind, body []byte, head int) ([]byte, error) {
	if f.options.PageVersion == 2 && len(body) == 0 {
		return nil, nil
	}
	compressed, err := l.compress(f, w, kind, body, head)
	if f.options.PageVersion == 2 && len(compressed) >= len(body) {
		f.options.Pool.put(compressed)
		return nil, err
	}
	return compressed, err
}

// finishChunk finishes the open page and writes the dictionary page.
func (l *leaf) finishChunk(f *File, w *workspace) error {
	if err := l.finishPage(f, w); err != nil {
		return err
	}
	d, c := &l.dict, &l.chunk
	if l.bloom != nil {
		l.bloom.observe(f.options.Pool, &l.leafType, d.plain) // the values of all pages of indices
		c.bloom = l.bloom.finish(f.options.Pool)
	}
	if d.pages == 0 {
		d.clear(f.options.Pool)
		return nil
	}
	header := format.PageHeader{
		Type:                 format.DictionaryPage,
		UncompressedPageSize: int32(len(d.plain)),
		CompressedPageSize:   int32(len(d.plain)),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(d.count), Encoding: format.Plain}),
	}
	compressed, err := l.compress(f, w, pageOfDictionary, d.plain, 0)
	if err != nil {
		return fmt.Errorf("writing the dictionary of column %s: %w", l.dotted, err)
	}
	body := d.plain
	if compressed != nil {
		body = compressed
		header.CompressedPageSize = int32(len(body))
	}
	if f.options.PageChecksums {
		header.CRC = checksum(body, nil)
	}
	head, err := w.encode(&header)
	if err != nil {
		return fmt.Errorf("encoding the dictionary header of column %s: %w", l.dotted, err)
	}
	c.uncompressed += int64(len(head) + len(d.plain))
	c.dictionary.append(f.options.Pool, head)
	c.dictionary.append(f.options.Pool, body)
	f.options.Pool.put(compressed)
	d.clear(f.options.Pool)
	return nil
}

// size is the bytes of the chunk in the file.
func (c *chunk) size() int64 { return c.dictionary.bytes + c.data.bytes }

func (c *chunk) held() int64 { return c.dictionary.held + c.data.held + int64(cap(c.bloom)) }

// release empties the chunk and gives its memory back.
func (c *chunk) release(p *Pool) {
	c.dictionary.release(p)
	c.data.release(p)
	p.put(c.bloom)
	stats := c.stats
	stats.reset()
	clear(c.pages)
	*c = chunk{dictionary: c.dictionary, data: c.data, pages: c.pages[:0], stats: stats}
}
