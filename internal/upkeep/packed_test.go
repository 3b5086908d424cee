package upkeep

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"firn/internal/record"
)

// described draws a description with every field set that a part has of its own.
func described() *rapid.Generator[record.DataFile] {
	numbers := rapid.MapOf(rapid.IntRange(1, 5000), rapid.Int64Range(0, 1<<50))
	bounds := rapid.MapOf(rapid.IntRange(1, 5000), rapid.SliceOf(rapid.Byte()))
	return rapid.Custom(func(t *rapid.T) record.DataFile {
		return record.DataFile{
			Rows: rapid.Int64Range(0, 1<<40).Draw(t, "rows"), SizeBytes: rapid.Int64Range(0, 1<<40).Draw(t, "size"),
			ColumnSizes: numbers.Draw(t, "sizes"), ValueCounts: numbers.Draw(t, "values"),
			NullValueCounts: numbers.Draw(t, "nulls"), NaNValueCounts: numbers.Draw(t, "nans"),
			LowerBounds: bounds.Draw(t, "lower"), UpperBounds: bounds.Draw(t, "upper"),
			Lineage: record.Lineage{
				FirstRowID: rapid.Int64Min(0).Draw(t, "row"), SequenceNumber: rapid.Int64Min(0).Draw(t, "sequence"),
			},
			SplitOffsets: rapid.SliceOf(rapid.Int64Range(0, 1<<50)).Draw(t, "splits"),
		}
	})
}

func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := described().Draw(t, "file")
		var got record.DataFile
		pack(&want).unpack(&got)
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("unpacked (-want +got):\n%s", d)
		}
	})
}

// An empty bound is the empty text: it must not become no bound.
func TestPackEmptyBound(t *testing.T) {
	var got record.DataFile
	pack(&record.DataFile{LowerBounds: map[int][]byte{3: {}}}).unpack(&got)
	if b, ok := got.LowerBounds[3]; !ok || b == nil || len(b) != 0 {
		t.Errorf("got %v, %t", b, ok)
	}
}

// A part is described by what its group has in common, its path, and what is packed: no field may be left out.
func TestEveryFieldIsDescribed(t *testing.T) {
	var want record.DataFile
	v := reflect.ValueOf(&want).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case string:
			f.SetString("mem://a")
		case int:
			if v.Type().Field(i).Name != "SortOrderID" { // a joined file has none, whatever its parts have
				f.SetInt(int64(i + 1))
			}
		case int64:
			if name := v.Type().Field(i).Name; name != "Offset" && name != "Refused" { // of write streams, not of files
				f.SetInt(int64(i + 1))
			}
		case []int64:
			f.Set(reflect.ValueOf([]int64{4, 900}))
		case map[int]int64:
			f.Set(reflect.ValueOf(map[int]int64{i + 1: 7, 400: 1 << 40}))
		case map[int][]byte:
			f.Set(reflect.ValueOf(map[int][]byte{i + 1: []byte("low")}))
		case record.Lineage:
			f.Set(reflect.ValueOf(record.Lineage{FirstRowID: 1 << 50, SequenceNumber: 9}))
		case []record.PartitionValue:
			f.Set(reflect.ValueOf(inPartition(3)))
		default:
			t.Fatalf("a field of a type that the test does not know: %s %s", v.Type().Field(i).Name, f.Type())
		}
	}
	b := newBacklog(policy{target: 1000}, knownBytesMax)
	b.add(&want, pack(&want), b0)
	if d := cmp.Diff(want, b.parts["mem://a"].describe()); d != "" {
		t.Errorf("described (-want +got):\n%s", d)
	}
}

func TestGroupKey(t *testing.T) {
	file := func(change func(*record.DataFile)) record.DataFile {
		f := record.DataFile{SpecID: 1, SchemaID: 2, SortOrderID: 3, Partition: inPartition(4), Path: "a", Rows: 9}
		change(&f)
		return f
	}
	base := file(func(*record.DataFile) {})
	for name, c := range map[string]struct {
		change func(*record.DataFile)
		same   bool
	}{
		"another file":      {func(f *record.DataFile) { f.Path, f.Rows, f.SizeBytes = "b", 1, 2 }, true},
		"another spec":      {func(f *record.DataFile) { f.SpecID = 2 }, false},
		"another schema":    {func(f *record.DataFile) { f.SchemaID = 1 }, false},
		"another order":     {func(f *record.DataFile) { f.SortOrderID = 0 }, true},
		"another value":     {func(f *record.DataFile) { f.Partition = inPartition(5) }, false},
		"null":              {func(f *record.DataFile) { f.Partition[0].Null, f.Partition[0].Value = true, nil }, false},
		"not partitioned":   {func(f *record.DataFile) { f.Partition = nil }, false},
		"one value more":    {func(f *record.DataFile) { f.Partition = append(inPartition(4), inPartition(4)...) }, false},
		"an empty text":     {func(f *record.DataFile) { f.Partition = []record.PartitionValue{{FieldID: 1000}} }, false},
		"another field, id": {func(f *record.DataFile) { f.Partition = inPartition(4); f.Partition[0].FieldID++ }, false},
	} {
		other := file(c.change)
		if same := groupKey(&base) == groupKey(&other); same != c.same {
			t.Errorf("%s: same group %t", name, same)
		}
	}
}
