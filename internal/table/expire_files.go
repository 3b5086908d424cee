package table

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
	"golang.org/x/sync/errgroup"
)

// storeRequests is how many requests to the store are under way at a time: enough to hide the latency of an object
// store.
const storeRequests = 16

// finder finds the files that nothing needs once the snapshots of an expiry are gone. Its cost follows what goes:
//
// A manifest of a snapshot that goes is needed if a kept snapshot lists it. A new snapshot lists manifests of its
// parent and new ones, so that of kept snapshots in a line the first has every such manifest that the others have.
//
// A data or delete file of a snapshot e that goes is either in a snapshot that follows e, which is kept and needs it
// or goes as well, or one that follows e removed it and says so by an entry of status deleted in a manifest of its own
// (specification, "Manifest Entry Fields"). So the entries of that status in the snapshots behind those that go are
// all that can be needed by nothing, but for snapshots which nothing follows: of those all files are looked at. Which
// of these files a kept snapshot needs after all is decided by needed.
type finder struct {
	*expiry
	fio      icebergio.IO
	paths    *manifestPaths
	progress func()
	reads    atomic.Int64 // requests to the store
	children map[int64][]*icebergtable.Snapshot

	mu    sync.Mutex // guards the fields below while several manifests are read
	lists map[int64][]iceberg.ManifestFile
	dead  map[string]iceberg.ManifestFile // manifests by path
	files map[string]candidate            // data and delete files by path
}

// candidate is a file that is needed by nothing, unless a kept snapshot has it.
type candidate struct {
	kind    string
	bytes   int64
	remover *icebergtable.Snapshot // nil: none is known, so that it may be in any snapshot
}

func newFinder(e *expiry, fio icebergio.IO, paths *manifestPaths, progress func()) *finder {
	paths.init()
	f := &finder{
		expiry: e, fio: fio, paths: paths, progress: progress, children: make(map[int64][]*icebergtable.Snapshot),
		lists: make(map[int64][]iceberg.ManifestFile), dead: make(map[string]iceberg.ManifestFile),
		files: make(map[string]candidate),
	}
	for _, s := range e.all() {
		if s.ParentSnapshotID != nil {
			f.children[*s.ParentSnapshotID] = append(f.children[*s.ParentSnapshotID], s)
		}
	}
	return f
}

// all is every snapshot of the table, those that go first.
func (e *expiry) all() []*icebergtable.Snapshot {
	all := slices.Clone(e.gone)
	for _, s := range e.kept {
		all = append(all, s)
	}
	return all
}

func (f *finder) find(ctx context.Context) ([]removedFile, error) {
	for _, step := range []func(context.Context) error{
		f.readGone, f.leaveManifests, f.collect, f.leaveNeeded,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return f.result(), nil
}

// readGone takes every manifest of the snapshots that go for one that is needed by nothing.
func (f *finder) readGone(ctx context.Context) error {
	if err := f.readLists(ctx, f.gone, f.progress); err != nil {
		return err
	}
	for _, s := range f.gone {
		for _, m := range f.lists[s.SnapshotID] {
			f.dead[m.FilePath()] = m
		}
	}
	return nil
}

// leaveManifests takes out the manifests that kept snapshots list. It looks at those kept snapshots that are not
// behind another kept one, at those before one that goes, and at all that one which goes may descend from through
// snapshots that are no longer known. A snapshot that is older than a manifest does not list it.
func (f *finder) leaveManifests(ctx context.Context) error {
	if len(f.dead) == 0 {
		return nil
	}
	oldest, unknown := int64(math.MaxInt64), int64(-1)
	for _, m := range f.dead {
		oldest = min(oldest, m.SequenceNum())
	}
	for _, s := range f.gone {
		if s.ParentSnapshotID != nil && f.meta.SnapshotByID(*s.ParentSnapshotID) == nil {
			unknown = max(unknown, s.SequenceNumber)
		}
	}
	var border []*icebergtable.Snapshot
	for _, s := range f.kept {
		behind := s.ParentSnapshotID != nil && f.kept[*s.ParentSnapshotID] != nil
		before := slices.ContainsFunc(f.children[s.SnapshotID], f.goes) || s.SequenceNumber <= unknown
		if s.SequenceNumber >= oldest && (!behind || before) {
			border = append(border, s)
		}
	}
	if err := f.readLists(ctx, border, nil); err != nil {
		return err
	}
	for _, s := range border {
		for _, m := range f.lists[s.SnapshotID] {
			delete(f.dead, m.FilePath())
		}
	}
	return nil
}

func (f *finder) goes(s *icebergtable.Snapshot) bool { return f.kept[s.SnapshotID] == nil }

// collect gathers the files that a snapshot removed from one that goes, and those of snapshots that nothing follows.
func (f *finder) collect(ctx context.Context) error {
	var removers []*icebergtable.Snapshot
	for _, s := range f.gone {
		removers = append(removers, f.children[s.SnapshotID]...)
	}
	if err := f.readLists(ctx, removers, nil); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(storeRequests)
	for _, s := range removers {
		for _, m := range f.lists[s.SnapshotID] {
			if m.SnapshotID() == s.SnapshotID && m.DeletedDataFiles() != 0 {
				g.Go(func() error {
					return f.entries(ctx, m, f.goes(s), func(e iceberg.ManifestEntry) { f.removed(e, s) })
				})
			}
		}
	}
	for _, s := range f.gone {
		if len(f.children[s.SnapshotID]) > 0 {
			continue
		}
		for _, m := range f.lists[s.SnapshotID] {
			if _, dead := f.dead[m.FilePath()]; dead { // the files of the others are in a kept snapshot
				g.Go(func() error { return f.entries(ctx, m, true, f.left) })
			}
		}
	}
	return g.Wait()
}

// removed notes an entry of a snapshot's own manifest.
func (f *finder) removed(e iceberg.ManifestEntry, by *icebergtable.Snapshot) {
	if e.Status() != iceberg.EntryStatusDELETED || e.SnapshotID() != by.SnapshotID {
		return
	}
	c := candidateOf(e)
	if e.DataFile().FileFormat() != iceberg.PuffinFile { // which holds deletion vectors that others may not have removed
		c.remover = by
	}
	path := e.DataFile().FilePath()
	if known, ok := f.files[path]; ok && !f.later(c.remover, known.remover) {
		return
	}
	f.files[path] = c
}

// later tells which of two that removed one file says more: none says the least, but must not be forgotten; then one
// of the main branch, and there the last.
func (f *finder) later(a, b *icebergtable.Snapshot) bool {
	if a == nil || b == nil {
		return b != nil
	}
	if f.onMain(a) != f.onMain(b) {
		return f.onMain(a)
	}
	return f.position[a.SnapshotID] > f.position[b.SnapshotID]
}

// left notes a file of a snapshot that nothing follows.
func (f *finder) left(e iceberg.ManifestEntry) {
	if e.Status() != iceberg.EntryStatusDELETED {
		f.files[e.DataFile().FilePath()] = candidateOf(e)
	}
}

func candidateOf(e iceberg.ManifestEntry) candidate {
	c := candidate{kind: kindData, bytes: e.DataFile().FileSizeBytes()}
	if e.DataFile().ContentType() != iceberg.EntryContentData {
		c.kind = kindDeletes
	}
	return c
}

// readLists reads manifest lists that were not read yet. That of a snapshot which goes may be missing: its files are
// orphans then.
func (f *finder) readLists(ctx context.Context, snapshots []*icebergtable.Snapshot, progress func()) error {
	wanted := make(map[int64]*icebergtable.Snapshot)
	for _, s := range snapshots {
		if _, known := f.lists[s.SnapshotID]; !known {
			wanted[s.SnapshotID] = s
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(storeRequests)
	for _, s := range wanted {
		g.Go(func() error { return f.readList(ctx, s, progress) })
	}
	return g.Wait()
}

func (f *finder) readList(ctx context.Context, s *icebergtable.Snapshot, progress func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.reads.Add(1)
	manifests, err := s.Manifests(f.fio)
	if missing(err) && f.goes(s) {
		manifests, err = nil, nil
	}
	if err != nil {
		return f.fault(s.SnapshotID, s.ManifestList, err)
	}
	f.mu.Lock()
	f.lists[s.SnapshotID] = manifests
	f.mu.Unlock()
	if progress != nil {
		progress()
	}
	return nil
}

// entries calls do with each entry of a manifest, one at a time of all manifests that are read at once. An optional
// manifest may be missing.
func (f *finder) entries(
	ctx context.Context, m iceberg.ManifestFile, optional bool, do func(iceberg.ManifestEntry),
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.reads.Add(1)
	for e, err := range m.Entries(f.fio, false) {
		if optional && missing(err) {
			return nil
		}
		if err != nil {
			return f.fault(m.SnapshotID(), m.FilePath(), err)
		}
		f.mu.Lock()
		do(e)
		f.mu.Unlock()
	}
	return nil
}

func (f *finder) fault(snapshot int64, path string, err error) error {
	if missing(err) {
		return fmt.Errorf("%w: snapshot %d has lost %s: %w: remove the snapshot from the table, or roll back behind it",
			errBroken, snapshot, path, err)
	}
	return fmt.Errorf("reading %s: %w", path, err)
}

// result is what was found, in the order of kinds and paths.
func (f *finder) result() []removedFile {
	var files []removedFile
	for path, c := range f.files {
		files = append(files, removedFile{c.kind, path, c.bytes})
	}
	for path, m := range f.dead {
		files = append(files, removedFile{kindManifest, path, m.Length()})
	}
	files = append(files, f.ofSnapshots()...)
	slices.SortFunc(files, func(a, b removedFile) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path))
	})
	return files
}

// ofSnapshots is the manifest lists and statistics of the snapshots that go.
func (f *finder) ofSnapshots() []removedFile {
	needed, files := make(map[string]bool), make(map[string]removedFile)
	for _, s := range f.kept {
		needed[s.ManifestList] = true
	}
	for _, s := range f.gone {
		files[s.ManifestList] = removedFile{Kind: kindList, Path: s.ManifestList}
	}
	note := func(snapshot int64, path string, size int64) {
		if f.kept[snapshot] != nil {
			needed[path] = true
			return
		}
		files[path] = removedFile{kindStatistics, path, size}
	}
	for s := range f.meta.Statistics() {
		note(s.SnapshotID, s.StatisticsPath, s.FileSizeInBytes)
	}
	for s := range f.meta.PartitionStatistics() {
		note(s.SnapshotID, s.StatisticsPath, s.FileSizeInBytes)
	}
	var left []removedFile
	for path, file := range files {
		if path != "" && !needed[path] {
			left = append(left, file)
		}
	}
	return left
}
