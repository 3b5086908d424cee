package kafka

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"firn/internal/record"
)

func TestLimitBlocks(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	var values []string
	for range 20 {
		values = append(values, strings.Repeat("x", 300))
	}
	values[7] = strings.Repeat("y", 5000) // a block of its own
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, values...)
	s := newSource(t, cluster.ListenAddrs(), func(*Config) {})
	s.LimitBlocks(1000)
	r, err := s.Open(t.Context(), map[record.TopicPartition]int64{orders: 0})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for read := 0; read < len(values); {
		blocks, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			read += len(b.Records)
			if b.Bytes > 1000 && len(b.Records) > 1 {
				t.Errorf("a block of %d bytes in %d records", b.Bytes, len(b.Records))
			}
			b.Release()
		}
	}
}
