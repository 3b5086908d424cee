package iceberg

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// sending bounds the bytes of the files that are stored at once: the client of an object store buffers what it sends.
// Many small files, of which each is mostly waiting for an answer, go at once, large ones by twos.
type sending struct {
	free    *semaphore.Weighted
	fileMax int64
}

func newSending(bytesMax int64) *sending {
	half := max(1, bytesMax/2)
	return &sending{semaphore.NewWeighted(2 * half), half}
}

// begin waits for room for a file, until ctx ends. The caller calls done when it is stored.
func (s *sending) begin(ctx context.Context, bytes int64) (done func(), err error) {
	room := s.room(bytes)
	if err := s.free.Acquire(ctx, room); err != nil {
		return nil, err
	}
	return func() { s.free.Release(room) }, nil
}

// room is what a file takes: never more than half, so that two always go.
func (s *sending) room(bytes int64) int64 { return min(max(1, bytes), s.fileMax) }
