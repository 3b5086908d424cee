package upkeep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"firn/internal/deletes"
)

// deleteCache keeps the bytes of small delete files: one applies to many data files, and is asked for again by each
// group of these that is written anew. It is safe for concurrent use.
type deleteCache struct {
	open func(ctx context.Context, path string) (Content, error)

	mu    sync.Mutex       // guards what follows
	sizes map[string]int64 // of the delete files that may be kept
	kept  map[string][]byte
	room  int64
}

const (
	deletesKeptMax = 64 << 20
	// deleteKeptMax is the size of a file up to which reading it costs hardly more than asking for it.
	deleteKeptMax = 1 << 20
)

func newDeleteCache(open func(ctx context.Context, path string) (Content, error)) *deleteCache {
	return &deleteCache{open: open, sizes: make(map[string]int64), kept: make(map[string][]byte), room: deletesKeptMax}
}

// learn takes in the sizes of delete files that will be asked for.
func (c *deleteCache) learn(h *Head) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range h.Files {
		for _, d := range f.Deletes {
			if d.SizeBytes <= deleteKeptMax {
				c.sizes[d.Path] = d.SizeBytes
			}
		}
	}
}

// Open opens a delete file: see deletes.Config.
func (c *deleteCache) Open(ctx context.Context, path string) (deletes.Content, error) {
	c.mu.Lock()
	b, size := c.kept[path], c.sizes[path]
	keep := b == nil && size > 0 && size <= c.room
	if keep {
		c.room -= size
	}
	c.mu.Unlock()
	if b != nil {
		return keptDelete{bytes.NewReader(b)}, nil
	}
	f, err := c.open(ctx, path)
	if err != nil || !keep {
		return f, err
	}
	b = make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if errors.Is(err, io.EOF) && n == len(b) {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("reading %d bytes: %w", size, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[path] = b
	return keptDelete{bytes.NewReader(b)}, nil
}

// keptDelete is a delete file in memory.
type keptDelete struct{ *bytes.Reader }

// Close implements io.Closer.
func (keptDelete) Close() error { return nil }
