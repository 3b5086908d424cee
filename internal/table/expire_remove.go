package table

import (
	"context"
	"errors"
	"io"

	icebergio "github.com/apache/iceberg-go/io"
	"golang.org/x/sync/errgroup"
)

// empty deletes the files of a list, and reports whether all are deleted. What an earlier call deleted is passed over.
func (s *sweep) empty(ctx context.Context, l removedList, r *listReader) (bool, error) {
	for range s.lists.done[l.name] {
		if _, err := r.next(); err != nil {
			return errors.Is(err, io.EOF), ignoreEOF(err)
		}
	}
	for {
		batch, err := s.batch(r)
		if err != nil {
			return false, err
		}
		if len(batch) == 0 {
			return true, nil
		}
		if err := s.remove(ctx, batch); err != nil {
			return false, err
		}
		s.lists.done[l.name] += len(batch)
		if s.full() {
			return false, nil
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// batch reads the next lines of a list, none at its end.
func (s *sweep) batch(r *listReader) ([]removedFile, error) {
	limit := sweepBatch
	if s.policy.FilesMax > 0 {
		limit = min(limit, s.policy.FilesMax-s.count)
	}
	var batch []removedFile
	for len(batch) < limit {
		f, err := r.next()
		if errors.Is(err, io.EOF) {
			return batch, nil
		}
		if err != nil {
			return nil, err
		}
		batch = append(batch, f)
	}
	return batch, nil
}

func (s *sweep) remove(ctx context.Context, batch []removedFile) error {
	paths := make([]string, len(batch))
	for i, f := range batch {
		paths[i] = f.Path
	}
	fio, err := s.files.client(ctx)
	if err != nil {
		return err
	}
	if err := removeAll(ctx, fio, paths); err != nil {
		return err
	}
	s.count += len(batch)
	s.out.Files = s.out.Files.Plus(count(batch))
	s.policy.Progress(len(batch))
	return nil
}

// removeAll deletes files, many at a time; missing ones are no error.
func removeAll(ctx context.Context, fio icebergio.IO, paths []string) error {
	if bulk, ok := fio.(icebergio.BulkRemovableIO); ok {
		_, err := bulk.DeleteFiles(ctx, paths)
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(storeRequests)
	for _, path := range paths {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := fio.Remove(path); err != nil && !missing(err) {
				return err
			}
			return nil
		})
	}
	return g.Wait()
}
