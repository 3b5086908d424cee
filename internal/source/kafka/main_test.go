package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"firn/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

func newCluster(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func newSource(t *testing.T, seeds []string, change func(*Config)) *Source {
	t.Helper()
	return newLoggedSource(t, seeds, nil, change)
}

func newLoggedSource(t *testing.T, seeds []string, log *slog.Logger, change func(*Config)) *Source {
	t.Helper()
	cfg := Config{Client: []kgo.Opt{kgo.SeedBrokers(seeds...)}, Topics: []string{"orders"}}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	s.wipe = true
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newClient(t *testing.T, seeds []string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(seeds...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func produce(t *testing.T, client *kgo.Client, topic string, partition int32, values ...string) {
	t.Helper()
	for _, v := range values {
		r := &kgo.Record{Topic: topic, Partition: partition, Value: []byte(v)}
		if err := client.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func partitionOf(topic string, partition int32) record.TopicPartition {
	return record.TopicPartition{Topic: topic, Partition: partition}
}

var orders = partitionOf("orders", 0)

// collector reads until a condition holds, and checks of all blocks that ranges tile and offsets ascend.
type collector struct {
	t      *testing.T
	reader *reader
	next   map[record.TopicPartition]int64
	blocks []*record.Block
}

func open(t *testing.T, s *Source, from map[record.TopicPartition]int64) *collector {
	t.Helper()
	r, err := s.Open(context.Background(), from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	c := &collector{t: t, reader: r.(*reader), next: make(map[record.TopicPartition]int64)}
	maps.Copy(c.next, from)
	return c
}

// until reads until done says so.
func (c *collector) until(done func() bool) {
	c.t.Helper()
	if err := c.try(done); err != nil {
		c.t.Fatal(err)
	}
}

// reaches reads until a partition stands at an offset.
func (c *collector) reaches(tp record.TopicPartition, offset int64) {
	c.t.Helper()
	c.until(func() bool { return c.next[tp] >= offset })
	if c.next[tp] != offset {
		c.t.Fatalf("%s stands at %d, want %d", tp, c.next[tp], offset)
	}
}

// fails reads until Next fails and returns the error.
func (c *collector) fails() error {
	c.t.Helper()
	err := c.try(func() bool { return false })
	if errors.Is(err, context.DeadlineExceeded) {
		c.t.Fatal("Next did not fail")
	}
	return err
}

func (c *collector) try(done func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for !done() {
		blocks, err := c.reader.Next(ctx)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			c.add(b)
		}
	}
	return nil
}

// quiet reads for a while and fails when there is a block.
func (c *collector) quiet(d time.Duration) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	blocks, err := c.reader.Next(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		c.t.Fatalf("Next gave %d blocks and %v, want neither", len(blocks), err)
	}
}

func (c *collector) add(b *record.Block) {
	c.t.Helper()
	if b.Range.From != c.next[b.TopicPartition] || b.Range.To <= b.Range.From {
		c.t.Fatalf("%s: range [%d,%d) does not tile from %d", b.TopicPartition, b.Range.From, b.Range.To,
			c.next[b.TopicPartition])
	}
	last := b.Range.From - 1
	for _, r := range b.Records {
		if r.Offset <= last || r.Offset >= b.Range.To {
			c.t.Fatalf("%s: offset %d after %d in [%d,%d)", b.TopicPartition, r.Offset, last, b.Range.From, b.Range.To)
		}
		last = r.Offset
	}
	c.next[b.TopicPartition] = b.Range.To
	c.blocks = append(c.blocks, copied(b))
	b.Release()
}

// copied is a block that lives on when the original is released.
func copied(b *record.Block) *record.Block {
	out := *b
	out.Free, out.Records = nil, slices.Clone(b.Records)
	for i := range out.Records {
		r := &out.Records[i]
		r.Key, r.Value, r.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), slices.Clone(r.Headers)
		for j := range r.Headers {
			r.Headers[j].Value = bytes.Clone(r.Headers[j].Value)
		}
	}
	return &out
}

// values lists the data records read of a partition.
func (c *collector) values(tp record.TopicPartition) []string {
	var values []string
	for _, b := range c.blocks {
		if b.TopicPartition != tp {
			continue
		}
		for _, r := range b.Records {
			if !r.Control {
				values = append(values, string(r.Value))
			}
		}
	}
	return values
}

// gaps lists the gaps of a partition.
func (c *collector) gaps(tp record.TopicPartition) []record.Range {
	var gaps []record.Range
	for _, b := range c.blocks {
		if b.TopicPartition == tp && b.Gap.To > b.Gap.From {
			gaps = append(gaps, b.Gap)
		}
	}
	return gaps
}

// logged collects what is logged.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(p))
	return len(p), nil
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func numbers(prefix string, n int) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return values
}

// patient is a context that ends only when a test has failed.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// port is the port of an address.
func port(t *testing.T, address string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// count counts the requests of a kind from now on; of all kinds when key is negative.
func count(c *kfake.Cluster, key int16) *atomic.Int64 {
	n := new(atomic.Int64)
	c.ControlKey(key, func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		n.Add(1)
		return nil, nil, false
	})
	return n
}

// uuidOf is the id of a topic.
func uuidOf(c *kfake.Cluster, topic string) string {
	return uuid.UUID(c.TopicInfo(topic).TopicID).String()
}
