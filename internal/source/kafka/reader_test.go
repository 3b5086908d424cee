package kafka

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"firn/internal/record"
)

func TestNextReadsFromTheOffsetsGiven(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(3, "orders"))
	client := newClient(t, cluster.ListenAddrs())
	for p := range int32(3) {
		produce(t, client, "orders", p, numbers("v", 5)...)
	}
	s := newSource(t, cluster.ListenAddrs(), nil)
	c := open(t, s, map[record.TopicPartition]int64{orders: 0, partitionOf("orders", 2): 3})
	c.reaches(orders, 5)
	c.reaches(partitionOf("orders", 2), 5)
	if diff := cmp.Diff([]string{"v3", "v4"}, c.values(partitionOf("orders", 2))); diff != "" {
		t.Error(diff)
	}
	if got := c.values(partitionOf("orders", 1)); got != nil {
		t.Errorf("partition 1 was not asked for and gave %q", got)
	}
}

func TestNextKeepsNullsHeadersAndTimes(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	client := newClient(t, cluster.ListenAddrs())
	at := time.UnixMilli(1_700_000_000_123)
	sent := []*kgo.Record{
		{Topic: "orders", Key: []byte("k"), Value: nil, Timestamp: at}, // C69: a tombstone
		{Topic: "orders", Key: nil, Value: []byte{}, Timestamp: at},
		{Topic: "orders", Value: []byte("v"), Timestamp: at, Headers: []kgo.RecordHeader{
			{Key: "a", Value: []byte("1")}, {Key: "a", Value: nil},
		}},
		{Topic: "orders", Value: []byte("w"), Timestamp: at, Headers: []kgo.RecordHeader{{Key: "b", Value: []byte{}}}},
	}
	if err := client.ProduceSync(context.Background(), sent...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
	c.reaches(orders, 4)
	var got []record.Record
	bytes := 0
	for _, b := range c.blocks {
		got = append(got, b.Records...)
		bytes += b.Bytes
	}
	want := []record.Record{
		{Offset: 0, Timestamp: at, Key: []byte("k")},
		{Offset: 1, Timestamp: at, Value: []byte{}},
		{
			Offset: 2, Timestamp: at, Value: []byte("v"),
			Headers: []record.Header{{Key: "a", Value: []byte("1")}, {Key: "a"}},
		},
		{Offset: 3, Timestamp: at, Value: []byte("w"), Headers: []record.Header{{Key: "b", Value: []byte{}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if bytes != 3 {
		t.Errorf("the blocks count %d bytes, want 3", bytes)
	}
}

// C30: the position passes the marker at the end, so that the lag is 0. C31: an open transaction is not read.
func TestNextPassesTransactionMarkers(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	client := newClient(t, cluster.ListenAddrs(), kgo.TransactionalID("t"))
	transaction := func(end kgo.TransactionEndTry, values ...string) {
		t.Helper()
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		produce(t, client, "orders", 0, values...)
		if err := client.EndTransaction(context.Background(), end); err != nil {
			t.Fatal(err)
		}
	}
	transaction(kgo.TryCommit, "a", "b") // offsets 0 and 1, marker 2
	transaction(kgo.TryAbort, "x", "y")  // offsets 3 and 4, marker 5
	transaction(kgo.TryCommit, "c")      // offset 6, marker 7
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	produce(t, client, "orders", 0, "open") // offset 8

	f := func(isolation string, end int64, want ...string) {
		t.Helper()
		s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.Isolation = isolation })
		c := open(t, s, map[record.TopicPartition]int64{orders: 0})
		c.reaches(orders, end)
		if diff := cmp.Diff(want, c.values(orders)); diff != "" {
			t.Errorf("%s: %s", isolation, diff)
		}
		splits, err := s.Splits(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if splits[0].LastStable != 8 || splits[0].HighWatermark != 9 {
			t.Errorf("last stable %d, high watermark %d, want 8 and 9", splits[0].LastStable, splits[0].HighWatermark)
		}
	}
	f(ReadCommitted, 8, "a", "b", "c")
	f(ReadUncommitted, 9, "a", "b", "x", "y", "c", "open")
	if err := client.EndTransaction(context.Background(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	f2 := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 8})
	f2.reaches(orders, 10) // an aborted transaction alone still moves the position
	if got := f2.values(orders); got != nil {
		t.Errorf("an aborted transaction gave %q", got)
	}
}

func TestAddMovesAndRemoveStops(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(2, "orders"))
	client := newClient(t, cluster.ListenAddrs())
	produce(t, client, "orders", 0, numbers("v", 4)...)
	produce(t, client, "orders", 1, numbers("w", 4)...)
	second := partitionOf("orders", 1)
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
	c.reaches(orders, 4)

	if err := c.reader.Add(map[record.TopicPartition]int64{orders: 1, second: 2}); err != nil {
		t.Fatal(err)
	}
	c.next[orders], c.next[second] = 1, 2
	c.reaches(orders, 4)
	c.reaches(second, 4)
	if diff := cmp.Diff([]string{"v0", "v1", "v2", "v3", "v1", "v2", "v3"}, c.values(orders)); diff != "" {
		t.Error(diff)
	}

	c.reader.Remove([]record.TopicPartition{orders, partitionOf("none", 7)})
	produce(t, client, "orders", 0, "unread")
	produce(t, client, "orders", 1, "read")
	c.reaches(second, 5)
	c.quiet(fetchWait)

	if err := c.reader.Add(map[record.TopicPartition]int64{orders: 4}); err != nil {
		t.Fatal(err)
	}
	c.reaches(orders, 5)
	if err := c.reader.Add(map[record.TopicPartition]int64{orders: -1}); err == nil {
		t.Error("a negative offset was taken")
	}
}

func TestOpenWithoutPartitionsThenAdd(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, "a")
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), nil)
	c.quiet(50 * time.Millisecond)
	if err := c.reader.Add(map[record.TopicPartition]int64{orders: 0}); err != nil {
		t.Fatal(err)
	}
	c.reaches(orders, 1)
}

func TestNextAfterTheContextEnds(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	client := newClient(t, cluster.ListenAddrs())
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
	for i := range int64(20) { // interrupted waits must not lose what was fetched meanwhile
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := c.reader.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("Next of an ended context gave %v", err)
		}
		produce(t, client, "orders", 0, "v")
		c.reaches(orders, i+1)
	}
	if err := c.reader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.reader.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.reader.Next(context.Background()); !errors.Is(err, kgo.ErrClientClosed) {
		t.Errorf("Next of a closed reader gave %v", err)
	}
	if err := c.reader.Add(nil); !errors.Is(err, kgo.ErrClientClosed) {
		t.Errorf("Add to a closed reader gave %v", err)
	}
}

// A record may be larger than every limit of the reader.
func TestNextReadsARecordLargerThanTheFetch(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"),
		kfake.BrokerConfigs(map[string]string{"message.max.bytes": "33554432"}))
	client := newClient(t, cluster.ListenAddrs(), kgo.ProducerBatchMaxBytes(32<<20),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	large := bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16)
	produce(t, client, "orders", 0, "before", string(large), "after")
	s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.FetchBytesMax, c.BufferBytesMax = 4096, 8192 })
	c := open(t, s, map[record.TopicPartition]int64{orders: 0})
	c.reaches(orders, 3)
	got := c.values(orders)
	if got[0] != "before" || got[1] != string(large) || got[2] != "after" {
		t.Errorf("%d values, not the ones that were sent", len(got))
	}
}

// C26: a deleted topic costs next to nothing, and does not keep others waiting.
func TestNextWaitsForADeletedTopic(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders", "other"))
	client := newClient(t, cluster.ListenAddrs())
	produce(t, client, "orders", 0, "a")
	s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.Topics = []string{"orders", "other"} })
	s.lookInterval = 500 * time.Millisecond
	other := partitionOf("other", 0)
	c := open(t, s, map[record.TopicPartition]int64{orders: 0, other: 0})
	c.reaches(orders, 1)
	if err := cluster.DeleteTopic("orders"); err != nil {
		t.Fatal(err)
	}
	produce(t, client, "other", 0, "b")
	c.reaches(other, 1)
	c.until(func() bool { // until the reader has noticed
		_, waits := c.reader.waiting[orders]
		if !waits {
			produce(t, client, "other", 0, "more")
		}
		return waits
	})
	requests := count(cluster, -1)
	c.quiet(time.Second)
	// 1 s holds 2 fetches of the topic that is there, and 2 looks at the one that is gone.
	if n := requests.Load(); n > 15 {
		t.Errorf("%d requests in 1 s beside a deleted topic", n)
	}

	// Made again, it is another topic: only the caller may start it.
	if err := cluster.CreateTopic("orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, "new0", "new1")
	c.quiet(s.lookInterval + time.Second)
	c.reader.Remove([]record.TopicPartition{orders})
	if err := c.reader.Add(map[record.TopicPartition]int64{orders: 0}); err != nil {
		t.Fatal(err)
	}
	c.next[orders] = 0
	c.reaches(orders, 2)
	if diff := cmp.Diff([]string{"a", "new0", "new1"}, c.values(orders)); diff != "" { // C17
		t.Error(diff)
	}
}

// The caller may learn of the new incarnation before the reader does.
func TestAddReadsARecreatedTopicAtOnce(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(2, "orders"))
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, "a", "b")
	s := newSource(t, cluster.ListenAddrs(), nil)
	second := partitionOf("orders", 1)
	c := open(t, s, map[record.TopicPartition]int64{orders: 0, second: 0})
	c.reaches(orders, 2)
	if err := cluster.DeleteTopic("orders"); err != nil {
		t.Fatal(err)
	}
	if err := cluster.CreateTopic("orders", 2, nil); err != nil {
		t.Fatal(err)
	}
	client := newClient(t, cluster.ListenAddrs())
	produce(t, client, "orders", 0, "c")
	produce(t, client, "orders", 1, "d")
	if err := c.reader.Add(map[record.TopicPartition]int64{orders: 0}); err != nil { // the second one is not moved yet
		t.Fatal(err)
	}
	c.next[orders] = 0
	c.reaches(orders, 1)
	if got := c.values(second); got != nil {
		t.Errorf("a partition of the old topic gave %q of the new one", got)
	}
	if err := c.reader.Add(map[record.TopicPartition]int64{second: 0}); err != nil {
		t.Fatal(err)
	}
	c.reaches(second, 1)
}

// C24, C80: a topic and a partition that appear later are waited for.
func TestNextWaitsForATopicThatIsNotThereYet(t *testing.T) {
	cluster := newCluster(t)
	s := newSource(t, cluster.ListenAddrs(), nil)
	s.lookInterval = 200 * time.Millisecond
	splits, err := s.Splits(context.Background())
	if err != nil || len(splits) != 0 {
		t.Fatalf("a topic that does not exist gave %d splits and %v", len(splits), err)
	}
	c := open(t, s, map[record.TopicPartition]int64{orders: 0})
	c.quiet(100 * time.Millisecond)
	if err := cluster.CreateTopic("orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	client := newClient(t, cluster.ListenAddrs())
	produce(t, client, "orders", 0, "a")
	c.reaches(orders, 1)

	grow(t, client, "orders", 2)
	second := partitionOf("orders", 1)
	splits, err = s.Splits(context.Background())
	if err != nil || len(splits) != 2 {
		t.Fatalf("%d splits and %v after a partition was added", len(splits), err)
	}
	if err := c.reader.Add(map[record.TopicPartition]int64{second: splits[1].Earliest}); err != nil {
		t.Fatal(err)
	}
	fresh := newClient(t, cluster.ListenAddrs())
	produce(t, fresh, "orders", 1, "b")
	c.reaches(second, 1)
}

func grow(t *testing.T, client *kgo.Client, topic string, partitions int32) {
	t.Helper()
	request := kmsg.NewPtrCreatePartitionsRequest()
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = topic, partitions
	request.Topics = append(request.Topics, rt)
	request.TimeoutMillis = 5000
	response, err := request.RequestWith(context.Background(), client)
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNextRidesOutFaultsThatPass(t *testing.T) {
	f := func(name string, fault *kerr.Error) {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
			client := newClient(t, cluster.ListenAddrs())
			var log logged
			s := newLoggedSource(t, cluster.ListenAddrs(), log.logger(), nil)
			c := open(t, s, map[record.TopicPartition]int64{orders: 0})
			produce(t, client, "orders", 0, "a")
			c.reaches(orders, 1)
			cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: fault, Count: 3})
			produce(t, client, "orders", 0, "b")
			c.reaches(orders, 2)
			if n := log.count("kafka fetch failed"); n != 1 {
				t.Errorf("%d lines say that a fetch failed, want 1", n)
			}
		})
	}
	f("leader moves", kerr.NotLeaderForPartition)
	f("storage", kerr.KafkaStorageError)
	f("unknown", kerr.UnknownServerError)
	f("replica", kerr.ReplicaNotAvailable)
}

// Leaders that move while records come.
func TestNextFollowsLeaders(t *testing.T) {
	cluster := newCluster(t, kfake.NumBrokers(3), kfake.SeedTopics(4, "orders"))
	client := newClient(t, cluster.ListenAddrs())
	from := make(map[record.TopicPartition]int64)
	for p := range int32(4) {
		from[partitionOf("orders", p)] = 0
	}
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), from)
	for i := range int64(6) {
		for tp := range from {
			produce(t, client, tp.Topic, tp.Partition, "v")
		}
		for tp := range from {
			c.reaches(tp, i+1)
		}
		cluster.ShufflePartitionLeaders()
	}
}

// A broker that restarts, and is away for a while: no error, one warning, nothing lost or twice.
func TestNextRidesOutARestart(t *testing.T) {
	dir := t.TempDir()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"), kfake.DataDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	seeds := cluster.ListenAddrs()
	produce(t, newClient(t, seeds), "orders", 0, "a", "b")
	var log logged
	c := open(t, newLoggedSource(t, seeds, log.logger(), nil), map[record.TopicPartition]int64{orders: 0})
	c.reaches(orders, 2)
	cluster.Close()
	c.quiet(1500 * time.Millisecond)
	if n := log.count("kafka broker cannot be reached"); n != 1 {
		t.Errorf("%d lines say that the broker is away, want 1", n)
	}
	cluster, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(dir), kfake.Ports(port(t, seeds[0])))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	produce(t, newClient(t, seeds), "orders", 0, "c")
	c.reaches(orders, 3)
	if diff := cmp.Diff([]string{"a", "b", "c"}, c.values(orders)); diff != "" {
		t.Error(diff)
	}
}

func TestNextFailsForGood(t *testing.T) {
	f := func(name string, fault *kerr.Error, is error) {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
			cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: fault, Count: 1})
			c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
			err := c.fails()
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, is) || e.Topic != "orders" || e.Do == "" {
				t.Fatalf("Next gave %v", err)
			}
			if again := c.fails(); again.Error() != err.Error() {
				t.Errorf("then it gave %v", again)
			}
		})
	}
	f("no right", kerr.TopicAuthorizationFailed, ErrDenied) // C25
	f("unsupported", kerr.UnsupportedCompressionType, kerr.UnsupportedCompressionType)
}
