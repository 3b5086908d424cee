package pipeline

import (
	"context"
	"sync"

	"firn/internal/record"
)

// queue holds blocks between the reader and the workers, in order, bounded in bytes. It is safe for concurrent use.
type queue struct {
	bytesMax int64

	mu     sync.Mutex // guards the fields below
	blocks []*record.Block
	bytes  int64
	taken  chan struct{} // closed and renewed when bytes fall
	filled chan struct{} // closed and renewed when a block comes
}

func newQueue(bytesMax int64) *queue {
	return &queue{bytesMax: bytesMax, taken: make(chan struct{}), filled: make(chan struct{})}
}

// push waits for room and appends. A block larger than the whole queue passes when the queue is empty.
func (q *queue) push(ctx context.Context, b *record.Block) error {
	for {
		q.mu.Lock()
		if q.bytes == 0 || q.bytes+int64(b.Bytes) <= q.bytesMax {
			q.blocks = append(q.blocks, b)
			q.bytes += int64(b.Bytes)
			close(q.filled)
			q.filled = make(chan struct{})
			q.mu.Unlock()
			return nil
		}
		room := q.taken
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

// take removes the first block, or returns nil when there is none.
func (q *queue) take() *record.Block {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.blocks) == 0 {
		return nil
	}
	b := q.blocks[0]
	q.blocks[0] = nil
	q.blocks = q.blocks[1:]
	q.bytes -= int64(b.Bytes)
	close(q.taken)
	q.taken = make(chan struct{})
	return b
}

// held is the bytes in the queue.
func (q *queue) held() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}
