package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// unpacker makes blocks of what the client polled of one partition. One goroutine owns it at a time.
type unpacker struct {
	frames       *frames
	decompressor kgo.Decompressor
	arena        arena
	cutter       cutter
	budget       *budget
}

func newUnpacker(f *frames, slabs *slabs, b *budget) *unpacker {
	u := &unpacker{frames: f, budget: b, arena: arena{buffers: f.buffers, growth: growthGuess}}
	u.decompressor = kgo.DefaultDecompressor(&u.arena)
	u.cutter.slabs, u.cutter.bytesMax = slabs, b.blockBytesMax
	return u
}

// unpack cuts the records into blocks that tile from position on; records before it are passed over. The records are
// stubs of batches, and those that the client does not give as stubs. An error is that a batch cannot be read.
func (u *unpacker) unpack(
	tp record.TopicPartition, position int64, records []*kgo.Record,
) (blocks []*record.Block, err error) {
	u.cutter.start(tp, position)
	for _, r := range records {
		if !u.frames.isStub(r.Value) {
			u.cutter.add(recordOf(r), nil)
			continue
		}
		if err = u.batch(r.Value); err != nil {
			break
		}
	}
	u.arena.release()
	return u.cutter.end(), err
}

// recordOf is a record that the client read itself.
func recordOf(r *kgo.Record) record.Record {
	to := record.Record{
		Offset: r.Offset, Timestamp: r.Timestamp, Key: r.Key, Value: r.Value,
		Control: r.Attrs.IsControl(), // C30: a transaction marker moves the position
	}
	for _, h := range r.Headers {
		to.Headers = append(to.Headers, record.Header{Key: h.Key, Value: h.Value})
	}
	return to
}

// batch adds the records of the batch that a stub stands for.
func (u *unpacker) batch(stub []byte) error {
	batch, received, err := u.frames.redeem(stub)
	if err != nil {
		return err
	}
	defer received.free() // the blocks have holds of their own
	base, want := binary.BigEndian.Uint64(batch), binary.BigEndian.Uint32(batch[batchCRCAt:])
	if got := crc32.Checksum(batch[batchAttributesAt:], castagnoli); got != want {
		return fmt.Errorf("the batch at offset %d was damaged: its checksum is %08x, that of its bytes %08x", base, want, got)
	}
	in, held := batch[batchHeaderBytes:], received
	if codec := kgo.CompressionCodecType(batch[batchAttributesAt+1] & attributeCodec); codec != kgo.CodecNone {
		if in, held, err = u.decompress(in, codec); err != nil {
			return fmt.Errorf("decompressing the batch at offset %d: %w", base, err)
		}
		defer held.free()
	}
	count := int(binary.BigEndian.Uint32(batch[batchCountAt:]))
	u.budget.count(len(batch)-batchHeaderBytes, len(in), count)
	return u.records(batch, in, count, held)
}

// records adds the records of a batch. in is their bytes, which alias the buffer, or no buffer when it is nil.
func (u *unpacker) records(batch, in []byte, count int, b *buffer) error {
	base := int64(binary.BigEndian.Uint64(batch))
	first := int64(binary.BigEndian.Uint64(batch[batchFirstTimeAt:]))
	appended := batch[batchAttributesAt+1]&attributeAppended != 0
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(batch[batchMaxTimeAt:])))
	var r record.Record
	for i := range count {
		body, rest, ok := cutLength(in)
		if !ok {
			return fmt.Errorf("the batch at offset %d ends after %d of %d records", base, i, count)
		}
		in = rest
		timeDelta, offsetDelta, ok := readRecord(body, &r)
		if !ok {
			return fmt.Errorf("record %d of %d of the batch at offset %d is damaged", i+1, count, base)
		}
		r.Offset, r.Timestamp = base+offsetDelta, at
		if !appended {
			r.Timestamp = time.UnixMilli(first + timeDelta)
		}
		u.cutter.add(r, b)
	}
	return nil
}

// cutLength splits off a record, which begins with its length.
func cutLength(in []byte) (body, rest []byte, ok bool) {
	length, n := varint(in)
	if n <= 0 || length < 0 || length > int64(len(in)-n) {
		return nil, nil, false
	}
	return in[n : n+int(length)], in[n+int(length):], true
}

// readRecord reads a record without its length (Kafka documentation, section "Record"). Its bytes alias the input.
func readRecord(in []byte, r *record.Record) (timeDelta, offsetDelta int64, ok bool) {
	if len(in) == 0 {
		return 0, 0, false
	}
	c := fieldReader{in: in[1:]} // after attributes, of which there are none yet
	timeDelta, offsetDelta = c.varint(), c.varint()
	r.Key, r.Value, r.Headers = c.bytes(), c.bytes(), nil
	if n := c.varint(); n != 0 {
		r.Headers = c.headers(n)
	}
	return timeDelta, offsetDelta, !c.bad
}

// fieldReader reads the fields of a record one by one.
type fieldReader struct {
	in  []byte
	bad bool
}

func (c *fieldReader) varint() int64 {
	v, n := varint(c.in)
	if n <= 0 {
		c.bad, c.in = true, nil
		return 0
	}
	c.in = c.in[n:]
	return v
}

// bytes reads bytes that follow their length, which is negative for null.
func (c *fieldReader) bytes() []byte {
	n := c.varint()
	if n < 0 || c.bad {
		return nil
	}
	if n > int64(len(c.in)) {
		c.bad, c.in = true, nil
		return nil
	}
	out := c.in[:n:n]
	c.in = c.in[n:]
	return out
}

func (c *fieldReader) headers(n int64) []record.Header {
	if n < 0 || n > int64(len(c.in)) { // each takes more than a byte
		c.bad = true
		return nil
	}
	headers := make([]record.Header, n)
	for i := range headers {
		headers[i] = record.Header{Key: string(c.bytes()), Value: c.bytes()}
	}
	return headers
}

// varint reads a zigzag varint and says how many bytes it took, or none when it is not complete. Most are of one or
// two bytes.
func varint(in []byte) (v int64, n int) {
	if len(in) > 1 {
		if in[0] < 0x80 {
			return int64(in[0]>>1) ^ -int64(in[0]&1), 1
		}
		if in[1] < 0x80 {
			u := uint64(in[0]&0x7f) | uint64(in[1])<<7
			return int64(u>>1) ^ -int64(u&1), 2
		}
	}
	return binary.Varint(in)
}
