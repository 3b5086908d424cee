package table

import (
	"encoding/binary"
	"strings"
	"testing"

	"firn/internal/record"
)

// value is a partition value of a field: nil, an int32, an int64 or a string.
func value(f PartitionField, v any) record.PartitionValue {
	p := record.PartitionValue{FieldID: f.FieldID, Type: f.Result}
	switch v := v.(type) {
	case nil:
		p.Null = true
	case int32:
		p.Value = binary.LittleEndian.AppendUint32(nil, uint32(v))
	case int64:
		p.Value = binary.LittleEndian.AppendUint64(nil, uint64(v))
	case string:
		p.Value = []byte(v)
	}
	return p
}

func partitioned(t *testing.T, properties map[string]string, location string) *Table {
	t.Helper()
	table, err := openCatalog(t, sqlConfig(t)).Create(t.Context(), "db.events", CreateConfig{
		Schema: eventSchema(), Partition: []string{"name", "bucket(id, 64)", "day(at)"}, Properties: properties,
		Location: location,
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestDataPath(t *testing.T) {
	table := partitioned(t, nil, "")
	f := table.Partition()
	for _, c := range []struct {
		name        any
		bucket, day any
		want        string
	}{
		{"ann", int32(7), int32(20000), "name=ann/id_bucket=7/at_day=2024-10-04/x.parquet"},
		{nil, nil, nil, "name=null/id_bucket=null/at_day=null/x.parquet"},
		{"", int32(0), int32(-1), "name=/id_bucket=0/at_day=1969-12-31/x.parquet"},
		{"a b", int32(0), int32(0), "name=a+b/id_bucket=0/at_day=1970-01-01/x.parquet"},
		{"a/b", int32(0), int32(0), "name=a_2Fb/id_bucket=0/at_day=1970-01-01/x.parquet"},
		{"..", int32(0), int32(0), "name=../id_bucket=0/at_day=1970-01-01/x.parquet"},
	} {
		got, err := table.DataPath([]record.PartitionValue{value(f[0], c.name), value(f[1], c.bucket), value(f[2], c.day)},
			"x.parquet")
		if err != nil {
			t.Fatal(err)
		}
		if want := table.Location() + "/data/" + c.want; got != want {
			t.Errorf("path\n%s, want\n%s", got, want)
		}
	}
	if _, err := table.DataPath(nil, "x.parquet"); err == nil {
		t.Error("a path without partition values")
	}
	bad := value(f[1], "x")
	if _, err := table.DataPath([]record.PartitionValue{value(f[0], nil), bad, value(f[2], nil)}, "x"); err == nil {
		t.Error("a path of a bucket of one byte")
	}
}

func TestDataPathProperties(t *testing.T) {
	at := func(t *testing.T, table *Table) string {
		f := table.Partition()
		got, err := table.DataPath([]record.PartitionValue{
			value(f[0], "a/b"), value(f[1], int32(1)), value(f[2], int32(0)),
		}, "x.parquet")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	elsewhere := partitioned(t, map[string]string{"write.data.path": "s3://bucket/files"}, "")
	if got := at(t, elsewhere); !strings.HasPrefix(got, "s3://bucket/files/name=a") {
		t.Errorf("with write.data.path: %s", got)
	}
	hashed := partitioned(t, map[string]string{"write.object-storage.enabled": "true"}, "")
	if got := at(t, hashed); !strings.HasSuffix(got, "/name=a_2Fb/id_bucket=1/at_day=1970-01-01/x.parquet") ||
		strings.Count(got, "/") != strings.Count(hashed.Location(), "/")+9 {
		t.Errorf("with write.object-storage.enabled: %s", got)
	}
	bare := partitioned(t, map[string]string{
		"write.object-storage.enabled": "true", "write.object-storage.partitioned-paths": "false",
	}, "")
	if got := at(t, bare); strings.Contains(got, "name=") || !strings.HasSuffix(got, "-x.parquet") {
		t.Errorf("with hashed paths without partitions: %s", got)
	}
}
