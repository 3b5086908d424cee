package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/gen"
	"firn/internal/job"
	"firn/internal/sink/kafka"
	"firn/internal/wire"
)

// narrowBytes is the size of a narrow message. Its number always has seven digits.
const narrowBytes = 1001

// fillConfig says how messages get into a topic.
type fillConfig struct {
	kind     kind
	messages int64         // 0: no limit
	rate     float64       // messages a second; 0: as fast as it goes
	limit    time.Duration // 0: none
	progress *gen.Progress
	large    bool // batches of 900 KB, as fast producers make, in place of those that the producer makes by itself
}

// fill sends messages, uncompressed.
func (b *broker) fill(ctx context.Context, c fillConfig) (gen.Stats, error) {
	template, err := gen.Compile(c.kind.template, gen.Options{Seed: sampleSeed})
	if err != nil {
		return gen.Stats{}, err
	}
	producer, client, err := b.producer(c)
	if err != nil {
		return gen.Stats{}, err
	}
	defer client.Close()
	if c.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.limit)
		defer stop()
	}
	stats, err := gen.Run(ctx, gen.RunConfig{
		Template: template, MessagesMax: c.messages, RatePerSecond: c.rate, Sink: producer, Progress: c.progress,
	})
	if err == nil && stats.Messages == 0 {
		err = errors.New("no message was sent")
	}
	if err != nil {
		return stats, fmt.Errorf("filling the topic: %w", err)
	}
	return stats, nil
}

func (b *broker) producer(c fillConfig) (*kafka.Producer, *kgo.Client, error) {
	options, err := wire.KafkaOptions(job.Kafka{Brokers: b.addresses})
	if err != nil {
		return nil, nil, err
	}
	more, err := kafka.ProducerOptions(kafka.ProducerConfig{})
	if err != nil {
		return nil, nil, err
	}
	options = append(append(options, more...), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if c.large {
		const batchBytes = 900 << 10
		options = append(options, kgo.ProducerLinger(50*time.Millisecond),
			kgo.RecordPartitioner(kgo.UniformBytesPartitioner(batchBytes, true, true, nil)))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, nil, fmt.Errorf("making a Kafka client: %w", err)
	}
	producer, err := kafka.NewProducer(client, b.topic, kafka.ProducerConfig{})
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return producer, client, nil
}
