package kafka

import (
	"sync/atomic"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

const (
	// partitionBytesMax is asked for of one partition in one fetch: large enough for a block, small enough that one
	// partition with a backlog leaves room for others.
	partitionBytesMax = 4 << 20
	// fetchBytesMin is the least a fetch may ask for, whatever the budget: below it, round trips cost more than
	// memory. A broker sends one whole batch anyway, however large (KIP-74).
	fetchBytesMin = 16 << 10
	// recordOverhead is the memory of a buffered record besides its bytes.
	recordOverhead = int64(unsafe.Sizeof(record.Record{}))
)

// growthGuess is how much records are taken to grow in memory before the first were seen: JSON compresses to a tenth
// at best, and the first answers must not be the ones that are too large.
const growthGuess = 8

// budget keeps what a client buffers within bounds. A client holds at most one answer of each broker, and the size of
// an answer is bounded as it is sent, compressed: so the limit is divided by the brokers and by how much the records
// have grown in memory so far. Its methods are safe for concurrent use.
type budget struct {
	bufferBytesMax int64
	fetchBytesMax  int64
	blockBytesMax  int

	sent atomic.Int64 // bytes as sent since the last adjustment
	held atomic.Int64 // bytes in memory of the same batches
}

// count counts a batch.
func (b *budget) count(sent, held, records int) {
	b.sent.Add(int64(sent))
	b.held.Add(int64(held) + int64(records)*recordOverhead)
}

// adjustBytes is how many bytes are counted before the limits are adjusted: enough for a fair ratio.
const adjustBytes = 1 << 20

// adjust sets the client's limits by what was counted since the last time.
func (b *budget) adjust(client *kgo.Client) {
	if b.sent.Load() < adjustBytes {
		return
	}
	sent, held := b.sent.Swap(0), b.held.Swap(0)
	client.UpdateFetchMaxBytes(b.limits(len(client.DiscoveredBrokers()), sent, held))
}

// limits gives the bytes to ask of a broker, and of one of its partitions, when sent bytes became held ones.
func (b *budget) limits(brokers int, sent, held int64) (fetch, partition int32) {
	share := float64(b.bufferBytesMax) / float64(max(brokers, 1))
	if held > sent {
		share *= float64(sent) / float64(held)
	}
	bytes := max(min(int64(share), b.fetchBytesMax), fetchBytesMin)
	return int32(bytes), int32(min(bytes, partitionBytesMax))
}
