package table

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"pgregory.net/rapid"
)

// vectors makes a snapshot whose only manifest has entries of deletion vectors in one file, by status.
func (w *world) vectors(path string, entries map[iceberg.ManifestEntryStatus]int) {
	w.made++
	w.clock++
	s := &icebergtable.Snapshot{
		SnapshotID: w.made, SequenceNumber: w.meta.LastSequenceNumber() + 1, TimestampMs: w.clock,
		Summary:      &icebergtable.Summary{Operation: icebergtable.OpOverwrite, Properties: iceberg.Properties{}},
		ManifestList: fmt.Sprintf("mem://t/metadata/snap-%d.avro", w.made),
	}
	if parent := w.meta.SnapshotByName(mainBranch); parent != nil {
		s.ParentSnapshotID = &parent.SnapshotID
	}
	var content bytes.Buffer
	out, err := iceberg.NewManifestWriter(2, &content, *iceberg.UnpartitionedSpec, w.meta.CurrentSchema(), s.SnapshotID,
		iceberg.WithManifestWriterContent(iceberg.ManifestContentDeletes))
	w.check(err)
	sequence := int64(1)
	for status, n := range entries {
		for range n {
			b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentPosDeletes, path,
				iceberg.PuffinFile, nil, nil, nil, 1, 100)
			w.check(err)
			w.check(put(out, iceberg.NewManifestEntry(status, &s.SnapshotID, &sequence, &sequence, b.Build()), s.SnapshotID))
		}
	}
	w.check(out.Close())
	manifest := fmt.Sprintf("mem://t/metadata/%d-m.avro", w.made)
	m, err := out.ToManifestFile(manifest, int64(content.Len()),
		iceberg.WithManifestFileContent(iceberg.ManifestContentDeletes))
	w.check(err)
	w.check(w.fio.WriteFile(manifest, content.Bytes()))
	w.store[manifest], w.store[path] = true, true
	live := make(map[string]bool)
	if entries[iceberg.EntryStatusADDED]+entries[iceberg.EntryStatusEXISTING] > 0 {
		live[path] = true
	}
	w.has[s.SnapshotID] = live
	w.finish(s, []iceberg.ManifestFile{m}, live)
	w.update(func(b *icebergtable.MetadataBuilder) error {
		if err := b.AddSnapshot(s); err != nil {
			return err
		}
		return b.SetSnapshotRef(mainBranch, s.SnapshotID, icebergtable.BranchRef)
	})
}

// A file with several deletion vectors is needed until the last one has been removed.
func TestExpireSharedPuffin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		const path = "mem://t/data/v.puffin"
		left := 3
		w.vectors(path, map[iceberg.ManifestEntryStatus]int{iceberg.EntryStatusADDED: left})
		for ; left > 0; left-- {
			w.vectors(path, map[iceberg.ManifestEntryStatus]int{
				iceberg.EntryStatusDELETED: 1, iceberg.EntryStatusEXISTING: left - 1,
			})
			if rapid.Bool().Draw(t, "expire") {
				w.expire(ExpirePolicy{SnapshotsMax: 1, Batch: 1}, w.clock)
			}
			if left > 1 && !w.store[path] {
				t.Fatalf("%d vectors are left and their file is gone", left-1)
			}
		}
		w.vectors("mem://t/data/other.puffin", map[iceberg.ManifestEntryStatus]int{iceberg.EntryStatusADDED: 1})
		w.end()
		if w.store[path] {
			t.Error("the file is left")
		}
	})
}

// A snapshot that goes may descend from kept ones through snapshots that have gone before.
func TestExpireAcrossGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		add := func(merge bool) int64 {
			w.commit(mainBranch, act{add: []iceberg.DataFile{w.dataFile()}, merge: merge})
			return w.meta.CurrentSnapshot().SnapshotID
		}
		for _, name := range []string{"a", "b"} {
			id := add(false)
			w.update(func(b *icebergtable.MetadataBuilder) error { return b.SetSnapshotRef(name, id, icebergtable.TagRef) })
		}
		for range 3 {
			add(false)
		}
		if n := w.expire(ExpirePolicy{SnapshotsMax: 2, Batch: 1}, w.clock); n != 1 {
			t.Fatalf("%d snapshots expired", n)
		}
		add(true) // what comes does not list the manifests of the tagged ones
		if n := w.expire(ExpirePolicy{SnapshotsMax: 1, Batch: 1}, w.clock); n != 2 {
			t.Fatalf("%d snapshots expired", n)
		}
	})
}
