package table

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
	"pgregory.net/rapid"
)

// world is a table in memory whose snapshots are made by hand, as firn, the library and others make them, with all
// that each of them needs.
type world struct {
	*rapid.T
	fio   *icebergio.MemFS
	meta  icebergtable.Metadata
	store map[string]bool           // files that exist
	has   map[int64]map[string]bool // live data files by snapshot
	needs map[int64]map[string]bool // those, manifests and manifest list
	paths manifestPaths
	adds  map[int64][]iceberg.DataFile
	made  int64
	clock int64 // milliseconds
}

func newWorld(t *rapid.T) *world {
	schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64})
	m, err := icebergtable.NewMetadata(schema, iceberg.UnpartitionedSpec, icebergtable.UnsortedSortOrder, "mem://t",
		iceberg.Properties{"format-version": "2"})
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		T: t, fio: icebergio.NewMemFS(), meta: m, store: make(map[string]bool), has: make(map[int64]map[string]bool),
		needs: make(map[int64]map[string]bool), adds: make(map[int64][]iceberg.DataFile),
		clock: time.Now().UnixMilli(),
	}
}

func (w *world) check(err error) {
	if err != nil {
		w.Helper()
		w.Fatal(err)
	}
}

// update makes the next version of the metadata.
func (w *world) update(change func(b *icebergtable.MetadataBuilder) error) {
	b, err := icebergtable.MetadataBuilderFromBase(w.meta, "")
	w.check(err)
	w.check(change(b))
	w.meta, err = b.Build()
	w.check(err)
}

// one draws one of several.
func one[T any](t *rapid.T, label string, from []T) T {
	return from[rapid.IntRange(0, len(from)-1).Draw(t, label)]
}

func (w *world) snapshots() []int64 {
	var ids []int64
	for _, s := range w.meta.Snapshots() {
		ids = append(ids, s.SnapshotID)
	}
	return ids
}

func (w *world) refs(kind icebergtable.RefType) []string {
	var names []string
	for name, ref := range w.meta.Refs() {
		if ref.SnapshotRefType == kind {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (w *world) dataFile() iceberg.DataFile {
	w.made++
	path := fmt.Sprintf("mem://t/data/%d.parquet", w.made)
	b, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData, path, iceberg.ParquetFile,
		nil, nil, nil, 1, 100)
	w.check(err)
	w.store[path] = true
	return b.Build()
}

// act is what a snapshot does to the table.
type act struct {
	firn   bool
	add    []iceberg.DataFile
	remove map[string]bool
	merge  bool // two manifests of the parent become one
	split  bool // removed files are in a manifest of their own, as the library writes them
	vague  bool // removed files have no sequence number of their own, as some writers leave it out
}

// commit makes a snapshot on a branch.
func (w *world) commit(branch string, a act) {
	parent := w.meta.SnapshotByName(branch)
	w.made++
	w.clock += 10 // metadata must not be much ahead of the clock
	s := &icebergtable.Snapshot{
		SnapshotID: w.made, SequenceNumber: w.meta.LastSequenceNumber() + 1, TimestampMs: w.clock,
		Summary:      &icebergtable.Summary{Operation: icebergtable.OpOverwrite, Properties: iceberg.Properties{}},
		ManifestList: fmt.Sprintf("mem://t/metadata/snap-%d.avro", w.made),
	}
	if a.firn {
		s.Summary.Properties["engine-name"] = "firn"
	}
	var old []iceberg.ManifestFile
	live := make(map[string]bool)
	if parent != nil {
		s.ParentSnapshotID = &parent.SnapshotID
		var err error
		old, err = parent.Manifests(w.fio)
		w.check(err)
		maps.Copy(live, w.has[parent.SnapshotID])
	}
	manifests := w.manifests(s, a, old)
	for path := range a.remove {
		delete(live, path)
	}
	for _, f := range a.add {
		live[f.FilePath()] = true
	}
	w.has[s.SnapshotID], w.adds[s.SnapshotID] = live, a.add
	w.finish(s, manifests, live)
	w.update(func(b *icebergtable.MetadataBuilder) error {
		if err := b.AddSnapshot(s); err != nil {
			return err
		}
		return b.SetSnapshotRef(branch, s.SnapshotID, icebergtable.BranchRef)
	})
}

// finish writes the manifest list.
func (w *world) finish(s *icebergtable.Snapshot, manifests []iceberg.ManifestFile, live map[string]bool) {
	var list bytes.Buffer
	w.check(iceberg.WriteManifestList(2, &list, s.SnapshotID, s.ParentSnapshotID, &s.SequenceNumber, 0, manifests))
	w.check(w.fio.WriteFile(s.ManifestList, list.Bytes()))
	needs := maps.Clone(live)
	needs[s.ManifestList] = true
	w.store[s.ManifestList] = true
	for _, m := range manifests {
		needs[m.FilePath()] = true
	}
	w.needs[s.SnapshotID] = needs
}

func (w *world) manifests(s *icebergtable.Snapshot, a act, old []iceberg.ManifestFile) []iceberg.ManifestFile {
	var all []iceberg.ManifestFile
	var gone, merged []iceberg.ManifestEntry
	merging := 0
	for _, m := range old {
		var entries []iceberg.ManifestEntry
		for e, err := range m.Entries(w.fio, true) {
			w.check(err)
			entries = append(entries, e)
		}
		var rest []iceberg.ManifestEntry
		touched := false
		for _, e := range entries {
			if !a.remove[e.DataFile().FilePath()] {
				rest = append(rest, e)
				continue
			}
			touched = true
			sequence, file := e.SequenceNum(), e.FileSequenceNum()
			if a.vague {
				file = nil
			}
			gone = append(gone, iceberg.NewManifestEntry(iceberg.EntryStatusDELETED, &s.SnapshotID, &sequence, file,
				e.DataFile()))
		}
		switch {
		case len(entries) == 0: // it had removed files only
		case a.merge && merging < 2:
			merged = append(merged, rest...)
			merging++
		case !touched:
			all = append(all, m)
		case len(rest) > 0 && a.split:
			all = append(all, w.manifest(s, rest))
		default:
			gone = append(gone, rest...)
		}
	}
	for _, entries := range [][]iceberg.ManifestEntry{gone, merged} {
		if len(entries) > 0 {
			all = append(all, w.manifest(s, entries))
		}
	}
	var added []iceberg.ManifestEntry
	for _, f := range a.add {
		added = append(added, iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &s.SnapshotID, nil, nil, f))
	}
	if len(added) > 0 {
		all = append(all, w.manifest(s, added))
	}
	return all
}

func (w *world) manifest(s *icebergtable.Snapshot, entries []iceberg.ManifestEntry) iceberg.ManifestFile {
	var content bytes.Buffer
	out, err := iceberg.NewManifestWriter(2, &content, *iceberg.UnpartitionedSpec, w.meta.CurrentSchema(), s.SnapshotID)
	w.check(err)
	for _, e := range entries {
		w.check(put(out, e, s.SnapshotID))
	}
	w.check(out.Close())
	w.made++
	path := fmt.Sprintf("mem://t/metadata/%d-m.avro", w.made)
	m, err := out.ToManifestFile(path, int64(content.Len()))
	w.check(err)
	w.check(w.fio.WriteFile(path, content.Bytes()))
	w.store[path] = true
	return m
}

// live is the files of a branch, in order.
func (w *world) live(branch string) []string {
	s := w.meta.SnapshotByName(branch)
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(w.has[s.SnapshotID]))
}

// change draws a snapshot that adds and removes files.
func (w *world) change(vague bool) {
	branches := append(w.refs(icebergtable.BranchRef), mainBranch)
	branch := one(w.T, "branch", branches)
	a := act{
		remove: make(map[string]bool), merge: rapid.Bool().Draw(w.T, "merge"), split: rapid.Bool().Draw(w.T, "split"),
		firn: rapid.Bool().Draw(w.T, "firn"), vague: vague && rapid.Bool().Draw(w.T, "vague"),
	}
	for _, path := range w.live(branch) {
		if rapid.IntRange(0, 2).Draw(w.T, "remove") == 0 {
			a.remove[path] = true
		}
	}
	for range rapid.IntRange(0, 3).Draw(w.T, "add") {
		a.add = append(a.add, w.dataFile())
	}
	w.commit(branch, a)
}

// pick adds the files that another snapshot added to the main branch, as a cherry-pick does.
func (w *world) pick() {
	from := one(w.T, "picked", w.snapshots())
	live := make(map[string]bool)
	for _, path := range w.live(mainBranch) {
		live[path] = true
	}
	var a act
	for _, f := range w.adds[from] {
		if !live[f.FilePath()] {
			a.add = append(a.add, f)
		}
	}
	if len(a.add) > 0 {
		w.commit(mainBranch, a)
	}
}

// expire takes snapshots out, and deletes what was found to be needed by nothing.
func (w *world) expire(p ExpirePolicy, now int64) int {
	e := planExpiry(w.meta, p.withDefaults(), time.UnixMilli(now))
	if len(e.gone) == 0 {
		return 0
	}
	files, err := newFinder(e, w.fio, &w.paths, nil).find(w.Context())
	w.check(err)
	w.update(func(b *icebergtable.MetadataBuilder) error { return b.RemoveSnapshots(e.ids(), false) })
	for _, f := range files {
		for _, id := range w.snapshots() {
			if w.needs[id][f.Path] {
				w.Fatalf("snapshots %v expired, %v stay, and %s is deleted, which %d needs", e.ids(), w.snapshots(), f.Path, id)
			}
		}
		if !w.store[f.Path] {
			w.Fatalf("%s was deleted before", f.Path)
		}
		delete(w.store, f.Path)
		if f.Kind != kindData && f.Kind != kindDeletes { // those are never written
			w.check(w.fio.Remove(f.Path))
		}
	}
	return len(e.gone)
}
