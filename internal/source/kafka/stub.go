package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Layout of a record batch (message format v2, Kafka documentation section "Record Batch").
const (
	batchLengthAt      = 8  // int32, of what follows it
	batchMagicAt       = 16 // int8
	batchCRCAt         = 17 // uint32, Castagnoli, of what follows it
	batchAttributesAt  = 21 // int16
	batchLastDeltaAt   = 23 // int32
	batchFirstTimeAt   = 27 // int64, ms
	batchMaxTimeAt     = 35 // int64, ms
	batchCountAt       = 57 // int32
	batchHeaderBytes   = 61
	batchLengthMissing = batchLengthAt + 4 // bytes that the length does not count

	attributeCodec    = 0x07
	attributeAppended = 0x08 // the broker's clock gives the timestamps
	attributeControl  = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cut takes the batches out of an answer to a fetch of the version, and gives the answer that the client is to see in
// its place: each batch is there with a single record that stands for all. So the client keeps track of leaders,
// sessions, aborted transactions and offsets, and neither copies records nor makes a struct for each.
//
// The frame is the answer without its size. An answer that is not understood is given as it is, for the client to
// judge.
func (f *frames) cut(kept *frame, version int16, out []byte) []byte {
	whole := kept.buffer.bytes
	response := kmsg.NewPtrFetchResponse()
	response.SetVersion(version)
	body, err := afterHeader(whole, response.IsFlexible())
	if err == nil {
		err = response.UnsafeReadFrom(body)
	}
	if err != nil {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(whole))), whole...)
		kept.buffer.free()
		return out
	}
	id := f.newID()
	for i := range response.Topics {
		for j := range response.Topics[i].Partitions {
			p := &response.Topics[i].Partitions[j]
			p.RecordBatches = f.stubs(kept, id, p.RecordBatches)
		}
	}
	start := len(out)
	out = append(out, 0, 0, 0, 0)
	out = append(out, whole[:len(whole)-len(body)]...)
	out = response.AppendTo(out)
	binary.BigEndian.PutUint32(out[start:], uint32(len(out)-start-4))
	if len(kept.batches) == 0 {
		kept.buffer.free() // out is a copy
	} else {
		f.keep(id, kept)
	}
	return out
}

// afterHeader skips the correlation id, and the tags of a flexible version.
func afterHeader(whole []byte, flexible bool) ([]byte, error) {
	const correlationBytes = 4
	b := kbin.Reader{Src: whole}
	b.Span(correlationBytes)
	if flexible {
		kmsg.SkipTags(&b)
	}
	if err := b.Complete(); err != nil {
		return nil, fmt.Errorf("reading the header of an answer: %w", err)
	}
	return b.Src, nil
}

// stubs gives the batches of a partition, those with data replaced by stubs. Control batches, batches without records
// and old formats stay. Of an incomplete batch at the end only the header stays, which is enough to see that it is.
func (f *frames) stubs(kept *frame, id uint64, in []byte) []byte {
	if len(in) == 0 {
		return in
	}
	out := make([]byte, 0, 128)
	for len(in) > batchMagicAt {
		length := int(int32(binary.BigEndian.Uint32(in[batchLengthAt:]))) + batchLengthMissing
		if length <= batchMagicAt || length > len(in) {
			return append(out, in[:min(len(in), batchHeaderBytes)]...)
		}
		batch := in[:length:length]
		if in = in[length:]; isData(batch) {
			kept.batches = append(kept.batches, batch)
			out = f.appendStub(out, id, len(kept.batches)-1, batch)
		} else {
			out = append(out, batch...)
		}
	}
	return append(out, in...)
}

func isData(batch []byte) bool {
	return len(batch) >= batchHeaderBytes && batch[batchMagicAt] == 2 &&
		batch[batchAttributesAt+1]&attributeControl == 0 &&
		int32(binary.BigEndian.Uint32(batch[batchCountAt:])) > 0
}

// appendStub appends the batch's header with one record, at its last offset, that says where the batch is.
func (f *frames) appendStub(out []byte, id uint64, place int, batch []byte) []byte {
	const none = 1 // -1 as a zigzag varint
	last := int32(binary.BigEndian.Uint32(batch[batchLastDeltaAt:]))
	weight := 0
	if batch[batchAttributesAt+1]&attributeCodec != 0 {
		weight = len(batch)
	}
	record := []byte{0, 0} // attributes, timestamp delta
	record = binary.AppendVarint(record, int64(last))
	record = append(record, none) // key
	record = binary.AppendVarint(record, stubBytes)
	record = f.appendStubValue(record, id, place, weight)
	record = append(record, 0) // no headers

	start := len(out)
	out = append(out, batch[:batchHeaderBytes]...)
	out = binary.AppendVarint(out, int64(len(record)))
	out = append(out, record...)
	stub := out[start:]
	binary.BigEndian.PutUint32(stub[batchLengthAt:], uint32(len(stub)-batchLengthMissing))
	stub[batchAttributesAt+1] &^= attributeCodec
	binary.BigEndian.PutUint32(stub[batchCountAt:], 1)
	binary.BigEndian.PutUint32(stub[batchCRCAt:], crc32.Checksum(stub[batchAttributesAt:], castagnoli))
	return out
}
