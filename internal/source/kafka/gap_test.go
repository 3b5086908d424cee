package kafka

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"

	"firn/internal/record"
)

// C22, C23: what retention took is a gap that is recorded, and reading goes on where the log begins.
func TestGapBeforeOpen(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, numbers("v", 10)...)
	if err := cluster.DeleteRecords("orders", 0, 6); err != nil {
		t.Fatal(err)
	}
	var log logged
	c := open(t, newLoggedSource(t, cluster.ListenAddrs(), log.logger(), nil), map[record.TopicPartition]int64{orders: 2})
	c.reaches(orders, 10)
	wantGap(t, c, 2, 6)
	if diff := cmp.Diff([]string{"v6", "v7", "v8", "v9"}, c.values(orders)); diff != "" {
		t.Error(diff)
	}
	if n := log.count("from=2 to=6 count=4"); n != 1 {
		t.Errorf("%d lines say what was lost, want 1", n)
	}
}

// The log may be cut below the reader while it waits, down to nothing.
func TestGapWhileReading(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	client := newClient(t, cluster.ListenAddrs())
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
	produce(t, client, "orders", 0, "a")
	c.reaches(orders, 1)
	c.reader.client.PauseFetchTopics("orders") // so that it falls behind
	c.quiet(2 * fetchWait)                     // and the fetch that was on its way has ended
	produce(t, client, "orders", 0, "b", "c", "d")
	if err := cluster.DeleteRecords("orders", 0, 4); err != nil {
		t.Fatal(err)
	}
	c.reader.client.ResumeFetchTopics("orders")
	c.reaches(orders, 4)
	wantGap(t, c, 1, 4)
	produce(t, client, "orders", 0, "e")
	c.reaches(orders, 5)
	if diff := cmp.Diff([]string{"a", "e"}, c.values(orders)); diff != "" {
		t.Error(diff)
	}
}

func wantGap(t *testing.T, c *collector, from, to int64) {
	t.Helper()
	want := []record.Range{{TopicPartition: orders, From: from, To: to}}
	if diff := cmp.Diff(want, c.gaps(orders)); diff != "" {
		t.Error(diff)
	}
}

func TestGapStops(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(2, "orders"))
	client := newClient(t, cluster.ListenAddrs())
	produce(t, client, "orders", 0, numbers("v", 10)...)
	if err := cluster.DeleteRecords("orders", 0, 6); err != nil {
		t.Fatal(err)
	}
	s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.OnGap = GapStop })
	c := open(t, s, map[record.TopicPartition]int64{orders: 2})
	err := c.fails()
	want := "kafka source, topic orders, partition 0, offset 2: records from offset 2 to 5, 4 of them at most, were " +
		"removed by retention: records were removed before they were read; go on without them with on_gap: continue, " +
		"and give the topic a longer retention.ms"
	if !errors.Is(err, ErrGap) || err.Error() != want {
		t.Fatalf("Next gave %v", err)
	}
	// The error stays until the partition is moved.
	if again := c.fails(); !errors.Is(again, ErrGap) {
		t.Errorf("then it gave %v", again)
	}
	if err := c.reader.Add(map[record.TopicPartition]int64{orders: 6}); err != nil {
		t.Fatal(err)
	}
	c.next[orders] = 6
	c.reaches(orders, 10)
}

// C17: a position that the log does not reach is never waited for in silence.
func TestBeyondEnd(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(2, "orders"))
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, "a", "b")
	second := partitionOf("orders", 1)
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 3, second: 0})
	err := c.fails()
	var e *Error
	if !errors.Is(err, ErrOffsetBeyondEnd) || !errors.As(err, &e) || e.TopicPartition != orders || e.Offset != 3 {
		t.Fatalf("Next gave %v", err)
	}
	c.reader.Remove([]record.TopicPartition{orders})
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 1, "c")
	c.reaches(second, 1)
	// At the end is not beyond it.
	if err := c.reader.Add(map[record.TopicPartition]int64{orders: 2}); err != nil {
		t.Fatal(err)
	}
	c.next[orders] = 2
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, "d")
	c.reaches(orders, 3)
}
