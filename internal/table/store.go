package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	iceio "github.com/apache/iceberg-go/io"
)

// Store is where a table's files are kept. Paths are absolute, with scheme. It is safe for concurrent use; the files
// are not.
type Store interface {
	// Create starts a new file. It is whole and durable once Close returned nil, and not to be used otherwise.
	Create(ctx context.Context, path string) (io.WriteCloser, error)
	// Open reads a file. A missing one is fs.ErrNotExist.
	Open(ctx context.Context, path string) (File, error)
	// Remove deletes a file. A missing one is no error.
	Remove(ctx context.Context, path string) error
}

// File is an open file of a Store.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64
}

// Store is the table's own store, with the credentials that the catalog hands out for it, renewed as they expire.
func (t *Table) Store() Store { return &tableStore{load: t.files} }

// loadTimeout bounds the reading of a table's metadata where the context has no end.
const loadTimeout = time.Minute

// files connects to the store. A catalog that cannot renew credentials hands out others with the table.
func (t *Table) files(ctx context.Context) (iceio.IO, error) {
	files, err := t.inner.FS(ctx)
	if err == nil {
		return files, nil
	}
	loading, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	fresh, loadErr := t.catalog.load(loading, t.ident)
	if loadErr != nil {
		return nil, errors.Join(err, loadErr)
	}
	return fresh.inner.FS(ctx)
}

// filesLifetime is how long one client of a store is used: a client keeps its credentials, which is worth some
// seconds at each start, and those that a catalog vends are renewed 5 minutes before they expire.
const filesLifetime = time.Minute

type tableStore struct {
	load func(context.Context) (iceio.IO, error)

	mu     sync.Mutex // guards the fields below; held while a client is made, which reaches for credentials at most
	files  iceio.IO
	cancel context.CancelFunc // ends what the client does
	madeAt time.Time
}

// client outlives the call that made it, so it must not end with the call's context.
func (s *tableStore) client(ctx context.Context) (iceio.IO, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files != nil && time.Since(s.madeAt) < filesLifetime {
		return s.files, nil
	}
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	files, err := s.load(lasting)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("connecting to the table's store: %w", err)
	}
	s.files, s.cancel, s.madeAt = files, cancel, time.Now()
	return files, nil
}

// drop ends what the client is doing; the next call makes another.
func (s *tableStore) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
	s.files = nil
}

func (s *tableStore) Create(ctx context.Context, path string) (io.WriteCloser, error) {
	files, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	writer, ok := files.(iceio.WriteFileIO)
	if !ok {
		return nil, fmt.Errorf("creating %s: the store cannot be written", path)
	}
	w, err := writer.Create(path)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	return contextWriter{ctx, w}, nil
}

// contextWriter stops writing when its context ends; the store's own writers go on.
type contextWriter struct {
	ctx context.Context //nolint:containedctx // of the one call that made it, as with http.Request
	io.WriteCloser
}

func (w contextWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.WriteCloser.Write(p)
}

func (s *tableStore) Open(ctx context.Context, path string) (File, error) {
	files, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	f, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("measuring %s: %w", path, err), f.Close())
	}
	return sizedFile{f, info.Size()}, nil
}

type sizedFile struct {
	iceio.File
	size int64
}

func (f sizedFile) Size() int64 { return f.size }

func (s *tableStore) Remove(ctx context.Context, path string) error {
	files, err := s.client(ctx)
	if err != nil {
		return err
	}
	if err := files.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return nil
}
