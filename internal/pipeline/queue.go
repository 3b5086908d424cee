package pipeline

import (
	"context"
	"sync"
	"unsafe"

	"firn/internal/record"
)

// queue holds blocks between the reader and the workers, in order. It is bounded in bytes, those of blocks that were
// taken and are not done yet included. It is safe for concurrent use.
type queue struct {
	bytesMax int64

	mu     sync.Mutex // guards the fields below
	blocks []queued
	bytes  int64
	large  int64         // of the largest block of late
	freed  chan struct{} // closed and renewed when bytes fall
	filled chan struct{} // closed and renewed when a block comes
}

// queued is a block with the memory that it holds.
type queued struct {
	*record.Block
	bytes int64
}

func newQueue(bytesMax int64) *queue {
	return &queue{bytesMax: bytesMax, freed: make(chan struct{}), filled: make(chan struct{})}
}

// memoryOf is the bytes that a block holds: a tiny record costs more than its key and value.
func memoryOf(b *record.Block) int64 {
	const recordBytes, headerBytes = int64(unsafe.Sizeof(record.Record{})), int64(unsafe.Sizeof(record.Header{}))
	total := int64(b.Bytes) + int64(len(b.Records))*recordBytes
	for i := range b.Records {
		for _, h := range b.Records[i].Headers {
			total += headerBytes + int64(len(h.Key)+len(h.Value))
		}
	}
	return total
}

// push waits for room and appends. A block larger than the whole queue passes when the queue is empty.
func (q *queue) push(ctx context.Context, b *record.Block) error {
	bytes := memoryOf(b)
	for {
		q.mu.Lock()
		if q.bytes == 0 || q.bytes+bytes <= q.bytesMax {
			q.blocks = append(q.blocks, queued{b, bytes})
			q.bytes += bytes
			q.large = max(bytes, q.large-q.large>>10) // forgotten after some thousand others
			close(q.filled)
			q.filled = make(chan struct{})
			q.mu.Unlock()
			return nil
		}
		room := q.freed
		q.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wait returns when there is a block to take, though another worker may be faster.
func (q *queue) wait(ctx context.Context) error {
	for {
		q.mu.Lock()
		some, n := q.filled, len(q.blocks)
		q.mu.Unlock()
		if n > 0 {
			return nil
		}
		select {
		case <-some:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take removes the first block, or returns false when there is none. Its bytes are held until it is done.
func (q *queue) take() (queued, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.blocks) == 0 {
		return queued{}, false
	}
	b := q.blocks[0]
	q.blocks[0] = queued{}
	q.blocks = q.blocks[1:]
	return b, true
}

// done gives the bytes of a block that was taken back.
func (q *queue) done(b queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= b.bytes
	close(q.freed)
	q.freed = make(chan struct{})
}

// largest is about the bytes of the largest block of late.
func (q *queue) largest() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.large
}

// held is the bytes of the blocks that are in the queue or were taken and are not done.
func (q *queue) held() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}
