package table

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
	"golang.org/x/sync/errgroup"
)

// references is what one version of a table refers to, by keys of paths: see pathKey.
type references struct {
	*orphanage
	table     *Table
	fio       icebergio.IO
	folders   map[string]bool        // of metadata
	fixed     map[string]bool        // files of metadata
	manifests []iceberg.ManifestFile // each once; those that were taken in before are left out
	lists     []removedList
	parts     uint64 // in which the hashes are taken in, so that one part fits into memory
}

func newReferences(ctx context.Context, o *orphanage, t *Table, fio icebergio.IO) (*references, error) {
	r := &references{orphanage: o, table: t, fio: fio, fixed: make(map[string]bool), folders: make(map[string]bool)}
	m := t.inner.Metadata()
	r.folders[path.Dir(pathKey(t.MetadataLocation()))] = true
	r.folders[pathKey(t.Location()+"/metadata")] = true
	if folder := t.Property(icebergtable.WriteMetadataPathKey); folder != "" {
		r.folders[pathKey(folder)] = true
	}
	r.fix(t.MetadataLocation())
	for entry := range m.PreviousFiles() {
		r.fix(entry.MetadataFile)
	}
	for s := range m.Statistics() {
		r.fix(s.StatisticsPath)
	}
	for s := range m.PartitionStatistics() {
		r.fix(s.StatisticsPath)
	}
	if err := r.readSnapshots(ctx, m); err != nil {
		return nil, err
	}
	return r, r.readLists(ctx)
}

func (r *references) fix(path string) { eachKey(path, func(key string) { r.fixed[key] = true }) }

// eachKey calls do with the keys of a path that metadata names. Not all writers take %20 in a path for a space, so
// that both spellings count.
func eachKey(location string, do func(key string)) {
	key := pathKey(location)
	do(key)
	if plain, err := url.PathUnescape(key); err == nil && plain != key {
		do(path.Clean(plain))
	}
}

// readSnapshots gathers the manifests, and how many files they have.
func (r *references) readSnapshots(ctx context.Context, m icebergtable.Metadata) error {
	var mu sync.Mutex // guards what the snapshots' manifests are gathered in
	files := 0
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(storeRequests)
	snapshots := m.Snapshots()
	for i := range snapshots {
		r.fix(snapshots[i].ManifestList)
	}
	for i := range snapshots {
		s := &snapshots[i]
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			manifests, err := s.Manifests(r.fio)
			if err != nil {
				return fmt.Errorf("reading manifest list of snapshot %d: %w", s.SnapshotID, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, one := range manifests {
				key := pathKey(one.FilePath())
				if r.fixed[key] {
					continue
				}
				r.fix(one.FilePath())
				files += max(0, int(one.AddedDataFiles())) + max(0, int(one.ExistingDataFiles()))
				if !r.read[key] {
					r.manifests = append(r.manifests, one)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	r.needed = files
	r.parts = uint64(files)/uint64(r.policy.HashesMax) + 1
	return nil
}

// readLists gathers the lists of files that Sweep deletes, or drops.
func (r *references) readLists(ctx context.Context) error {
	lists, err := r.findLists(ctx, r.table)
	if err != nil {
		return err
	}
	for _, l := range lists {
		reader, err := openList(ctx, &r.files, l.path)
		if errors.Is(err, errList) || missing(err) {
			continue
		}
		if err != nil {
			return err
		}
		if reader.head.Table == r.table.UUID() {
			r.fix(l.path)
			r.lists = append(r.lists, l)
		}
		if err := reader.close(); err != nil {
			return err
		}
	}
	return nil
}

// own tells whether a metadata.json is the table's.
func (r *references) own(key string) bool { return r.folders[path.Dir(key)] }

// keeps tells whether a file is metadata that must stay. Where the table is told to keep its old versions, they do.
func (r *references) keeps(key string) bool {
	if r.fixed[key] {
		return true
	}
	if !r.own(key) {
		return false
	}
	switch name := path.Base(key); name {
	case "version-hint.text", "firn-probe":
		return true
	default:
		return strings.HasSuffix(name, ".metadata.json") &&
			!r.table.inner.Properties().GetBool(icebergtable.MetadataDeleteAfterCommitEnabledKey, false)
	}
}

// hashes is a part of the data and delete files that are needed.
func (r *references) hashes(ctx context.Context, part uint64) (map[uint64]struct{}, error) {
	set := make(map[uint64]struct{})
	err := r.each(ctx, func(key string) {
		if hash := maphash.String(r.seed, key); hash%r.parts == part {
			set[hash] = struct{}{}
		}
	})
	for _, m := range r.manifests {
		r.read[pathKey(m.FilePath())] = true
	}
	return set, err
}

// each calls do with every file that is needed, one call at a time, but for files of manifests taken in before.
func (r *references) each(ctx context.Context, do func(key string)) error {
	var mu sync.Mutex // for do
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(storeRequests)
	for _, m := range r.manifests {
		g.Go(func() error {
			if err := reading.Err(); err != nil {
				return err
			}
			for e, err := range m.Entries(r.fio, true) {
				if err != nil {
					return fmt.Errorf("reading manifest %s: %w", m.FilePath(), err)
				}
				mu.Lock()
				eachKey(e.DataFile().FilePath(), do)
				mu.Unlock()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for key := range r.fixed {
		do(key)
	}
	for _, l := range r.lists {
		if err := r.eachListed(ctx, l, do); err != nil {
			return err
		}
	}
	return nil
}

func (r *references) eachListed(ctx context.Context, l removedList, do func(key string)) error {
	reader, err := openList(ctx, &r.files, l.path)
	if missing(err) {
		return nil // another process is done with it
	}
	if err != nil {
		return err
	}
	defer func() { _ = reader.close() }()
	for {
		f, err := reader.next()
		if errors.Is(err, io.EOF) || errors.Is(err, errList) {
			return nil
		}
		if err != nil {
			return err
		}
		eachKey(f.Path, do)
	}
}
