package table

import (
	"context"
	"hash/maphash"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"golang.org/x/sync/errgroup"
)

// leaveNeeded takes out the files that kept snapshots have after all.
//
// A file that a snapshot of the main branch removed is in no later snapshot of it, unless one in between added it
// again. Snapshots of firn's never do; of others the manifests that they wrote tell. Whether it is in another kept
// snapshot, one with a tag, of another branch, or rolled back, is looked up in all manifests of that one. Manifests do
// not change, so that what was read of them once is known. A file that was removed elsewhere is looked for in every
// kept snapshot.
func (f *finder) leaveNeeded(ctx context.Context) error {
	wanted := contents{}
	first, last, everywhere := len(f.line), -1, false
	for _, c := range f.files {
		wanted = wanted.with(c.kind)
		if at, ok := f.removedAt(c); ok {
			first, last = min(first, at), max(last, at)
		} else {
			everywhere = true
		}
	}
	var whole, own []*icebergtable.Snapshot
	for _, s := range f.all() {
		at, onMain := f.position[s.SnapshotID]
		switch {
		case !f.goes(s) && (everywhere || !onMain || at < last):
			whole = append(whole, s)
		case onMain && at >= first && summary(s, "engine-name") != "firn":
			own = append(own, s)
		}
	}
	if len(f.files) == 0 {
		return nil
	}
	if err := f.leaveFilesOf(ctx, whole, wanted, f.hasFile); err != nil {
		return err
	}
	return f.leaveFilesOf(ctx, own, wanted, f.addedAgain)
}

// removedAt is where on the main branch a file was removed.
func (f *finder) removedAt(c candidate) (int, bool) {
	if c.remover == nil {
		return 0, false
	}
	at, ok := f.position[c.remover.SnapshotID]
	return at, ok
}

// contents is which kinds of manifests have to be read.
type contents struct{ data, deletes bool }

func (c contents) with(kind string) contents {
	return contents{c.data || kind == kindData, c.deletes || kind == kindDeletes}
}

func (c contents) has(m iceberg.ManifestFile) bool {
	if m.ManifestContent() == iceberg.ManifestContentData {
		return c.data
	}
	return c.deletes
}

// need says of which manifests of a snapshot the files are needed, and then of which files.
type need func(s *icebergtable.Snapshot, m iceberg.ManifestFile) func(candidate) bool

// hasFile needs all files of a snapshot.
func (f *finder) hasFile(*icebergtable.Snapshot, iceberg.ManifestFile) func(candidate) bool {
	return func(candidate) bool { return true }
}

// addedAgain needs the files that a snapshot of the main branch wrote into manifests of its own, if they had been
// removed by then. One that goes says it for those behind it.
func (f *finder) addedAgain(s *icebergtable.Snapshot, m iceberg.ManifestFile) func(candidate) bool {
	if m.SnapshotID() != s.SnapshotID {
		return nil
	}
	return func(c candidate) bool {
		at, ok := f.removedAt(c)
		return ok && at <= f.position[s.SnapshotID]
	}
}

// leaveFilesOf takes out the files that are in manifests of the snapshots and needed there.
func (f *finder) leaveFilesOf(
	ctx context.Context, snapshots []*icebergtable.Snapshot, wanted contents, needed need,
) error {
	if err := f.readLists(ctx, snapshots, nil); err != nil {
		return err
	}
	byHash := make(map[uint64]string, len(f.files))
	for path := range f.files {
		h := f.paths.hash(path)
		if _, taken := byHash[h]; taken {
			delete(f.files, path) // nothing could be said of it
			continue
		}
		byHash[h] = path
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(storeRequests)
	seen := make(map[string]bool)
	for _, s := range snapshots {
		for _, m := range f.lists[s.SnapshotID] {
			which := needed(s, m)
			if which == nil || !wanted.has(m) || seen[m.FilePath()] {
				continue
			}
			seen[m.FilePath()] = true
			g.Go(func() error {
				hashes, err := f.hashesOf(ctx, m, f.goes(s))
				if err != nil {
					return err
				}
				f.mu.Lock()
				defer f.mu.Unlock()
				for _, h := range hashes {
					if path, ok := byHash[h]; ok && which(f.files[path]) {
						delete(f.files, path)
					}
				}
				return nil
			})
		}
	}
	return g.Wait()
}

// hashesOf is the live files of a manifest. One of a snapshot that goes may be missing.
func (f *finder) hashesOf(ctx context.Context, m iceberg.ManifestFile, optional bool) ([]uint64, error) {
	f.mu.Lock()
	known, ok := f.paths.byManifest[m.FilePath()]
	f.mu.Unlock()
	if ok {
		return known, nil
	}
	var hashes []uint64
	err := f.entries(ctx, m, optional, func(e iceberg.ManifestEntry) {
		if e.Status() != iceberg.EntryStatusDELETED {
			hashes = append(hashes, f.paths.hash(e.DataFile().FilePath()))
		}
	})
	if err == nil {
		f.mu.Lock()
		f.paths.put(m.FilePath(), hashes)
		f.mu.Unlock()
	}
	return hashes, err
}

// manifestPaths is hashes of the paths of live files, by manifest. Two files of one hash make a file stay that is not
// needed, nothing worse. The zero value is empty.
type manifestPaths struct {
	seed       maphash.Seed
	byManifest map[string][]uint64
	held       int
}

// pathsKeptMax bounds the hashes that are kept, at 8 bytes each.
const pathsKeptMax = 4 << 20

func (p *manifestPaths) hash(path string) uint64 { return maphash.String(p.seed, path) }

func (p *manifestPaths) init() {
	if p.byManifest == nil {
		p.seed, p.byManifest = maphash.MakeSeed(), make(map[string][]uint64)
	}
}

// put keeps the hashes of a manifest, and gives others up when they are too many.
func (p *manifestPaths) put(manifest string, hashes []uint64) {
	if _, known := p.byManifest[manifest]; known || len(hashes) > pathsKeptMax {
		return
	}
	p.held += len(hashes)
	for other, some := range p.byManifest {
		if p.held <= pathsKeptMax {
			break
		}
		p.held -= len(some)
		delete(p.byManifest, other)
	}
	p.byManifest[manifest] = hashes
}
