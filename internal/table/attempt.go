package table

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

// staged is what one attempt wants to make of the table. Without flushes and replacements it moves only the floor.
type staged struct {
	floor        record.Floor
	sealed       []record.Sealed
	replacements []record.Replacement // that no earlier attempt has committed
}

// send builds snapshots on the version of the table in hand and commits them against the head of that version: one
// with the floor and the files of the flushes, and one on top of it that replaces files, both by one swap. A retryable
// error may succeed after another look at the table.
func (k *Committer) send(ctx context.Context, t *Table, s staged, out *Outcome) error {
	files, err := t.icebergFiles(s.sealed)
	if err != nil {
		return fmt.Errorf("committing to table %s: %w", k.ident, err)
	}
	out.Attempts++
	k.files.load = t.inner.FS
	defer context.AfterFunc(ctx, k.files.drop)() // a store that hangs must not outlive the attempt
	p, f, err := k.prepare(ctx, t, files, s, out)
	switch {
	case errors.Is(err, errRows):
		return fmt.Errorf("committing to table %s: %w", k.ident, err)
	case err != nil: // nothing was sent: manifests could not be read or written
		return &retryable{absent, k.catalog.explain("committing to", k.ident, err)}
	case len(p.staged) == 0:
		out.Replaced = append(out.Replaced, f.ids...) // which asked for nothing that is left to do
		return nil
	}
	if err := k.swap(ctx, t, p, s.floor, out); err != nil {
		return err
	}
	out.SnapshotID, out.Lineage = p.parent.SnapshotID, p.lineage
	out.Replaced, out.DeletesDropped = append(out.Replaced, f.ids...), len(f.deletes)
	return nil
}

// prepare stages the snapshots and stores what they consist of.
func (k *Committer) prepare(
	ctx context.Context, t *Table, files []iceberg.DataFile, s staged, out *Outcome,
) (*producer, fitting, error) {
	p, err := newProducer(ctx, t, &k.files, &k.known)
	if err != nil {
		return nil, fitting{}, err
	}
	if len(s.sealed) > 0 || len(s.replacements) == 0 {
		err = p.stage(ctx, alteration{operation: icebergtable.OpAppend, add: additions(files), summary: k.summary(s)})
	}
	var f fitting
	if err == nil && len(s.replacements) > 0 {
		var stale []string
		f, stale, err = p.fit(ctx, s.replacements)
		if out.Unknown == 0 { // else an attempt may have landed that has left the history since
			out.Stale = stale
		}
	}
	if err == nil && len(f.remove)+len(f.deletes) > 0 {
		err = p.stage(ctx, alteration{
			operation: icebergtable.OpReplace, add: f.add, remove: f.remove, deletes: f.deletes,
			summary: k.replacing(t, f, s.floor),
		})
	}
	return p, f, errors.Join(err, p.store())
}

func additions(files []iceberg.DataFile) []addition {
	all := make([]addition, len(files))
	for i, f := range files {
		all[i].file = f
	}
	return all
}

// swap makes what was staged the head of the table.
func (k *Committer) swap(ctx context.Context, t *Table, p *producer, floor record.Floor, out *Outcome) error {
	x := &exchange{}
	requirements, updates := p.updates()
	if len(floor) > 0 || t.Property(offsetsKey(k.job)) != "" { // upkeep by hand has no floor to keep
		updates = append(updates, icebergtable.NewSetPropertiesUpdate(k.mirrorOf(t, p.parent, floor)))
	}
	m, _, err := k.catalog.inner().CommitTable(noting(ctx, x), t.inner.Identifier(), requirements, updates)
	if err == nil {
		k.removeOldMetadata(ctx, t.inner.Metadata(), m)
		return nil
	}
	explained := k.catalog.explain("committing to", k.ident, err)
	switch v := judge(err, x); v {
	case final:
		return refused("committing to", k.ident, k.catalog, x, err)
	case conflict:
		out.Conflicts++
		return &retryable{v, explained}
	case unknown:
		out.Unknown++
		k.log.Warn("the outcome of a commit is unknown: looking at the table", "error", err)
		return &retryable{v, explained}
	default:
		return &retryable{v, explained}
	}
}

// removeOldMetadata deletes the metadata files that the new version no longer names, where the table asks for it. A
// catalog may have done so itself, and what cannot be deleted is an orphan.
func (k *Committer) removeOldMetadata(ctx context.Context, before, after icebergtable.Metadata) {
	if !after.Properties().GetBool(icebergtable.MetadataDeleteAfterCommitEnabledKey, false) {
		return
	}
	named := make(map[string]bool)
	for entry := range after.PreviousFiles() {
		named[entry.MetadataFile] = true
	}
	for entry := range before.PreviousFiles() {
		if named[entry.MetadataFile] {
			continue
		}
		if err := k.files.Remove(ctx, entry.MetadataFile); err != nil {
			k.log.Debug("an old metadata file stays", "file", entry.MetadataFile, "error", err)
		}
	}
}

func (t *Table) icebergFiles(sealed []record.Sealed) ([]iceberg.DataFile, error) {
	var files []iceberg.DataFile
	paths := make(map[string]bool)
	for _, s := range sealed {
		for _, f := range s.Files {
			if paths[f.Path] {
				return nil, fmt.Errorf("flush %s: data file %s is there twice", s.ID, f.Path)
			}
			paths[f.Path] = true
			file, err := t.icebergFile(f)
			if err != nil {
				return nil, fmt.Errorf("flush %s: %w", s.ID, err)
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// summary is the job's entries in the summary of the snapshot.
func (k *Committer) summary(s staged) iceberg.Properties {
	ids := make([]string, len(s.sealed))
	var counts record.Counts
	for i, one := range s.sealed {
		ids[i] = one.ID
		counts = counts.Add(one.Counts)
	}
	p := iceberg.Properties{offsetsKey(k.job): jsonText(s.floor), "engine-name": "firn"}
	if k.options.Version != "" {
		p["engine-version"] = k.options.Version
	}
	if len(s.sealed) > 0 {
		p[rangesKey(k.job)] = jsonText(joinRanges(s.sealed))
		p[countsKey(k.job)] = jsonText(counts)
		p[sealedKey(k.job)] = strings.Join(ids, ",")
	}
	return p
}

// joinRanges is the source ranges of the flushes: topic, partition, and pairs of from and to. Ranges that follow each
// other are joined; a topic that was made anew starts another pair.
func joinRanges(sealed []record.Sealed) map[string]map[int32][][2]int64 {
	joined := make(map[string]map[int32][][2]int64)
	for _, s := range sealed {
		for _, r := range s.Ranges {
			if joined[r.Topic] == nil {
				joined[r.Topic] = make(map[int32][][2]int64)
			}
			pairs := joined[r.Topic][r.Partition]
			if n := len(pairs); n > 0 && pairs[n-1][1] == r.From {
				pairs[n-1][1] = r.To
				continue
			}
			joined[r.Topic][r.Partition] = append(pairs, [2]int64{r.From, r.To})
		}
	}
	return joined
}

// mirrorOf is the table property that goes with a snapshot.
func (k *Committer) mirrorOf(t *Table, s *icebergtable.Snapshot, floor record.Floor) iceberg.Properties {
	c := mirror{Table: t.UUID(), Floor: floor, Snapshot: s.SnapshotID, Sequence: s.SequenceNumber}
	return iceberg.Properties{offsetsKey(k.job): jsonText(c)}
}
