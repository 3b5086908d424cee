package pipeline

import (
	"context"
	"errors"
	"testing"

	"firn/internal/record"
)

func blockOf(bytes int) *record.Block { return &record.Block{Bytes: bytes} }

// full tells whether a push finds no room; the block is not in the queue then.
func full(q *queue, b *record.Block) bool {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return errors.Is(q.push(ended, b), context.Canceled)
}

func mustPush(t *testing.T, q *queue, b *record.Block) {
	t.Helper()
	if full(q, b) {
		t.Fatalf("no room for %d bytes beside %d", b.Bytes, q.held())
	}
}

func TestQueueIsBoundedUntilBlocksAreDone(t *testing.T) {
	q := newQueue(100)
	first, second := blockOf(60), blockOf(40)
	mustPush(t, q, first)
	mustPush(t, q, second)
	if !full(q, blockOf(1)) {
		t.Error("101 bytes fit into 100")
	}
	taken, _ := q.take()
	if taken.Block != first {
		t.Error("the second block came first")
	}
	if !full(q, blockOf(1)) {
		t.Error("the bytes of a block in a worker's hands were given away")
	}
	q.done(taken)
	mustPush(t, q, blockOf(60))
	if q.held() != 100 {
		t.Errorf("%d bytes held", q.held())
	}
}

func TestQueueTakesAnyBlockWhenEmpty(t *testing.T) {
	q := newQueue(10)
	mustPush(t, q, blockOf(1000))
	if !full(q, blockOf(0)) {
		t.Error("a queue that is too full took more")
	}
	taken, _ := q.take()
	q.done(taken)
	if _, ok := q.take(); ok || q.held() != 0 {
		t.Errorf("%d bytes held by nothing", q.held())
	}
}

// C37: records of a few bytes must not hold many times the limit.
func TestQueueCountsWhatRecordsCostBesideTheirBytes(t *testing.T) {
	b := &record.Block{Bytes: 2000, Records: make([]record.Record, 1000)}
	plain := memoryOf(b)
	if plain < 2000+1000*80 {
		t.Errorf("1000 records of 2 bytes are counted as %d bytes", plain)
	}
	b.Records[7].Headers = []record.Header{{Key: "trace", Value: make([]byte, 500)}}
	if grown := memoryOf(b) - plain; grown < 505 {
		t.Errorf("a header of 505 bytes is counted as %d", grown)
	}
}

// A worker that waits gets the block, and a reader that waits gets the room.
func TestQueueWakesBothSides(t *testing.T) {
	q := newQueue(10)
	const blocks = 1000
	pushed := make(chan error, 1)
	go func() {
		var err error
		for range blocks {
			err = errors.Join(err, q.push(t.Context(), blockOf(7)))
		}
		pushed <- err
	}()
	for range blocks {
		if err := q.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, ok := q.take()
		if !ok {
			t.Fatal("nothing there after the wait")
		}
		q.done(b)
	}
	if err := <-pushed; err != nil || q.held() != 0 {
		t.Errorf("error %v, %d bytes held", err, q.held())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.wait(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for a block: %v", err)
	}
}
