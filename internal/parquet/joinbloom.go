package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

// beginBloom starts a filter where the options ask for one. Those of the parts are of no use: one that takes all of
// their bits lets nearly everything through, so that the values are hashed again. Their pages are copied nonetheless.
func (c *chunkJoin) beginBloom() {
	if o, ok := c.options.Blooms[c.leaf.id]; ok {
		c.bloom = newBloom(o, c.options.BloomBytesMax)
	}
}

// dropBloom gives the filter up. A chunk without one is read as if it had any value.
func (c *chunkJoin) dropBloom() {
	c.bloom.release(c.options.Pool)
	c.bloom = nil
}

// observeDictionary adds the values of all pages of indices.
func (c *chunkJoin) observeDictionary() error {
	if c.bloom == nil || c.first == nil {
		return nil
	}
	if !c.first.isReadable() {
		c.dropBloom()
		return nil
	}
	if err := c.beginAll(); err != nil {
		return err
	}
	c.bloom.observe(c.options.Pool, c.leaf, c.all.plain)
	return nil
}

// observePage adds the values of the page that comes next, or gives the filter up where they are in an encoding other
// than PLAIN.
func (c *chunkJoin) observePage(s *chunkSource, h *pageHead) error {
	switch {
	case c.bloom == nil || h.isIndexed():
		return nil
	case h.encoding != format.Plain || !s.isReadable():
		c.dropBloom()
		return nil
	}
	raw, err := s.source.peek(h.size + h.compressed)
	if err != nil {
		return err
	}
	p, err := c.decodePage(s, h, raw[h.size:])
	if err != nil {
		return err
	}
	rest := p.values
	for range p.count {
		if _, rest, err = c.leaf.cutValue(rest); err != nil {
			return fmt.Errorf("it is said to have %d values that are not null: %w", p.count, err)
		}
	}
	c.bloom.observe(c.options.Pool, c.leaf, p.values[:len(p.values)-len(rest)])
	return nil
}

// finishBloom moves the filter into the chunk.
func (c *chunkJoin) finishBloom() {
	if c.bloom != nil {
		c.chunk.bloom = c.bloom.finish(c.options.Pool)
	}
}

// writeBlooms is that of File for joined chunks.
func (j *joiner) writeBlooms() error {
	for g := range j.chunks {
		for i := range j.chunks[g] {
			filter := j.chunks[g][i].bloom
			if filter == nil {
				continue
			}
			at := j.out.bytes
			if err := j.ws.writeBloom(j.out, filter); err != nil {
				return err
			}
			m := &j.meta.RowGroups[g].Columns[i].MetaData
			m.BloomFilterOffset, m.BloomFilterLength = at, int32(j.out.bytes-at)
		}
	}
	return nil
}
