package pipeline

import (
	"context"
	"sync"
)

// memory holds workers back while too many bytes wait to become visible, so that a slow store or catalog slows the
// reading instead of filling the process (case C37). It is safe for concurrent use.
type memory struct {
	bytesMax int64
	buffered func() int64
	hurry    func() // asks for a commit before its time

	mu    sync.Mutex // guards freed
	freed chan struct{}
}

func newMemory(bytesMax int64, buffered func() int64, hurry func()) *memory {
	return &memory{bytesMax: bytesMax, buffered: buffered, hurry: hurry, freed: make(chan struct{})}
}

// wait returns when there is room. It asks for a commit at two thirds of the limit, so that work can go on meanwhile:
// asking earlier makes more and smaller files (at half, 64 buckets took a quarter more CPU).
func (m *memory) wait(ctx context.Context) error {
	for {
		m.mu.Lock()
		freed := m.freed
		m.mu.Unlock()
		held := m.buffered()
		if held > m.bytesMax/3*2 {
			m.hurry()
		}
		if held <= m.bytesMax {
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
