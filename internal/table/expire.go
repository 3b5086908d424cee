package table

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"firn/internal/record"

	icebergtable "github.com/apache/iceberg-go/table"
)

// ExpirePolicy says which snapshots go. The zero value of a field is its default.
type ExpirePolicy struct {
	SnapshotsMax int           // of the main branch, the newest, that stay; default 100
	OlderThan    time.Duration // younger snapshots stay too; default: on the main branch only their number counts
	Batch        int           // nothing is done while fewer can go; default 25, so that few commits are for expiry
	DryRun       bool          // nothing is written; the result is what would go
	Progress     func()        // called by several goroutines, after each snapshot that goes was read, unless nil
}

// Expired is what an expiry took out, or would take out.
type Expired struct {
	Snapshots int          `json:"snapshots"`
	Kept      int          `json:"kept"` // snapshots that are left
	Files     RemovedFiles `json:"files"`
	Reads     int          `json:"reads"` // of manifest lists and manifests
	More      bool         `json:"more"`  // snapshots are left that could go: call again
	List      string       `json:"list,omitempty"`
}

// RemovedFiles counts files that no snapshot needs any more.
type RemovedFiles struct {
	Data       int   `json:"data"`
	Deletes    int   `json:"deletes"` // delete files
	Manifests  int   `json:"manifests"`
	Lists      int   `json:"manifest_lists"`
	Statistics int   `json:"statistics"`
	Bytes      int64 `json:"bytes"` // of data, delete, manifest and statistics files
}

// Total is the number of files.
func (f RemovedFiles) Total() int { return f.Data + f.Deletes + f.Manifests + f.Lists + f.Statistics }

// Plus is the sum.
func (f RemovedFiles) Plus(g RemovedFiles) RemovedFiles {
	return RemovedFiles{
		f.Data + g.Data, f.Deletes + g.Deletes, f.Manifests + g.Manifests, f.Lists + g.Lists,
		f.Statistics + g.Statistics, f.Bytes + g.Bytes,
	}
}

// Upkeep makes a committer for upkeep by hand, of no job: it has replacements to commit and no flushes. It is used by
// one goroutine at a time.
func (t *Table) Upkeep(o CommitterOptions) (*Committer, error) {
	if o.Fold == nil {
		o.Fold = func(floor record.Floor, _ []record.Sealed) (record.Floor, []int) { return floor, nil }
	}
	return NewCommitter(t.catalog, t.ident, "upkeep", o)
}

// ErrGCDisabled says that the table property gc.enabled is false: its files may belong to other tables too.
var ErrGCDisabled = errors.New("the table's files must not be deleted")

// errBroken is for metadata that names files which are gone: waiting does not help.
var errBroken = errors.New("a snapshot that stays cannot be read")

// Expire takes old snapshots out of the table's metadata by one commit, which does not move any branch. It returns at
// once, without a request, while the version of the table that the committer saw last has too few of them. One call
// takes out a bounded number: call it again until it takes none.
//
// The files that nothing needs any more are not deleted, since a reader may be at one of those snapshots. They are
// listed in the store before the commit, for Sweep to delete later; that fails at any point leaves at worst files that
// nothing refers to, for Orphans. Where the newest floor of a job goes with its snapshot, the same commit sets its
// copy in the table's properties, which takes its place.
func (k *Committer) Expire(ctx context.Context, p ExpirePolicy) (Expired, error) {
	p = p.withDefaults()
	var out Expired
	if k.seen != nil {
		if e := planExpiry(k.seen, p, time.Now()); len(e.gone) < p.Batch {
			return Expired{Kept: len(e.kept)}, nil
		}
	}
	err := k.retry(ctx, "expiring snapshots of", func(ctx context.Context) error { return k.expire(ctx, p, &out) })
	return out, err
}

func (p ExpirePolicy) withDefaults() ExpirePolicy {
	if p.SnapshotsMax <= 0 {
		p.SnapshotsMax = 100
	}
	if p.Batch <= 0 {
		p.Batch = 25
	}
	if p.Progress == nil {
		p.Progress = func() {}
	}
	return p
}

// expire is one attempt.
func (k *Committer) expire(ctx context.Context, p ExpirePolicy, out *Expired) error {
	t, _, err := k.view(ctx)
	if err != nil {
		return err
	}
	e := planExpiry(t.inner.Metadata(), p, time.Now())
	*out = Expired{Kept: len(e.kept)}
	if len(e.gone) < p.Batch {
		return nil
	}
	if !t.inner.Properties().GetBool(icebergtable.GCEnabledKey, true) {
		return fmt.Errorf("expiring snapshots of table %s: %w: its property %s is false", k.ident, ErrGCDisabled,
			icebergtable.GCEnabledKey)
	}
	k.files.load = t.inner.FS
	defer context.AfterFunc(ctx, k.files.drop)() // a store that hangs must not outlive the attempt
	fio, err := k.files.client(ctx)
	if err != nil {
		return &retryable{absent, err}
	}
	f := newFinder(e, fio, &k.paths, p.Progress)
	files, err := f.find(ctx)
	switch {
	case errors.Is(err, errBroken):
		return fmt.Errorf("expiring snapshots of table %s: %w", k.ident, err)
	case err != nil:
		return &retryable{absent, fmt.Errorf("expiring snapshots of table %s: %w", k.ident, err)}
	}
	out.Snapshots, out.Files, out.Reads, out.More = len(e.gone), count(files), int(f.reads.Load()), e.bounded
	if p.DryRun {
		return nil
	}
	return k.takeOut(ctx, t, e, files, out)
}

// takeOut lists the files, commits, and makes the list one of files to delete.
func (k *Committer) takeOut(ctx context.Context, t *Table, e *expiry, files []removedFile, out *Expired) error {
	l, content, err := k.writeList(ctx, t, newList(listPending), e.ids(), files)
	if err != nil {
		*out = Expired{Kept: out.Kept}
		return &retryable{absent, fmt.Errorf("listing the files of expired snapshots of table %s: %w", k.ident, err)}
	}
	for attempt := 1; ; attempt++ {
		m, err := k.removeSnapshots(ctx, t, e)
		if err == nil {
			out.Kept = len(e.kept)
			out.List = k.certify(ctx, t, e, m, l, content)
			return nil
		}
		var again *retryable
		retry := errors.As(err, &again)
		if retry && again.verdict == conflict && attempt < expireAttempts {
			if t, e = k.follow(ctx, e); e != nil {
				continue
			}
		}
		*out = Expired{Kept: out.Kept}
		if retry && again.verdict == unknown {
			k.log.Warn("the outcome of an expiry is unknown: looking at the table", "error", err)
		} else { // it did not land, so that the list says nothing
			k.dropList(ctx, l)
		}
		return err
	}
}

// expireAttempts is how often an expiry is sent on newer versions of the table before all is looked at again.
const expireAttempts = 10

// follow is the expiry on the newest version of the table, or nil where it has to be decided anew.
func (k *Committer) follow(ctx context.Context, e *expiry) (*Table, *expiry) {
	t, _, err := k.view(ctx)
	if err != nil {
		return nil, nil
	}
	return t, e.onTop(t.inner.Metadata())
}

// removeSnapshots commits. That the branches and tags are as they were seen is asserted, so that nothing that goes has
// become the head of one since.
func (k *Committer) removeSnapshots(ctx context.Context, t *Table, e *expiry) (icebergtable.Metadata, error) {
	before := t.inner.Metadata()
	requirements := []icebergtable.Requirement{icebergtable.AssertTableUUID(before.TableUUID())}
	for name, ref := range before.Refs() {
		requirements = append(requirements, icebergtable.AssertRefSnapshotID(name, &ref.SnapshotID))
	}
	updates := []icebergtable.Update{icebergtable.NewRemoveSnapshotsUpdate(e.ids(), false)}
	if mirrors := e.mirrors(t.UUID()); len(mirrors) > 0 {
		updates = append(updates, icebergtable.NewSetPropertiesUpdate(mirrors))
	}
	x := &exchange{}
	after, _, err := k.catalog.inner().CommitTable(noting(ctx, x), t.inner.Identifier(), requirements, updates)
	if err == nil {
		k.seen = after
		k.removeOldMetadata(ctx, before, after)
		return after, nil
	}
	v := judge(err, x)
	if v == final && k.overtaken(ctx, e) {
		v = conflict
	}
	if v == final {
		return nil, refused("expiring snapshots of", k.ident, k.catalog, x, err)
	}
	return nil, &retryable{v, k.catalog.explain("expiring snapshots of", k.ident, err)}
}

// overtaken tells whether another process has taken out some of the snapshots: there are catalogs that call it a bad
// request to take them out again (Iceberg for Java 1.10).
func (k *Committer) overtaken(ctx context.Context, e *expiry) bool {
	t, _, err := k.view(ctx)
	return err == nil && slices.ContainsFunc(e.ids(), func(id int64) bool { return t.inner.SnapshotByID(id) == nil })
}

// certify turns the list into one of files to delete, when the version of the table that the commit made has no
// snapshot but those whose files were checked. From then on no later version can need a file of the list: a new
// snapshot has files of one that is there, and new ones. It returns the path of the list, which stays a pending one
// when anything is amiss, for Sweep to look into.
func (k *Committer) certify(
	ctx context.Context, t *Table, e *expiry, after icebergtable.Metadata, pending removedList, content []byte,
) string {
	for _, s := range after.Snapshots() {
		if e.kept[s.SnapshotID] == nil {
			k.log.Debug("a snapshot was added during an expiry", "snapshot", s.SnapshotID, "list", pending.path)
			return pending.path
		}
	}
	certain, err := k.storeList(ctx, t, newList(listRemoved), content)
	if err != nil {
		k.log.Debug("a list of removed files stays a pending one", "list", pending.path, "error", err)
		return pending.path
	}
	k.dropList(ctx, pending)
	k.lists.add(certain)
	return certain.path
}

// missing tells whether a file is not there, as opposed to not reachable.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
