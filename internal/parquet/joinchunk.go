package parquet

import (
	"context"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

// joinedChunk is a column chunk of the joined file.
type joinedChunk struct {
	codec          format.CompressionCodec
	offset         int64 // in the file
	size           int64 // of all pages
	dictionarySize int64 // of the dictionary page, which comes first
	uncompressed   int64
	values         int64
	pagesOf        []format.PageEncodingStats
	pages          []pageInfo
	located        bool // whether the pages' first rows are known
	bounded        bool // whether their bounds and nulls are
	statistics     fileStatistics
	bloom          []byte // the filter, in a buffer of the pool; nil when there is none
}

// chunkSource is a chunk of a part on its way into a joined one.
type chunkSource struct {
	groupSource
	*fileChunk
	ordered        bool        // its bounds are in the order of the type
	codec          Codec       // when it is readable
	source         *pageSource // where its pages are read from, nil until then
	dictionarySize int64       // of its dictionary page
	remap          []uint32    // its indices in the joined dictionary, nil where they are the same
	plain          bool        // its values are not in the joined dictionary
	places         []format.PageLocation
	bounds         *pageBounds
}

// chunkJoin writes one joined chunk.
type chunkJoin struct {
	*joiner
	leaf    *leafType
	codec   Codec // of the joined chunk, when it is readable
	sources []chunkSource
	chunk   joinedChunk
	bloom   *bloom // nil when there is none to write
	dictionaryJoin
}

func (j *joiner) writeChunk(ctx context.Context, g *joinedGroup, leaf int) (joinedChunk, error) {
	c := chunkJoin{joiner: j, leaf: &j.layout.leaves[leaf], sources: make([]chunkSource, len(g.sources))}
	c.chunk = joinedChunk{codec: j.codecOf(g, leaf), offset: j.out.bytes, located: true, bounded: true}
	c.codec, _ = codecOfFormat(c.chunk.codec)
	for i, s := range g.sources {
		chunk, at := j.chunk(s, leaf), s.part.leaves[leaf]
		c.sources[i] = chunkSource{groupSource: s, fileChunk: chunk, ordered: at < 0 || s.part.footer.isOrdered(at)}
		c.sources[i].codec, _ = codecOfFormat(chunk.codec)
	}
	defer c.closeSources()
	c.beginBloom()
	if err := c.joinDictionaries(); err != nil {
		return c.chunk, err
	}
	if err := c.observeDictionary(); err != nil {
		return c.chunk, err
	}
	if err := c.writeDictionary(); err != nil {
		return c.chunk, err
	}
	row := int64(0)
	for i := range c.sources {
		s, write := &c.sources[i], c.writeSource
		if s.part.leaves[leaf] < 0 {
			write = c.writeMade
		}
		if err := write(ctx, s, row); err != nil {
			return c.chunk, fmt.Errorf("%s: %w", s.part.File.Path, err)
		}
		row += s.group.rows
	}
	c.joinStatistics()
	c.finishBloom()
	return c.chunk, nil
}

func (c *chunkJoin) closeSources() {
	for i := range c.sources {
		c.closeSource(&c.sources[i])
	}
}

func (c *chunkJoin) closeSource(s *chunkSource) {
	if s.source != nil {
		s.source.close()
		s.source = nil
	}
}

// openSource has the pages of s read, data pages from the first on.
func (c *chunkJoin) openSource(s *chunkSource) {
	if s.source == nil {
		s.source = &pageSource{pool: c.options.Pool, out: c.out}
		s.source.open(s.part.Bytes, s.from+s.dictionarySize, s.size-s.dictionarySize)
	}
}

// writeSource writes the data pages of s, whose rows begin at a row of the row group.
func (c *chunkJoin) writeSource(ctx context.Context, s *chunkSource, row int64) error {
	var err error
	if s.places, s.bounds, err = s.part.footer.readPageIndex(s.part.Bytes, s.fileChunk, s.group.rows); err != nil {
		return err
	}
	c.openSource(s)
	defer c.closeSource(s)
	if err := c.openPlain(s); err != nil {
		return err
	}
	run := sourceRun{row: row, end: row + s.group.rows}
	for s.source.left() > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.writePage(s, &run); err != nil {
			return err
		}
	}
	if err := s.source.flush(); err != nil {
		return err
	}
	return c.endSource(s, &run)
}

// sourceRun is how far the pages of a source were written.
type sourceRun struct {
	pages     int   // that were written
	row       int64 // of the next page in the row group
	end       int64 // row after the last one
	lost      bool  // row is not known
	unbounded bool  // a page's bounds or nulls are not known
	values    int64
}

func (c *chunkJoin) writePage(s *chunkSource, run *sourceRun) error {
	at := s.source.offset()
	h, err := s.source.head()
	if err != nil {
		return err
	}
	if err := s.admits(&h); err != nil {
		return fmt.Errorf("the page at byte %d: %w", at, err)
	}
	if err := c.observePage(s, &h); err != nil {
		return fmt.Errorf("the page at byte %d: %w", at, err)
	}
	info := c.describePage(s, run, &h, at)
	run.pages++
	if s.fileChunk.codec == c.chunk.codec && (!h.isIndexed() || s.remap == nil && !s.plain) {
		err = c.copyPage(s, &h, info)
	} else {
		err = c.reencodePage(s, &h, info)
	}
	if err != nil {
		return fmt.Errorf("the page at byte %d: %w", at, err)
	}
	return nil
}

// admits says why a page cannot be among a chunk's data pages.
func (s *chunkSource) admits(h *pageHead) error {
	switch {
	case h.kind != format.DataPage && h.kind != format.DataPageV2:
		return fmt.Errorf("it is a %s among data pages", h.kind)
	case h.isIndexed() && s.dictionarySize == 0:
		return errors.New("it has indices into a dictionary, and there is none")
	}
	return nil
}

func (c *chunkJoin) copyPage(s *chunkSource, h *pageHead, info pageInfo) error {
	n := h.size + h.compressed
	if err := s.source.keep(n); err != nil {
		return err
	}
	c.countPage(h.kind, h.encoding, n, h.size+h.uncompressed)
	c.addPage(info, n)
	c.result.PagesCopied++
	c.result.BytesCopied += int64(n)
	return nil
}

// countPage adds a written page to the chunk.
func (c *chunkJoin) countPage(kind format.PageType, e format.Encoding, size, uncompressed int) {
	c.chunk.countPage(kind, e)
	c.chunk.size += int64(size)
	c.chunk.uncompressed += int64(uncompressed)
}

// addPage notes the data page that was written last, of so many bytes.
func (c *chunkJoin) addPage(info pageInfo, size int) {
	info.offset, info.size = c.chunk.size-c.chunk.dictionarySize-int64(size), int32(size)
	c.chunk.pages = append(c.chunk.pages, info)
}

// endSource checks that the pages of s were all.
func (c *chunkJoin) endSource(s *chunkSource, run *sourceRun) error {
	c.chunk.values += run.values
	if run.values != s.values {
		return fmt.Errorf("its pages have %d values, and its footer says %d", run.values, s.values)
	}
	if !run.lost && run.row != run.end {
		return fmt.Errorf("its pages have %d rows less than its row group's %d", run.end-run.row, s.group.rows)
	}
	if run.unbounded || s.bounds != nil && len(s.bounds.pages) != run.pages {
		c.chunk.bounded = false
	}
	return nil
}
