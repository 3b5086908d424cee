package table

import (
	"fmt"
	"testing"

	"firn/internal/record"

	"github.com/google/uuid"
)

// BenchmarkCommit commits 64 files at a time, one in each bucket, to a table in a SQLite catalog that grows by it.
func BenchmarkCommit(b *testing.B) {
	for _, merge := range []string{"false", "true"} {
		b.Run("merge manifests "+merge, func(b *testing.B) { benchmarkCommit(b, merge) })
	}
}

func benchmarkCommit(b *testing.B, merge string) {
	dir := b.TempDir()
	c, err := OpenCatalog(b.Context(), CatalogConfig{Type: "sql", URI: dir + "/db", Warehouse: dir + "/w"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	table, err := c.Create(b.Context(), "db.events", CreateConfig{
		Schema: eventSchema(), Partition: []string{"bucket(id, 64)"},
		Properties: map[string]string{"commit.manifest-merge.enabled": merge},
	})
	if err != nil {
		b.Fatal(err)
	}
	k, err := NewCommitter(c, "db.events", "job", CommitterOptions{Fold: fold})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := k.SetFloor(b.Context(), func(record.Floor) (record.Floor, error) { return floorAt(0), nil }); err != nil {
		b.Fatal(err)
	}
	var next int64
	for b.Loop() {
		s := bucketFlush(table, next)
		if _, err := k.Commit(b.Context(), []record.Sealed{s}); err != nil {
			b.Fatal(err)
		}
		next = s.Ranges[0].To
	}
}

// bucketFlush is a flush of one row in each of 64 buckets, with metrics of three columns.
func bucketFlush(t *Table, from int64) record.Sealed {
	s := flush(t, from, from+64)
	f := t.Partition()[0]
	s.Files = nil
	for bucket := range int32(64) {
		counts := map[int]int64{1: 1, 2: 1, 3: 1}
		bounds := map[int][]byte{1: make([]byte, 8), 2: []byte("name"), 3: make([]byte, 8)}
		s.Files = append(s.Files, record.DataFile{
			Path:      fmt.Sprintf("%s/data/%s.parquet", t.Location(), uuid.NewString()),
			Partition: []record.PartitionValue{value(f, bucket)}, Rows: 1, SizeBytes: 1000,
			ColumnSizes: counts, ValueCounts: counts, NullValueCounts: counts, LowerBounds: bounds, UpperBounds: bounds,
			SplitOffsets: []int64{4},
		})
	}
	return s
}
