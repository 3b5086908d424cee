package kafka

import (
	"sync"

	"firn/internal/record"
)

// Bounds of a block. The bytes keep a worker's share of memory small; the records do the same when they are tiny,
// as each costs about 110 bytes besides its own. A job may want smaller ones: see LimitBlocks.
const (
	blockBytesMax   = 4 << 20
	blockRecordsMax = 1 << 16
)

// cutter cuts consecutive records of a partition into blocks that tile. A record larger than a block is a block of its
// own. A block holds the buffers that its records alias until it is released.
type cutter struct {
	slabs    *slabs
	bytesMax int // of a block, unless it is one record

	tp      record.TopicPartition
	next    int64 // the offset after the last record
	from    int64 // where the block at hand begins
	blocks  []*record.Block
	records []record.Record // of the block at hand
	bytes   int
	held    []*buffer // by the block at hand
}

// start begins the blocks of a partition at a position.
func (c *cutter) start(tp record.TopicPartition, position int64) {
	c.tp, c.next, c.from = tp, position, position
}

// add appends a record, unless it lies before the position: a batch may begin there. Its bytes alias b, if any.
func (c *cutter) add(r record.Record, b *buffer) {
	if r.Offset < c.next {
		return
	}
	size := len(r.Key) + len(r.Value)
	if n := len(c.records); n > 0 && (c.bytes+size > c.bytesMax || n == blockRecordsMax) {
		c.cut()
	}
	if c.records == nil {
		c.records = c.slabs.take()
	}
	if b != nil && (len(c.held) == 0 || c.held[len(c.held)-1] != b) {
		b.hold()
		c.held = append(c.held, b)
	}
	c.records = append(c.records, r)
	c.bytes += size
	c.next = r.Offset + 1
}

// cut ends the block at hand. It covers the offsets from the last block to just after its last record. The offsets
// between records belong to aborted transactions or were compacted away.
func (c *cutter) cut() {
	if len(c.records) == 0 {
		return
	}
	records, held, slabs := c.records, c.held, c.slabs
	c.blocks = append(c.blocks, &record.Block{
		TopicPartition: c.tp, Records: records, Bytes: c.bytes,
		Range: record.Range{TopicPartition: c.tp, From: c.from, To: c.next},
		Free: func() {
			for _, b := range held {
				b.free()
			}
			slabs.give(records)
		},
	})
	c.records, c.held, c.bytes, c.from = nil, nil, 0, c.next
}

// end gives the blocks.
func (c *cutter) end() []*record.Block {
	c.cut()
	blocks := c.blocks
	c.blocks = nil
	return blocks
}

// slabs keeps the records of released blocks for others. Safe for concurrent use.
type slabs struct {
	bytesMax int64 // of the idle ones

	mu    sync.Mutex // guards the fields below
	idle  [][]record.Record
	bytes int64 // of the idle ones
}

// slabRecords is what a slab begins with.
const slabRecords = 512

// take gives records without any, with room for some.
func (s *slabs) take() []record.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return make([]record.Record, 0, slabRecords)
	}
	slab := s.idle[n-1]
	s.idle[n-1] = nil
	s.idle = s.idle[:n-1]
	s.bytes -= int64(cap(slab)) * recordOverhead
	return slab
}

// give takes records back, unless there are enough. They let go of what they alias.
func (s *slabs) give(records []record.Record) {
	clear(records)
	bytes := int64(cap(records)) * recordOverhead
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+bytes <= s.bytesMax {
		s.idle = append(s.idle, records[:0])
		s.bytes += bytes
	}
}
