package table

import (
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// partitionCases are partition values of every type that has a form of its own in a manifest.
func partitionCases() []struct {
	field     record.Type
	transform string
	value     []byte
} {
	id := uuid.MustParse("f79c3e09-677c-4bbd-a479-3f349cb785e7")
	return []struct {
		field     record.Type
		transform string
		value     []byte
	}{
		{typ(record.KindBoolean), "f", []byte{1}},
		{typ(record.KindInt), "f", []byte{1, 2, 3, 4}},
		{typ(record.KindLong), "f", []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{typ(record.KindFloat), "f", []byte{0, 0, 0x80, 0x3f}},
		{typ(record.KindDouble), "f", []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{typ(record.KindDate), "f", []byte{1, 2, 0, 0}},
		{typ(record.KindTime), "f", []byte{1, 2, 3, 0, 0, 0, 0, 0}},
		{typ(record.KindTimestamp), "f", []byte{1, 2, 3, 4, 5, 0, 0, 0}},
		{typ(record.KindTimestampTZ), "f", []byte{1, 2, 3, 4, 5, 0, 0, 0}},
		{typ(record.KindTimestampNs), "f", []byte{1, 2, 3, 4, 5, 0, 0, 0}},
		{typ(record.KindTimestampTZNs), "day(f)", []byte{50, 50, 0, 0}},
		{typ(record.KindUUID), "f", id[:]},
		{record.Type{Kind: record.KindFixed, Length: 3}, "f", []byte{1, 2, 3}},
		{typ(record.KindBinary), "f", []byte{0, 255}},
		{typ(record.KindString), "f", []byte("ann/\u00e9")},
		{typ(record.KindString), "f", []byte("")},
		{record.Type{Kind: record.KindDecimal, Precision: 9, Scale: 2}, "f", big.NewInt(12345).Bytes()},
		{record.Type{Kind: record.KindDecimal, Precision: 9, Scale: 2}, "f", []byte{0xff}},
		{record.Type{Kind: record.KindDecimal, Precision: 38, Scale: 10}, "f", []byte{0x80, 0, 0, 0, 0, 0, 0, 0, 1}},
		{typ(record.KindString), "bucket(f, 16)", []byte{15, 0, 0, 0}},
		{typ(record.KindString), "truncate(f, 3)", []byte("ann")},
		{typ(record.KindDate), "year(f)", []byte{50, 0, 0, 0}},
		{typ(record.KindTimestamp), "month(f)", []byte{50, 1, 0, 0}},
		{typ(record.KindTimestampTZ), "day(f)", []byte{50, 50, 0, 0}},
		{typ(record.KindTimestamp), "hour(f)", []byte{50, 50, 5, 0}},
		{typ(record.KindString), "void(f)", nil},
		{typ(record.KindLong), "f", nil},
	}
}

// C79: partition values come out of the manifest as they went in, and the table's path for them exists.
func TestDataFilePartition(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	for i, p := range partitionCases() {
		name := p.field.String() + " " + p.transform
		ident := fmt.Sprintf("db.t%d", i)
		config := CreateConfig{
			Schema:    &record.Schema{Fields: []record.Field{{Name: "f", Type: p.field}}},
			Partition: []string{p.transform}, Properties: map[string]string{"format-version": "2"},
		}
		if needsV3("", config.Schema.Fields) != "" {
			config.Properties["format-version"] = "3"
		}
		table, err := c.Create(t.Context(), ident, config)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := flush(table, 0, 10)
		f := table.Partition()[0]
		s.Files[0].Partition = []record.PartitionValue{{
			FieldID: f.FieldID, Null: p.value == nil, Value: p.value, Type: f.Result,
		}}
		if s.Files[0].Path, err = table.DataPath(s.Files[0].Partition, s.ID+".parquet"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		k := committer(t, c, ident)
		begin(t, k)
		commit(t, k, s)
		fresh, err := c.Load(t.Context(), ident)
		if err != nil {
			t.Fatal(err)
		}
		files := dataFiles(t, fresh)
		if len(files) != 1 {
			t.Fatalf("%s: %d files", name, len(files))
		}
		want, _, err := partitionValue(s.Files[0].Partition[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := files[0].Partition()[f.FieldID]; !sameValue(got, want) {
			t.Errorf("%s: partition value %T %v, want %T %v", name, got, got, want, want)
		}
	}
}

// sameValue compares partition values; the library reads a decimal back as a literal.
func sameValue(got, want any) bool {
	if l, ok := got.(iceberg.DecimalLiteral); ok {
		got = iceberg.Decimal(l)
	}
	return reflect.DeepEqual(got, want)
}

func TestDataFileMetrics(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		t.Run("format version "+version, func(t *testing.T) {
			c := openCatalog(t, sqlConfig(t))
			table, err := c.Create(t.Context(), "db.events", CreateConfig{
				Schema: eventSchema(), Properties: map[string]string{"format-version": version},
			})
			if err != nil {
				t.Fatal(err)
			}
			k := committer(t, c, "db.events")
			begin(t, k)
			full, bare := flush(table, 0, 10), flush(table, 10, 20)
			want := full.Files[0]
			want.ColumnSizes = map[int]int64{1: 100, 2: 50}
			want.ValueCounts = map[int]int64{1: 10, 2: 10}
			want.NullValueCounts = map[int]int64{2: 3}
			want.NaNValueCounts = map[int]int64{3: 1}
			want.LowerBounds = map[int][]byte{1: {0, 0, 0, 0, 0, 0, 0, 0}}
			want.UpperBounds = map[int][]byte{1: {9, 0, 0, 0, 0, 0, 0, 0}}
			want.SplitOffsets = []int64{4, 500}
			full.Files[0] = want
			commit(t, k, full, bare)
			fresh, err := c.Load(t.Context(), "db.events")
			if err != nil {
				t.Fatal(err)
			}
			files := dataFiles(t, fresh)
			i := slices.IndexFunc(files, func(f iceberg.DataFile) bool { return f.FilePath() == want.Path })
			if len(files) != 2 || i < 0 {
				t.Fatalf("files %v", files)
			}
			got := recordFile(files[i])
			got.SchemaID = want.SchemaID
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func recordFile(f iceberg.DataFile) record.DataFile {
	return record.DataFile{
		Path: f.FilePath(), SpecID: int(f.SpecID()), Rows: f.Count(), SizeBytes: f.FileSizeBytes(),
		ColumnSizes: maps.Clone(f.ColumnSizes()), ValueCounts: maps.Clone(f.ValueCounts()),
		NullValueCounts: maps.Clone(f.NullValueCounts()), NaNValueCounts: maps.Clone(f.NaNValueCounts()),
		LowerBounds: maps.Clone(f.LowerBoundValues()), UpperBounds: maps.Clone(f.UpperBoundValues()),
		SplitOffsets: f.SplitOffsets(),
	}
}

// A partition value that does not fit its spec is refused before anything is written.
func TestDataFilePartitionFaults(t *testing.T) {
	table := partitioned(t, nil, "")
	f := table.Partition()
	good := func() []record.PartitionValue {
		return []record.PartitionValue{value(f[0], "a"), value(f[1], int32(1)), value(f[2], int32(1))}
	}
	for name, spoil := range map[string]func([]record.PartitionValue) []record.PartitionValue{
		"too few": func(p []record.PartitionValue) []record.PartitionValue { return p[:2] },
		"order":   func(p []record.PartitionValue) []record.PartitionValue { slices.Reverse(p); return p },
		"length":  func(p []record.PartitionValue) []record.PartitionValue { p[1].Value = []byte{1}; return p },
		"type":    func(p []record.PartitionValue) []record.PartitionValue { p[1].Type = record.Type{}; return p },
	} {
		file := flush(table, 0, 10).Files[0]
		file.Partition = good()
		if _, err := table.icebergFile(file); err != nil {
			t.Fatal(err)
		}
		file.Partition = spoil(good())
		if _, err := table.icebergFile(file); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}
