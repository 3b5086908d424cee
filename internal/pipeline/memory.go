package pipeline

import (
	"context"
	"sync"
)

// memory holds workers back while too many bytes wait in memory, so that a slow store or catalog slows the reading
// instead of filling the process (case C37). It is safe for concurrent use.
type memory struct {
	bytesMax int64
	inHand   func() int64 // what workers may add before they look again
	buffered func() int64
	relieve  func() // asks for files to be stored before their time

	mu    sync.Mutex // guards freed
	freed chan struct{}
}

func newMemory(bytesMax int64, inHand, buffered func() int64, relieve func()) *memory {
	return &memory{
		bytesMax: bytesMax, inHand: inHand, buffered: buffered, relieve: relieve, freed: make(chan struct{}),
	}
}

// room is the bytes that may be buffered when a worker takes a block. A quarter of the limit always may.
func (m *memory) room() int64 { return max(m.bytesMax/4, m.bytesMax-m.inHand()) }

// Files are stored early when bytes are beyond high, until they are at most low: beyond them is the room in which
// workers go on meanwhile. Files come out the larger the less of it there is.
func (m *memory) high() int64 { return m.room() / 8 * 7 }
func (m *memory) low() int64  { return m.room() / 8 * 6 }

// wait returns when there is room.
func (m *memory) wait(ctx context.Context) error {
	for {
		m.mu.Lock()
		freed := m.freed
		m.mu.Unlock()
		held := m.buffered()
		if held > m.high() {
			m.relieve()
		}
		if held <= m.room() {
			return ctx.Err()
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// release wakes the workers after bytes were freed.
func (m *memory) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.freed)
	m.freed = make(chan struct{})
}
