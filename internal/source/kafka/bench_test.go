package kafka

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// BenchmarkNext reads records of 1 KB from a broker in the same process, which costs a part of the time.
func BenchmarkNext(b *testing.B) {
	seeds := endless(b)
	s, err := New(Config{Client: []kgo.Opt{kgo.SeedBrokers(seeds...)}, Topics: []string{"orders"}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	r, err := s.Open(context.Background(), map[record.TopicPartition]int64{orders: 0, partitionOf("orders", 1): 0})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b.SetBytes(1000)
	b.ReportAllocs()
	for n := 0; n < b.N; {
		blocks, err := r.Next(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for _, block := range blocks {
			n += len(block.Records)
			block.Release()
		}
	}
}

// BenchmarkClient is the same without the reader: what it adds is the difference.
func BenchmarkClient(b *testing.B) {
	client, err := kgo.NewClient(kgo.SeedBrokers(endless(b)...), kgo.FetchMaxPartitionBytes(partitionBytesMax),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
			"orders": {0: kgo.NewOffset().At(0), 1: kgo.NewOffset().At(0)},
		}))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	b.SetBytes(1000)
	b.ReportAllocs()
	for n := 0; n < b.N; {
		n += client.PollFetches(context.Background()).NumRecords()
	}
}

// endless is a broker that answers every fetch with the same uncompressed records of 1,000 bytes.
func endless(b *testing.B) []string {
	b.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"),
		kfake.SyntheticFetch(kfake.SyntheticBatch{RecordBytes: 1000, RandomFrac: 1}))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(cluster.Close)
	return cluster.ListenAddrs()
}
