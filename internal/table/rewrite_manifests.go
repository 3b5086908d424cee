package table

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

// RewriteManifestsPolicy says how manifests are rewritten.
type RewriteManifestsPolicy struct {
	Force    bool                // also where there would be no fewer, to order what is in them
	DryRun   bool                // nothing is written; the result is what would be done
	Progress func(manifests int) // after some manifests were read, unless nil
}

// RewrittenManifests is what became of the manifests of data files, or would become of them.
type RewrittenManifests struct {
	Before     int   `json:"before"`      // manifests of data files in the table's head
	After      int   `json:"after"`       // of them afterwards
	Replaced   int   `json:"replaced"`    // that were read, and are no longer in the head
	Written    int   `json:"written"`     // in their place
	Empty      int   `json:"empty"`       // replaced ones without a live file
	Files      int64 `json:"files"`       // live data files that those rewritten name
	Bytes      int64 `json:"bytes"`       // of the manifests that were read
	SnapshotID int64 `json:"snapshot_id"` // of the commit; 0: there was none
	Attempts   int   `json:"attempts"`
}

// RewriteManifests gathers the manifests of data files of the table's head that are smaller than the table's property
// commit.manifest.target-size-bytes into as few as possible, one partition spec at a time, with their entries in the
// order of the partition values, so that a reader who asks for few partitions opens few manifests. It does so in one
// snapshot of operation replace, which adds and removes no file: sequence numbers and row ids stay as they are. Where
// there would be no fewer it does nothing.
//
// After a conflict it begins again on the newer head. Entries of one spec are in memory at once, 1 to 3 KB each.
func (k *Committer) RewriteManifests(ctx context.Context, p RewriteManifestsPolicy) (RewrittenManifests, error) {
	if p.Progress == nil {
		p.Progress = func(int) {}
	}
	var out RewrittenManifests
	sent := int64(0) // snapshot of the attempt whose outcome is not known
	err := k.retry(ctx, "rewriting manifests of", func(ctx context.Context) error {
		return k.rewriteManifests(ctx, p, &out, &sent)
	})
	return out, err
}

// rewriteManifests is one attempt.
func (k *Committer) rewriteManifests(
	ctx context.Context, policy RewriteManifestsPolicy, out *RewrittenManifests, sent *int64,
) error {
	t, s, err := k.view(ctx)
	if err != nil {
		return err
	}
	if *sent != 0 && hasAncestor(t.inner.Metadata(), *sent) { // it landed, and the answer was lost
		out.SnapshotID = *sent
		return nil
	}
	k.files.load = t.inner.FS
	defer context.AfterFunc(ctx, k.files.drop)() // a store that hangs must not outlive the attempt
	p, err := newProducer(ctx, t, &k.files, &k.known)
	if err != nil {
		return &retryable{absent, k.catalog.explain("rewriting manifests of", k.ident, err)}
	}
	r := p.planRegrouping(policy)
	*out = r.result(out.Attempts)
	if policy.DryRun || len(r.groups) == 0 {
		out.SnapshotID = 0
		return nil
	}
	err = p.stage(ctx, alteration{
		operation: icebergtable.OpReplace, summary: k.regrouping(t, s, r), regroup: r,
	})
	if err = joinStored(err, p); err != nil {
		return &retryable{absent, k.catalog.explain("rewriting manifests of", k.ident, err)}
	}
	out.Attempts++
	*sent = p.parent.SnapshotID
	if err := k.swap(ctx, t, p, s.floor, &Outcome{}); err != nil {
		return err
	}
	*out = r.result(out.Attempts)
	out.SnapshotID = p.parent.SnapshotID
	return nil
}

// joinStored waits for what was staged, whether all of it was or not.
func joinStored(err error, p *producer) error {
	if stored := p.store(); err == nil {
		return stored
	}
	return err
}

func hasAncestor(m icebergtable.Metadata, id int64) bool {
	for s := range ancestors(m) {
		if s.SnapshotID == id {
			return true
		}
	}
	return false
}

// regrouping is the summary of the snapshot: the newest floor of every job, and the counts that other engines state of
// such a snapshot.
func (k *Committer) regrouping(t *Table, s standing, r *regrouping) iceberg.Properties {
	p := iceberg.Properties{
		"manifests-created": strconv.Itoa(r.written()), "manifests-replaced": strconv.Itoa(r.replaced()),
		"manifests-kept": strconv.Itoa(len(r.kept)), "entries-processed": strconv.FormatInt(r.files(), 10),
	}
	maps.Copy(p, t.FloorKeys())
	if len(s.floor) > 0 {
		maps.Copy(p, k.summary(staged{floor: s.floor}))
	}
	p["engine-name"] = "firn"
	if k.options.Version != "" {
		p["engine-version"] = k.options.Version
	}
	return p
}

// regroup writes the manifests of a regrouping.
func (d *draft) regroup(ctx context.Context) ([]iceberg.ManifestFile, error) {
	var fresh []iceberg.ManifestFile
	for _, g := range d.change.regroup.groups {
		made, err := d.regroupOne(ctx, g)
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, made...)
	}
	return append(fresh, d.change.regroup.kept...), nil
}

func (d *draft) regroupOne(ctx context.Context, g manifestGroup) ([]iceberg.ManifestFile, error) {
	var entries []iceberg.ManifestEntry
	for _, m := range g.manifests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more, err := d.entries(ctx, m)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
		d.change.regroup.progress(1)
	}
	if int64(len(entries)) != g.files {
		return nil, fmt.Errorf("manifests of partition spec %d are listed with %d live files and have %d", g.spec,
			g.files, len(entries))
	}
	if err := d.sortByPartition(g.spec, entries); err != nil {
		return nil, err
	}
	var made []iceberg.ManifestFile
	for i := range g.written {
		part := entries[len(entries)*i/g.written : len(entries)*(i+1)/g.written]
		m, err := d.writeManifest(g.spec, part)
		if err != nil {
			return nil, err
		}
		delete(d.written, m.FilePath()) // existing files only: there is nothing to learn of them
		made = append(made, m)
	}
	return made, nil
}
