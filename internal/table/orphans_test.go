package table

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
)

func TestPathKey(t *testing.T) {
	for _, path := range []string{
		"s3://bucket/t/data/x", "s3a://bucket/t/data/x", "gs://b/t/data/x", "abfs://c@account.dfs.core.windows.net/t/data/x",
		"file:/t/data/x", "file:///t/data/x", "file://localhost/t/data/x", "/t/data/x", "/t//data/x", "file:///t/./data/x",
	} {
		if got := pathKey(path); got != "/t/data/x" {
			t.Errorf("%s has the key %s", path, got)
		}
	}
	var keys []string
	eachKey("file:///a%20b/x", func(key string) { keys = append(keys, key) })
	if want := []string{"/a%20b/x", "/a b/x"}; !slices.Equal(keys, want) {
		t.Errorf("keys %v, want %v", keys, want)
	}
}

func TestWithoutChecksum(t *testing.T) {
	for key, want := range map[string]string{
		"/t/data/.x.parquet.crc": "/t/data/x.parquet", "/t/data/x.crc": "/t/data/x.crc", "/t/data/.x": "/t/data/.x",
	} {
		if got := withoutChecksum(key); got != want {
			t.Errorf("%s belongs to %s, want %s", key, got, want)
		}
	}
}

// strays puts files into the table's folders that nothing refers to, and gives their keys.
func (h *kept) strays(names ...string) []string {
	h.t.Helper()
	var keys []string
	for _, name := range names {
		path := h.table().Location() + "/" + name
		write(h.t, h.table().Store(), path, "stray")
		keys = append(keys, pathKey(path))
	}
	slices.Sort(keys)
	return keys
}

func (h *kept) find(p OrphanPolicy) Orphans {
	h.t.Helper()
	found, err := h.k.Orphans(h.t.Context(), p)
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

func keysOf(found Orphans) []string {
	keys := []string{}
	for _, f := range found.Files {
		keys = append(keys, pathKey(f.Path))
	}
	slices.Sort(keys)
	return keys
}

func TestOrphans(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		h := newKept(t, o.again(t), o.ident)
		h.commit(7)
		h.expire(ExpirePolicy{SnapshotsMax: 3, Batch: 1}) // its files wait on a list
		want := h.strays("data/a.parquet", "data/day=1/b.parquet", "metadata/snap-1-x.avro", "elsewhere/c")
		policy := OrphanPolicy{OlderThan: soon, Force: true}
		found := h.find(policy)
		if d := cmp.Diff(want, keysOf(found)); d != "" {
			t.Fatalf("orphans (-want +got):\n%s", d)
		}
		if found.Bytes != 20 || found.Listed <= len(want) || found.More || len(found.Foreign) > 0 {
			t.Errorf("found %+v", found)
		}
		policy.HashesMax = 1
		if d := cmp.Diff(want, keysOf(h.find(policy))); d != "" {
			t.Errorf("orphans in parts (-want +got):\n%s", d)
		}
		policy.HashesMax, policy.FilesMax = 0, 2
		if few := h.find(policy); !few.More || len(few.Files) != 2 {
			t.Errorf("found %+v", few)
		}
		if err := h.k.DeleteOrphans(t.Context(), &found, nil); err != nil || found.Deleted != 4 {
			t.Errorf("deleted %d, error %v", found.Deleted, err)
		}
		if left := h.orphans(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		if s := h.sweep(SweepPolicy{DeleteAfter: soon}); s.Lists != 1 {
			t.Errorf("swept %+v", s)
		}
		h.whole()
	})
}

// Files younger than the age stay, and an age of less than an hour has to be forced.
func TestOrphansAge(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(1)
	keys := h.strays("data/old", "data/young")
	old := time.Now().Add(-5 * time.Hour)
	if err := os.Chtimes(keys[0], old, old); err != nil {
		t.Fatal(err)
	}
	for age, want := range map[time.Duration]int{0: 0, 6 * time.Hour: 0, 4 * time.Hour: 1} {
		if found := h.find(OrphanPolicy{OlderThan: age}); len(found.Files) != want {
			t.Errorf("%s: found %+v", age, found.Files)
		}
	}
	_, err := h.k.Orphans(t.Context(), OrphanPolicy{OlderThan: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "less than 1h") {
		t.Errorf("error %v", err)
	}
}

// A table below the folder of another, as the namespace of one may have the name of the other, keeps its files.
func TestOrphansOfTablesBelow(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	outer, inner := newKept(t, c, "db.a"), newKept(t, c, "db.a.b")
	outer.commit(2)
	inner.commit(2)
	want := outer.strays("data/x")
	inner.strays("data/y")
	found := outer.find(OrphanPolicy{OlderThan: soon, Force: true})
	if d := cmp.Diff(want, keysOf(found)); d != "" {
		t.Errorf("orphans (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{pathKey(inner.table().Location())}, found.Foreign); d != "" {
		t.Errorf("other tables (-want +got):\n%s", d)
	}
}

// A file that is committed between the look and the deletion is kept.
func TestOrphansCommittedMeanwhile(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(2)
	s := flush(h.table(), h.next, h.next+10)
	h.store(s.Files...)
	folder, name, _ := strings.Cut(h.table().inner.CurrentSnapshot().ManifestList, "/snap-")
	write(t, h.table().Store(), folder+"/.snap-"+name+".crc", "sums")
	found := h.find(OrphanPolicy{OlderThan: soon, Force: true})
	if len(found.Files) != 1 {
		t.Fatalf("found %+v", found.Files)
	}
	commit(t, h.k, s)
	h.next += 10
	if err := h.k.DeleteOrphans(t.Context(), &found, nil); err != nil || found.Deleted != 0 {
		t.Errorf("deleted %d, error %v", found.Deleted, err)
	}
	h.whole()
}

// A file that is committed while the folders are listed is no orphan.
func TestOrphansCommittedWhileListing(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(2)
	s := flush(h.table(), h.next, h.next+10)
	h.store(s.Files...)
	policy := OrphanPolicy{OlderThan: soon, Force: true, listed: func() {
		commit(t, committer(t, h.c, h.ident), s)
		h.next += 10
	}}
	if found := h.find(policy); len(found.Files) != 0 || h.next != 30 {
		t.Errorf("found %+v", found.Files)
	}
	h.whole()
}

// Data that is kept elsewhere is looked at too, unless the table itself is below that place.
func TestOrphansInOtherFolders(t *testing.T) {
	dir := t.TempDir()
	table := partitioned(t, map[string]string{icebergtable.WriteDataPathKey: "file://" + dir}, "")
	folders, err := tableFolders(table)
	if want := []string{table.Location(), "file://" + dir}; err != nil || !slices.Equal(folders, want) {
		t.Errorf("folders %v, error %v", folders, err)
	}
	parent := filepath.Dir(pathKey(table.Location()))
	table = partitioned(t, map[string]string{icebergtable.WriteDataPathKey: "file:///"}, "")
	if folders, err := tableFolders(table); err == nil {
		t.Errorf("%s is below the root, and the folders are %v", parent, folders)
	}
}

// Old metadata files stay where the table is told to keep them.
func TestOrphansOldMetadata(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false} {
		t.Run(value, func(t *testing.T) {
			c := openCatalog(t, sqlConfig(t))
			properties := map[string]string{icebergtable.MetadataDeleteAfterCommitEnabledKey: value}
			config := CreateConfig{Schema: eventSchema(), Properties: properties}
			if _, err := c.Create(t.Context(), "db.events", config); err != nil {
				t.Fatal(err)
			}
			h := &kept{t: t, c: c, ident: "db.events", k: committer(t, c, "db.events")}
			begin(t, h.k)
			h.commit(1)
			h.strays("metadata/00000-" + strings.Repeat("a", 36) + ".metadata.json")
			if found := h.find(OrphanPolicy{OlderThan: soon, Force: true}); (len(found.Files) == 1) != want {
				t.Errorf("found %+v", found.Files)
			}
		})
	}
}

// Walking stops where it is told to, and lists only names that begin so.
func TestWalk(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"firn-1", "firn-2", "other", "sub/firn-3", "firn-sub/x"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := func(beginning string) []string {
		var names []string
		err := walk(t.Context(), icebergio.LocalFS{}, "file://"+dir, beginning, func(f storedFile) error {
			names = append(names, strings.TrimPrefix(f.path, dir+"/"))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if d := cmp.Diff([]string{"firn-1", "firn-2", "firn-sub/x"}, names("firn-")); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
	if got := names(""); len(got) != 5 {
		t.Errorf("names %v", got)
	}
	full := errors.New("enough")
	err := walk(t.Context(), icebergio.LocalFS{}, dir, "", func(storedFile) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if err := walk(t.Context(), icebergio.LocalFS{}, dir+"/nothing", "", nil); err != nil {
		t.Error(err)
	}
	if err := walk(t.Context(), fixedIO{}, dir, "", nil); err == nil || !strings.Contains(err.Error(), "cannot list") {
		t.Errorf("error %v", err)
	}
}

// fixedIO is a store that cannot list.
type fixedIO struct{ icebergio.IO }

func TestParseList(t *testing.T) {
	for _, kind := range []string{listPending, listRemoved} {
		l := newList(kind)
		got, ok := parseList("s3://bucket/t/metadata/" + l.name)
		if !ok || got.name != l.name || got.kind != kind || got.at.UnixMilli() != l.at.UnixMilli() {
			t.Errorf("%s is read as %+v", l.name, got)
		}
	}
	for _, name := range []string{"firn-probe", "firn-removed-x.json.gz", fmt.Sprintf("a%s", newList(listRemoved).name)} {
		if l, ok := parseList("/t/metadata/" + name); ok {
			t.Errorf("%s is read as %+v", name, l)
		}
	}
}
