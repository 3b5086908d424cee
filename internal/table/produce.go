package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// producer makes the snapshots of one attempt on one version of a table: their manifests, their manifest lists, and
// the updates that swap them in. Several snapshots may follow each other and become visible by one swap.
//
// It is firn's own and not the library's, which reads every manifest of the table to replace a file, merges all small
// manifests at once, and can give the files of one commit only one sequence number.
type producer struct {
	table  *Table
	files  Store
	known  *manifestCache
	commit string // in the names of manifests and lists
	made   int    // manifests begun

	// What is written is stored beside the staging; store waits for it. It is held until then, since a manifest of one
	// snapshot may be read for the next.
	writes  *errgroup.Group
	storing context.Context //nolint:containedctx // of writes
	pending map[string][]byte

	// These are as the newest staged snapshot leaves them.
	parent    *icebergtable.Snapshot
	manifests []iceberg.ManifestFile
	sequence  int64
	nextRowID int64

	staged  []*icebergtable.Snapshot
	lineage map[string]record.Lineage // of the files that were added, in format version 3
}

// alteration is what one snapshot does to the table's files.
type alteration struct {
	operation icebergtable.Operation
	add       []addition
	remove    map[string]bool // paths of data files; each must be live
	deletes   map[string]bool // keys of delete files that go; each must be live
	summary   iceberg.Properties
	regroup   *regrouping // of manifests, in place of files that come and go; nil: none
}

// addition is a data file that comes. Its rows count as written at the sequence number, for delete files: 0 is that of
// the snapshot.
type addition struct {
	file     iceberg.DataFile
	sequence int64
}

func newProducer(ctx context.Context, t *Table, files Store, known *manifestCache) (*producer, error) {
	m := t.inner.Metadata()
	p := &producer{
		table: t, files: files, known: known, commit: uuid.NewString(),
		pending: make(map[string][]byte),
		parent:  m.SnapshotByName(mainBranch), sequence: m.LastSequenceNumber(), nextRowID: m.NextRowID(),
	}
	p.writes, p.storing = errgroup.WithContext(ctx)
	if p.parent == nil {
		return p, nil
	}
	var err error
	p.manifests, err = p.list(ctx, p.parent)
	return p, err
}

// list reads the manifest list of a snapshot, unless it is the one that was read or written last.
func (p *producer) list(ctx context.Context, s *icebergtable.Snapshot) ([]iceberg.ManifestFile, error) {
	if manifests, ok := p.known.list(s.ManifestList); ok {
		return manifests, nil
	}
	var manifests []iceberg.ManifestFile
	var err error
	if s.ManifestList == "" { // format version 1 may name its manifests in the metadata
		manifests, err = p.embedded(ctx, s)
	} else {
		var content []byte
		if content, err = readAll(ctx, p.files, s.ManifestList); err == nil {
			manifests, err = iceberg.ReadManifestList(bytes.NewReader(content))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the manifest list of snapshot %d: %w", s.SnapshotID, err)
	}
	p.known.setList(s.ManifestList, manifests)
	return manifests, nil
}

func (p *producer) embedded(ctx context.Context, s *icebergtable.Snapshot) ([]iceberg.ManifestFile, error) {
	files, err := p.table.inner.FS(ctx)
	if err != nil {
		return nil, err
	}
	return s.Manifests(files)
}

func readAll(ctx context.Context, files Store, path string) ([]byte, error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(f)
	return content, errors.Join(err, f.Close())
}

// stage makes a snapshot on top of what was staged before, or of the table's head.
func (p *producer) stage(ctx context.Context, c alteration) error {
	version := p.table.FormatVersion()
	s := &icebergtable.Snapshot{SnapshotID: p.newID(), TimestampMs: p.now()}
	if version > 1 {
		s.SequenceNumber = p.sequence + 1
	}
	if p.parent != nil {
		s.ParentSnapshotID = &p.parent.SnapshotID
	}
	schema := p.table.inner.Schema().ID
	s.SchemaID = &schema
	d := &draft{producer: p, snapshot: s, change: c, written: make(map[string][]iceberg.ManifestEntry)}
	manifests, err := d.manifests(ctx)
	if err != nil {
		return err
	}
	if err := p.writeList(s, manifests); err != nil {
		return err
	}
	d.remember()
	d.trace()
	s.Summary = d.tally.summary(c, p.parent)
	p.parent, p.sequence = s, s.SequenceNumber
	p.staged = append(p.staged, s)
	return nil
}

// writeList writes the manifest list, and reads it back from memory: the list assigns sequence numbers and row ids.
func (p *producer) writeList(s *icebergtable.Snapshot, manifests []iceberg.ManifestFile) error {
	var content bytes.Buffer
	err := iceberg.WriteManifestList(p.table.FormatVersion(), &content, s.SnapshotID, s.ParentSnapshotID,
		&s.SequenceNumber, p.nextRowID, manifests)
	if err != nil {
		return fmt.Errorf("encoding a manifest list: %w", err)
	}
	s.ManifestList, err = p.metadataPath(fmt.Sprintf("snap-%d-1-%s.avro", s.SnapshotID, p.commit))
	if err != nil {
		return err
	}
	p.write(s.ManifestList, content.Bytes())
	if p.manifests, err = iceberg.ReadManifestList(bytes.NewReader(content.Bytes())); err != nil {
		return fmt.Errorf("reading the manifest list just encoded: %w", err)
	}
	if p.table.FormatVersion() >= 3 {
		p.assignRows(s)
	}
	return nil
}

// assignRows notes which row ids the list gave away (specification, "Row Lineage"): every data manifest that had none
// took as many as it has rows.
func (p *producer) assignRows(s *icebergtable.Snapshot) {
	first, next := p.nextRowID, p.nextRowID
	for _, m := range p.manifests {
		if m.SnapshotID() == s.SnapshotID && m.ManifestContent() == iceberg.ManifestContentData {
			next += m.AddedRows() + m.ExistingRows()
		}
	}
	added := next - first
	s.FirstRowID, s.AddedRows, p.nextRowID = &first, &added, next
}

// updates is what the catalog is asked for, and on which condition.
func (p *producer) updates() ([]icebergtable.Requirement, []icebergtable.Update) {
	m := p.table.inner.Metadata()
	var head *int64
	if s := m.SnapshotByName(mainBranch); s != nil {
		head = &s.SnapshotID
	}
	requirements := []icebergtable.Requirement{
		icebergtable.AssertTableUUID(m.TableUUID()), icebergtable.AssertRefSnapshotID(mainBranch, head),
	}
	var updates []icebergtable.Update
	for _, s := range p.staged {
		updates = append(updates, icebergtable.NewAddSnapshotUpdate(s), p.setHead(s))
	}
	return requirements, updates
}

// setHead moves the main branch, and keeps what it says of its retention.
func (p *producer) setHead(s *icebergtable.Snapshot) icebergtable.Update {
	var refAge, snapshotAge int64
	var keep int
	for name, ref := range p.table.inner.Metadata().Refs() {
		if name != mainBranch {
			continue
		}
		refAge, snapshotAge, keep = valueOf(ref.MaxRefAgeMs), valueOf(ref.MaxSnapshotAgeMs), valueOf(ref.MinSnapshotsToKeep)
	}
	return icebergtable.NewSetSnapshotRefUpdate(
		mainBranch, s.SnapshotID, icebergtable.BranchRef, refAge, snapshotAge, keep)
}

func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// newID is random, as all writers of Iceberg have it.
func (p *producer) newID() int64 {
	for {
		id := uuid.New()
		n := int64((binary.BigEndian.Uint64(id[:8]) ^ binary.BigEndian.Uint64(id[8:])) >> 1)
		if n > 0 && p.table.inner.SnapshotByID(n) == nil {
			return n
		}
	}
}

// now is the clock, but not before the newest snapshot: the history of a table is ordered by time.
func (p *producer) now() int64 {
	now := time.Now().UnixMilli()
	if p.parent != nil {
		now = max(now, p.parent.TimestampMs)
	}
	return now
}

func (p *producer) metadataPath(name string) (string, error) {
	locations, err := p.table.inner.LocationProvider()
	if err != nil {
		return "", fmt.Errorf("choosing the place of %s: %w", name, err)
	}
	return locations.NewMetadataLocation(name), nil
}

// write begins to store a new file.
func (p *producer) write(path string, content []byte) {
	p.pending[path] = content
	p.writes.Go(func() error {
		w, err := p.files.Create(p.storing, path)
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		if err = errors.Join(err, w.Close()); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
		return nil
	})
}

// store waits until all that was staged is durable. It is never deleted here: even a conflict may be the answer to a
// request that a proxy has sent twice, and that has landed the first time.
func (p *producer) store() error { return p.writes.Wait() }
