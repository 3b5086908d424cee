package pipeline_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"firn/internal/fault"
	"firn/internal/pipeline"
	"firn/internal/record"
)

// Two processes that start at once both record where partitions begin: the slower one takes the other's floor.
func TestStartsThatAnotherProcessRecordedFirst(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("x", 5)...)
	c, _ := w.process(nil)
	raced := false
	c.Committer = &committer{Committer: c.Committer, init: func(_, next record.Floor) error {
		if raced {
			return nil
		}
		raced = true
		other := next.Clone()
		other["a"].Next[0] = 3
		w.table.SetFloor(other)
		return fmt.Errorf("setting the floor: %w", pipeline.ErrFloorMoved)
	}}
	runUntil(t, c, "what the other left", func() bool { return len(w.table.Rows()) == 2 })
	mustRows(t, w, values("x", 3, 5))
}

// A partition of which the table has a floor, and that has no leader at the start, is read once it has one.
func TestPartitionWithoutLeaderAtTheStart(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 2)
	w.log.Append("a", 0, fault.Sequence("x", 2)...)
	w.log.Append("a", 1, fault.Sequence("y", 2)...)
	c, _ := w.process(nil)
	runUntil(t, c, "first rows", func() bool { return len(w.table.Rows()) == 4 })
	w.log.Append("a", 0, fault.Sequence("v", 2)...)
	w.log.Append("a", 1, fault.Sequence("w", 2)...)
	c, _ = w.process(nil)
	var led atomic.Bool
	c.Source = &source{Source: w.log, seen: func(s record.Split) bool { return s.Partition == 0 || led.Load() }}
	runUntil(t, c, "the rows of the partition that got a leader", func() bool {
		led.Store(len(w.table.Rows()) >= 6)
		return len(w.table.Rows()) == 8
	})
	mustRows(t, w, sorted(values("v", 0, 2), values("w", 0, 2), values("x", 0, 2), values("y", 0, 2)))
}

// The same for all partitions of a topic, which then looks like one that was deleted.
func TestTopicWithoutLeaderForAWhile(t *testing.T) {
	w := newWorld()
	for _, topic := range []string{"a", "b"} {
		w.log.Create(topic, "id-"+topic, 1)
		w.log.Append(topic, 0, fault.Sequence(topic, 2)...)
	}
	c, m := w.process(nil)
	var gone atomic.Bool
	own := &source{Source: w.log}
	own.seen = func(s record.Split) bool { return s.Topic == "a" || !gone.Load() }
	c.Source = own
	step := 0
	runUntil(t, c, "all rows", func() bool {
		n := len(w.table.Rows())
		switch {
		case step == 0 && n == 4:
			gone.Store(true)
			step++
		case step == 1 && len(m.Summary().Partitions) == 1: // it is not waited for any more
			w.log.Append("b", 0, fault.Sequence("c", 3)...)
			gone.Store(false)
			step++
		}
		return n == 7
	})
	mustRows(t, w, sorted(values("a", 0, 2), values("b", 0, 2), values("c", 0, 3)))
}

// A topic that is deleted before it was read to its end must not be waited for.
func TestUntilCaughtUpDoesNotWaitForADeletedTopic(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-a", 1)
	w.log.Append("a", 0, fault.Sequence("x", 2)...)
	w.log.Create("b", "id-b", 1)
	w.log.Append("b", 0, fault.Sequence("y", 2)...)
	c, _ := w.process(nil)
	c.UntilCaughtUp = true
	c.Source = &source{Source: w.log, given: func(b *record.Block) bool { return b.Topic == "a" }}
	r := start(t, c)
	eventually(t, "rows of the topic that can be read", func() bool { return len(w.table.Rows()) == 2 })
	w.log.Delete("b")
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	mustRows(t, w, values("x", 0, 2))
}

// It ends when all is committed, not when the interval has passed.
func TestUntilCaughtUpDoesNotWaitForTheInterval(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-a", 2)
	w.log.Append("a", 0, fault.Sequence("x", 20)...)
	w.log.Append("a", 1, fault.Sequence("y", 7)...)
	for range 2 { // the second time there is nothing to do
		c, _ := w.process(nil)
		c.UntilCaughtUp, c.CommitInterval, c.MetadataInterval = true, time.Hour, time.Hour
		if err := start(t, c).end(t); err != nil {
			t.Fatal(err)
		}
		mustRows(t, w, sorted(values("x", 0, 20), values("y", 0, 7)))
	}
}

// What was read of a topic before it was made again is not in any log any more: it is committed, not read again.
func TestRowsOfATopicThatIsMadeAgainAreCommitted(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("old", 5)...)
	c, m := w.process(nil)
	c.CommitInterval = time.Hour
	again := false
	runUntil(t, c, "both incarnations are read", func() bool {
		if m.Summary().Records == 5 && !again {
			w.log.Create("a", "id-2", 1)
			w.log.Append("a", 0, fault.Sequence("new", 3)...)
			again = true
		}
		return m.Summary().Records == 8
	})
	mustRows(t, w, sorted(values("old", 0, 5), values("new", 0, 3)))
}
