package iceberg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"firn/internal/parquet"
	"firn/internal/record"
)

func TestParseDistribution(t *testing.T) {
	for _, text := range []string{"auto", "hash", "none"} {
		if d, err := ParseDistribution(text); err != nil || d.String() != text {
			t.Errorf("%s: %v, error %v", text, d, err)
		}
	}
	if _, err := ParseDistribution("range"); err == nil {
		t.Error("range was taken")
	}
	if Distribution(0) != DistributionAuto {
		t.Error("auto is not the default")
	}
}

// zipfNumbers is rows of numbersSchema whose numbers follow Zipf's law.
func zipfNumbers(random *rand.Rand, z *rand.Zipf, rows int) *record.Batch {
	b := record.NewBatch(numbersSchema())
	const textBytes = 40
	text := make([]byte, rows*textBytes)
	for i := range text {
		text[i] = byte('a' + random.IntN(26))
	}
	for i := range rows {
		for k := range b.Columns {
			b.Columns[k].Grow()
			b.Columns[k].Valid[i] = true
		}
		b.Columns[0].Ints64[i] = int64(z.Uint64())
		b.Columns[1].Bytes[i] = text[i*textBytes : (i+1)*textBytes]
	}
	b.Rows = rows
	return b
}

// The load of writers by the routing of real rows, keys by Zipf's law: a hot bucket is split, cold ones share a writer,
// and no writer has a fifth more than the mean, once there was a flush to learn from (C47).
func TestLoadOfWritersOnZipfKeys(t *testing.T) {
	for _, buckets := range []int{8, 64} {
		for writers := 2; writers <= 16; writers++ {
			t.Run(fmt.Sprintf("%d buckets, %d writers", buckets, writers), func(t *testing.T) {
				w := memoryWriter(t, &objects{}, func(target *Target, o *Options) {
					target.Partition = byBucket(buckets)
					o.Writers, o.SplitBytesMin = writers, 2<<10
				})
				random := rand.New(rand.NewPCG(1, 2))
				z := rand.NewZipf(random, 1.1, 1, 100_000)
				before := 0.0
				for round := range 3 {
					for range 120 {
						mustWrite(t, w, zipfNumbers(random, z, 400))
					}
					g := w.Rotate().(*generation)
					files := mustSeal(t, g)
					ratio := g.loads.imbalance()
					if round == 0 {
						before = ratio
						continue
					}
					if ratio >= 1.2 || len(files) > buckets+writers-1 {
						t.Errorf("flush %d: largest load %.2f of the mean, %d files", round, ratio, len(files))
					}
					t.Logf("flush %d: largest load %.2f of the mean, %.2f before; %d files", round, ratio, before, len(files))
				}
			})
		}
	}
}

// imbalance is the largest load over the mean.
func (l *loads) imbalance() float64 {
	sum, most := 0.0, 0.0
	for i := range l.writers {
		n := float64(l.of(i))
		sum, most = sum+n, math.Max(most, n)
	}
	return most / (sum / float64(len(l.writers)))
}

// How many files a flush has, by distribution: one a bucket, one a bucket and worker, or one a bucket and a few more.
func TestFilesByDistribution(t *testing.T) {
	const buckets, workers = 4, 3
	f := func(d Distribution, least, most int) {
		t.Run(d.String(), func(t *testing.T) {
			w := memoryWriter(t, &objects{}, func(_ *Target, o *Options) {
				o.Distribution, o.Writers, o.SplitBytesMin = d, workers, 1<<10
			})
			var files []record.DataFile
			for range 2 {
				writeBesides(t, w, workers)
				files = mustSeal(t, w.Rotate())
				if n := rowsIn(files); n != workers*300 {
					t.Errorf("%d rows", n)
				}
			}
			if len(files) < least || len(files) > most {
				t.Errorf("%d files, want %d to %d", len(files), least, most)
			}
		})
	}
	f(DistributionHash, buckets, buckets)
	f(DistributionNone, buckets*workers, buckets*workers)
	f(DistributionAuto, buckets, buckets+workers-1)
}

// writeBesides writes batches as so many workers, each of which has begun before another has ended.
func writeBesides(t *testing.T, w *Writer, workers int) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	z := rand.NewZipf(random, 1.1, 1, 100_000)
	numbers := make([]int, workers)
	for i := range numbers {
		numbers[i] = w.numbers.take()
	}
	for i := range numbers { // the number that is free is the one that the next write gets
		w.numbers.give(numbers[i])
		mustWrite(t, w, zipfNumbers(random, z, 300))
		if got := w.numbers.take(); got != numbers[i] {
			t.Fatalf("worker %d was given number %d", numbers[i], got)
		}
	}
	for _, n := range numbers {
		w.numbers.give(n)
	}
}

// An interval that is long is balanced before it ends: an unpartitioned table gets a file a writer.
func TestSplitWithinAnInterval(t *testing.T) {
	const writers = 3
	w := memoryWriter(t, &objects{}, func(target *Target, o *Options) {
		target.Partition, o.Writers, o.Parquet.Codec = nil, writers, parquet.CodecNone
	})
	for i := range 30 {
		mustWrite(t, w, numbers(t, 1000*i, 1000*i+1000, 2000))
	}
	if files := mustSeal(t, w.Rotate()); len(files) != writers || rowsIn(files) != 30_000 {
		t.Errorf("%d files, %d rows", len(files), rowsIn(files))
	}
	mustWrite(t, w, numbers(t, 0, 10, 10))
	if files := mustSeal(t, w.Rotate()); len(files) != 1 {
		t.Errorf("%d files of few rows after many", len(files))
	}
	mustWrite(t, w, numbers(t, 0, 10, 10))
	if files := mustSeal(t, w.Rotate()); len(files) != 1 {
		t.Errorf("%d files of few rows after few", len(files))
	}
}

// Rows wait for nobody as long as there are others: a worker whose first file is in other hands writes the rest, and
// comes back.
func TestBusyFilesComeLast(t *testing.T) {
	w := memoryWriter(t, &objects{}, func(_ *Target, o *Options) { o.Distribution = DistributionHash })
	mustWrite(t, w, numbers(t, 1, 7, 10))
	g := w.generation()
	var busy *lane
	for _, l := range g.all() {
		busy = l
	}
	busy.mu.Lock()
	before := map[*lane]int64{}
	for _, l := range g.all() {
		if l.open != nil {
			before[l] = l.open.rows.Rows()
		}
	}
	var done sync.WaitGroup
	done.Go(func() { mustWrite(t, w, numbers(t, 1, 7, 10)) })
	for l, rows := range before {
		for l != busy && !doubled(l, rows) {
			// the write goes on beside this
		}
	}
	if busy.open.rows.Rows() != before[busy] {
		t.Error("a file was written to that another had in hand")
	}
	busy.mu.Unlock()
	done.Wait()
	for l, rows := range before {
		if !doubled(l, rows) {
			t.Errorf("a file of %d rows has %d", rows, l.open.rows.Rows())
		}
	}
	w.Rotate().Discard()
}

func doubled(l *lane, rows int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open.rows.Rows() == 2*rows
}
