package pipeline

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestMemoryAsksForRoomBeforeTheLimitAndWaitsBeyondIt(t *testing.T) {
	var held, asked atomic.Int64
	m := newMemory(100, held.Load, func() { asked.Add(1) })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		held  int64
		asks  int64
		waits bool
	}{{88, 0, false}, {89, 1, false}, {100, 1, false}, {101, 1, true}} {
		held.Store(c.held)
		asked.Store(0)
		ctx := t.Context()
		if c.waits {
			ctx = ended
		}
		if err := m.wait(ctx); errors.Is(err, context.Canceled) != c.waits || asked.Load() != c.asks {
			t.Errorf("%d of 100: asked %d times, error %v", c.held, asked.Load(), err)
		}
	}
}

func TestMemoryWakesAllThatWait(t *testing.T) {
	const workers = 8
	var held atomic.Int64
	held.Store(101)
	waiting := make(chan struct{}, workers)
	m := newMemory(100, held.Load, func() { waiting <- struct{}{} })
	woken := make(chan error, workers)
	for range workers {
		go func() { woken <- m.wait(t.Context()) }()
	}
	for range workers {
		<-waiting
	}
	held.Store(0)
	m.release()
	for range workers {
		if err := <-woken; err != nil {
			t.Error(err)
		}
	}
}
