package kafka

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// The tests below need a real broker, whose address is in FIRN_TEST_KAFKA: the log cleaner, the last stable offset and
// the group coordinator are its own. FIRN_TEST_KAFKA_RESTART is a shell command that restarts it.

// realBroker gives the seeds of the broker and a topic of the test's own.
func realBroker(t *testing.T, partitions int32, settings map[string]string) (seeds []string, topic string) {
	t.Helper()
	address := os.Getenv("FIRN_TEST_KAFKA")
	if address == "" {
		t.Skip("FIRN_TEST_KAFKA, the address of a real broker, is not set")
	}
	seeds = []string{address}
	topic = fmt.Sprintf("%s-%d", t.Name(), time.Now().UnixNano())
	configs := make(map[string]*string)
	for k, v := range settings {
		configs[k] = &v
	}
	admin := kadm.NewClient(newClient(t, seeds))
	r, err := admin.CreateTopic(patient(t), partitions, 1, configs, topic)
	if err == nil {
		err = r.Err
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		client, err := kgo.NewClient(kgo.SeedBrokers(seeds...))
		if err != nil {
			t.Error(err)
			return
		}
		defer client.Close()
		if _, err := kadm.NewClient(client).DeleteTopics(ctx, topic); err != nil {
			t.Error(err)
		}
	})
	return seeds, topic
}

func realSource(t *testing.T, seeds []string, topic string, change func(*Config)) *Source {
	t.Helper()
	return newSource(t, seeds, func(c *Config) {
		c.Topics = []string{topic}
		if change != nil {
			change(c)
		}
	})
}

// C30, C31
func TestBrokerTransactions(t *testing.T) {
	seeds, topic := realBroker(t, 1, nil)
	tp := partitionOf(topic, 0)
	client := newClient(t, seeds, kgo.TransactionalID(topic))
	transaction := func(end kgo.TransactionEndTry, values ...string) {
		t.Helper()
		begin(t, client, topic, values...)
		if err := client.EndTransaction(context.Background(), end); err != nil {
			t.Fatal(err)
		}
	}
	transaction(kgo.TryCommit, "a", "b") // offsets 0 and 1, marker 2
	transaction(kgo.TryAbort, "x", "y")  // offsets 3 and 4, marker 5
	transaction(kgo.TryAbort, "z")       // offset 6, marker 7
	transaction(kgo.TryCommit, "c")      // offset 8, marker 9
	begin(t, client, topic, "open")      // offset 10
	s := realSource(t, seeds, topic, nil)
	c := open(t, s, map[record.TopicPartition]int64{tp: 0})
	c.reaches(tp, 10)
	c.quiet(2 * fetchWait)
	splits, err := s.Splits(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	if splits[0].LastStable != 10 || splits[0].HighWatermark != 11 {
		t.Errorf("last stable %d, high watermark %d, want 10 and 11", splits[0].LastStable, splits[0].HighWatermark)
	}
	if err := client.EndTransaction(context.Background(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	c.reaches(tp, 12) // nothing but what was aborted, and still lag 0
	if diff := cmp.Diff([]string{"a", "b", "c"}, c.values(tp)); diff != "" {
		t.Error(diff)
	}
}

func begin(t *testing.T, client *kgo.Client, topic string, values ...string) {
	t.Helper()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	produce(t, client, topic, 0, values...)
}

// C33: what compaction removed is a hole in a range, and the position passes it.
func TestBrokerCompaction(t *testing.T) {
	seeds, topic := realBroker(t, 1, map[string]string{
		"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.01",
		"max.compaction.lag.ms": "1", "min.compaction.lag.ms": "0",
	})
	tp := partitionOf(topic, 0)
	client := newClient(t, seeds, kgo.ProducerBatchCompression(kgo.NoCompression()))
	const sent = 400
	value := bytes.Repeat([]byte("v"), 10<<10)
	for i := range sent { // four segments of three keys
		r := &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", i%3), Value: value}
		if err := client.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	s := realSource(t, seeds, topic, nil)
	deadline := time.Now().Add(90 * time.Second)
	for {
		c := open(t, s, map[record.TopicPartition]int64{tp: 0})
		c.reaches(tp, sent)
		n := len(c.values(tp))
		if err := c.reader.Close(); err != nil {
			t.Fatal(err)
		}
		if n < sent {
			t.Logf("%d records of %d are left, in ranges without a gap", n, sent)
			if gaps := c.gaps(tp); gaps != nil {
				t.Errorf("compacted records were taken for expired ones: %v", gaps)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Skip("the broker's log cleaner did not run in 90 s")
		}
	}
}

// C22, C23
func TestBrokerGap(t *testing.T) {
	seeds, topic := realBroker(t, 1, nil)
	tp := partitionOf(topic, 0)
	client := newClient(t, seeds)
	produce(t, client, topic, 0, numbers("v", 10)...)
	remove := func(before int64) {
		t.Helper()
		var o kadm.Offsets
		o.AddOffset(topic, 0, before, -1)
		r, err := kadm.NewClient(client).DeleteRecords(patient(t), o)
		if err == nil {
			err = r.Error()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	remove(6)
	c := open(t, realSource(t, seeds, topic, nil), map[record.TopicPartition]int64{tp: 2})
	c.reaches(tp, 10)
	c.reader.client.PauseFetchTopics(topic)
	c.quiet(2 * fetchWait) // until the fetch that was on its way has ended
	produce(t, client, topic, 0, numbers("w", 3)...)
	remove(13) // down to nothing
	c.reader.client.ResumeFetchTopics(topic)
	c.reaches(tp, 13)
	produce(t, client, topic, 0, "last")
	c.reaches(tp, 14)
	if diff := cmp.Diff([]string{"v6", "v7", "v8", "v9", "last"}, c.values(tp)); diff != "" {
		t.Error(diff)
	}
	want := []record.Range{{TopicPartition: tp, From: 2, To: 6}, {TopicPartition: tp, From: 10, To: 13}}
	if diff := cmp.Diff(want, c.gaps(tp)); diff != "" {
		t.Error(diff)
	}
}

// C17, C26
func TestBrokerRecreatedTopic(t *testing.T) {
	seeds, topic := realBroker(t, 1, nil)
	tp := partitionOf(topic, 0)
	produce(t, newClient(t, seeds), topic, 0, "a", "b", "c")
	s := realSource(t, seeds, topic, nil)
	c := open(t, s, map[record.TopicPartition]int64{tp: 0})
	c.reaches(tp, 3)
	before, err := s.Splits(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	admin := kadm.NewClient(newClient(t, seeds))
	if _, err := admin.DeleteTopic(patient(t), topic); err != nil {
		t.Fatal(err)
	}
	c.until(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), fetchWait)
		defer cancel()
		if _, err := c.reader.Next(ctx); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		return len(c.reader.waiting) == 1
	})
	var after []record.Split
	for len(after) == 0 { // the name is free only after a moment; until then the topic is refused
		_, _ = admin.CreateTopic(patient(t), 1, 1, nil, topic)
		if after, err = s.Splits(patient(t)); err != nil {
			t.Fatal(err)
		}
	}
	if after[0].TopicID == before[0].TopicID || after[0].ClusterID != before[0].ClusterID {
		t.Errorf("made again, %v became %v", before[0].Identity, after[0].Identity)
	}
	produce(t, newClient(t, seeds), topic, 0, "d")
	if err := c.reader.Add(map[record.TopicPartition]int64{tp: 0}); err != nil {
		t.Fatal(err)
	}
	c.next[tp] = 0
	c.reaches(tp, 1)
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, c.values(tp)); diff != "" {
		t.Error(diff)
	}
}

func TestBrokerLargeRecord(t *testing.T) {
	seeds, topic := realBroker(t, 1, map[string]string{"max.message.bytes": "33554432", "segment.bytes": "67108864"})
	tp := partitionOf(topic, 0)
	client := newClient(t, seeds, kgo.ProducerBatchMaxBytes(32<<20), kgo.ProducerBatchCompression(kgo.NoCompression()))
	large := bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16)
	produce(t, client, topic, 0, "before", string(large), "after")
	s := realSource(t, seeds, topic, func(c *Config) { c.FetchBytesMax, c.BufferBytesMax = 4096, 8192 })
	c := open(t, s, map[record.TopicPartition]int64{tp: 0})
	c.reaches(tp, 3)
	if got := c.values(tp); got[1] != string(large) || got[2] != "after" {
		t.Errorf("%d values, not the ones that were sent", len(got))
	}
}

// C25: looking at the rights moves nothing; then the group shows the floor.
func TestBrokerGroup(t *testing.T) {
	seeds, topic := realBroker(t, 2, nil)
	client := newClient(t, seeds)
	s := realSource(t, seeds, topic, func(c *Config) { c.Group = topic })
	if err := s.Preflight(patient(t)); err != nil {
		t.Fatal(err)
	}
	if got := groupOffsets(t, client, topic); len(got) > 0 {
		t.Errorf("looking at the rights moved the group: %v", got)
	}
	floor := floorOf(topic, map[int32]int64{0: 7, 1: 9})
	floor["never-was-there"] = record.TopicFloor{Next: map[int32]int64{0: 1}}
	if err := s.Acknowledge(patient(t), floor); err != nil {
		t.Fatal(err)
	}
	want := map[record.TopicPartition]int64{partitionOf(topic, 0): 7, partitionOf(topic, 1): 9}
	if diff := cmp.Diff(want, groupOffsets(t, client, topic)); diff != "" {
		t.Error(diff)
	}
}

// Nothing is lost or read twice over a restart of the broker.
func TestBrokerRestart(t *testing.T) {
	restart := os.Getenv("FIRN_TEST_KAFKA_RESTART")
	if restart == "" {
		t.Skip("FIRN_TEST_KAFKA_RESTART, a command that restarts the broker, is not set")
	}
	seeds, topic := realBroker(t, 3, nil)
	from := make(map[record.TopicPartition]int64)
	for p := range int32(3) {
		from[partitionOf(topic, p)] = 0
		produce(t, newClient(t, seeds), topic, p, numbers("v", 100)...)
	}
	var log logged
	s := newLoggedSource(t, seeds, log.logger(), func(c *Config) { c.Topics = []string{topic} })
	c := open(t, s, from)
	c.reaches(partitionOf(topic, 0), 100)
	done := make(chan error, 1)
	go func() { done <- exec.Command("sh", "-c", restart).Run() }()
	var restarted bool
	for !restarted {
		ctx, cancel := context.WithTimeout(context.Background(), fetchWait)
		blocks, err := c.reader.Next(ctx)
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		cancel()
		for _, b := range blocks {
			c.add(b)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			restarted = true
		default:
		}
	}
	client := newClient(t, seeds)
	for tp := range from {
		produce(t, client, topic, tp.Partition, numbers("w", 100)...)
	}
	for tp := range from {
		c.reaches(tp, 200)
		if diff := cmp.Diff(append(numbers("v", 100), numbers("w", 100)...), c.values(tp)); diff != "" {
			t.Errorf("%s: %s", tp, diff)
		}
	}
	if n := log.count("kafka broker cannot be reached"); n > 2 {
		t.Errorf("%d lines say that the broker was away", n)
	}
}

func TestBrokerManyPartitions(t *testing.T) {
	seeds, topic := realBroker(t, 1000, nil)
	s := realSource(t, seeds, topic, nil)
	var splits []record.Split
	deadline := time.Now().Add(2 * time.Minute)
	for len(splits) < 1000 && time.Now().Before(deadline) { // the broker makes the logs one after another
		began := time.Now()
		var err error
		if splits, err = s.Splits(patient(t)); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d splits in %s", len(splits), time.Since(began))
	}
	from := make(map[record.TopicPartition]int64)
	for _, x := range splits {
		from[x.TopicPartition] = x.Earliest
	}
	c := open(t, s, from)
	client := newClient(t, seeds)
	for _, p := range []int32{0, 499, 999} {
		produce(t, client, topic, p, "v")
		c.reaches(partitionOf(topic, p), 1)
	}
}
