package wire

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// EmbeddedKafka is a Kafka in this process, in memory, on a loopback port. It is for demos and tests.
type EmbeddedKafka struct {
	cluster *kfake.Cluster
}

// NewEmbeddedKafka starts one with a topic.
func NewEmbeddedKafka(topic string, partitions int) (*EmbeddedKafka, error) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(int32(partitions), topic))
	if err != nil {
		return nil, fmt.Errorf("starting the embedded Kafka: %w", err)
	}
	return &EmbeddedKafka{cluster}, nil
}

// Address is host:port of its broker.
func (k *EmbeddedKafka) Address() string { return k.cluster.ListenAddrs()[0] }

// Close ends it and lets its memory go.
func (k *EmbeddedKafka) Close() { k.cluster.Close() }

// dropInterval is how often read records are dropped: at 100 MB/s some 200 MB are held.
const dropInterval = 2 * time.Second

// DropRead deletes records below the floor every so often, until ctx ends: everything is held in memory otherwise.
func (k *EmbeddedKafka) DropRead(ctx context.Context, floor func() record.Floor) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Address()))
	if err != nil {
		return fmt.Errorf("connecting to the embedded Kafka: %w", err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	tick := time.NewTicker(dropInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var below kadm.Offsets
		for topic, t := range floor() {
			for partition, next := range t.Next {
				below.Add(kadm.Offset{Topic: topic, Partition: partition, At: next, LeaderEpoch: -1})
			}
		}
		if _, err := admin.DeleteRecords(ctx, below); err != nil && ctx.Err() == nil {
			return fmt.Errorf("dropping read records: %w", err)
		}
	}
}
