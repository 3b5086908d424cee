package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
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
	client, err := kgo.NewClient(kgo.FetchMaxBytes(64 << 20))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	limit := func() int32 { return client.OptValue(kgo.FetchMaxBytes).(int32) }
	b.count(adjustBytes-1, 0, 0)
	b.adjust(client)
	if limit() != 64<<20 {
		t.Errorf("the limit is %d after too little", limit())
	}
	b.count(1, 4*adjustBytes, 0)
	b.adjust(client)
	if limit() != 16<<20 {
		t.Errorf("the limit is %d, want a quarter of the buffer", limit())
	}
}

// However well the records were compressed, what the client holds stays near the limit.
func TestBudgetBoundsWhatIsBuffered(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(8, "orders"), kfake.SyntheticFetch(kfake.SyntheticBatch{
		Records: 500, RecordBytes: 1000, RandomFrac: 0.05, Compression: kgo.ZstdCompression(),
	}))
	const limit, polls = 8 << 20, 16
	s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.BufferBytesMax = limit })
	from := make(map[record.TopicPartition]int64)
	for p := range int32(8) {
		from[partitionOf("orders", p)] = 0
	}
	c := open(t, s, from)
	total := 0
	for i := range polls {
		blocks, err := c.reader.Next(patient(t))
		if err != nil {
			t.Fatal(err)
		}
		held := 0 // Next returns all that the client held
		for _, b := range blocks {
			held += b.Bytes
		}
		total += held
		bound := 2 * limit
		if i < 2 {
			bound = 4 * limit // the growth is only guessed for the first answer and the one behind it
		}
		if held > bound {
			t.Errorf("at poll %d the client held %d bytes, the limit is %d", i, held, limit)
		}
	}
	if total < polls*limit/8 {
		t.Errorf("the client held %d bytes on average, little of the limit of %d", total/polls, limit)
	}
}
