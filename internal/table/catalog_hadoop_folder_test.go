package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"
)

// Of those who put the same file exactly one does, and what is there is whole. The drafts are gone.
func TestFolderCreateRace(t *testing.T) {
	o := folderObjects{t.TempDir()}
	for version := range 50 {
		const writers = 8
		key := fmt.Sprintf("db/events/metadata/v%d.metadata.json", version+1)
		var won atomic.Int32
		var content string
		var group errgroup.Group
		for i := range writers {
			group.Go(func() error {
				text := fmt.Sprintf("writer %d", i)
				err := o.create(t.Context(), key, []byte(text))
				switch {
				case err == nil:
					won.Add(1)
					content = text
				case errors.Is(err, fs.ErrExist):
					err = nil
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		got, err := o.read(t.Context(), key)
		if err != nil || won.Load() != 1 || string(got) != content {
			t.Fatalf("%d writers made %s, which holds %q of %q, error %v", won.Load(), key, got, content, err)
		}
	}
	var names []string
	note := func(key string, _ []byte) { names = append(names, key) }
	if err := o.list(t.Context(), "db/events/metadata/", note); err != nil {
		t.Fatal(err)
	}
	if len(names) != 50 || !slices.Contains(names, "db/events/metadata/v50.metadata.json") {
		t.Errorf("the folder holds %v", names)
	}
}

// A claim of the library's own catalog, which an older version of firn committed through, blocks nobody.
func TestFolderStaleClaim(t *testing.T) {
	config := CatalogConfig{Type: "hadoop", Warehouse: t.TempDir()}
	table := startTable(t, openCatalog(t, config), "db.events")
	claim := filepath.Join(config.Warehouse, "db/events/metadata/v3.metadata.json.claim")
	if err := os.WriteFile(claim, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := committer(t, openCatalog(t, config), "db.events")
	a := flush(table, 0, 10)
	if out := commit(t, k, a); !slices.Equal(out.Committed, ids(a)) {
		t.Errorf("outcome %+v", out)
	}
	if got := rows(t, openCatalog(t, config), "db.events"); got != 10 {
		t.Errorf("%d rows, want 10", got)
	}
}

// A writer that slept finds the name of its next version free again, since old versions are deleted. It must see that
// the head is far above, though it looks only a step ahead while the folder shows it that nothing was deleted.
func TestFolderSleepingWriter(t *testing.T) {
	config := CatalogConfig{Type: "hadoop", Warehouse: t.TempDir()}
	c := openCatalog(t, config)
	table, err := c.Create(t.Context(), "db.events", CreateConfig{
		Schema: eventSchema(), Properties: map[string]string{
			"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	k := committer(t, c, "db.events")
	begin(t, k)
	commit(t, k, flush(table, 0, 12))
	ident := []string{"db", "events"}
	sleeper, ok := openCatalog(t, config).current.(*objectCatalog)
	if !ok {
		t.Fatal("a hadoop catalog is not an objectCatalog any more")
	}
	slept, err := sleeper.newest(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i < 5; i++ {
		commit(t, k, flush(table, 12*i, 12*i+12))
	}
	slept.number++
	if _, err := os.Stat(filepath.Join(config.Warehouse, slept.key(ident))); err == nil {
		t.Fatalf("version %d is still there: the test shows nothing", slept.number)
	}
	err = sleeper.publish(t.Context(), ident, slept, ErrUnsafe)
	if err == nil || !strings.Contains(err.Error(), "does not name it as one before it") {
		t.Errorf("a version below the head was put: %v", err)
	}
}

// Any state of the folder gives the head that a list of all gives, whatever was known.
func TestFolderWalkAgreesWithTheList(t *testing.T) {
	all, tries := t.TempDir(), 0
	rapid.Check(t, func(r *rapid.T) {
		tries++
		o, ident := folderObjects{filepath.Join(all, strconv.Itoa(tries))}, []string{"t"}
		first := rapid.IntRange(1, 5).Draw(r, "first")
		last := rapid.IntRange(first, first+6).Draw(r, "last")
		for n := first; n <= last; n++ {
			v := version{number: n, gzip: rapid.Bool().Draw(r, "gzip")}
			if err := o.create(t.Context(), v.key(ident), []byte("{}")); err != nil {
				r.Fatal(err)
			}
		}
		twice := version{number: rapid.IntRange(first, last).Draw(r, "twice"), gzip: true}
		if rapid.Bool().Draw(r, "there are two") {
			for _, gzip := range []bool{false, true} {
				twice.gzip = gzip
				if err := o.replace(t.Context(), twice.key(ident), []byte("{}")); err != nil {
					r.Fatal(err)
				}
			}
		}
		c := &objectCatalog{objects: o}
		want, _, wantErr := c.highest(t.Context(), ident, version{})
		got, _, err := c.highest(t.Context(), ident, version{number: rapid.IntRange(0, last).Draw(r, "known")})
		if wantErr == nil && (err != nil || got.number != want.number || got.gzip != want.gzip) {
			r.Errorf("version %d (gzip %t), %v; the list says %d (gzip %t)", got.number, got.gzip, err, want.number, want.gzip)
		}
		if wantErr != nil && err == nil && twice.number == got.number {
			r.Errorf("version %d is there twice, and was taken", got.number)
		}
	})
}
