package table

import (
	"errors"
	"slices"
	"testing"

	"firn/internal/record"
)

// A spec is changed, changed back, and files of writers that have the old one go on to be committed.
func TestRepartition(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		old, err := c.Create(t.Context(), o.ident, CreateConfig{
			Schema: eventSchema(), Partition: []string{"bucket(id, 4)"},
		})
		if err != nil {
			t.Fatal(err)
		}
		k := committer(t, c, o.ident)
		begin(t, k)
		old = mustRefresh(t, old)
		steps := [][]string{{"bucket(id, 16)"}, {}, {"bucket(id, 8)"}, {"bucket(id, 4)"}}
		now, next := old, int64(0)
		for _, fields := range steps {
			fresh, err := now.Repartition(t.Context(), fields)
			if err != nil {
				t.Fatalf("%v: %v", fields, err)
			}
			if got := fresh.PartitionTexts(); !slices.Equal(got, fields) {
				t.Errorf("fields %v, want %v", got, fields)
			}
			now = fresh
			s := flush(old, next, next+10) // by a writer that has not loaded it again
			s.Files[0].Partition = []record.PartitionValue{value(old.Partition()[0], int32(1))}
			next += 10
			if out := commit(t, k, s); len(out.Committed) != 1 {
				t.Fatalf("%v: committed %v", fields, out.Committed)
			}
			now = mustRefresh(t, now)
		}
		if now.SpecID() != old.SpecID() {
			t.Errorf("the first spec has id %d, and the same fields %d", old.SpecID(), now.SpecID())
		}
		files, err := now.Files(t.Context(), FilesOptions{})
		if err != nil || len(files) != len(steps) {
			t.Errorf("%d files, error %v", len(files), err)
		}
	})
}

func mustRefresh(t *testing.T, was *Table) *Table {
	t.Helper()
	fresh, err := was.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}

// Two that change the spec at once: the second is told, and changes nothing.
func TestRepartitionOfAStaleTable(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	stale := createTable(t, c, "db.events")
	if _, err := stale.Repartition(t.Context(), []string{"bucket(id, 8)"}); err != nil {
		t.Fatal(err)
	}
	if _, err := stale.Repartition(t.Context(), []string{"bucket(id, 32)"}); !errors.Is(err, ErrSpecMoved) {
		t.Errorf("error %v", err)
	}
	if got := mustRefresh(t, stale).PartitionTexts(); !slices.Equal(got, []string{"bucket(id, 8)"}) {
		t.Errorf("fields %v", got)
	}
	for _, bad := range []string{"bucket(id)", "bucket(nope, 4)"} {
		if _, err := mustRefresh(t, stale).Repartition(t.Context(), []string{bad}); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
