package fault

import (
	"context"
	"fmt"
	"sync"
	"time"

	"firn/internal/pipeline"
	"firn/internal/record"
)

// Log is a source in memory: topics whose partitions hold records. It implements pipeline.Source and is safe for
// concurrent use.
type Log struct {
	Plan         *Plan
	ClusterID    string
	BlockRecords int // records in one block; 0 means 3
	StartLatest  bool

	mu           sync.Mutex // guards the fields below
	topics       map[string]*topic
	grown        chan struct{} // closed and renewed when records or topics come
	acknowledged record.Floor
	read         int64
}

type topic struct {
	id         string
	partitions [][]record.Record
	starts     []int64 // first offset still kept
}

var _ pipeline.Source = (*Log)(nil)

// NewLog makes a source without topics.
func NewLog(cluster string) *Log {
	return &Log{ClusterID: cluster, topics: map[string]*topic{}, grown: make(chan struct{})}
}

// Create makes a topic, or makes it again with another id.
func (l *Log) Create(name, id string, partitions int) {
	l.change(func() {
		l.topics[name] = &topic{id: id, partitions: make([][]record.Record, partitions), starts: make([]int64, partitions)}
	})
}

// Delete removes a topic.
func (l *Log) Delete(name string) { l.change(func() { delete(l.topics, name) }) }

// AddPartitions makes a topic wider.
func (l *Log) AddPartitions(name string, n int) {
	l.change(func() {
		t := l.topics[name]
		t.partitions = append(t.partitions, make([][]record.Record, n)...)
		t.starts = append(t.starts, make([]int64, n)...)
	})
}

// Append adds records to a partition. The offset of each is set, the timestamp where it is zero.
func (l *Log) Append(name string, partition int, records ...record.Record) {
	l.change(func() {
		t := l.topics[name]
		for _, r := range records {
			r.Offset = int64(len(t.partitions[partition]))
			if r.Timestamp.IsZero() {
				r.Timestamp = time.Now()
			}
			t.partitions[partition] = append(t.partitions[partition], r)
		}
	})
}

// Expire removes all records below an offset, as retention does.
func (l *Log) Expire(name string, partition int, below int64) {
	l.change(func() { l.topics[name].starts[partition] = below })
}

func (l *Log) change(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
	close(l.grown)
	l.grown = make(chan struct{})
}

// ReadBytes is the bytes of all blocks handed out.
func (l *Log) ReadBytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read
}

// Acknowledged is the last floor that was shown.
func (l *Log) Acknowledged() record.Floor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acknowledged.Clone()
}

// Splits implements pipeline.Source.
func (l *Log) Splits(context.Context) (splits []record.Split, err error) {
	return splits, l.Plan.Do("listing splits", func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		for name, t := range l.topics {
			for p, records := range t.partitions {
				splits = append(splits, record.Split{
					TopicPartition: record.TopicPartition{Topic: name, Partition: int32(p)},
					Identity:       record.Identity{ClusterID: l.ClusterID, TopicID: t.id},
					Earliest:       t.starts[p], LastStable: int64(len(records)), HighWatermark: int64(len(records)),
				})
			}
		}
		return nil
	})
}

// Start implements pipeline.Source: everything begins at its first record, or after its last.
func (l *Log) Start(_ context.Context, tps []record.TopicPartition) (map[record.TopicPartition]int64, error) {
	starts := make(map[record.TopicPartition]int64, len(tps))
	return starts, l.Plan.Do("finding starts", func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, tp := range tps {
			if t := l.topics[tp.Topic]; t != nil {
				starts[tp] = t.starts[tp.Partition]
				if l.StartLatest {
					starts[tp] = int64(len(t.partitions[tp.Partition]))
				}
			}
		}
		return nil
	})
}

// Open implements pipeline.Source.
func (l *Log) Open(_ context.Context, from map[record.TopicPartition]int64) (pipeline.Reader, error) {
	r := &logReader{log: l, next: map[record.TopicPartition]int64{}}
	return r, l.Plan.Do("opening", func() error { return r.Add(from) })
}

// Acknowledge implements pipeline.Source.
func (l *Log) Acknowledge(_ context.Context, floor record.Floor) error {
	return l.Plan.Do("acknowledging", func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.acknowledged = floor.Clone()
		return nil
	})
}

type logReader struct {
	log  *Log
	next map[record.TopicPartition]int64
}

// Next implements pipeline.Reader.
func (r *logReader) Next(ctx context.Context) ([]*record.Block, error) {
	for {
		r.log.mu.Lock()
		grown := r.log.grown
		blocks := r.blocks()
		r.log.mu.Unlock()
		if len(blocks) > 0 {
			return blocks, r.log.Plan.Do("reading", func() error { return nil })
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// blocks takes at most one block of each partition. The caller holds the log's lock.
func (r *logReader) blocks() []*record.Block {
	var out []*record.Block
	for tp, from := range r.next {
		t := r.log.topics[tp.Topic]
		if t == nil || int(tp.Partition) >= len(t.partitions) {
			continue
		}
		b := t.block(tp, from, max(3, r.log.BlockRecords))
		if b == nil {
			continue
		}
		r.next[tp] = b.Range.To
		r.log.read += int64(b.Bytes)
		out = append(out, b)
	}
	return out
}

func (t *topic) block(tp record.TopicPartition, from int64, recordsMax int) *record.Block {
	records := t.partitions[tp.Partition]
	first := max(from, t.starts[tp.Partition])
	to := min(first+int64(recordsMax), int64(len(records)))
	if to <= from {
		return nil
	}
	b := &record.Block{TopicPartition: tp, Range: record.Range{TopicPartition: tp, From: from, To: to}}
	b.Gap = record.Range{TopicPartition: tp, From: from, To: first}
	for _, x := range records[first:max(first, to)] {
		b.Records = append(b.Records, x)
		b.Bytes += len(x.Key) + len(x.Value)
	}
	return b
}

// Add implements pipeline.Reader.
func (r *logReader) Add(from map[record.TopicPartition]int64) error {
	for tp, next := range from {
		if next < 0 {
			return fmt.Errorf("%s: offset %d", tp, next)
		}
		r.next[tp] = next
	}
	return nil
}

// Remove implements pipeline.Reader.
func (r *logReader) Remove(tps []record.TopicPartition) {
	for _, tp := range tps {
		delete(r.next, tp)
	}
}

// Close implements pipeline.Reader.
func (r *logReader) Close() error { return nil }
