package table

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
)

// OrphanPolicy says which files count as orphans. The zero value of a field is its default.
type OrphanPolicy struct {
	OlderThan time.Duration // by the store's time of change; default 3 days, at least 1 hour unless Force
	Force     bool          // allows less than an hour, which deletes files of commits that are under way
	FilesMax  int           // found by one call; default 200,000
	// HashesMax bounds the memory for the files that are needed, 8 bytes each and the map's own 15: with more of them the
	// store is listed several times. Default 4 million.
	HashesMax int
	Progress  func(files int) // after some files were listed, unless nil

	listed func() // for tests: when the folders were listed
}

// orphanGroup is how many files are deleted on one look into the table.
const orphanGroup = 50_000

const (
	orphanAge      = 3 * 24 * time.Hour
	orphanAgeMin   = time.Hour
	orphansMax     = 200_000
	orphanHashes   = 4 << 20
	orphanProgress = 1000 // files between two calls of Progress
)

// Orphans is files below a table's folders that nothing refers to, as of one look.
type Orphans struct {
	Files   []Orphan `json:"files"`
	Bytes   int64    `json:"bytes"`
	Listed  int      `json:"listed"`  // files below the folders
	Needed  int      `json:"needed"`  // files that the table refers to, at most
	Folders []string `json:"folders"` // that were listed
	Foreign []string `json:"foreign"` // folders of other tables below them, whose files are left alone
	More    bool     `json:"more"`    // there are more than FilesMax
	Deleted int      `json:"deleted"` // of Files, by DeleteOrphans

	read map[string]bool // manifests that are taken into account
}

// Orphan is one of them.
type Orphan struct {
	Path    string    `json:"path"`
	Bytes   int64     `json:"bytes"`
	Changed time.Time `json:"changed"`
}

// Orphans finds the files below the table's folders that no snapshot in its metadata needs, that are neither metadata
// of one of its last versions nor on a list of files to be deleted anyway, and that have not changed for the time of
// the policy. Files of a commit that is under way, or whose outcome is unknown, are younger than that. It deletes
// nothing.
//
// It reads the whole metadata, and the metadata once more after listing, so that what was committed meanwhile counts.
// A file is kept when in doubt.
func (k *Committer) Orphans(ctx context.Context, p OrphanPolicy) (Orphans, error) {
	p = p.withDefaults()
	if p.OlderThan < orphanAgeMin && !p.Force {
		return Orphans{}, fmt.Errorf("an age of %s is less than %s: files of commits that are under way would count as "+
			"orphans: take more, or force it when nothing writes to the table", p.OlderThan, orphanAgeMin)
	}
	o := &orphanage{
		Committer: k, policy: p, before: time.Now().Add(-p.OlderThan), seed: maphash.MakeSeed(),
		read: make(map[string]bool), foreign: make(map[string]bool),
	}
	if err := o.find(ctx); err != nil {
		return Orphans{}, fmt.Errorf("looking for orphans of table %s: %w", k.ident, err)
	}
	return o.result(), nil
}

func (p OrphanPolicy) withDefaults() OrphanPolicy {
	p.OlderThan = cmp.Or(max(p.OlderThan, 0), orphanAge)
	p.FilesMax = cmp.Or(max(p.FilesMax, 0), orphansMax)
	p.HashesMax = cmp.Or(max(p.HashesMax, 0), orphanHashes)
	if p.Progress == nil {
		p.Progress = func(int) {}
	}
	return p
}

// orphanage is one call of Orphans.
type orphanage struct {
	*Committer
	policy  OrphanPolicy
	before  time.Time
	seed    maphash.Seed
	folders []string
	read    map[string]bool // manifests that needed has taken in
	foreign map[string]bool // folders of other tables, by key of their path
	listed  int
	needed  int
	found   []Orphan
	more    bool
}

func (o *orphanage) find(ctx context.Context) error {
	t, fio, err := o.open(ctx)
	if err != nil {
		return err
	}
	if !t.inner.Properties().GetBool(icebergtable.GCEnabledKey, true) {
		return fmt.Errorf("%w: its property %s is false", ErrGCDisabled, icebergtable.GCEnabledKey)
	}
	if o.folders, err = tableFolders(t); err != nil {
		return err
	}
	r, err := newReferences(ctx, o, t, fio)
	if err != nil {
		return err
	}
	for part := range r.parts {
		set, err := r.hashes(ctx, part)
		if err != nil {
			return err
		}
		o.listed = 0
		for _, folder := range o.folders {
			if err := walk(ctx, fio, folder, "", func(f storedFile) error { return o.sort(f, r, part, set) }); err != nil {
				return err
			}
		}
	}
	if o.policy.listed != nil {
		o.policy.listed()
	}
	o.leaveForeign()
	return o.leaveNew(ctx)
}

func (o *orphanage) open(ctx context.Context) (*Table, icebergio.IO, error) {
	var t *Table
	err := o.retry(ctx, "looking for orphans of", func(ctx context.Context) (err error) {
		t, _, err = o.view(ctx)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	o.files.load = t.inner.FS
	fio, err := o.files.client(ctx)
	return t, fio, err
}

// tableFolders is where the table's files are: none of them is below another, and the table is not below one of them.
func tableFolders(t *Table) ([]string, error) {
	folders := []string{t.Location()}
	for _, key := range []string{icebergtable.WriteDataPathKey, icebergtable.WriteMetadataPathKey} {
		folder := t.Property(key)
		switch {
		case folder == "" || below(folder, t.Location()):
		case below(t.Location(), folder):
			return nil, fmt.Errorf("table property %s is %s, which the table itself is below: other tables may be there too, "+
				"whose files cannot be told from orphans", key, folder)
		default:
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// below tells whether a path is that of a folder or below it.
func below(path, folder string) bool {
	return strings.HasPrefix(pathKey(path)+"/", strings.TrimRight(pathKey(folder), "/")+"/")
}

// sort looks at a file of the store.
func (o *orphanage) sort(f storedFile, r *references, part uint64, needed map[uint64]struct{}) error {
	if o.listed++; o.listed%orphanProgress == 0 {
		o.policy.Progress(orphanProgress)
	}
	key := pathKey(f.path)
	if table, ok := strings.CutSuffix(metadataFolder(key), "/metadata"); ok && !r.own(key) {
		o.foreign[table] = true
	}
	key = withoutChecksum(key)
	if f.changed.After(o.before) || r.keeps(key) {
		return nil
	}
	hash := maphash.String(o.seed, key)
	if _, ok := needed[hash]; ok || hash%r.parts != part {
		return nil
	}
	if len(o.found) >= o.policy.FilesMax {
		o.more = true
		return nil
	}
	o.found = append(o.found, Orphan{f.path, f.bytes, f.changed.UTC()})
	return nil
}

// metadataFolder is the folder of a metadata.json, or "" for another file.
func metadataFolder(key string) string {
	if !strings.HasSuffix(key, ".metadata.json") {
		return ""
	}
	return key[:strings.LastIndexByte(key, '/')]
}

// leaveForeign takes out the files of tables that lie below this one's folders.
func (o *orphanage) leaveForeign() {
	o.found = slices.DeleteFunc(o.found, func(f Orphan) bool {
		key := pathKey(f.Path)
		for i := len(key); i > 0; i = strings.LastIndexByte(key[:i], '/') {
			if o.foreign[key[:i]] {
				return true
			}
		}
		return false
	})
}

// leaveNew takes out what the newest version of the table refers to.
func (o *orphanage) leaveNew(ctx context.Context) error {
	if len(o.found) == 0 {
		return nil
	}
	t, fio, err := o.open(ctx)
	if err != nil {
		return err
	}
	r, err := newReferences(ctx, o, t, fio)
	if err != nil {
		return err
	}
	set := make(map[string]bool, len(o.found))
	for _, f := range o.found {
		set[withoutChecksum(pathKey(f.Path))] = true
	}
	if err := r.each(ctx, func(key string) { delete(set, key) }); err != nil {
		return err
	}
	o.found = slices.DeleteFunc(o.found, func(f Orphan) bool { return !set[withoutChecksum(pathKey(f.Path))] })
	return nil
}

func (o *orphanage) result() Orphans {
	all := Orphans{
		Files: o.found, Listed: o.listed, Needed: o.needed, Folders: o.folders, Foreign: []string{}, More: o.more,
		read: o.read,
	}
	if all.Files == nil {
		all.Files = []Orphan{}
	}
	slices.SortFunc(all.Files, func(a, b Orphan) int { return cmp.Compare(a.Path, b.Path) })
	for _, f := range all.Files {
		all.Bytes += f.Bytes
	}
	for folder := range o.foreign {
		all.Foreign = append(all.Foreign, folder)
	}
	slices.Sort(all.Foreign)
	return all
}

// DeleteOrphans deletes files that Orphans found, in groups, and looks into the table before each group, so that what
// was committed since is kept. It counts them in Deleted. Missing files are no error.
func (k *Committer) DeleteOrphans(ctx context.Context, found *Orphans, progress func(files int)) error {
	for group := range slices.Chunk(found.Files, orphanGroup) {
		o := &orphanage{
			Committer: k, policy: OrphanPolicy{}.withDefaults(), found: slices.Clone(group), read: found.read,
		}
		if err := o.leaveNew(ctx); err != nil {
			return fmt.Errorf("deleting orphans of table %s: %w", k.ident, err)
		}
		fio, err := k.files.client(ctx)
		if err != nil {
			return fmt.Errorf("deleting orphans of table %s: %w", k.ident, err)
		}
		for batch := range slices.Chunk(o.found, sweepBatch) {
			paths := make([]string, len(batch))
			for i, f := range batch {
				paths[i] = f.Path
			}
			if err := removeAll(ctx, fio, paths); err != nil {
				return fmt.Errorf("deleting orphans of table %s: %w", k.ident, err)
			}
			found.Deleted += len(batch)
			if progress != nil {
				progress(len(batch))
			}
		}
	}
	return nil
}
