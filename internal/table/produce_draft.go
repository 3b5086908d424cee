package table

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

// draft is one snapshot in the making.
type draft struct {
	*producer
	snapshot *icebergtable.Snapshot
	change   alteration
	tally    tally
	written  map[string][]iceberg.ManifestEntry // by manifest
}

// manifests writes the manifests that the change needs, and gives all of the snapshot: new ones first, then those of
// its parent but for manifests that were taken into new ones and those without live files, which mattered only to the
// snapshot that made them.
func (d *draft) manifests(ctx context.Context) ([]iceberg.ManifestFile, error) {
	if d.change.regroup != nil {
		return d.regroup(ctx)
	}
	old := slices.DeleteFunc(slices.Clone(d.producer.manifests), func(m iceberg.ManifestFile) bool {
		return m.AddedDataFiles() == 0 && m.ExistingDataFiles() == 0
	})
	fresh, old, err := d.drop(ctx, old)
	if err != nil {
		return nil, err
	}
	bySpec := make(map[int][]iceberg.ManifestEntry)
	for _, a := range d.change.add {
		bySpec[int(a.file.SpecID())] = append(bySpec[int(a.file.SpecID())], d.added(a))
		d.tally.add(a.file)
	}
	for _, spec := range slices.Sorted(maps.Keys(bySpec)) {
		var m iceberg.ManifestFile
		if m, old, err = d.place(ctx, spec, bySpec[spec], old); err != nil {
			return nil, err
		}
		fresh = append(fresh, m)
	}
	return append(fresh, old...), nil
}

func (d *draft) added(a addition) iceberg.ManifestEntry {
	var sequence *int64
	if a.sequence > 0 && d.table.FormatVersion() > 1 {
		sequence = &a.sequence
	}
	return iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &d.snapshot.SnapshotID, sequence, nil, a.file)
}

// drop takes the removed files out of the manifests that have them, the newest first: what is replaced is mostly young.
// Each of those manifests is written again with its other files, and with the removed ones as deleted.
func (d *draft) drop(
	ctx context.Context, old []iceberg.ManifestFile,
) (fresh, rest []iceberg.ManifestFile, err error) {
	data := removal{iceberg.ManifestContentData, maps.Clone(d.change.remove), func(e iceberg.ManifestEntry) string {
		return e.DataFile().FilePath()
	}}
	deletes := removal{iceberg.ManifestContentDeletes, maps.Clone(d.change.deletes), deleteKey}
	rest = newestFirst(old)
	for _, r := range []removal{data, deletes} {
		if len(r.left) == 0 {
			continue
		}
		var more []iceberg.ManifestFile
		if more, rest, err = d.remove(ctx, r, rest); err != nil {
			return nil, nil, err
		}
		fresh = append(fresh, more...)
	}
	return fresh, rest, nil
}

// removal is files that go, all of one content.
type removal struct {
	content iceberg.ManifestContent
	left    map[string]bool // by what key makes of an entry
	key     func(iceberg.ManifestEntry) string
}

func (r *removal) has(e iceberg.ManifestEntry) bool { return r.left[r.key(e)] }

func (d *draft) remove(
	ctx context.Context, r removal, old []iceberg.ManifestFile,
) (fresh, rest []iceberg.ManifestFile, err error) {
	batches := make(map[int32]*survivors)
	for _, m := range old {
		if len(r.left) == 0 || m.ManifestContent() != r.content {
			rest = append(rest, m)
			continue
		}
		entries, err := d.entries(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		if !slices.ContainsFunc(entries, r.has) {
			rest = append(rest, m)
			continue
		}
		b := batches[m.PartitionSpecID()]
		if b != nil && b.bytes+m.Length() > d.targetBytes() {
			fresh, err = d.flush(b, fresh)
			if err != nil {
				return nil, nil, err
			}
			b = nil
		}
		if b == nil {
			b = &survivors{spec: int(m.PartitionSpecID())}
			batches[m.PartitionSpecID()] = b
		}
		b.take(d, m, entries, r)
	}
	for _, spec := range slices.Sorted(maps.Keys(batches)) {
		if fresh, err = d.flush(batches[spec], fresh); err != nil {
			return nil, nil, err
		}
	}
	if len(r.left) > 0 {
		return nil, nil, fmt.Errorf("%d files to replace are not in the table, such as %s", len(r.left),
			slices.Min(slices.Collect(maps.Keys(r.left))))
	}
	return fresh, rest, nil
}

// survivors is the entries of manifests that lose files.
type survivors struct {
	spec    int
	bytes   int64
	entries []iceberg.ManifestEntry
}

func (s *survivors) take(d *draft, m iceberg.ManifestFile, entries []iceberg.ManifestEntry, r removal) {
	s.bytes += m.Length()
	for _, e := range entries {
		if key := r.key(e); r.left[key] {
			delete(r.left, key)
			d.tally.remove(e.DataFile())
			sequence := e.SequenceNum()
			e = iceberg.NewManifestEntry(iceberg.EntryStatusDELETED, &d.snapshot.SnapshotID, &sequence, e.FileSequenceNum(),
				e.DataFile())
		}
		s.entries = append(s.entries, e)
	}
}

func (d *draft) flush(s *survivors, fresh []iceberg.ManifestFile) ([]iceberg.ManifestFile, error) {
	m, err := d.writeManifest(s.spec, s.entries)
	return append(fresh, m), err
}

// Manifests are merged in tiers, as files are in a log-structured store: mergeFanout of about one size become one, so
// that a table of n files has some log n manifests, and each entry is written again as often. Manifests of large files
// and of small ones are kept apart, since the small ones are soon replaced.
const (
	mergeFanout    = 6
	manifestBytes  = 8 << 20 // default of commit.manifest.target-size-bytes
	targetBytesKey = "commit.manifest.target-size-bytes"
)

func (p *producer) targetBytes() int64 {
	return max(1, int64(p.table.inner.Properties().GetInt(targetBytesKey, manifestBytes)))
}

// place writes the manifest of new files of one spec. Where as many old ones of its tier are there as are merged, it
// takes them in, and so on to higher tiers.
func (d *draft) place(
	ctx context.Context, spec int, entries []iceberg.ManifestEntry, old []iceberg.ManifestFile,
) (iceberg.ManifestFile, []iceberg.ManifestFile, error) {
	if d.table.inner.Properties().GetBool(icebergtable.ManifestMergeEnabledKey, true) {
		absorbed, rest := d.absorb(spec, entries, old)
		for _, m := range absorbed {
			more, err := d.entries(ctx, m)
			if err != nil {
				return nil, nil, err
			}
			entries = append(entries, more...)
		}
		old = rest
	}
	m, err := d.writeManifest(spec, entries)
	return m, old, err
}

// absorb chooses the old manifests that a new one takes in.
func (d *draft) absorb(
	spec int, entries []iceberg.ManifestEntry, old []iceberg.ManifestFile,
) (absorbed, rest []iceberg.ManifestFile) {
	count, rows := int64(len(entries)), int64(0)
	for _, e := range entries {
		rows += e.DataFile().Count()
	}
	typical := d.typicalRows()
	kind, rest := large(rows, count, typical), old
	for {
		var same, other []iceberg.ManifestFile
		for _, m := range rest {
			files := int64(m.AddedDataFiles()) + int64(m.ExistingDataFiles())
			fits := m.ManifestContent() == iceberg.ManifestContentData && int(m.PartitionSpecID()) == spec &&
				m.Length() < d.targetBytes() && tier(files) <= tier(count) &&
				large(m.AddedRows()+m.ExistingRows(), files, typical) == kind
			if fits {
				same = append(same, m)
			} else {
				other = append(other, m)
			}
		}
		if len(same) < mergeFanout-1 {
			return absorbed, rest
		}
		for _, m := range same {
			count += int64(m.AddedDataFiles()) + int64(m.ExistingDataFiles())
		}
		absorbed, rest = append(absorbed, same...), other
	}
}

// tier is the order of magnitude of a number of files.
func tier(files int64) int { return int(math.Log(float64(max(files, 1))) / math.Log(mergeFanout)) }

// large tells files that were rolled up from those that are waiting for it, by what is in the list of manifests.
func large(rows, files int64, typical float64) bool {
	return float64(rows) > typical*float64(max(files, 1))
}

// typicalRows is a number of rows between those of the table's small and large files, or beyond all where they are
// about the same: then there is one kind.
func (d *draft) typicalRows() float64 {
	const apart = 8 // times the rows
	low, high := math.Inf(1), 0.0
	for _, m := range d.producer.manifests {
		if files := m.AddedDataFiles() + m.ExistingDataFiles(); files > 0 {
			mean := float64(m.AddedRows()+m.ExistingRows()) / float64(files)
			low, high = min(low, mean), max(high, mean)
		}
	}
	if high < apart*low {
		return math.Inf(1)
	}
	return math.Sqrt(low * high)
}

// contentOf is the content of a manifest of the entries, which are all of data files or all of delete files.
func contentOf(entries []iceberg.ManifestEntry) iceberg.ManifestContent {
	if len(entries) > 0 && entries[0].DataFile().ContentType() != iceberg.EntryContentData {
		return iceberg.ManifestContentDeletes
	}
	return iceberg.ManifestContentData
}

// writeManifest writes a manifest of the entries: existing ones of older snapshots, added and deleted ones of this.
func (d *draft) writeManifest(spec int, entries []iceberg.ManifestEntry) (iceberg.ManifestFile, error) {
	partition, err := d.table.spec(spec)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	w, err := iceberg.NewManifestWriter(d.table.FormatVersion(), &content, partition, d.table.inner.Schema(),
		d.snapshot.SnapshotID, iceberg.WithManifestWriterContent(contentOf(entries)))
	if err != nil {
		return nil, fmt.Errorf("beginning a manifest: %w", err)
	}
	for _, e := range entries {
		if err := put(w, e, d.snapshot.SnapshotID); err != nil {
			return nil, fmt.Errorf("encoding the manifest entry of %s: %w", e.DataFile().FilePath(), err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encoding a manifest: %w", err)
	}
	d.made++
	path, err := d.metadataPath(fmt.Sprintf("%s-m%d.avro", d.commit, d.made))
	if err != nil {
		return nil, err
	}
	m, err := w.ToManifestFile(path, int64(content.Len()))
	if err != nil {
		return nil, fmt.Errorf("describing a manifest: %w", err)
	}
	d.write(path, content.Bytes())
	d.written[path] = entries
	return m, nil
}

// trace notes the row ids of the files that were added: those of a manifest follow each other in its order.
func (d *draft) trace() {
	if d.table.FormatVersion() < 3 {
		return
	}
	if d.lineage == nil {
		d.lineage = make(map[string]record.Lineage)
	}
	for _, m := range d.producer.manifests {
		first := m.FirstRowID()
		for _, e := range d.written[m.FilePath()] {
			if first == nil || e.Status() != iceberg.EntryStatusADDED || e.SnapshotID() != d.snapshot.SnapshotID {
				continue
			}
			f := e.DataFile()
			d.lineage[f.FilePath()] = record.Lineage{FirstRowID: *first, SequenceNumber: d.snapshot.SequenceNumber}
			next := *first + f.Count()
			first = &next
		}
	}
}

// remember keeps the entries of what was written as they would be read, now that the snapshot has a sequence number.
// Row ids are known only from reading.
func (d *draft) remember() {
	d.known.setList(d.snapshot.ManifestList, d.producer.manifests)
	if d.table.FormatVersion() != 2 {
		return
	}
	for path, entries := range d.written {
		live := make([]iceberg.ManifestEntry, 0, len(entries))
		for _, e := range entries {
			switch {
			case e.Status() == iceberg.EntryStatusDELETED:
			case e.Status() == iceberg.EntryStatusADDED && e.SnapshotID() == d.snapshot.SnapshotID:
				sequence := e.SequenceNum()
				if sequence < 0 {
					sequence = d.snapshot.SequenceNumber
				}
				live = append(live, iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &d.snapshot.SnapshotID, &sequence,
					&d.snapshot.SequenceNumber, e.DataFile()))
			default:
				live = append(live, e)
			}
		}
		d.known.setEntries(path, live)
	}
}

// put writes an entry with the status that it has in this snapshot.
func put(w *iceberg.ManifestWriter, e iceberg.ManifestEntry, snapshot int64) error {
	mine := e.SnapshotID() == snapshot
	switch {
	case e.Status() == iceberg.EntryStatusDELETED && mine:
		return w.Delete(e)
	case e.Status() == iceberg.EntryStatusADDED && mine:
		return w.Add(e)
	default:
		return w.Existing(e)
	}
}

// entries is the live files of a manifest.
func (p *producer) entries(ctx context.Context, m iceberg.ManifestFile) ([]iceberg.ManifestEntry, error) {
	if entries, ok := p.known.entries(m.FilePath()); ok {
		return entries, nil
	}
	content, ok := p.pending[m.FilePath()]
	if !ok {
		var err error
		if content, err = readAll(ctx, p.files, m.FilePath()); err != nil {
			return nil, fmt.Errorf("reading manifest %s: %w", m.FilePath(), err)
		}
	}
	entries, err := iceberg.ReadManifest(m, bytes.NewReader(content), true)
	if err != nil {
		return nil, fmt.Errorf("reading manifest %s: %w", m.FilePath(), err)
	}
	p.known.setEntries(m.FilePath(), entries)
	return entries, nil
}
