package iceberg

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"

	"firn/internal/parquet"
	"firn/internal/record"
)

// BenchmarkDistribution writes blocks of 1 KB rows by several goroutines at once, to one partition value, to buckets
// of which one has most rows, and to buckets that have as many each. waited/s is the seconds for which they waited for
// locks in a second: with 8 goroutines 7 are all that can be, on one lock.
func BenchmarkDistribution(b *testing.B) {
	tables := []struct {
		name    string
		buckets int
		zipf    bool
	}{{"one", 0, false}, {"zipf8", 8, true}, {"even64", 64, false}}
	for _, o := range tables {
		for _, workers := range []int{4, 8} {
			for _, d := range []Distribution{DistributionHash, DistributionAuto, DistributionNone} {
				b.Run(fmt.Sprintf("%s/workers%d/%s", o.name, workers, d), func(b *testing.B) {
					benchmarkDistribution(b, o.buckets, o.zipf, workers, d)
				})
			}
		}
	}
}

const benchRows, benchRowBytes = 2000, 1000

func benchmarkDistribution(b *testing.B, buckets int, zipf bool, workers int, d Distribution) {
	target := Target{
		Schema: numbersSchema(), Create: discard,
		DataPath: func(_ []record.PartitionValue, file string) (string, error) { return "mem://" + file, nil },
	}
	if buckets > 0 {
		target.Partition = byBucket(buckets)
	}
	o := parquet.DefaultOptions()
	o.Codec, o.Pool = parquet.CodecZstd, parquet.NewPool(256<<20)
	w, err := NewWriter(target, Options{
		Parquet: o, FileBytesMax: 256 << 20, SealersMax: 8, SealBytesMax: 1 << 30, StoreTriesMax: 1,
		NewID: counter("bench"), Distribution: d, Writers: workers,
	})
	if err != nil {
		b.Fatal(err)
	}
	batches := benchBatches(zipf)
	waited := waitedSeconds()
	b.SetBytes(benchRows * benchRowBytes)
	b.ResetTimer()
	files := writeAll(b, w, batches, workers)
	seconds := b.Elapsed().Seconds()
	b.ReportMetric((waitedSeconds()-waited)/seconds, "waited/s")
	b.ReportMetric(float64(files)/float64(b.N), "files/block")
}

// writeAll writes b.N batches, with a flush after every 100 MB.
func writeAll(b *testing.B, w *Writer, batches []*record.Batch, workers int) (files int) {
	const flushBatches = 50
	for left := b.N; left > 0; left -= flushBatches {
		var next atomic.Int64
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for {
					i := next.Add(1)
					if i > int64(min(left, flushBatches)) {
						return
					}
					if err := w.Write(b.Context(), batches[int(i)%len(batches)]); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		sealed, err := w.Rotate().Seal(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		files += len(sealed)
	}
	return files
}

func benchBatches(zipf bool) []*record.Batch {
	random := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(random, 1.3, 1, 100_000)
	batches := make([]*record.Batch, 8)
	for n := range batches {
		c := record.NewBatch(numbersSchema())
		for i := range benchRows {
			for k := range c.Columns {
				c.Columns[k].Grow()
				c.Columns[k].Valid[i] = true
			}
			c.Columns[0].Ints64[i] = random.Int64N(1 << 40)
			if zipf {
				c.Columns[0].Ints64[i] = int64(z.Uint64())
			}
			text := make([]byte, benchRowBytes-8)
			for at := range text {
				text[at] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[random.IntN(62)]
			}
			c.Columns[1].Bytes[i] = text
		}
		c.Rows = benchRows
		batches[n] = c
	}
	return batches
}

func discard(context.Context, string) (io.WriteCloser, error) { return discarded{io.Discard}, nil }

type discarded struct{ io.Writer }

func (discarded) Close() error { return nil }

// waitedSeconds is the time that goroutines of this process have waited for mutexes.
func waitedSeconds() float64 {
	s := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64()
}
