package fault

import (
	"context"
	"errors"
	"io"
)

// Store fails operations on a store of files as planned; F is the store's type of an open file. Closing a file that is
// being written counts as one operation, since that is when it becomes durable.
type Store[F any] struct {
	Next interface {
		Create(ctx context.Context, path string) (io.WriteCloser, error)
		Open(ctx context.Context, path string) (F, error)
		Remove(ctx context.Context, path string) error
	}
	Plan *Plan
}

// Create makes a file, or fails.
func (s Store[F]) Create(ctx context.Context, path string) (w io.WriteCloser, err error) {
	err = s.Plan.Do("create "+path, func() error {
		w, err = s.Next.Create(ctx, path)
		return err
	})
	if err == nil {
		return writer{w, path, s.Plan}, nil
	}
	if w != nil {
		err = errors.Join(err, w.Close())
	}
	return nil, err
}

type writer struct {
	io.WriteCloser
	path string
	plan *Plan
}

// Close makes the file durable, or fails.
func (w writer) Close() error { return w.plan.Do("close "+w.path, w.WriteCloser.Close) }

// Open opens a file, or fails.
func (s Store[F]) Open(ctx context.Context, path string) (f F, err error) {
	err = s.Plan.Do("open "+path, func() error {
		f, err = s.Next.Open(ctx, path)
		return err
	})
	return f, err
}

// Remove deletes a file, or fails.
func (s Store[F]) Remove(ctx context.Context, path string) error {
	return s.Plan.Do("remove "+path, func() error { return s.Next.Remove(ctx, path) })
}
