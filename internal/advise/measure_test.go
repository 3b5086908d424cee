package advise

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"firn/internal/table"
)

func added(second int, rows, bytes int64) table.SnapshotInfo {
	return table.SnapshotInfo{
		Time: time.Unix(int64(second), 0), Operation: "append", AddedRows: rows, AddedBytes: bytes, Live: true,
	}
}

func TestRateOf(t *testing.T) {
	moved := added(5, 0, 0)
	joined := added(6, 500, 9000)
	joined.Operation = "replace"
	lost := added(7, 500, 9000)
	lost.Live = false
	r, err := RateOf([]table.SnapshotInfo{
		added(20, 100, 8000), added(0, 100, 1000), added(10, 100, 2000), moved, joined, lost,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Rate{BytesPerSecond: 500, RowsPerSecond: 10, Window: 20 * time.Second, Commits: 3, Peak: 4000}
	if r != want {
		t.Errorf("rate %+v, want %+v", r, want)
	}
	one := added(0, 1, 1)
	for _, few := range [][]table.SnapshotInfo{nil, {one}, {one, one}, {one, moved}} {
		if _, err := RateOf(few); !errors.Is(err, ErrNoRate) {
			t.Errorf("%d snapshots: error %v", len(few), err)
		}
	}
}

func dataFile(partition string, rows int64) table.FileInfo {
	return table.FileInfo{Content: "data", Partition: partition, SpecID: 3, Rows: rows, Bytes: rows * 100}
}

func TestKeysOfBuckets(t *testing.T) {
	field := table.PartitionField{Name: "id_bucket", Transform: "bucket", Param: 8}
	var files []table.FileInfo
	for bucket := range 8 {
		rows := int64(100)
		if bucket == 5 {
			rows = 500
		}
		files = append(files, dataFile(fmt.Sprintf("day=2026-01-31/id_bucket=%d", bucket), rows/2),
			dataFile(fmt.Sprintf("day=2026-02-01/id_bucket=%d", bucket), rows/2))
	}
	old := dataFile("id_bucket=0", 1e6)
	old.SpecID = 2
	deletes := dataFile("id_bucket=0", 1e6)
	deletes.Content = "equality deletes"
	k := KeysOfBuckets(append(files, old, deletes), 3, field)
	if len(k.Hot) != 1 || math.Abs(k.Hot[0]-400.0/1200) > 1e-9 || k.Distinct != 0 {
		t.Errorf("keys %+v", k)
	}
	if k := KeysOfBuckets(nil, 3, field); len(k.Hot) != 0 {
		t.Errorf("keys %+v of no files", k)
	}
	if n := OthersOf(files, 3, []string{"id_bucket"}); n != 2 {
		t.Errorf("%g days at once", n)
	}
	if n := OthersOf(files, 3, []string{"id_bucket", "day"}); n != 1 {
		t.Errorf("%g of no other fields", n)
	}
}

// What is found of a sample is near what the keys were drawn from.
func TestKeysOfSample(t *testing.T) {
	sample := func(shares []float64) []string {
		random := rand.New(rand.NewPCG(1, 2))
		values := make([]string, 5000)
		for i := range values {
			at := random.Float64()
			for key, share := range shares {
				if at -= share; at < 0 || key == len(shares)-1 {
					values[i] = fmt.Sprint(key)
					break
				}
			}
		}
		return values
	}
	k := KeysOfSample(sample(oneHot(100_000, 0.3)))
	if len(k.Hot) != 1 || math.Abs(k.HotShare()-0.3) > 0.03 || k.Distinct != 0 {
		t.Errorf("one hot of many: %+v", k)
	}
	k = KeysOfSample(sample(uniform(100)))
	if len(k.Hot) != 0 || math.Abs(k.Distinct-100) > 10 {
		t.Errorf("a hundred: %+v", k)
	}
	k = KeysOfSample(sample(uniform(10_000)))
	if len(k.Hot) != 0 || k.Distinct != 0 && math.Abs(k.Distinct-10_000) > 2000 {
		t.Errorf("ten thousand: %+v", k)
	}
	k = KeysOfSample(sample(zipf(5000, 1.1)))
	if want := zipf(5000, 1.1)[0]; math.Abs(k.HotShare()-want) > 0.02 || len(k.Hot) < 10 {
		t.Errorf("zipf: %+v, want a largest share of %g", k, want)
	}
	if k := KeysOfSample(nil); len(k.Hot) != 0 || k.HotShare() != 0 {
		t.Errorf("nothing: %+v", k)
	}
}

// bounded is the file of a snapshot with the range of its numbers, dates or texts.
func bounded(snapshot int64, lower, upper string) table.FileInfo {
	f := dataFile("", 1)
	f.SnapshotID = snapshot
	f.Bounds = []table.Bound{{Column: "at", Lower: lower, Upper: upper}}
	return f
}

func TestHeldShare(t *testing.T) {
	f := func(want float64, files ...table.FileInfo) {
		t.Helper()
		if got := HeldShare(files, "at"); math.Abs(got-want) > 1e-9 {
			t.Errorf("share %g, want %g", got, want)
		}
	}
	f(1)
	f(1, bounded(1, "1", "9"))
	f(1, bounded(1, "1", "9"), bounded(2, "2", "10"), bounded(3, "3", "30"))
	f(0.5, bounded(1, "2", "9"), bounded(2, "10", "30")) // by value, not by letters
	f(1, bounded(1, "1", "2"), bounded(1, "8", "9"), bounded(2, "3", "4"), bounded(2, "7", "7.5"))
	f(0.25, bounded(1, "2026-01-01", "2026-01-02"), bounded(2, "2026-01-03", "2026-01-04"),
		bounded(3, "2026-01-05", "2026-01-06"), bounded(4, "2026-01-07", "2026-01-08"))
	f(0.75, bounded(1, "1", "2"), bounded(2, "3", "4"), dataFile("", 2)) // what has no bounds is always read
	deletes := bounded(3, "1", "100")
	deletes.Content = "position deletes"
	f(0.5, bounded(1, "1", "2"), bounded(2, "3", "4"), deletes)
}
