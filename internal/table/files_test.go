package table

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFiles(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	config := CreateConfig{Schema: eventSchema(), Partition: []string{"name", "day(at)", "bucket(id, 4)"}}
	if _, err := c.Create(t.Context(), "db.events", config); err != nil {
		t.Fatal(err)
	}
	appendJSON(t, c, "db.events", `[{"id": 1, "name": "a", "at": "2026-01-01 10:00:00.5Z"},
		{"id": 1, "name": "a", "at": "2026-01-01 11:00:00Z"}, {"id": 2, "name": null, "at": null}]`)
	table := reload(t, c, "db.events")
	files, err := table.Files(t.Context(), FilesOptions{Bounds: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Fatalf("%d files, want 2", len(files))
	}
	a, null := files[0], files[1]
	if a.Partition != "name=a/at_day=2026-01-01/id_bucket=0" ||
		!strings.HasPrefix(null.Partition, "name=null/at_day=null/") {
		t.Errorf("partitions %s and %s", a.Partition, null.Partition)
	}
	if a.Rows != 2 || a.Bytes == 0 || a.RowGroups != 1 || a.Content != "data" || a.Format != "parquet" ||
		a.SequenceNumber != 1 || a.SnapshotID != table.inner.CurrentSnapshot().SnapshotID {
		t.Errorf("file %+v", a)
	}
	for i := range a.Bounds {
		if a.Bounds[i].Bytes <= 0 {
			t.Errorf("column %s has %d bytes", a.Bounds[i].Column, a.Bounds[i].Bytes)
		}
		a.Bounds[i].Bytes = 0
	}
	want := []Bound{
		{"id", "1", "1", 0, 0}, {"name", "a", "a", 0, 0}, {"at", "2026-01-01T10:00:00.5Z", "2026-01-01T11:00:00Z", 0, 0},
	}
	if d := cmp.Diff(want, a.Bounds); d != "" {
		t.Errorf("bounds (-want +got):\n%s", d)
	}
	if b := null.Bounds[1]; b.Lower != "" || b.Upper != "" || b.Nulls != 1 {
		t.Errorf("bounds of nulls %+v", b)
	}
}

func TestFilesOfSnapshot(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	if files, err := createTable(t, c, "db.empty").Files(t.Context(), FilesOptions{}); err != nil || len(files) != 0 {
		t.Errorf("empty table: %v, %v", files, err)
	}
	k := committer(t, c, "db.events")
	first := commit(t, k, flush(table, 0, 10))
	commit(t, k, flush(table, 10, 25))
	table = reload(t, c, "db.events")
	rowsOf := func(snapshot int64) []int64 {
		files, err := table.Files(t.Context(), FilesOptions{SnapshotID: snapshot})
		if err != nil {
			t.Fatal(err)
		}
		var rows []int64
		for _, f := range files {
			rows = append(rows, f.Rows)
		}
		slices.Sort(rows)
		return rows
	}
	if d := cmp.Diff([]int64{10, 15}, rowsOf(0)); d != "" {
		t.Errorf("head (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]int64{10}, rowsOf(first.SnapshotID)); d != "" {
		t.Errorf("first commit (-want +got):\n%s", d)
	}
	if _, err := table.Files(t.Context(), FilesOptions{SnapshotID: 5}); err == nil ||
		!strings.Contains(err.Error(), "no snapshot 5") {
		t.Errorf("got %v", err)
	}
}

// Bounds are printed as values of every type, by what the table's schema says of the field.
func TestBoundText(t *testing.T) {
	tests := []struct {
		column string
		raw    []byte
		want   string
	}{
		{"boolean", []byte{1}, "true"},
		{"int", []byte{0xff, 0xff, 0xff, 0xff}, "-1"},
		{"long", []byte{1, 0, 0, 0, 0, 0, 0, 0}, "1"},
		{"long", []byte{0xff, 0xff, 0xff, 0xff}, "-1"}, // of a file written when the column was an int
		{"float", []byte{0, 0, 0xc0, 0x3f}, "1.5"},
		{"double", []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, "1.5"},
		{"double", []byte{0, 0, 0xc0, 0x3f}, "1.5"}, // written as a float
		{"decimal", []byte{0xfb}, "-0.05"},
		{"big", []byte{1, 0}, "0.0000000256"},
		{"date", []byte{0xff, 0xff, 0xff, 0xff}, "1969-12-31"},
		{"time", []byte{1, 0, 0, 0, 0, 0, 0, 0}, "00:00:00.000001"},
		{"timestamp", []byte{0, 0, 0, 0, 0, 0, 0, 0}, "1970-01-01T00:00:00"},
		{"timestamptz", []byte{0, 0, 0, 0, 0, 0, 0, 0}, "1970-01-01T00:00:00Z"},
		{"timestamp_ns", []byte{1, 0, 0, 0, 0, 0, 0, 0}, "1970-01-01T00:00:00.000000001"},
		{"string", []byte("ü"), "ü"},
		{"uuid", make([]byte, 16), "00000000-0000-0000-0000-000000000000"},
		{"fixed", []byte{1, 2}, "0102"},
		{"binary", []byte{0xca, 0xfe}, "cafe"},
		{"int", []byte{1}, "0x01"}, // does not fit the type
	}
	for _, tt := range tests {
		t.Run(tt.column, func(t *testing.T) {
			_, field, ok := findColumn(everyType(), tt.column)
			if !ok {
				t.Fatal("no such column")
			}
			if got := boundText(field.Type, tt.raw); got != tt.want {
				t.Errorf("%x: got %s, want %s", tt.raw, got, tt.want)
			}
		})
	}
}

// A file keeps the partition spec that it was written with.
func TestFilesOfOlderSpec(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	config := CreateConfig{Schema: eventSchema(), Partition: []string{"name"}}
	if _, err := c.Create(t.Context(), "db.events", config); err != nil {
		t.Fatal(err)
	}
	appendJSON(t, c, "db.events", `[{"id": 1, "name": "a"}]`)
	tx := reload(t, c, "db.events").inner.NewTransaction()
	if err := tx.UpdateSpec(true).RemoveField("name").Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	appendJSON(t, c, "db.events", `[{"id": 2, "name": "b"}]`)
	files, err := reload(t, c, "db.events").Files(t.Context(), FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Partition)
	}
	if d := cmp.Diff([]string{"", "name=a"}, got); d != "" {
		t.Errorf("partitions (-want +got):\n%s", d)
	}
}
