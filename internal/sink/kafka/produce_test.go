package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"firn/internal/gen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const topic = "events"

// broker starts a broker in memory with a topic.
func broker(t *testing.T, partitions int32) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

func client(t *testing.T, cluster *kfake.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append(opts, kgo.SeedBrokers(cluster.ListenAddrs()...))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func producer(t *testing.T, cluster *kfake.Cluster, to string, cfg ProducerConfig) *Producer {
	t.Helper()
	opts, err := ProducerOptions(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProducer(client(t, cluster, opts...), to, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// read consumes n records of the topic.
func read(t *testing.T, cluster *kfake.Cluster, n int) (records []*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := client(t, cluster, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	for len(records) < n {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d records: %v", len(records), err)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

// Whatever is made arrives once and whole, although buffers are used again all the time.
func TestProducerWithGenerator(t *testing.T) {
	cluster := broker(t, 7)
	p := producer(t, cluster, topic, ProducerConfig{BytesMax: 1 << 20})
	const n = 20_000
	template, err := gen.Compile(`{{put("n", index())}} {{alphaNumeric(0,500)}} {{get("n")}}`, gen.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	key, err := gen.Compile(`key {{index()}}`, gen.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	stats, err := gen.Run(t.Context(), gen.RunConfig{
		Template: template, KeyTemplate: key, MessagesMax: n, Workers: 3, Sink: p,
	})
	if err != nil || stats.Messages != n {
		t.Fatalf("Run gave %+v, %v", stats, err)
	}
	numbers, keys := map[string]bool{}, map[string]bool{}
	for _, r := range read(t, cluster, n) {
		fields := strings.Split(string(r.Value), " ")
		if len(fields) != 3 || fields[0] != fields[2] {
			t.Fatalf("record %d of partition %d is %q", r.Offset, r.Partition, r.Value)
		}
		numbers[fields[0]] = true
		keys[string(r.Key)] = true
	}
	if len(numbers) != n || len(keys) != n {
		t.Errorf("%d different messages and %d keys arrived, want %d", len(numbers), len(keys), n)
	}
	if !p.budget.TryAcquire(p.bytesMax) {
		t.Error("memory of messages that arrived is still counted")
	}
}

func TestPartitioning(t *testing.T) {
	for _, c := range []struct {
		partitioning Partitioning
		keyed        bool
		want         int // partitions in use
	}{
		{Uniform, false, 1}, {Uniform, true, 1}, {RoundRobin, false, 4}, {RoundRobin, true, 4},
	} {
		t.Run(fmt.Sprintf("%s, keyed %t", c.partitioning, c.keyed), func(t *testing.T) {
			cluster := broker(t, 4)
			p := producer(t, cluster, topic, ProducerConfig{Partitioning: c.partitioning})
			messages := make([]gen.Message, 100)
			for i := range messages {
				messages[i].Value = []byte("value")
				if c.keyed {
					messages[i].Key = []byte("one key")
				}
			}
			if err := errors.Join(p.Send(t.Context(), messages), p.Flush(t.Context())); err != nil {
				t.Fatal(err)
			}
			used := map[int32]bool{}
			for _, r := range read(t, cluster, len(messages)) {
				used[r.Partition] = true
				if (r.Key != nil) != c.keyed {
					t.Fatalf("key is %q", r.Key)
				}
			}
			if len(used) != c.want {
				t.Errorf("%d partitions in use, want %d", len(used), c.want)
			}
		})
	}
}

// A broker that stands still holds the producer at its limit of bytes, and waiting ends with the context.
func TestProducerIsBounded(t *testing.T) {
	cluster := broker(t, 2)
	release := make(chan struct{})
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		cluster.SleepControl(func() { <-release })
		return nil, nil, false
	})
	var once sync.Once
	unblock := func() { once.Do(func() { close(release) }) }
	t.Cleanup(unblock)
	p := producer(t, cluster, topic, ProducerConfig{BytesMax: 1 << 20})
	message := []gen.Message{{Value: make([]byte, 10_000-recordBytes)}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range 104 {
		if err := p.Send(ctx, message); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	done := make(chan error)
	go func() { done <- p.Send(ctx, message) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Send above the limit gave %v", err)
	}
	if n := p.client.BufferedProduceBytes(); n > 1<<20 {
		t.Errorf("%d bytes are in flight", n)
	}
	if err := p.Flush(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "104 messages") {
		t.Errorf("Flush of an ended context gave %v", err)
	}
	unblock()
	if err := p.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	read(t, cluster, 104)
}

// A message larger than the whole limit is alone in flight rather than stuck.
func TestProducerHugeMessage(t *testing.T) {
	cluster := broker(t, 1)
	opts, err := ProducerOptions(ProducerConfig{BytesMax: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProducer(client(t, cluster, append(opts, kgo.ProducerBatchMaxBytes(8<<20))...), topic,
		ProducerConfig{BytesMax: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	messages := []gen.Message{{Value: []byte("a")}, {Value: make([]byte, 3<<20)}, {Value: []byte("b")}}
	if err := errors.Join(p.Send(t.Context(), messages), p.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	if n := len(read(t, cluster, 3)[1].Value); n != 3<<20 {
		t.Errorf("the message has %d bytes", n)
	}
	if len(p.free) == 0 || cap(p.free[0].text) > blockBytesKept {
		t.Errorf("%d blocks are kept", len(p.free))
	}
}

// The first failure stops the producer: Send and Flush return it from then on.
func TestProducerFails(t *testing.T) {
	cluster := broker(t, 1)
	cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		return refuse(r.(*kmsg.ProduceRequest)), nil, true
	})
	p := producer(t, cluster, topic, ProducerConfig{})
	message := []gen.Message{{Value: []byte("value")}}
	if err := p.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := p.Flush(t.Context()); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("flush %d gave %v", i, err)
		}
		if err := p.Send(t.Context(), message); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("send %d gave %v", i, err)
		}
	}
	if !p.budget.TryAcquire(p.bytesMax) {
		t.Error("memory of failed messages is still counted")
	}
}

// refuse answers a produce request with an error that no retry mends.
func refuse(r *kmsg.ProduceRequest) kmsg.Response {
	response := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range r.Topics {
		answer := kmsg.NewProduceResponseTopic()
		answer.Topic, answer.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition, partition.ErrorCode = p.Partition, kerr.TopicAuthorizationFailed.Code
			answer.Partitions = append(answer.Partitions, partition)
		}
		response.Topics = append(response.Topics, answer)
	}
	return response
}

func TestProducerConfigRefused(t *testing.T) {
	for _, cfg := range []ProducerConfig{{BytesMax: -1}, {BytesMax: 100}, {Partitioning: "random"}} {
		if _, err := ProducerOptions(cfg); err == nil {
			t.Errorf("%+v gave no error", cfg)
		}
		if _, err := NewProducer(nil, topic, cfg); err == nil {
			t.Errorf("%+v gave no error", cfg)
		}
	}
	if _, err := NewProducer(nil, "", ProducerConfig{}); err == nil {
		t.Error("no topic gave no error")
	}
}

// BenchmarkProducer sends reference messages to a broker in memory that drops them; its processor time counts too.
func BenchmarkProducer(b *testing.B) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(64, topic), kfake.BlackholeProduce())
	if err != nil {
		b.Fatal(err)
	}
	defer cluster.Close()
	opts, err := ProducerOptions(ProducerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	c, err := kgo.NewClient(append(opts, kgo.SeedBrokers(cluster.ListenAddrs()...),
		kgo.ProducerBatchCompression(kgo.NoCompression()))...)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	p, err := NewProducer(c, topic, ProducerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	template, err := gen.Compile(gen.ReferenceTemplate, gen.Options{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	start := processorTime(b)
	stats, err := gen.Run(b.Context(), gen.RunConfig{Template: template, MessagesMax: int64(b.N), Workers: 1, Sink: p})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(stats.Bytes)/1e6/(processorTime(b)-start).Seconds(), "MB/cpu-s")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
