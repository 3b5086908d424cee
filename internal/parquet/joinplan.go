package parquet

import (
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// joinedGroup is row groups of the parts that become one.
type joinedGroup struct {
	sources []groupSource
	rows    int64
	bytes   int64
}

// groupSource is a row group of a part.
type groupSource struct {
	part  *joinPart
	group *fileGroup
	row   int64 // of the part, where the row group begins
}

// chunk is the chunk of leaf i of the layout.
func (j *joiner) chunk(s groupSource, i int) *fileChunk {
	if at := s.part.leaves[i]; at >= 0 {
		return &s.group.chunks[at]
	}
	return s.madeChunk(j.layout.leaves[i].id)
}

// plan puts the row groups of all parts together, in their order, as long as they are small enough and their pages
// can stand beside each other. Those without rows are left out.
func (j *joiner) plan() []joinedGroup {
	var groups []joinedGroup
	for i := range j.parts {
		p, row := &j.parts[i], int64(0)
		for k := range p.footer.groups {
			s := groupSource{p, &p.footer.groups[k], row}
			row += s.group.rows
			if s.group.rows == 0 {
				continue
			}
			if n := len(groups); n == 0 || !j.takes(&groups[n-1], s) {
				groups = append(groups, joinedGroup{})
			}
			groups[len(groups)-1].add(s)
		}
	}
	return groups
}

func (g *joinedGroup) add(s groupSource) {
	g.sources = append(g.sources, s)
	g.rows += s.group.rows
	g.bytes += s.bytes()
}

// bytes is the size of the row group in its part.
func (s groupSource) bytes() int64 {
	total := int64(0)
	for i := range s.group.chunks {
		total += s.group.chunks[i].size
	}
	return total
}

// takes says whether the row group s can follow in g. Rows are kept below 2^31, which readers count in 32 bits.
func (j *joiner) takes(g *joinedGroup, s groupSource) bool {
	if g.bytes+s.bytes() > j.options.RowGroupBytesMax || g.rows+s.group.rows > math.MaxInt32 {
		return false
	}
	for i := range j.layout.leaves {
		if !j.chunk(s, i).joins(j.chunk(g.sources[0], i)) {
			return false
		}
	}
	return true
}

// joins says whether pages of both chunks can be in one. The pages of a codec that cannot be read cannot be given
// another codec or another dictionary.
func (c *fileChunk) joins(o *fileChunk) bool {
	if c.isReadable() && o.isReadable() {
		return true
	}
	return c.codec == o.codec && !c.mayHaveDictionary() && !o.mayHaveDictionary()
}

func (c *fileChunk) isReadable() bool {
	_, ok := codecOfFormat(c.codec)
	return ok
}

// mayHaveDictionary goes by the encodings: old writers do not say where a dictionary page is.
func (c *fileChunk) mayHaveDictionary() bool {
	return c.dictionary || slices.ContainsFunc(c.encodings, isDictionary)
}

// codecOf is the codec of most bytes of leaf i in the group, the first one where they are equal.
func (j *joiner) codecOf(g *joinedGroup, i int) format.CompressionCodec {
	var codecs []format.CompressionCodec
	bytes := map[format.CompressionCodec]int64{}
	for _, s := range g.sources {
		c := j.chunk(s, i)
		if _, seen := bytes[c.codec]; !seen {
			codecs = append(codecs, c.codec)
		}
		bytes[c.codec] += c.size
	}
	most := codecs[0]
	for _, c := range codecs {
		if bytes[c] > bytes[most] {
			most = c
		}
	}
	return most
}
