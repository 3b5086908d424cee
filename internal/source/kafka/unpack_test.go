package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"firn/internal/record"
)

// The reader gives what the client itself reads, whatever the codec: keys, headers, null and empty values, timestamps.
func TestReaderReadsWhatTheClientReads(t *testing.T) {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	for name, codec := range codecs {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
			sent := assorted(600)
			producer := newClient(t, cluster.ListenAddrs(), kgo.ProducerBatchCompression(codec))
			if err := producer.ProduceSync(patient(t), sent...).FirstErr(); err != nil {
				t.Fatal(err)
			}
			want := readByClient(t, cluster.ListenAddrs(), len(sent))
			c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
			c.reaches(orders, int64(len(sent)))
			var got []record.Record
			for _, b := range c.blocks {
				got = append(got, b.Records...)
			}
			if len(got) != len(want) {
				t.Fatalf("%d records, want %d", len(got), len(want))
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("record %d is %.200v, want %.200v", i, got[i], want[i])
				}
			}
		})
	}
}

// assorted is records of all shapes, some large, whose values compress a little.
func assorted(n int) []*kgo.Record {
	random := rand.New(rand.NewPCG(1, 2))
	records := make([]*kgo.Record, n)
	for i := range records {
		r := &kgo.Record{Topic: "orders", Timestamp: time.UnixMilli(1_700_000_000_000 + int64(random.IntN(1e6)))}
		switch random.IntN(8) {
		case 0: // a null value
		case 1:
			r.Value = []byte{}
		case 2:
			r.Value = []byte(strings.Repeat(fmt.Sprint(random.Int64()), random.IntN(4000)))
		default:
			r.Value = []byte(strings.Repeat(fmt.Sprint(random.Int64()), random.IntN(20)))
		}
		if random.IntN(2) == 0 {
			r.Key = []byte(fmt.Sprint(i))
		}
		for j := range random.IntN(4) {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: fmt.Sprint("h", j), Value: []byte(fmt.Sprint(i))})
		}
		records[i] = r
	}
	return records
}

func readByClient(t *testing.T, seeds []string, n int) []record.Record {
	t.Helper()
	client := newClient(t, seeds, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		"orders": {0: kgo.NewOffset().At(0)},
	}))
	var records []record.Record
	for len(records) < n {
		fetches := client.PollFetches(patient(t))
		if err := fetches.Err0(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { records = append(records, recordOf(r)) })
	}
	return records
}

// A producer cannot make a record that is taken for a stub: it does not know the token. One that names no frame, as
// when the answer was dropped, is fetched again.
func TestStubs(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	forged := strings.Repeat("s", stubBytes)
	producer := newClient(t, cluster.ListenAddrs())
	produce(t, producer, "orders", 0, "a", forged)
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
	c.reaches(orders, 2)
	if diff := cmp.Diff([]string{"a", forged}, c.values(orders)); diff != "" {
		t.Error(diff)
	}
	gone := c.reader.unpack.frames.appendStubValue(nil, 99, 0, 0)
	c.reader.takeAll(answer(kgo.FetchPartition{Records: []*kgo.Record{{Offset: 5, Value: gone}}}))
	if w, waits := c.reader.waiting[orders]; !waits || w.offset != 2 {
		t.Errorf("a batch that is gone is not fetched again from 2: %v, %+v", waits, w)
	}
	produce(t, producer, "orders", 0, "b")
	c.reaches(orders, 3)
}

// batchOf is a batch of records with the values, at an offset.
func batchOf(offset int64, values ...string) []byte {
	var records []byte
	for i, v := range values {
		r := kmsg.Record{OffsetDelta: int32(i), Value: []byte(v)}
		r.Length = int32(len(r.AppendTo(nil)) - 1) // the length itself is one byte, as the values are short
		records = r.AppendTo(records)
	}
	b := kmsg.RecordBatch{
		FirstOffset: offset, Magic: 2, LastOffsetDelta: int32(len(values) - 1), ProducerID: -1, ProducerEpoch: -1,
		FirstSequence: -1, NumRecords: int32(len(values)), Records: records,
	}
	return sealed(b.AppendTo(nil))
}

// sealed corrects the length and the checksum of a batch.
func sealed(b []byte) []byte {
	binary.BigEndian.PutUint32(b[batchLengthAt:], uint32(len(b)-batchLengthMissing))
	binary.BigEndian.PutUint32(b[batchCRCAt:], crc32.Checksum(b[batchAttributesAt:], castagnoli))
	return b
}

// read has batches go the way from an answer to blocks.
func read(t *testing.T, batches []byte) ([]*record.Block, error) {
	t.Helper()
	f := newFrames(&buffers{bytesMax: 1 << 20, wipe: true})
	response := kmsg.NewPtrFetchResponse()
	response.SetVersion(13)
	topic, partition := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
	partition.RecordBatches = batches
	topic.Partitions = append(topic.Partitions, partition)
	response.Topics = append(response.Topics, topic)
	whole := response.AppendTo(make([]byte, 5)) // the correlation id and no tags
	kept := &frame{buffer: f.buffers.take(len(whole))}
	copy(kept.buffer.bytes, whole)
	out := f.cut(kept, 13, nil)

	seen := kmsg.NewPtrFetchResponse()
	seen.SetVersion(13)
	if err := seen.ReadFrom(out[sizeBytes+5:]); err != nil {
		t.Fatal(err)
	}
	p, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Topic: "orders", KeepControlRecords: true},
		&seen.Topics[0].Partitions[0], kgo.DefaultDecompressor(), nil)
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	u := newUnpacker(f, new(slabs), &budget{blockBytesMax: blockBytesMax})
	return u.unpack(orders, 0, p.Records)
}

func TestUnpack(t *testing.T) {
	good := batchOf(0, "a", "b")
	changed := func(change func([]byte)) []byte {
		b := batchOf(2, "c", "d")
		change(b)
		return b
	}
	f := func(name string, batches []byte, wantFault string, want ...string) {
		t.Run(name, func(t *testing.T) {
			blocks, err := read(t, batches)
			var got []string
			for _, b := range blocks {
				for _, r := range b.Records {
					got = append(got, fmt.Sprintf("%d=%s %t", r.Offset, r.Value, r.Control))
				}
				b.Release()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if text := fmt.Sprint(err); (err != nil) != (wantFault != "") || !strings.Contains(text, wantFault) {
				t.Errorf("the error is %q, want %q", text, wantFault)
			}
		})
	}
	join := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	f("one", good, "", "0=a false", "1=b false")
	f("two", join(good, changed(func([]byte) {})), "", "0=a false", "1=b false", "2=c false", "3=d false")
	f("the second is cut off", join(good, batchOf(2, "c")[:65]), "", "0=a false", "1=b false")
	f("the second's head is cut off", join(good, batchOf(2, "c")[:9]), "", "0=a false", "1=b false")
	f("damaged bytes", join(good, changed(func(b []byte) { b[len(b)-2] ^= 1 })), "the batch at offset 2 was damaged",
		"0=a false", "1=b false")
	f("fewer records than it says", changed(func(b []byte) { b[batchCountAt+3] = 3; sealed(b) }),
		"the batch at offset 2 ends after 2 of 3 records", "2=c false", "3=d false")
	f("a length beyond the end", changed(func(b []byte) { b[batchHeaderBytes] = 100; sealed(b) }),
		"the batch at offset 2 ends after 0 of 2 records")
	f("a value beyond its record", changed(func(b []byte) { b[batchHeaderBytes+5] = 100; sealed(b) }),
		"record 1 of 2 of the batch at offset 2 is damaged")
	f("bad compression", changed(func(b []byte) { b[batchAttributesAt+1] |= 4; sealed(b) }),
		"decompressing the batch at offset 2")
	f("control", join(good, changed(func(b []byte) { b[batchAttributesAt+1] |= attributeControl; sealed(b) })), "",
		"0=a false", "1=b false", "2=c true", "3=d true")
	emptied := changed(func(b []byte) { b[batchCountAt+3] = 0; sealed(b[:batchHeaderBytes]) })[:batchHeaderBytes]
	f("emptied by compaction", join(emptied, batchOf(4, "e")), "", "4=e false")
}

// What a partition has to decompress is divided, so that all cores take part.
func TestPartsAreDividedByWhatIsToDecompress(t *testing.T) {
	f := newFrames(&buffers{})
	u := newUnpackers(f, &budget{blockBytesMax: blockBytesMax})
	stub := func(weight int) *kgo.Record { return &kgo.Record{Value: f.appendStubValue(nil, 1, 0, weight)} }
	for _, c := range []struct {
		weights, want []int
	}{
		{[]int{0, 0, 0}, []int{3}},
		{[]int{partBytes, 1}, []int{1, 1}},
		{[]int{partBytes - 1, 1, 1, partBytes, 9}, []int{2, 2, 1}},
	} {
		var records []*kgo.Record
		for _, w := range c.weights {
			records = append(records, stub(w))
		}
		var got []int
		for _, part := range u.parts(records) {
			got = append(got, len(part))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %s", c.weights, diff)
		}
	}
}

// Parts of one partition are unpacked at once and tile nevertheless.
func TestLargeCompressedBatchesTile(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	producer := newClient(t, cluster.ListenAddrs(), kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	random := rand.NewChaCha8([32]byte{})
	var want []string
	for range 12 {
		value := make([]byte, 400<<10)
		_, _ = random.Read(value[:300<<10])
		want = append(want, string(value))
	}
	produce(t, producer, "orders", 0, want...)
	c := open(t, newSource(t, cluster.ListenAddrs(), nil), map[record.TopicPartition]int64{orders: 0})
	c.reaches(orders, 12)
	if got := c.values(orders); strings.Join(got, "") != strings.Join(want, "") {
		t.Error("the values differ")
	}
}
