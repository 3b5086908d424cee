package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

// replacedKey is the summary entry with the ids of the replacements in a snapshot, with commas between.
func replacedKey(job string) string { return "firn." + job + ".replaced" }

// errRows says that a replacement does not hold the rows of the files that it is to replace.
var errRows = errors.New("the files that come do not hold as many rows as those that go")

// fitting is the replacements of an attempt that fit the table, as one change.
type fitting struct {
	ids     []string
	add     []addition
	remove  map[string]bool
	deletes map[string]bool // keys of delete files that no data file needs after it
}

// fit sorts replacements by whether they fit the table: every file that goes is live, is in the partition of those that
// come, and no delete file applies to some of them and would not apply alike to the files that come. The others are
// stale: another writer changed what they were made from.
//
// Rows that come keep the highest sequence number of those that go. So a delete that is committed after the files were
// read, with a higher number, still applies to them (specification, "Scan Planning"). Rows that were written anew: see
// fitRewrite.
func (p *producer) fit(ctx context.Context, all []record.Replacement) (f fitting, stale []string, err error) {
	f.remove = make(map[string]bool)
	wanted, rewrites := make(map[string]bool), false
	for _, r := range all {
		for _, path := range r.Remove {
			wanted[path] = true
		}
		rewrites = rewrites || r.Rewrite != nil
	}
	found, err := p.find(ctx, wanted)
	if err != nil {
		return f, nil, err
	}
	deletes, err := p.index(ctx)
	if err != nil {
		return f, nil, err
	}
	for _, r := range all {
		fitted, ok, err := p.fitOne(r, found, deletes)
		if err != nil {
			return f, nil, fmt.Errorf("replacement %s: %w", r.ID, err)
		}
		if !ok {
			stale = append(stale, r.ID)
			continue
		}
		for _, path := range r.Remove {
			f.remove[path] = true
			delete(found, path) // two replacements of one file do not both fit
		}
		f.add = append(f.add, fitted...)
		f.ids = append(f.ids, r.ID)
	}
	if rewrites && len(f.ids) > 0 {
		f.deletes, err = p.unneeded(ctx, deletes, f)
	}
	return f, stale, err
}

// find looks for live data files, in the newest manifests first.
func (p *producer) find(ctx context.Context, wanted map[string]bool) (map[string]iceberg.ManifestEntry, error) {
	found := make(map[string]iceberg.ManifestEntry, len(wanted))
	for _, m := range newestFirst(p.manifests) {
		if len(found) == len(wanted) {
			break
		}
		if m.ManifestContent() != iceberg.ManifestContentData {
			continue
		}
		entries, err := p.entries(ctx, m)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if path := e.DataFile().FilePath(); wanted[path] {
				found[path] = e
			}
		}
	}
	return found, nil
}

func newestFirst(manifests []iceberg.ManifestFile) []iceberg.ManifestFile {
	return slices.SortedStableFunc(slices.Values(manifests), func(a, b iceberg.ManifestFile) int {
		return int(b.SequenceNum() - a.SequenceNum())
	})
}

// deletes is the live delete files of the table.
func (p *producer) deletes(ctx context.Context) ([]iceberg.ManifestEntry, error) {
	var all []iceberg.ManifestEntry
	for _, m := range p.manifests {
		if m.ManifestContent() != iceberg.ManifestContentDeletes {
			continue
		}
		entries, err := p.entries(ctx, m)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

// fitOne gives the files that come with the sequence number of their rows, or false.
func (p *producer) fitOne(
	r record.Replacement, found map[string]iceberg.ManifestEntry, deletes *deleteIndex,
) (added []addition, ok bool, err error) {
	if r.Rewrite == nil && (len(r.Remove) == 0 || len(r.Add) == 0) {
		return nil, false, fmt.Errorf("it removes %d files and adds %d", len(r.Remove), len(r.Add))
	}
	var gone []iceberg.ManifestEntry
	var rows int64
	for _, path := range r.Remove {
		e := found[path]
		if e == nil {
			return nil, false, nil
		}
		gone = append(gone, e)
		rows += e.DataFile().Count()
	}
	for _, f := range r.Add {
		file, err := p.table.icebergFile(f)
		if err != nil {
			return nil, false, err
		}
		added = append(added, addition{file: file})
		rows -= f.Rows
	}
	if r.Rewrite != nil {
		rows -= r.Rewrite.Deleted
	}
	if rows != 0 {
		return nil, false, fmt.Errorf("%w: %d more go than come", errRows, rows)
	}
	if err := samePartition(gone, added); err != nil {
		return nil, false, err
	}
	var sequence int64
	if r.Rewrite != nil {
		sequence, ok = p.fitRewrite(r.Rewrite, gone, deletes)
	} else {
		sequence, ok = p.fitJoin(gone, deletes)
	}
	for i := range added {
		added[i].sequence = sequence
	}
	return added, ok, nil
}

// samePartition refuses to move rows from one partition to another.
func samePartition(gone []iceberg.ManifestEntry, added []addition) error {
	for _, e := range gone {
		for _, a := range added {
			if partitionKey(e.DataFile()) != partitionKey(a.file) {
				return fmt.Errorf("file %s is not in the partition of the files that come", e.DataFile().FilePath())
			}
		}
	}
	return nil
}

// fitJoin tells whether all deletes treat the files that go alike, whose rows then have the sequence number.
func (p *producer) fitJoin(gone []iceberg.ManifestEntry, deletes *deleteIndex) (sequence int64, ok bool) {
	low, high := gone[0].SequenceNum(), gone[0].SequenceNum()
	for _, e := range gone {
		low, high = min(low, e.SequenceNum()), max(high, e.SequenceNum())
	}
	key := partitionKey(gone[0].DataFile())
	return high, !slices.ContainsFunc(deletes.all, func(d *deleteEntry) bool {
		return p.splits(d.entry, gone, key, low, high)
	})
}

// splits tells whether a delete file would not apply to the joined rows as it applies to the files that go. An equality
// delete applies to rows of lower sequence numbers than its own: one above all of them, or not above the lowest, treats
// them alike. What a position delete names is gone after a replacement.
func (p *producer) splits(d iceberg.ManifestEntry, gone []iceberg.ManifestEntry, key string, low, high int64) bool {
	f := d.DataFile()
	spec, err := p.table.spec(int(f.SpecID()))
	global := err == nil && spec.IsUnpartitioned()
	near := partitionKey(f) == key
	if f.ContentType() == iceberg.EntryContentEqDeletes {
		return (near || global) && d.SequenceNum() > low && d.SequenceNum() <= high
	}
	if named := f.ReferencedDataFile(); named != nil {
		return slices.ContainsFunc(gone, func(e iceberg.ManifestEntry) bool { return e.DataFile().FilePath() == *named })
	}
	return near && d.SequenceNum() >= low
}

// replacedIn tells which replacements are in the history of the table.
func replacedIn(m icebergtable.Metadata, job string) map[string]bool {
	found := make(map[string]bool)
	for s := range ancestors(m) {
		for id := range strings.SplitSeq(summary(s, replacedKey(job)), ",") {
			if id != "" {
				found[id] = true
			}
		}
	}
	return found
}

// landedBefore takes out of the replacements those that an attempt without an answer has committed.
func (k *Committer) landedBefore(t *Table, all []record.Replacement, out *Outcome) []record.Replacement {
	if out.Unknown == 0 || len(all) == 0 {
		return all
	}
	landed := replacedIn(t.inner.Metadata(), k.job)
	return slices.DeleteFunc(slices.Clone(all), func(r record.Replacement) bool {
		if landed[r.ID] {
			out.Replaced = append(out.Replaced, r.ID)
		}
		return landed[r.ID]
	})
}

// replacing is the summary of a snapshot that replaces files. It repeats the newest floor of every job, so that none is
// lost when older snapshots expire.
func (k *Committer) replacing(t *Table, f fitting, floor record.Floor) iceberg.Properties {
	p := iceberg.Properties{replacedKey(k.job): strings.Join(f.ids, ",")}
	maps.Copy(p, t.FloorKeys())
	maps.Copy(p, k.summary(staged{floor: floor}))
	if len(floor) == 0 { // upkeep by hand is no job
		delete(p, offsetsKey(k.job))
	}
	return p
}
