package table

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What a commit was told of a file is what the table tells of it, whatever the type of its partition value, so that the
// file can be replaced after a restart.
func TestLiveData(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	for i, p := range partitionCases() {
		t.Run(p.field.String()+" "+p.transform, func(t *testing.T) {
			ident := fmt.Sprintf("db.t%d", i)
			table, err := c.Create(t.Context(), ident, CreateConfig{
				Schema:    &record.Schema{Fields: []record.Field{{Name: "f", Type: p.field}}},
				Partition: []string{p.transform}, Properties: map[string]string{"format-version": "3"},
			})
			if err != nil {
				t.Fatal(err)
			}
			k := committer(t, c, ident)
			begin(t, k)
			first, second, other := flush(table, 0, 10), flush(table, 10, 20), flush(table, 20, 30)
			f := table.Partition()[0]
			value := record.PartitionValue{FieldID: f.FieldID, Null: p.value == nil, Value: p.value, Type: f.Result}
			for _, s := range []record.Sealed{first, second, other} {
				s.Files[0].Partition = []record.PartitionValue{value}
				s.Files[0].ColumnSizes = map[int]int64{1: 10}
				s.Files[0].SplitOffsets = []int64{4}
			}
			other.Files[0].ColumnSizes = map[int]int64{1: 10, 2: 10} // of a schema that the table no longer has
			commit(t, k, first)
			commit(t, k, second)
			commit(t, k, other)
			var got []record.DataFile
			seen := func(f record.DataFile, since time.Time) {
				if f.Lineage.SequenceNumber < 2 {
					t.Errorf("%s has lineage %+v", f.Path, f.Lineage)
				}
				f.Lineage = record.Lineage{}
				got = append(got, f)
				if age := time.Since(since); age > time.Hour {
					t.Errorf("%s is visible since %s", f.Path, since)
				}
			}
			err = reload(t, c, ident).LiveData(t.Context(), table.Schema(), 1_000_000, seen)
			if err != nil {
				t.Fatal(err)
			}
			want := []record.DataFile{first.Files[0], second.Files[0]}
			byPath := cmpopts.SortSlices(func(a, b record.DataFile) bool { return a.Path < b.Path })
			if diff := cmp.Diff(want, got, byPath, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("live files (-want +got):\n%s", diff)
			}
			r := joined(table, first, second)
			if out := commitWith(t, committer(t, c, ident), nil, r); !slices.Equal(out.Replaced, []string{r.ID}) {
				t.Errorf("outcome %+v", out)
			}
		})
	}
}
