package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/pipeline"
	"firn/internal/record"
)

const (
	// fetchWait is how long a broker holds a fetch that finds nothing, as Kafka's own consumer has it. A partition
	// that is added joins the next fetch, so it waits this long at most.
	fetchWait = 500 * time.Millisecond
	// faultPause is how long the next poll waits when partitions had only errors: brokers answer those at once, and
	// the client asks again at once (C26).
	faultPause = 100 * time.Millisecond
	// readBytesMax bounds one answer of a broker: far above any message size in use, and below what would be taken
	// from a port that does not speak Kafka.
	readBytesMax = 1 << 30
)

// reader reads partitions. One goroutine owns it. A partition is either reading, that is in the client's hands, or
// waiting: for its offset to be checked against the log, or for its topic to be there.
type reader struct {
	source *Source
	client *kgo.Client
	budget *budget
	unpack *unpackers

	reading map[record.TopicPartition]*partition
	waiting map[record.TopicPartition]waiter
	topics  map[string]*readTopic

	blocks   []*record.Block // for the next return of Next
	failures []failure       // Next returns the first one until its cause is removed
	closed   bool
}

// partition is where a partition that is being read stands.
type partition struct {
	position int64 // the next block begins here
	absent   int   // answers in a row that the partition does not exist
}

// failure is why a partition, or when Topic is empty the reader, does not go on.
type failure struct {
	record.TopicPartition
	err error
}

// readTopic is a topic that the client knows.
type readTopic struct {
	id         string // the incarnation that the client reads
	partitions int    // of them reading
}

// Open starts reading at the offsets given; none is fine. It does no I/O: an offset that the log does not have is
// found by Next. The reader has connections of its own until it is closed.
func (s *Source) Open(_ context.Context, from map[record.TopicPartition]int64) (pipeline.Reader, error) {
	b := &budget{
		bufferBytesMax: s.BufferBytesMax, fetchBytesMax: int64(s.FetchBytesMax), blockBytesMax: s.blockBytesMax,
	}
	f := newFrames(&buffers{bytesMax: int(s.BufferBytesMax), wipe: s.wipe})
	client, err := kgo.NewClient(slices.Concat(s.clientOptions(), s.readOptions(b), s.dialOptions(f))...)
	if err != nil {
		return nil, fmt.Errorf("making a kafka client: %w", err)
	}
	r := &reader{
		source: s, client: client, budget: b, unpack: newUnpackers(f, b),
		reading: make(map[record.TopicPartition]*partition),
		waiting: make(map[record.TopicPartition]waiter),
		topics:  make(map[string]*readTopic),
	}
	if err := r.Add(from); err != nil {
		client.Close()
		return nil, err
	}
	return r, nil
}

func (s *Source) readOptions(b *budget) []kgo.Opt {
	isolation := kgo.ReadUncommitted()
	if s.committed {
		isolation = kgo.ReadCommitted()
	}
	fetch, partition := b.limits(len(s.admin.DiscoveredBrokers()), 1, growthGuess)
	return []kgo.Opt{
		kgo.FetchIsolationLevel(isolation),
		kgo.KeepControlRecords(), // or a marker at the end would leave a lag of 1 for ever (C30)
		// The client must never move by itself, neither to the end nor to the start (C03, C22).
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		// A partition that does not exist has to be seen, to stop asking for it (C26).
		kgo.KeepRetryableFetchErrors(),
		kgo.FetchMaxWait(fetchWait),
		kgo.FetchMaxBytes(fetch),
		kgo.FetchMaxPartitionBytes(partition),
		kgo.BrokerMaxReadBytes(readBytesMax),
	}
}

// dialOptions has the client's connections go through the frames. TLS, when there is any, is below them: the dialer of
// the other client does it.
func (s *Source) dialOptions(f *frames) []kgo.Opt {
	return []kgo.Opt{kgo.Dialer(f.through(s.admin.OptValue(kgo.Dialer).(dialer))), kgo.DialTLSConfig(nil)}
}

// Next waits for records and returns blocks of them. The blocks of a partition are in offset order and their ranges
// tile; a block without records covers offsets that hold none, see record.Block.Gap. The caller owns the blocks.
//
// It rides out everything that may pass: brokers that are down, leaders that move, topics that are deleted. It fails
// with the context's error, and with an *Error for what does not pass: then every call does, until the partition that
// the *Error names is removed or added again, so that no partition stands still unseen.
func (r *reader) Next(ctx context.Context) ([]*record.Block, error) {
	for {
		switch {
		case r.closed:
			return nil, kgo.ErrClientClosed
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		r.forgetTopics()
		r.admit(ctx)
		if len(r.blocks) == 0 && len(r.failures) == 0 {
			r.poll(ctx)
		}
		if blocks := r.blocks; len(blocks) > 0 {
			r.blocks = nil
			return blocks, nil
		}
		if len(r.failures) > 0 {
			return nil, r.failures[0].err
		}
	}
}

// poll takes what the client has fetched, or waits for it.
func (r *reader) poll(ctx context.Context) {
	limited, cancel := r.untilDue(ctx)
	fetches := r.client.PollFetches(limited)
	cancel()
	// Errors first: after one the client may have moved, and its records must not be taken for the next ones.
	faults := false
	r.each(fetches, func(tp record.TopicPartition, p *kgo.FetchPartition) {
		if p.Err != nil && !errors.Is(p.Err, limited.Err()) {
			r.fault(tp, p.Err)
			faults = true
		}
	})
	r.takeAll(fetches)
	r.budget.adjust(r.client)
	if faults && len(r.blocks) == 0 && len(r.failures) == 0 {
		pause(ctx, faultPause)
	}
}

func (r *reader) each(fetches kgo.Fetches, do func(record.TopicPartition, *kgo.FetchPartition)) {
	for i := range fetches {
		for j := range fetches[i].Topics {
			t := &fetches[i].Topics[j]
			for k := range t.Partitions {
				p := &t.Partitions[k]
				do(record.TopicPartition{Topic: t.Topic, Partition: p.Partition}, p)
			}
		}
	}
}

// Add reads more partitions, or moves those that are being read. It takes any incarnation of their topics: whether an
// offset belongs to it is the caller's to know.
func (r *reader) Add(from map[record.TopicPartition]int64) error {
	if r.closed {
		return kgo.ErrClientClosed
	}
	for tp, offset := range from {
		if offset < 0 {
			return fmt.Errorf("reading %s: offset %d is negative", tp, offset)
		}
	}
	for tp, offset := range from {
		r.forgive(tp)
		r.stop(tp)
		r.waiting[tp] = waiter{offset: offset}
	}
	return nil
}

// Remove stops reading partitions; those that are not being read are passed over.
func (r *reader) Remove(tps []record.TopicPartition) {
	for _, tp := range tps {
		r.forgive(tp)
		delete(r.waiting, tp)
		r.stop(tp)
	}
}

// forgive drops the failures of a partition.
func (r *reader) forgive(tp record.TopicPartition) {
	r.failures = slices.DeleteFunc(r.failures, func(f failure) bool { return f.TopicPartition == tp })
}

// stop takes a partition from the client. What the client has fetched of it is dropped.
func (r *reader) stop(tp record.TopicPartition) {
	if r.reading[tp] == nil {
		return
	}
	r.client.RemoveConsumePartitions(map[string][]int32{tp.Topic: {tp.Partition}})
	delete(r.reading, tp)
	r.topics[tp.Topic].partitions--
}

// forgetTopics makes the client forget the topics of which it reads nothing any more: it would ask for a deleted one
// for ever (C26), and read a re-created one by the old id.
func (r *reader) forgetTopics() {
	for name, t := range r.topics {
		if t.partitions == 0 {
			r.client.PurgeTopicsFromConsuming(name)
			delete(r.topics, name)
		}
	}
}

// Close ends the reading and its connections. It may be called twice.
func (r *reader) Close() error {
	if !r.closed {
		r.closed = true
		r.client.Close()
	}
	return nil
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
