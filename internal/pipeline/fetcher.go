package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"firn/internal/record"
)

// fetcher owns the reader: it moves blocks into the queue, and changes what is read when asked.
type fetcher struct {
	reader Reader
	queue  *queue

	mu        sync.Mutex // guards the fields below
	changes   []func(Reader) error
	interrupt context.CancelFunc // ends the reader's wait, so that a change is made at once
}

func newFetcher(r Reader, q *queue) *fetcher { return &fetcher{reader: r, queue: q} }

// add reads more topic partitions.
func (f *fetcher) add(from map[record.TopicPartition]int64) {
	f.change(func(r Reader) error { return r.Add(from) })
}

// remove stops reading topic partitions.
func (f *fetcher) remove(tps []record.TopicPartition) {
	f.change(func(r Reader) error { r.Remove(tps); return nil })
}

func (f *fetcher) change(do func(Reader) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = append(f.changes, do)
	if f.interrupt != nil {
		f.interrupt()
	}
}

// run reads until ctx ends or the reader fails.
func (f *fetcher) run(ctx context.Context) error {
	for ctx.Err() == nil {
		waiting, err := f.prepare(ctx)
		if err != nil {
			return err
		}
		blocks, err := f.reader.Next(waiting)
		if err != nil && (waiting.Err() == nil || !errors.Is(err, waiting.Err())) {
			return fmt.Errorf("reading: %w", err)
		}
		for _, b := range blocks {
			if f.queue.push(ctx, b) != nil {
				return nil
			}
		}
	}
	return nil
}

// prepare makes the changes that were asked for and a context that the next one ends.
func (f *fetcher) prepare(ctx context.Context) (context.Context, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.interrupt != nil {
		f.interrupt()
	}
	var errs []error
	for _, do := range f.changes {
		errs = append(errs, do(f.reader))
	}
	f.changes = nil
	waiting, cancel := context.WithCancel(ctx)
	f.interrupt = cancel
	return waiting, errors.Join(errs...)
}

// close ends the reading; run must have returned.
func (f *fetcher) close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.interrupt != nil {
		f.interrupt()
	}
	if err := f.reader.Close(); err != nil {
		return fmt.Errorf("closing the source: %w", err)
	}
	return nil
}
