package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestBudgetLimits(t *testing.T) {
	b := &budget{bufferBytesMax: 64 << 20, fetchBytesMax: 32 << 20}
	f := func(name string, brokers int, sent, held int64, wantFetch, wantPartition int32) {
		t.Run(name, func(t *testing.T) {
			fetch, partition := b.limits(brokers, sent, held)
			if fetch != wantFetch || partition != wantPartition {
				t.Errorf("limits are %d and %d, want %d and %d", fetch, partition, wantFetch, wantPartition)
			}
		})
	}
	f("none known", 0, 1, 1, 32<<20, 4<<20)
	f("one broker", 1, 1, 1, 32<<20, 4<<20)
	f("four brokers", 4, 1, 1, 16<<20, 4<<20)
	f("compressed to an eighth", 4, 1, 8, 2<<20, 2<<20)
	f("records shrank", 4, 8, 1, 16<<20, 4<<20)
	f("many brokers", 1000, 1, 100, fetchBytesMin, fetchBytesMin)
}

func TestBudgetCountsRecordsThatGrow(t *testing.T) {
	b := &budget{bufferBytesMax: 64 << 20, fetchBytesMax: 64 << 20}
	client, err := kgo.NewClient(kgo.WithHooks(b), kgo.FetchMaxBytes(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	limit := func() int32 { return client.OptValue(kgo.FetchMaxBytes).(int32) }
	b.OnFetchBatchRead(kgo.BrokerMetadata{}, "", 0, kgo.FetchBatchMetrics{CompressedBytes: adjustBytes - 1})
	b.adjust(client)
	if limit() != 64<<20 {
		t.Errorf("the limit is %d after too little", limit())
	}
	b.OnFetchBatchRead(kgo.BrokerMetadata{}, "", 0, kgo.FetchBatchMetrics{
		CompressedBytes: 1, UncompressedBytes: 4 * adjustBytes,
	})
	b.adjust(client)
	if limit() != 16<<20 {
		t.Errorf("the limit is %d, want a quarter of the buffer", limit())
	}
}
