package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// Bounds of a block. The bytes keep a worker's share of memory small; the records do the same when they are tiny,
// as each costs about 110 bytes besides its own.
const (
	blockBytesMax   = 4 << 20
	blockRecordsMax = 1 << 16
)

// appendBlocks cuts consecutive records of a partition into blocks that tile from position on. A record larger than
// a block is a block of its own. The blocks alias the records' bytes, not the records.
func appendBlocks(
	blocks []*record.Block, tp record.TopicPartition, position int64, records []*kgo.Record,
) []*record.Block {
	for len(records) > 0 {
		n, bytes := blockLen(records)
		block := newBlock(tp, position, records[:n])
		block.Bytes = bytes
		blocks = append(blocks, block)
		position, records = block.Range.To, records[n:]
	}
	return blocks
}

// blockLen is how many of the records, at least one, fit into a block, and their bytes.
func blockLen(records []*kgo.Record) (n, bytes int) {
	for n < len(records) && n < blockRecordsMax {
		size := len(records[n].Key) + len(records[n].Value)
		if n > 0 && bytes+size > blockBytesMax {
			break
		}
		bytes += size
		n++
	}
	return n, bytes
}

// newBlock covers the offsets from position to just after the last record. The offsets between records belong to
// aborted transactions or were compacted away.
func newBlock(tp record.TopicPartition, position int64, records []*kgo.Record) *record.Block {
	last := records[len(records)-1].Offset
	block := &record.Block{
		TopicPartition: tp,
		Records:        make([]record.Record, len(records)),
		Range:          record.Range{TopicPartition: tp, From: position, To: last + 1},
	}
	headers := newHeaders(records)
	for i, r := range records {
		to := &block.Records[i]
		to.Offset = r.Offset
		to.Timestamp = r.Timestamp
		to.Key = r.Key
		to.Value = r.Value
		to.Control = r.Attrs.IsControl() // C30: a transaction marker moves the position
		if len(r.Headers) > 0 {
			to.Headers, headers = takeHeaders(headers, r.Headers)
		}
	}
	return block
}

// newHeaders makes room for the headers of all records at once; most records have none.
func newHeaders(records []*kgo.Record) []record.Header {
	n := 0
	for _, r := range records {
		n += len(r.Headers)
	}
	if n == 0 {
		return nil
	}
	return make([]record.Header, n)
}

func takeHeaders(room []record.Header, from []kgo.RecordHeader) (headers, rest []record.Header) {
	n := len(from)
	headers, rest = room[:n:n], room[n:]
	for i, h := range from {
		headers[i] = record.Header{Key: h.Key, Value: h.Value}
	}
	return headers, rest
}
