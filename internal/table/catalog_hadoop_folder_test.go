package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
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
