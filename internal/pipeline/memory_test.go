package pipeline

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestMemoryAsksForRoomBeforeTheLimitAndWaitsBeyondIt(t *testing.T) {
	var held, asked atomic.Int64
	m := newMemory(100, none, held.Load, func() { asked.Add(1) })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		held  int64
		asks  int64
		waits bool
	}{{84, 0, false}, {85, 1, false}, {100, 1, false}, {101, 1, true}} {
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

func none() int64 { return 0 }

// What workers have in hand is kept free, but for a quarter of the limit.
func TestMemoryLeavesRoomForBlocksInHand(t *testing.T) {
	var inHand, held atomic.Int64
	m := newMemory(100, inHand.Load, held.Load, func() {})
	for _, c := range []struct{ inHand, room int64 }{{0, 100}, {30, 70}, {75, 25}, {1000, 25}} {
		inHand.Store(c.inHand)
		if m.room() != c.room || m.high() >= m.room() || m.low() >= m.high() {
			t.Errorf("%d in hand: room %d, high %d, low %d", c.inHand, m.room(), m.high(), m.low())
		}
		held.Store(c.room)
		if err := m.wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestMemoryWakesAllThatWait(t *testing.T) {
	const workers = 8
	var held atomic.Int64
	held.Store(101)
	waiting := make(chan struct{}, workers)
	m := newMemory(100, none, held.Load, func() { waiting <- struct{}{} })
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
