package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
	"firn/internal/parquet"
	"firn/internal/record"
)

// Sample is the newest rows of a job's topics, and how fast they come.
type Sample struct {
	Batch         *record.Batch
	RowsPerSecond float64
	RowBytes      float64 // of a row in a data file
	Window        time.Duration
}

const (
	// sampleRecords is how many records are read of all topics, about.
	sampleRecords = 5000
	// sampleWindow is the time before now over which records are counted.
	sampleWindow = 10 * time.Minute
	// sampleWait is how long the newest records are waited for. They are there: it covers the fetches.
	sampleWait = 10 * time.Second
	// sampleIdle ends the waiting when no record comes: offsets near the end may hold none.
	sampleIdle = 2 * time.Second
)

// SampleTopics reads the newest records of the job's topics as the job would read them. It changes nothing, and takes
// no part in the consumer group. The rate is that of the last minutes, or of the records' own timestamps where none
// came in them.
func SampleTopics(ctx context.Context, j *job.Job, log *slog.Logger) (Sample, error) {
	schema, err := DeclaredSchema(j)
	if err != nil {
		return Sample{}, err
	}
	if schema == nil {
		return Sample{}, noSchema(j.Sink.Iceberg.Table)
	}
	client, err := sampleClient(j)
	if err != nil {
		return Sample{}, err
	}
	defer client.Close()
	s := sampler{client: client, admin: kadm.NewClient(client), topics: j.Source.Kafka.Topics}
	err = reach(ctx, j.Limits.ConnectTimeout, "Kafka at "+j.Source.Kafka.Brokers[0], log, s.look)
	if err != nil {
		return Sample{}, err
	}
	decoder, err := newDecoder(j, schema)()
	if err != nil {
		return Sample{}, fmt.Errorf("making a decoder: %w", err)
	}
	out := Sample{Batch: record.NewBatch(schema), Window: sampleWindow}
	for _, block := range s.read(ctx) {
		decoder.Decode(block, out.Batch)
		s.note(block)
	}
	if out.Batch.Rows == 0 {
		return Sample{}, fmt.Errorf("topics %v have no record that becomes a row: %d were read, and %d rejected",
			s.topics, s.records, len(out.Batch.Rejected))
	}
	out.RowsPerSecond = s.rate() * float64(out.Batch.Rows) / float64(s.records)
	out.RowBytes, err = rowBytes(j, out.Batch)
	return out, err
}

func sampleClient(j *job.Job) (*kgo.Client, error) {
	options, err := KafkaOptions(j.Source.Kafka.Kafka)
	if err != nil {
		return nil, err
	}
	if j.Source.Kafka.Isolation == "read_committed" {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("making the Kafka client: %w", err)
	}
	return client, nil
}

// sampler reads the ends of topics.
type sampler struct {
	client *kgo.Client
	admin  *kadm.Client
	topics []string

	ends    kadm.ListedOffsets
	late    float64 // records of the window
	records int
	paced   float64 // records a second by the timestamps of what was read
}

// look finds the ends of the topics, and how many records came in the window.
func (s *sampler) look(ctx context.Context) error {
	ends, err := s.admin.ListEndOffsets(ctx, s.topics...)
	if err = errors.Join(err, ends.Error()); err != nil {
		return fmt.Errorf("listing the ends of topics %v: %w", s.topics, err)
	}
	from, err := s.admin.ListOffsetsAfterMilli(ctx, time.Now().Add(-sampleWindow).UnixMilli(), s.topics...)
	if err = errors.Join(err, from.Error()); err != nil {
		return fmt.Errorf("listing the newest offsets of topics %v: %w", s.topics, err)
	}
	s.ends, s.late = ends, 0
	ends.Each(func(end kadm.ListedOffset) {
		if at, ok := from.Lookup(end.Topic, end.Partition); ok && at.Offset >= 0 {
			s.late += float64(max(0, end.Offset-at.Offset))
		}
	})
	return nil
}

// read fetches the newest records, a block a fetched partition.
func (s *sampler) read(ctx context.Context) []*record.Block {
	each := int64(max(10, sampleRecords/max(1, len(s.ends.Offsets().Sorted()))))
	left := map[record.TopicPartition]bool{}
	from := map[string]map[int32]kgo.Offset{}
	s.ends.Each(func(end kadm.ListedOffset) {
		if end.Offset == 0 {
			return
		}
		if from[end.Topic] == nil {
			from[end.Topic] = map[int32]kgo.Offset{}
		}
		from[end.Topic][end.Partition] = kgo.NewOffset().At(max(0, end.Offset-each))
		left[record.TopicPartition{Topic: end.Topic, Partition: end.Partition}] = true
	})
	s.client.AddConsumePartitions(from)
	ctx, cancel := context.WithTimeout(ctx, sampleWait)
	defer cancel()
	var blocks []*record.Block
	for len(left) > 0 && ctx.Err() == nil {
		poll, done := context.WithTimeout(ctx, sampleIdle)
		fetches := s.client.PollFetches(poll)
		done()
		if fetches.NumRecords() == 0 {
			break
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			b := blockOf(p)
			blocks = append(blocks, b)
			if end, ok := s.ends.Lookup(p.Topic, p.Partition); ok && b.Range.To >= end.Offset {
				delete(left, b.TopicPartition)
			}
		})
	}
	return blocks
}

func blockOf(p kgo.FetchTopicPartition) *record.Block {
	b := &record.Block{TopicPartition: record.TopicPartition{Topic: p.Topic, Partition: p.Partition}}
	for _, r := range p.Records {
		b.Records = append(b.Records, record.Record{
			Offset: r.Offset, Timestamp: r.Timestamp, Key: r.Key, Value: r.Value,
		})
		b.Range = record.Range{TopicPartition: b.TopicPartition, From: p.Records[0].Offset, To: r.Offset + 1}
	}
	return b
}

// note counts a block, and how fast its records came by their timestamps.
func (s *sampler) note(b *record.Block) {
	n := len(b.Records)
	s.records += n
	if n < 2 {
		return
	}
	if seconds := b.Records[n-1].Timestamp.Sub(b.Records[0].Timestamp).Seconds(); seconds > 0 {
		s.paced += float64(n-1) / seconds
	}
}

// rate is the records a second.
func (s *sampler) rate() float64 { return cmp.Or(s.late/sampleWindow.Seconds(), s.paced) }

// rowBytes is the size of a row in a data file of the job.
func rowBytes(j *job.Job, b *record.Batch) (float64, error) {
	property := func(key string) string { return j.Sink.Iceberg.Properties[key] }
	compression := cmp.Or(j.Sink.Iceberg.Compression, property("write.parquet.compression-codec"), "zstd")
	codec, err := parquet.ParseCodec(compression)
	if err != nil {
		return 0, err
	}
	options, err := parquetOptions(property, b.Schema, codec)
	if err != nil {
		return 0, err
	}
	options.Pool = parquet.NewPool(0)
	file, err := parquet.NewFile(b.Schema, options)
	if err != nil {
		return 0, err
	}
	if err := file.Append(b.Columns, nil); err != nil {
		return 0, err
	}
	described, err := file.Finish(io.Discard)
	if err != nil {
		return 0, err
	}
	return float64(described.SizeBytes) / float64(b.Rows), nil
}
