package kafka

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// What the client reports is judged: it passes, or Next says it.
func TestFault(t *testing.T) {
	nobody := partitionOf("", -1)
	f := func(name string, tp record.TopicPartition, fault error, want string, is error) {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
			produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, "a")
			c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
			c.reaches(orders, 1)
			c.reader.fault(tp, fault)
			if want == "" {
				if len(c.reader.failures) > 0 {
					t.Errorf("it ends the reading: %v", c.reader.failures[0].err)
				}
				return
			}
			if err := c.fails(); (is != nil && !errors.Is(err, is)) || !strings.Contains(err.Error(), want) {
				t.Errorf("Next gave %v, want %q", err, want)
			}
		})
	}
	loss := &kgo.ErrDataLoss{Topic: "orders", ConsumedTo: 9, ResetTo: 4}
	f("truncated by a new leader", orders, loss, "stands at offset 9 and the log ends at 4", ErrOffsetBeyondEnd)
	f("corrupt", orders, errors.New("encoded crc 1 does not match"), "topic orders, partition 0, offset 1: the records "+
		"cannot be read: encoded crc 1 does not match", nil)
	f("not of a partition", nobody, errors.New("response too large"), "reading failed: response too large", nil)
	f("client closed", nobody, kgo.ErrClientClosed, "client closed", kgo.ErrClientClosed)
	f("network", nobody, &net.OpError{Op: "dial", Err: errors.New("refused")}, "", nil)
	f("connection cut", nobody, io.ErrUnexpectedEOF, "", nil)
	f("absent once", orders, kerr.UnknownTopicID, "", nil)
}

// Records below the position mean that the log is another one.
func TestTakeRefusesRecordsBelowThePosition(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, "a", "b")
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
	c.reaches(orders, 2)
	c.reader.takeAll(answer(kgo.FetchPartition{Records: []*kgo.Record{{Offset: 1}}}))
	if err := c.fails(); !errors.Is(err, ErrOffsetBeyondEnd) {
		t.Errorf("Next gave %v", err)
	}
}

// Retention may pass the position while the answer is on its way: then the answer tells.
func TestTakeFindsAGap(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, "a")
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
	c.reaches(orders, 1)
	f := func(logStart, first int64, want ...record.Range) {
		t.Helper()
		before := c.reader.reading[orders].position
		c.reader.takeAll(answer(kgo.FetchPartition{LogStartOffset: logStart, Records: []*kgo.Record{{Offset: first}}}))
		c.blocks = nil
		for _, b := range c.reader.blocks {
			c.add(b)
		}
		c.reader.blocks = nil
		gaps := c.gaps(orders)
		if len(gaps) != len(want) || len(gaps) > 0 && gaps[0] != want[0] {
			t.Errorf("from %d, with the log from %d and a record at %d: gaps %v, want %v", before, logStart, first, gaps, want)
		}
	}
	f(0, 3)                                                       // compacted: a hole
	f(6, 7, record.Range{TopicPartition: orders, From: 4, To: 6}) // removed to 6; 6 itself is a hole
	f(20, 9, record.Range{TopicPartition: orders, From: 8, To: 9})
	f(-1, 12) // an old broker does not tell
}

// answer is what a poll gives of partition 0 of orders.
func answer(p kgo.FetchPartition) kgo.Fetches {
	return kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "orders", Partitions: []kgo.FetchPartition{p}}}}}
}
