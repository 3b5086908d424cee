package table

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	icebergtable "github.com/apache/iceberg-go/table"
)

// staged is what one attempt wants to make of the table. Without flushes it moves only the floor.
type staged struct {
	floor  record.Floor
	sealed []record.Sealed
}

// send builds the snapshot on the version of the table in hand and commits it against the head of that version. A
// retryable error may succeed after another look at the table.
func (k *Committer) send(ctx context.Context, t *Table, s staged, out *Outcome) error {
	files, err := t.icebergFiles(s.sealed)
	if err != nil {
		return fmt.Errorf("committing to table %s: %w", k.ident, err)
	}
	out.Attempts++
	gate := &gate{Catalog: k.catalog.inner()}
	id, err := k.transact(ctx, t, gate, files, s)
	if err == nil {
		out.SnapshotID = id
		return nil
	}
	err = k.catalog.explain("committing to", k.ident, err)
	if gate.err == nil {
		return &retryable{absent, err} // nothing was sent: manifests could not be written
	}
	switch v := judge(gate.err, &gate.exchange); v {
	case final:
		return refused("committing to", k.ident, k.catalog, &gate.exchange, gate.err)
	case conflict:
		out.Conflicts++
		return &retryable{v, err}
	case unknown:
		out.Unknown++
		k.log.Warn("the outcome of a commit is unknown: looking at the table", "error", gate.err)
		return &retryable{v, err}
	default:
		return &retryable{v, err}
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

// transact commits files, summary and mirror in one swap, and returns the snapshot's id.
func (k *Committer) transact(
	ctx context.Context, t *Table, gate *gate, files []iceberg.DataFile, s staged,
) (int64, error) {
	k.files.load = t.inner.FS
	defer context.AfterFunc(ctx, k.files.drop)() // a store that hangs must not outlive the attempt
	base := icebergtable.New(t.inner.Identifier(), t.inner.Metadata(), t.inner.MetadataLocation(), k.files.client, gate)
	tx := base.NewTransaction()
	// Pins the head: the library's own assertion is rewritten to a newer head when it tries again.
	if err := tx.AssertRefSnapshotID(mainBranch); err != nil {
		return 0, fmt.Errorf("asserting the head: %w", err)
	}
	if err := appendFiles(ctx, t, tx, files, k.summary(s)); err != nil {
		return 0, fmt.Errorf("writing manifests: %w", err)
	}
	id, err := k.setMirror(tx, t, s.floor)
	if err != nil {
		return 0, fmt.Errorf("setting the mirror of the floor: %w", err)
	}
	if _, err := tx.Commit(ctx); err != nil && !gate.landed {
		return 0, err
	}
	return id, nil
}

// appendFiles stages the snapshot. Whether manifests are merged follows the table's properties (format version 3
// never merges here). The duplicate check is left out, since it reads every manifest of the table, and the floor
// excludes duplicates.
func appendFiles(
	ctx context.Context, t *Table, tx *icebergtable.Transaction, files []iceberg.DataFile, p iceberg.Properties,
) error {
	switch {
	case len(files) == 0:
		return appendNothing(ctx, t, tx, p)
	case t.FormatVersion() >= 3:
		// AddDataFiles wants row ids set, which only the manifest list can assign; a row delta lets it.
		return tx.NewRowDelta(p).AddRows(files...).Commit(ctx)
	default:
		return tx.AddDataFiles(ctx, files, p, icebergtable.WithoutDuplicateCheck(), icebergtable.WithoutAutoNameMapping())
	}
}

// appendNothing stages a snapshot without files, which still swaps the head and carries a floor. The one call of the
// library that does so also sets a name mapping, which the table did not ask for.
func appendNothing(ctx context.Context, t *Table, tx *icebergtable.Transaction, p iceberg.Properties) error {
	if err := tx.AddFiles(ctx, nil, p, true); err != nil {
		return err
	}
	if t.inner.NameMapping() != nil {
		return nil
	}
	return tx.RemoveProperties([]string{icebergtable.DefaultNameMappingKey})
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

// setMirror stages the table property that goes with the staged snapshot, and returns the snapshot's id.
func (k *Committer) setMirror(tx *icebergtable.Transaction, t *Table, floor record.Floor) (int64, error) {
	after, err := tx.StagedTable()
	if err != nil {
		return 0, err
	}
	head := after.SnapshotByName(mainBranch)
	if head == nil {
		return 0, errors.New("the staged table has no head")
	}
	c := mirror{Table: t.UUID(), Floor: floor, Snapshot: head.SnapshotID, Sequence: head.SequenceNumber}
	return head.SnapshotID, tx.SetProperties(iceberg.Properties{offsetsKey(k.job): jsonText(c)})
}

// gate stands between the library's transaction and the catalog. It lets one commit through, notes what came of it,
// and hides a conflict from the library, which would otherwise send the same files again on the new head.
type gate struct {
	catalog.Catalog
	exchange exchange
	landed   bool
	err      error // of the commit; nil when none was sent
}

// errHeld stands for the error that the gate keeps.
var errHeld = errors.New("the commit failed")

func (g *gate) CommitTable(
	ctx context.Context, ident icebergtable.Identifier, r []icebergtable.Requirement, u []icebergtable.Update,
) (icebergtable.Metadata, string, error) {
	m, location, err := g.Catalog.CommitTable(noting(ctx, &g.exchange), ident, r, u)
	if err != nil {
		g.err = err
		return nil, "", fmt.Errorf("%w: %s", errHeld, err.Error())
	}
	g.landed = true
	return m, location, nil
}
