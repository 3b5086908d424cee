package advise

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"firn/internal/table"
)

// Rate is how fast rows came, by the snapshots that added them.
type Rate struct {
	BytesPerSecond float64       `json:"bytes_per_second"`
	RowsPerSecond  float64       `json:"rows_per_second"`
	Peak           float64       `json:"peak_bytes_per_second"` // in the busiest tenth of the time
	Window         time.Duration `json:"window_ns"`
	Commits        int           `json:"commits"`
}

// ErrNoRate says that the history of a table does not tell how fast rows come.
var ErrNoRate = errors.New("fewer than two snapshots added rows, so that no rate can be measured")

// peakParts is in how many parts the time is cut to find the peak.
const peakParts = 10

// RateOf measures the rate of what was appended to a table. What the first snapshot added came before it, so that it
// only begins the time.
func RateOf(snapshots []table.SnapshotInfo) (Rate, error) {
	appends := slices.DeleteFunc(slices.Clone(snapshots), func(s table.SnapshotInfo) bool {
		return !s.Live || s.AddedRows == 0 || s.Operation == "replace"
	})
	slices.SortStableFunc(appends, func(a, b table.SnapshotInfo) int { return a.Time.Compare(b.Time) })
	if len(appends) < 2 {
		return Rate{}, ErrNoRate
	}
	began := appends[0].Time
	window := appends[len(appends)-1].Time.Sub(began)
	if window < time.Millisecond {
		return Rate{}, ErrNoRate
	}
	var bytes, rows float64
	var parts [peakParts]float64
	for _, s := range appends[1:] {
		bytes += float64(s.AddedBytes)
		rows += float64(s.AddedRows)
		at := int(peakParts * s.Time.Sub(began) / (window + 1))
		parts[at] += float64(s.AddedBytes)
	}
	seconds := window.Seconds()
	return Rate{
		BytesPerSecond: bytes / seconds, RowsPerSecond: rows / seconds, Window: window, Commits: len(appends),
		Peak: slices.Max(parts[:]) * peakParts / seconds,
	}, nil
}

// KeysOfTable takes how rows spread over the buckets that the table has of a column; false when it has none.
func KeysOfTable(t *table.Table, files []table.FileInfo, column string) (Keys, bool) {
	for i, text := range t.PartitionTexts() {
		if p, err := table.ParsePartitionField(text); err == nil && p.Transform == "bucket" && p.Field == column {
			return KeysOfBuckets(files, t.SpecID(), t.Partition()[i]), true
		}
	}
	return Keys{}, false
}

// BucketFields is the names of the table's partition fields that make buckets.
func BucketFields(t *table.Table) []string {
	var names []string
	for _, f := range t.Partition() {
		if f.Transform == "bucket" {
			names = append(names, f.Name)
		}
	}
	return names
}

// KeysOfBuckets takes how rows spread over the buckets of a partition field from the live data files. What a bucket has
// beyond half as much again as the one in the middle is taken to be one key's.
func KeysOfBuckets(files []table.FileInfo, specID int, field table.PartitionField) Keys {
	rows, total := map[string]float64{}, 0.0
	for _, f := range files {
		if value, ok := partitionOf(f.Partition, field.Name); ok && f.Content == "data" && f.SpecID == specID {
			rows[value] += float64(f.Rows)
			total += float64(f.Rows)
		}
	}
	k := Keys{}
	if total == 0 {
		return k
	}
	counts := slices.Sorted(maps.Values(rows))
	for len(counts) < field.Param { // buckets without a file
		counts = slices.Insert(counts, 0, 0.0)
	}
	middle := counts[len(counts)/2]
	for _, n := range counts {
		const standsOut = 1.5
		if n > standsOut*middle {
			k.Hot = append(k.Hot, (n-middle)/total)
		}
	}
	slices.SortFunc(k.Hot, func(a, b float64) int { return cmp.Compare(b, a) })
	return k
}

// partitionOf is the value of a field in a file's partition, which is field=value, joined by /.
func partitionOf(partition, field string) (string, bool) {
	for part := range strings.SplitSeq(partition, "/") {
		if value, ok := strings.CutPrefix(part, field+"="); ok {
			return value, true
		}
	}
	return "", false
}

// KeysOfSample takes how rows spread over values from a sample of them. Values stand out that a sample of this size
// shows to have more than a bucket's share of the rows; how many others there are is estimated from those that occur
// once and twice (Chao 1984), where they are few enough to matter.
func KeysOfSample(values []string) Keys {
	counts := map[string]int{}
	for _, v := range values {
		counts[v]++
	}
	const seenMin, shareMin = 8, 1.0 / BucketsMax
	total := float64(len(values))
	mean := total / float64(max(1, len(counts)))
	k := Keys{}
	var once, twice, rest float64
	for _, n := range counts {
		if n >= seenMin && float64(n) >= shareMin*total && float64(n) > 1.5*mean {
			k.Hot = append(k.Hot, float64(n)/total)
			continue
		}
		rest++
		once += float64(min(1, max(0, 2-n)))
		if n == 2 {
			twice++
		}
	}
	slices.SortFunc(k.Hot, func(a, b float64) int { return cmp.Compare(b, a) })
	const mostlyNew = 0.5 // of the values: there are many more than the sample has
	if once <= mostlyNew*rest {
		k.Distinct = rest + once*once/(2*max(1, twice))
	}
	return k
}

// span is what a snapshot added between two values of a column.
type span struct {
	lower, upper string
	bytes        float64
}

// HeldShare is the share of the bytes that a query for one value reads, by the bounds of files alone: 1 where they do
// not help to find it. What one snapshot added counts as one: the roll-up makes one file of it and its neighbours,
// whose bounds enclose all of theirs. A value is taken to be in all that overlaps what it came with.
func HeldShare(files []table.FileInfo, column string) float64 {
	all, total := spansOf(files, column)
	if len(all) < 2 {
		return 1
	}
	const spansMax = 500 // compared with each other
	each := max(1, len(all)/spansMax)
	var known, held, asked float64
	for _, s := range all {
		known += s.bytes
	}
	for i := 0; i < len(all); i += each {
		asked++
		for _, s := range all {
			if !less(s.upper, all[i].lower) && !less(all[i].upper, s.lower) {
				held += s.bytes
			}
		}
	}
	return (held/asked + total - known) / total // files without bounds are always read
}

// spansOf joins the bounds of the files of each snapshot, in order of their ids, and sums up the bytes of all files.
func spansOf(files []table.FileInfo, column string) (all []span, total float64) {
	bySnapshot := map[int64]*span{}
	for _, f := range files {
		if f.Content != "data" {
			continue
		}
		total += float64(f.Bytes)
		for _, b := range f.Bounds {
			if b.Column != column || b.Lower == "" || b.Upper == "" {
				continue
			}
			s := bySnapshot[f.SnapshotID]
			if s == nil {
				s = &span{lower: b.Lower, upper: b.Upper}
				bySnapshot[f.SnapshotID] = s
			}
			if less(b.Lower, s.lower) {
				s.lower = b.Lower
			}
			if less(s.upper, b.Upper) {
				s.upper = b.Upper
			}
			s.bytes += float64(f.Bytes)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(bySnapshot)) {
		all = append(all, *bySnapshot[id])
	}
	return all, total
}

// less compares two bounds as they are printed: numbers by their value, dates and texts by their letters.
func less(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return x < y
	}
	return a < b
}

// OthersOf is how many combinations of the partition values beside those of the bucket fields a commit writes to on
// average, at least 1.
func OthersOf(files []table.FileInfo, specID int, buckets []string) float64 {
	combinations := map[int64]map[string]bool{}
	for _, f := range files {
		if f.Content != "data" || f.SpecID != specID {
			continue
		}
		parts := slices.DeleteFunc(strings.Split(f.Partition, "/"), func(part string) bool {
			name, _, _ := strings.Cut(part, "=")
			return slices.Contains(buckets, name)
		})
		if combinations[f.SnapshotID] == nil {
			combinations[f.SnapshotID] = map[string]bool{}
		}
		combinations[f.SnapshotID][strings.Join(parts, "/")] = true
	}
	sum := 0
	for _, c := range combinations {
		sum += len(c)
	}
	return max(1, float64(sum)/float64(max(1, len(combinations))))
}
