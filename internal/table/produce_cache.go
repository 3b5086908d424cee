package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
)

// manifestCache keeps the manifest list that was seen last and the entries of young manifests, so that a committer that
// is alone reads nothing again of what it wrote. It is used by one goroutine at a time. Manifests never change, so what
// it has is never wrong.
type manifestCache struct {
	listPath string
	listed   []iceberg.ManifestFile

	byPath map[string][]iceberg.ManifestEntry
	order  []string // the least recently used first
	held   int      // entries
}

// entriesKeptMax bounds the entries kept; one takes 1 to 3 KB.
const entriesKeptMax = 20_000

func (c *manifestCache) list(path string) ([]iceberg.ManifestFile, bool) {
	return c.listed, path != "" && path == c.listPath
}

func (c *manifestCache) setList(path string, manifests []iceberg.ManifestFile) {
	c.listPath, c.listed = path, manifests
	live := make(map[string]bool, len(manifests))
	for _, m := range manifests {
		live[m.FilePath()] = true
	}
	for _, path := range slices.Clone(c.order) {
		if !live[path] {
			c.forget(path)
		}
	}
}

func (c *manifestCache) entries(path string) ([]iceberg.ManifestEntry, bool) {
	entries, ok := c.byPath[path]
	if ok {
		c.order = append(slices.DeleteFunc(c.order, func(p string) bool { return p == path }), path)
	}
	return entries, ok
}

func (c *manifestCache) setEntries(path string, entries []iceberg.ManifestEntry) {
	if len(entries) > entriesKeptMax/2 {
		return
	}
	if c.byPath == nil {
		c.byPath = make(map[string][]iceberg.ManifestEntry)
	}
	c.forget(path)
	c.byPath[path] = entries
	c.order = append(c.order, path)
	for c.held += len(entries); c.held > entriesKeptMax; {
		c.forget(c.order[0])
	}
}

func (c *manifestCache) forget(path string) {
	if entries, ok := c.byPath[path]; ok {
		c.held -= len(entries)
		delete(c.byPath, path)
		c.order = slices.DeleteFunc(c.order, func(p string) bool { return p == path })
	}
}

// partitionKey tells the partition of a file from others, spec included.
func partitionKey(f iceberg.DataFile) string {
	values := f.Partition()
	var key strings.Builder
	fmt.Fprintf(&key, "%d", f.SpecID())
	for _, id := range slices.Sorted(maps.Keys(values)) {
		if v := values[id]; v == nil {
			fmt.Fprintf(&key, " %d", id)
		} else if b, err := singleValue(v); err == nil {
			fmt.Fprintf(&key, " %d=%x", id, b)
		} else {
			fmt.Fprintf(&key, " %d:%v", id, v)
		}
	}
	return key.String()
}
