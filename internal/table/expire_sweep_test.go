package table

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A sweep that may delete only so many files goes on where it was.
func TestSweepInSteps(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(12)
	out := h.expire(ExpirePolicy{SnapshotsMax: 4, Batch: 1})
	var total RemovedFiles
	for range out.Files.Total()/5 + 1 {
		s := h.sweep(SweepPolicy{DeleteAfter: soon, FilesMax: 5})
		if s.Files.Total() > 5 {
			t.Errorf("swept %+v", s)
		}
		total = total.Plus(s.Files)
	}
	if d := cmp.Diff(out.Files, total); d != "" {
		t.Errorf("files (- expired, + deleted):\n%s", d)
	}
	h.whole()
	if left := h.orphans(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// removedLists is the names of the lists in the table's folder.
func (h *kept) removedLists() []removedList {
	h.t.Helper()
	h.k.files.load = h.table().inner.FS
	found, err := h.k.findLists(h.t.Context(), h.table())
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

// The list of an expiry that did not happen deletes nothing; that of one that did, of which nothing is known, is
// checked against the table.
func TestSweepPending(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(12)
	table := h.table()
	e := planExpiry(table.inner.Metadata(), ExpirePolicy{SnapshotsMax: 4}.withDefaults(), time.Now())
	h.k.files.load = table.inner.FS
	var files []removedFile
	for path := range liveFiles(t, h.c, h.ident) { // a list that is wrong throughout
		files = append(files, removedFile{Kind: kindData, Path: path})
	}
	pend := func() {
		if _, _, err := h.k.writeList(t.Context(), table, newList(listPending), e.ids(), files); err != nil {
			t.Fatal(err)
		}
		h.k.lists = knownLists{}
	}
	pend()
	if s := h.sweep(SweepPolicy{}); s.Waiting != 1 || len(h.removedLists()) != 1 {
		t.Errorf("swept %+v while the expiry may be under way", s)
	}
	if s := h.sweep(SweepPolicy{pendingAfter: soon}); s.Dropped != 1 || len(h.removedLists()) != 0 {
		t.Errorf("swept %+v of an expiry that did not happen", s)
	}
	pend()
	h.expire(ExpirePolicy{SnapshotsMax: 4, Batch: 1})
	h.sweep(SweepPolicy{pendingAfter: soon})
	h.sweep(SweepPolicy{DeleteAfter: soon, pendingAfter: soon})
	if l := h.removedLists(); len(l) != 0 {
		t.Errorf("lists are left: %v", l)
	}
	h.whole()
}

// A table that was put back to an older version needs the files again.
func TestSweepAfterReset(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(8)
	old := h.table()
	h.expire(ExpirePolicy{SnapshotsMax: 2, Batch: 1})
	query := "UPDATE iceberg_tables SET metadata_location = ?"
	if _, err := h.c.db.ExecContext(t.Context(), query, old.MetadataLocation()); err != nil {
		t.Fatal(err)
	}
	if s := h.sweep(SweepPolicy{DeleteAfter: soon}); s.Dropped != 1 || s.Files.Total() != 0 {
		t.Errorf("swept %+v", s)
	}
	h.whole()
}

// A list that was cut off, and that of another table which had the place before, are left alone.
func TestSweepForeignLists(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(3)
	table := h.table()
	h.k.files.load = table.inner.FS
	var files []removedFile
	for path := range liveFiles(t, h.c, h.ident) {
		files = append(files, removedFile{Kind: kindData, Path: path})
	}
	content, err := encodeList(listHead{Version: listVersion, Table: "another", Snapshots: []int64{1}}, files)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := encodeList(listHead{Version: listVersion, Table: table.UUID(), Snapshots: []int64{1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]byte{content, mine[:len(mine)/2], []byte("{}")} {
		if _, err := h.k.storeList(t.Context(), table, newList(listRemoved), c); err != nil {
			t.Fatal(err)
		}
	}
	if s := h.sweep(SweepPolicy{DeleteAfter: soon}); s.Files.Total() != 0 || len(h.removedLists()) != 3 {
		t.Errorf("swept %+v, lists %v", s, h.removedLists())
	}
	h.whole()
}
