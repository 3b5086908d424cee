//go:build unix

package kafka

import (
	"context"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// BenchmarkConsume reads whole topics of a real broker, FIRN_TEST_KAFKA, once an iteration, and does nothing with the
// records: FIRN_BENCH_TOPICS names the topics, with commas. "source" is the reader, "client" the bare client at the
// same limits. What a second of CPU reads counts the collector and the kernel too.
//
//	FIRN_TEST_KAFKA=127.0.0.1:9092 FIRN_BENCH_TOPICS=narrow go test -run - -bench Consume -benchtime 1x
func BenchmarkConsume(b *testing.B) {
	address, topics := os.Getenv("FIRN_TEST_KAFKA"), os.Getenv("FIRN_BENCH_TOPICS")
	if address == "" || topics == "" {
		b.Skip("FIRN_TEST_KAFKA and FIRN_BENCH_TOPICS name no broker and topics")
	}
	for topic := range strings.SplitSeq(topics, ",") {
		s, err := New(Config{
			Client: []kgo.Opt{kgo.SeedBrokers(address)}, Topics: []string{topic}, BufferBytesMax: 64 << 20,
		}, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		b.Run(topic+"/source", func(b *testing.B) { measure(b, s, consume) })
		b.Run(topic+"/client", func(b *testing.B) { measure(b, s, consumeBare) })
	}
}

// measure reports what reading from the start to the end costs.
func measure(b *testing.B, s *Source, read func(*testing.B, *Source, map[record.TopicPartition]int64, int64) int64) {
	splits, err := s.Splits(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	from, total := make(map[record.TopicPartition]int64), int64(0)
	for _, p := range splits {
		from[p.TopicPartition] = p.Earliest
		total += p.LastStable - p.Earliest
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	usage, bytes := usageNow(b), int64(0)
	for b.Loop() {
		bytes += read(b, s, from, total)
	}
	used := usageNow(b)
	runtime.ReadMemStats(&after)
	mb, user, system := float64(bytes)/1e6, used.user-usage.user, used.system-usage.system
	b.ReportMetric(mb/(user+system).Seconds(), "MB/cpu-s")
	b.ReportMetric(user.Seconds()*1e6/mb, "user-ns/KB")
	b.ReportMetric(system.Seconds()*1e6/mb, "sys-ns/KB")
	b.ReportMetric(mb/b.Elapsed().Seconds(), "MB/s")
	b.ReportMetric(float64(used.faults-usage.faults)/mb, "faults/MB")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(bytes), "allocated-B/B")
	b.ReportMetric(float64(after.NumGC-before.NumGC), "collections")
}

func consume(b *testing.B, s *Source, from map[record.TopicPartition]int64, total int64) (bytes int64) {
	r, err := s.Open(context.Background(), from)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for total > 0 {
		blocks, err := r.Next(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for _, block := range blocks {
			total -= block.Range.Len()
			bytes += int64(block.Bytes)
			block.Release()
		}
	}
	return bytes
}

func consumeBare(b *testing.B, s *Source, from map[record.TopicPartition]int64, total int64) (bytes int64) {
	limits := &budget{bufferBytesMax: s.BufferBytesMax, fetchBytesMax: int64(s.FetchBytesMax)}
	at := make(map[string]map[int32]kgo.Offset)
	for tp, offset := range from {
		if at[tp.Topic] == nil {
			at[tp.Topic] = make(map[int32]kgo.Offset)
		}
		at[tp.Topic][tp.Partition] = kgo.NewOffset().At(offset)
	}
	client, err := kgo.NewClient(append(s.readOptions(limits), kgo.ConsumePartitions(at), s.Client[0])...)
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	for total > 0 {
		client.PollFetches(context.Background()).EachRecord(func(r *kgo.Record) {
			total--
			bytes += int64(len(r.Key) + len(r.Value))
		})
		limits.adjust(client)
	}
	return bytes
}

type usage struct {
	user, system time.Duration
	faults       int64
}

func usageNow(b *testing.B) usage {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return usage{time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano()), u.Minflt}
}
