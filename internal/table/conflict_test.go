package table

import (
	"testing"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// interrupted is a committer that lets other happen after it has looked at the table and before it commits, once.
func interrupted(t *testing.T, c *Catalog, ident string, other func()) *Committer {
	t.Helper()
	calls := 0
	k, err := NewCommitter(c, ident, "job", CommitterOptions{
		Fold: func(floor record.Floor, sealed []record.Sealed) (record.Floor, []int) {
			if calls++; calls == 1 {
				other()
			}
			return fold(floor, sealed)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// C16, C34: two committers of one job with the same flush, as when a message reaches both. One of them commits it, on
// a head that the other has moved meanwhile the other sees it.
func TestConflictSameFlush(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		a, b := flush(table, 0, 10), flush(table, 10, 20)
		k := interrupted(t, c, o.ident, func() { commit(t, committer(t, o.again(t), o.ident), a) })
		out := commit(t, k, a, b)
		want := Outcome{
			SnapshotID: out.SnapshotID, Floor: floorAt(20), Committed: ids(a, b), Attempts: 2, Conflicts: 1,
		}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		if got := rows(t, c, o.ident); got != 20 {
			t.Errorf("%d rows, want 20", got)
		}
	})
}

// C02, C03: a zombie committer with an older range loses to the one that took over.
func TestConflictZombie(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		mine, theirs := flush(table, 0, 10), flush(table, 0, 12)
		k := interrupted(t, c, o.ident, func() { commit(t, committer(t, o.again(t), o.ident), theirs) })
		out := commit(t, k, mine)
		want := Outcome{Floor: floorAt(12), Rejected: ids(mine), Attempts: 1, Conflicts: 1}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		if got := rows(t, c, o.ident); got != 12 {
			t.Errorf("%d rows, want 12", got)
		}
	})
}

// C40: another program appends or compacts at the same time; its snapshot has no floor, and stays.
func TestConflictForeignWriter(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		a := flush(table, 0, 10)
		commit(t, committer(t, c, o.ident), a)
		for name, foreign := range map[string]func(){
			"append":   func() { foreignAppend(t, o.again(t), o.ident, 5) },
			"compact":  func() { foreignRewrite(t, o.again(t), o.ident) },
			"property": func() { foreignProperty(t, o.again(t), o.ident) },
		} {
			t.Run(name, func(t *testing.T) {
				before := rows(t, c, o.ident)
				at, _ := floorOf(t, committer(t, c, o.ident)).Next(partition0)
				b := flush(table, at, at+10)
				out := commit(t, interrupted(t, c, o.ident, foreign), b)
				if diff := cmp.Diff(ids(b), out.Committed); diff != "" {
					t.Errorf("committed (-want +got):\n%s", diff)
				}
				want := before + 10
				if name == "append" {
					want += 5
				}
				if got := rows(t, c, o.ident); got != want {
					t.Errorf("%d rows, want %d", got, want)
				}
			})
		}
	})
}

// C41: many writers to one table, each job with its own floor: all commits land.
func TestConflictManyJobs(t *testing.T) {
	const jobs, commits = 4, 5
	c := openCatalog(t, restConfig(serveREST(t)))
	table := createTable(t, c, restIdent())
	var group errgroup.Group
	for j := range jobs {
		k, err := NewCommitter(c, table.Ident(), string(rune('a'+j)), CommitterOptions{Fold: fold})
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() error {
			_, err := k.SetFloor(t.Context(), func(record.Floor) (record.Floor, error) { return floorAt(0), nil })
			for i := range int64(commits) {
				if err == nil {
					_, err = k.Commit(t.Context(), []record.Sealed{flush(table, 10*i, 10*i+10)})
				}
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, c, table.Ident()); got != jobs*commits*10 {
		t.Errorf("%d rows, want %d", got, jobs*commits*10)
	}
	fresh, err := table.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys := fresh.FloorKeys()
	for j := range jobs {
		if got := keys[offsetsKey(string(rune('a'+j)))]; got != jsonText(floorAt(commits*10)) {
			t.Errorf("floor of job %c is %s", 'a'+j, got)
		}
	}
}

// foreignAppend appends a file as a program that knows nothing of firn.
func foreignAppend(t *testing.T, c *Catalog, ident string, count int64) {
	t.Helper()
	table, err := c.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	f, err := table.icebergFile(flush(table, 0, count).Files[0])
	if err != nil {
		t.Fatal(err)
	}
	tx := table.inner.NewTransaction()
	if err := tx.AddDataFiles(t.Context(), []iceberg.DataFile{f}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// foreignRewrite replaces all files by one of as many rows, as a compaction that drops the floor from the head.
func foreignRewrite(t *testing.T, c *Catalog, ident string) {
	t.Helper()
	table, err := c.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	f, err := table.icebergFile(flush(table, 0, rows(t, c, ident)).Files[0])
	if err != nil {
		t.Fatal(err)
	}
	tx := table.inner.NewTransaction()
	if err := tx.ReplaceDataFilesWithDataFiles(
		t.Context(), dataFiles(t, table), []iceberg.DataFile{f}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func foreignProperty(t *testing.T, c *Catalog, ident string) {
	t.Helper()
	table, err := c.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	tx := table.inner.NewTransaction()
	if err := tx.SetProperties(iceberg.Properties{"owner": "another"}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}
