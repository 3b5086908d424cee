package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/semaphore"

	"firn/internal/gen"
)

const (
	// bytesMaxDefault is the memory for messages in flight: enough for 1 GB/s over brokers that take 60 ms.
	bytesMaxDefault = 64 << 20
	// recordBytes is what a record weighs beside its key and value: kgo.Record and its place in the client's queues.
	recordBytes = 320
	// blockBytesKept is the largest buffer that is used again; a rare huge message does not stay in memory.
	blockBytesKept = 1 << 20
)

// Partitioning says which partition a message goes to. A message with a key always goes where its key hashes to, by
// Kafka's murmur2, unless it is RoundRobin.
type Partitioning string

const (
	// Uniform fills 64 KiB of one partition after the other and prefers brokers that keep up (KIP-794). It makes the
	// largest batches, and is Kafka's own default.
	Uniform Partitioning = "uniform"
	// RoundRobin goes to the next partition with each message, whatever its key.
	RoundRobin Partitioning = "round_robin"
)

// ProducerConfig are the settings of a Producer. The zero value is good.
type ProducerConfig struct {
	Partitioning Partitioning // default Uniform
	BytesMax     int64        // memory of messages in flight, their bookkeeping included; default 64 MiB
}

// withDefaults fills what is not set and checks the rest.
func (c ProducerConfig) withDefaults() (ProducerConfig, error) {
	if c.BytesMax == 0 {
		c.BytesMax = bytesMaxDefault
	}
	if c.Partitioning == "" {
		c.Partitioning = Uniform
	}
	if c.BytesMax < 1<<20 {
		return c, fmt.Errorf("%d bytes for messages in flight are too few; give at least 1 MiB", c.BytesMax)
	}
	if c.Partitioning != Uniform && c.Partitioning != RoundRobin {
		return c, fmt.Errorf("unknown partitioning %q; choose %s or %s", c.Partitioning, Uniform, RoundRobin)
	}
	return c, nil
}

// ProducerOptions are the options of the client that a Producer of this configuration needs: franz-go fixes the
// partitioner, and the number of records that it holds, when the client is made.
func ProducerOptions(cfg ProducerConfig) ([]kgo.Opt, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	partitioner := kgo.UniformBytesPartitioner(64<<10, true, true, nil)
	if cfg.Partitioning == RoundRobin {
		partitioner = kgo.RoundRobinPartitioner()
	}
	return []kgo.Opt{
		kgo.RecordPartitioner(partitioner),
		// The producer's own limit in bytes is reached first, so that waiting for room ends with the context.
		kgo.MaxBufferedRecords(int(cfg.BytesMax/recordBytes) + 1),
	}, nil
}

// Producer sends messages to one topic. It is a gen.Sink and safe for concurrent use. The client stays the caller's.
//
// Messages in flight are bounded in bytes. The first that fails for good stops the producer: every later Send and Flush
// returns its error.
type Producer struct {
	client   *kgo.Client
	topic    string
	bytesMax int64
	budget   *semaphore.Weighted
	failure  atomic.Pointer[error]

	mu   sync.Mutex // guards the following
	free []*block
}

var _ gen.Sink = (*Producer)(nil)

// NewProducer makes a producer on a client that was made with ProducerOptions of the same configuration.
func NewProducer(client *kgo.Client, topic string, cfg ProducerConfig) (*Producer, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if topic == "" {
		return nil, errors.New("a producer needs a topic")
	}
	return &Producer{
		client: client, topic: topic, bytesMax: cfg.BytesMax, budget: semaphore.NewWeighted(cfg.BytesMax),
	}, nil
}

// Send copies the messages and hands them to the client; it waits only for room. Once taken, messages are sent even if
// the context ends.
func (p *Producer) Send(ctx context.Context, messages []gen.Message) error {
	for len(messages) > 0 {
		n, weight := p.fitting(messages)
		if err := p.budget.Acquire(ctx, weight); err != nil {
			return err
		}
		if failure := p.failure.Load(); failure != nil {
			p.budget.Release(weight)
			return *failure
		}
		p.produce(ctx, messages[:n], weight)
		messages = messages[n:]
	}
	return nil
}

// fitting is how many messages fit into the whole budget, at least one, and their weight.
func (p *Producer) fitting(messages []gen.Message) (n int, weight int64) {
	for _, m := range messages {
		next := weight + int64(len(m.Key)+len(m.Value)) + recordBytes
		if n > 0 && next > p.bytesMax {
			break
		}
		n++
		weight = next
	}
	return n, min(weight, p.bytesMax)
}

// Flush waits until every message has arrived or failed, and returns the first failure.
func (p *Producer) Flush(ctx context.Context) error {
	err := p.client.Flush(ctx)
	if failure := p.failure.Load(); failure != nil {
		return *failure
	}
	if err != nil {
		return fmt.Errorf("waiting for %d messages to topic %s: %w", p.client.BufferedProduceRecords(), p.topic, err)
	}
	return nil
}

// block holds the messages of one Send. Its memory is used again only after the client has called back for every
// record.
type block struct {
	text    []byte
	records []kgo.Record
	weight  int64
	pending atomic.Int64
	promise func(r *kgo.Record, err error)
}

func (p *Producer) produce(ctx context.Context, messages []gen.Message, weight int64) {
	b := p.block()
	b.weight = weight
	b.fill(p.topic, messages)
	b.pending.Store(int64(len(b.records)))
	// The last callback gives the block to another Send, which sets the field again.
	records := b.records
	ctx = context.WithoutCancel(ctx)
	for i := range records {
		p.client.Produce(ctx, &records[i], b.promise)
	}
}

// fill copies the messages into the block. The text has its full size first: records point into it.
func (b *block) fill(topic string, messages []gen.Message) {
	size := 0
	for _, m := range messages {
		size += len(m.Key) + len(m.Value)
	}
	if cap(b.text) < size {
		b.text = make([]byte, 0, size)
	}
	b.text, b.records = b.text[:0], b.records[:0]
	now := time.Now()
	for _, m := range messages {
		r := kgo.Record{Topic: topic, Timestamp: now, Value: b.copy(m.Value)}
		if m.Key != nil {
			r.Key = b.copy(m.Key)
		}
		b.records = append(b.records, r)
	}
}

func (b *block) copy(text []byte) []byte {
	start := len(b.text)
	b.text = append(b.text, text...)
	return b.text[start:len(b.text):len(b.text)]
}

func (p *Producer) block() *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	b := &block{}
	b.promise = func(_ *kgo.Record, err error) { p.done(b, err) }
	return b
}

// done is called by the client once a record has arrived or failed.
func (p *Producer) done(b *block, err error) {
	if err != nil {
		err = fmt.Errorf("producing to topic %s: %w", p.topic, err)
		p.failure.CompareAndSwap(nil, &err)
	}
	if b.pending.Add(-1) > 0 {
		return
	}
	weight := b.weight
	if cap(b.text) <= blockBytesKept {
		p.mu.Lock()
		p.free = append(p.free, b)
		p.mu.Unlock()
	}
	p.budget.Release(weight)
}
