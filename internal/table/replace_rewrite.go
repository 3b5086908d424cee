package table

import (
	"context"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
)

// fitRewrite tells whether rows that were written anew still are what the files that go hold: the head that they were
// read from is in the table's history, every delete file that may apply to them was read, and each that was read is
// still there. Where it is not, what was read may have been rolled back.
//
// The rows get the sequence number of that head, as Iceberg's own compaction has it: all equality deletes up to it were
// applied, and one that comes later has a higher number and applies to them as it did to the files that go. So only
// deletes by position, which name files, make a rewrite stale.
func (p *producer) fitRewrite(
	w *record.Rewrite, gone []iceberg.ManifestEntry, deletes *deleteIndex,
) (sequence int64, ok bool) {
	read := p.table.inner.SnapshotByID(w.SnapshotID)
	if read == nil || !p.descends(w.SnapshotID) {
		return 0, false
	}
	sequence = read.SequenceNumber
	applied := make(map[string]bool, len(w.Deletes))
	for _, key := range w.Deletes {
		if deletes.byKey[key] == nil {
			return 0, false
		}
		applied[key] = true
	}
	for _, e := range gone {
		if e.SequenceNum() > sequence {
			return 0, false // it was not live then
		}
		for _, d := range deletes.applying(e.DataFile(), e.SequenceNum()) {
			later := d.Content == record.DeleteEquality && d.Sequence > sequence
			if !later && !applied[d.key] {
				return 0, false
			}
		}
	}
	return sequence, true
}

// descends tells whether the table's head is a snapshot or descends from it.
func (p *producer) descends(id int64) bool {
	for s := range ancestors(p.table.inner.Metadata()) {
		if s.SnapshotID == id {
			return true
		}
	}
	return false
}

// unneeded is the keys of delete files that may apply to no data file once the replacements are made. It reads all
// manifests of data files.
func (p *producer) unneeded(ctx context.Context, deletes *deleteIndex, f fitting) (map[string]bool, error) {
	left := make(map[string]bool, len(deletes.all))
	for _, d := range deletes.all {
		left[d.key] = true
	}
	for _, a := range f.add {
		for _, d := range deletes.applying(a.file, a.sequence) {
			if d.Content == record.DeleteEquality { // the others were made before the file, and name it nowhere
				delete(left, d.key)
			}
		}
	}
	for _, m := range p.manifests {
		if len(left) == 0 {
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
			if f.remove[e.DataFile().FilePath()] {
				continue
			}
			for _, d := range deletes.applying(e.DataFile(), e.SequenceNum()) {
				delete(left, d.key)
			}
		}
	}
	return left, nil
}
