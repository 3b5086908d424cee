package kafka

import (
	"runtime"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"firn/internal/record"
)

// polled is a part of what the client gave of one partition, and the blocks that it became.
type polled struct {
	record.TopicPartition
	position int64 // where the blocks of the first part begin
	logStart int64
	records  []*kgo.Record // stubs among them

	blocks []*record.Block
	err    error // after the blocks
}

// unpackers turn what was polled into blocks, as many parts at once as there are cores: checksums and
// decompression are most of the work of reading, and a cluster with one broker would have one core do them. One
// goroutine owns them.
type unpackers struct {
	frames *frames
	idle   chan *unpacker
}

func newUnpackers(f *frames, b *budget) *unpackers {
	n := runtime.GOMAXPROCS(0)
	u := &unpackers{frames: f, idle: make(chan *unpacker, n)}
	shared := &slabs{bytesMax: b.bufferBytesMax / 4}
	for range n {
		u.idle <- newUnpacker(f, shared, b)
	}
	return u
}

// partBytes is what is decompressed in one piece: enough for a block.
const partBytes = 512 << 10

// parts splits the records of a partition where there is much to decompress.
func (u *unpackers) parts(records []*kgo.Record) [][]*kgo.Record {
	var list [][]*kgo.Record
	from, weight := 0, 0
	for i, r := range records {
		if weight >= partBytes {
			list = append(list, records[from:i])
			from, weight = i, 0
		}
		weight += u.frames.weight(r.Value)
	}
	return append(list, records[from:])
}

// all fills in the blocks and errors.
func (u *unpackers) all(list []*polled) []*polled {
	if len(list) < 2 {
		for _, p := range list {
			u.one(p)
		}
		return list
	}
	var group errgroup.Group
	group.SetLimit(cap(u.idle))
	for _, p := range list {
		group.Go(func() error {
			u.one(p)
			return nil // errors are the partitions'
		})
	}
	_ = group.Wait()
	return list
}

func (u *unpackers) one(p *polled) {
	with := <-u.idle
	defer func() { u.idle <- with }()
	p.blocks, p.err = with.unpack(p.TopicPartition, p.position, p.records)
}
