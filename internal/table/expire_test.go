package table

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"firn/internal/fault"
	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// soon is the shortest time of a policy: no time at all.
const soon = time.Nanosecond

// kept is a table with snapshots that expire, whose files exist, with a roll-up after every third commit.
type kept struct {
	t     *testing.T
	c     *Catalog
	ident string
	k     *Committer
	next  int64
	small []record.Sealed // not rolled up yet
}

func newKept(t *testing.T, c *Catalog, ident string) *kept {
	t.Helper()
	startTable(t, c, ident)
	return &kept{t: t, c: c, ident: ident, k: committer(t, c, ident)}
}

func (h *kept) table() *Table { return reload(h.t, h.c, h.ident) }

// store makes the files of a flush, with some bytes that are no Parquet.
func (h *kept) store(files ...record.DataFile) {
	h.t.Helper()
	for _, f := range files {
		write(h.t, h.table().Store(), f.Path, "rows")
	}
}

func (h *kept) commit(times int) {
	h.t.Helper()
	for range times {
		s := flush(h.table(), h.next, h.next+10)
		h.next += 10
		h.store(s.Files...)
		var joins []record.Replacement
		if len(h.small) == 3 {
			joins = append(joins, joined(h.table(), h.small...))
			h.store(joins[0].Add...)
			h.small = nil
		}
		h.small = append(h.small, s)
		commitWith(h.t, h.k, []record.Sealed{s}, joins...)
	}
}

func (h *kept) expire(p ExpirePolicy) Expired {
	h.t.Helper()
	out, err := h.k.Expire(h.t.Context(), p)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

func (h *kept) sweep(p SweepPolicy) Swept {
	h.t.Helper()
	out, err := h.k.Sweep(h.t.Context(), p)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// whole checks that every file of every snapshot is there, and that no others are: no data was lost, no space either.
func (h *kept) whole() {
	h.t.Helper()
	table := h.table()
	fio, err := table.inner.FS(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, s := range table.inner.Metadata().Snapshots() {
		err := liveEntries(h.t.Context(), fio, &s, func(e iceberg.ManifestEntry) error {
			_, err := sizeOf(fio, e.DataFile().FilePath())
			return err
		})
		if err != nil {
			h.t.Errorf("snapshot %d cannot be read any more: %v", s.SnapshotID, err)
		}
	}
	if got := rows(h.t, h.c, h.ident); got != h.next {
		h.t.Errorf("%d rows, want %d", got, h.next)
	}
	if got := floorOf(h.t, committer(h.t, h.c, h.ident)); !got.Equal(floorAt(h.next)) {
		h.t.Errorf("floor %v, want %d", got, h.next)
	}
}

// orphans is the files that nothing refers to.
func (h *kept) orphans() []string {
	h.t.Helper()
	found, err := h.k.Orphans(h.t.Context(), OrphanPolicy{OlderThan: soon, Force: true})
	if err != nil {
		h.t.Fatal(err)
	}
	var paths []string
	for _, f := range found.Files {
		paths = append(paths, f.Path)
	}
	return paths
}

// C48: old snapshots go, their files stay for readers for a time, and then everything goes that nothing needs.
func TestExpire(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		h := newKept(t, o.again(t), o.ident)
		h.commit(12)
		before := len(h.table().inner.Metadata().Snapshots())
		plan := h.expire(ExpirePolicy{SnapshotsMax: 4, Batch: 1, DryRun: true})
		if n := len(h.table().inner.Metadata().Snapshots()); n != before {
			t.Fatalf("%d of %d snapshots after a dry run", n, before)
		}
		out := h.expire(ExpirePolicy{SnapshotsMax: 4, Batch: 1})
		if out.List == "" || out.Kept != 4 || out.Snapshots != before-4 || out.Files.Data != 6 {
			t.Errorf("expired %+v", out)
		}
		plan.List = out.List
		if d := cmp.Diff(plan, out); d != "" {
			t.Errorf("result (- as planned, + done):\n%s", d)
		}
		if n := len(h.table().inner.Metadata().Snapshots()); n != 4 {
			t.Errorf("%d snapshots are left", n)
		}
		if s := h.sweep(SweepPolicy{}); s.Files.Total() > 0 || s.Waiting != 1 {
			t.Errorf("swept %+v before the time for readers was over", s)
		}
		if s := h.sweep(SweepPolicy{DeleteAfter: soon}); s.Lists != 1 || s.Files != out.Files || s.Waiting != 0 {
			t.Errorf("swept %+v of %+v", s, out.Files)
		}
		h.whole()
		if left := h.orphans(); len(left) > 0 {
			t.Errorf("%d files are left: %v", len(left), left)
		}
		h.commit(2)
		h.whole()
	})
}

// Another process deletes what this one has expired, several at once, and again.
func TestExpireSeveralProcesses(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		h := newKept(t, o.again(t), o.ident)
		h.commit(12)
		committers := make([]*Committer, 4)
		for i := range committers {
			committers[i] = committer(t, o.again(t), o.ident)
		}
		together := func(do func(k *Committer) error) {
			t.Helper()
			var g errgroup.Group
			for _, k := range committers {
				g.Go(func() error { return do(k) })
			}
			if err := g.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		together(func(k *Committer) error {
			_, err := k.Expire(t.Context(), ExpirePolicy{SnapshotsMax: 4, Batch: 1})
			return err
		})
		committers = append(committers, committer(t, o.again(t), o.ident))
		together(func(k *Committer) error {
			_, err := k.Sweep(t.Context(), SweepPolicy{DeleteAfter: soon, pendingAfter: soon})
			return err
		})
		h.sweep(SweepPolicy{DeleteAfter: soon, pendingAfter: soon})
		h.k.lists = knownLists{}
		h.sweep(SweepPolicy{DeleteAfter: soon, pendingAfter: soon}) // of lists that were made certain just now
		h.whole()
		for _, path := range h.orphans() {
			// A writer that lost in the sql catalog leaves its metadata file.
			if !strings.Contains(path, ".metadata.json") {
				t.Errorf("%s is left", path)
			}
		}
	})
}

// Nothing is asked of catalog or store while too few snapshots can go and no list is due.
func TestExpireAsksNothing(t *testing.T) {
	s, config := serveS3(t)
	h := newKept(t, openCatalog(t, config), "db.events")
	h.commit(6)
	h.sweep(SweepPolicy{})
	s.count()
	if out := h.expire(ExpirePolicy{SnapshotsMax: 3}); out.Snapshots != 0 || out.Kept == 0 {
		t.Errorf("expired %+v", out)
	}
	h.sweep(SweepPolicy{})
	if n := s.count(); len(n) > 0 {
		t.Errorf("requests %v", n)
	}
	h.expire(ExpirePolicy{SnapshotsMax: 3, Batch: 1})
	s.count()
	h.sweep(SweepPolicy{})
	if n := s.count(); len(n) > 0 {
		t.Errorf("requests %v while the list is not due", n)
	}
}

// What is read for an expiry follows the snapshots that go, not the size of the table.
func TestExpireCost(t *testing.T) {
	_, config := serveS3(t)
	h := newKept(t, openCatalog(t, config), "db.events")
	cost := func(commits int) int {
		h.commit(commits)
		h.expire(ExpirePolicy{SnapshotsMax: 5, Batch: 1})
		h.commit(9)
		return h.expire(ExpirePolicy{SnapshotsMax: 5, Batch: 1}).Reads
	}
	if small, large := cost(9), cost(45); large > small+3 {
		t.Errorf("%d reads for a small table, %d for a large one", small, large)
	}
}

// C02: the floors of jobs that have not committed for long outlive their snapshots, and no rollback is seen in that.
func TestExpireFloors(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		h := newKept(t, o.again(t), o.ident)
		other, err := NewCommitter(h.c, o.ident, "other", CommitterOptions{Fold: fold})
		if err != nil {
			t.Fatal(err)
		}
		setFloor(t, other, floorAt(77))
		h.commit(2) // no roll-up, which would repeat the floor
		foreignAppend(t, h.c, o.ident, 5)
		foreignAppend(t, h.c, o.ident, 5)
		h.expire(ExpirePolicy{SnapshotsMax: 1, Batch: 1})
		for job, want := range map[string]int64{"job": 20, "other": 77} {
			k, err := NewCommitter(o.again(t), o.ident, job, CommitterOptions{Fold: fold})
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			k.log = slog.New(slog.NewTextHandler(&log, nil))
			if d := cmp.Diff(floorAt(want), floorOf(t, k)); d != "" || log.Len() > 0 {
				t.Errorf("floor of %s (-want +got):\n%s\nlog: %s", job, d, log.String())
			}
		}
	})
}

// A floor from before a rollback is what the mirror has; the expiry of what the rollback led back to sets it right.
func TestExpireFloorAfterRollback(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(1)
	back := headID(t, h.c, h.ident)
	h.commit(1)
	rollback(t, h.c, h.ident, back)
	foreignAppend(t, h.c, h.ident, 5)
	foreignAppend(t, h.c, h.ident, 5)
	h.expire(ExpirePolicy{SnapshotsMax: 1, OlderThan: time.Nanosecond, Batch: 1})
	if d := cmp.Diff(floorAt(10), floorOf(t, committer(t, h.c, h.ident))); d != "" {
		t.Errorf("floor (-want +got):\n%s", d)
	}
}

// setRef makes a tag or a branch.
func setRef(t *testing.T, c *Catalog, ident, name string, id int64, kind icebergtable.RefType) {
	t.Helper()
	table := reload(t, c, ident)
	update := icebergtable.NewSetSnapshotRefUpdate(name, id, kind, 0, 0, 0)
	_, _, err := c.inner().CommitTable(t.Context(), table.inner.Identifier(), nil, []icebergtable.Update{update})
	if err != nil {
		t.Fatal(err)
	}
}

// A tagged snapshot stays readable, and goes when the tag is gone.
func TestExpireTagged(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		h := newKept(t, o.again(t), o.ident)
		h.commit(3)
		setRef(t, h.c, o.ident, "release", headID(t, h.c, o.ident), icebergtable.TagRef)
		h.commit(9)
		h.expire(ExpirePolicy{SnapshotsMax: 2, Batch: 1})
		h.sweep(SweepPolicy{DeleteAfter: soon})
		if n := len(h.table().inner.Metadata().Snapshots()); n != 3 {
			t.Errorf("%d snapshots, want 2 and the tagged one", n)
		}
		h.whole()
		update := icebergtable.NewRemoveSnapshotRefUpdate("release")
		ident := h.table().inner.Identifier()
		if _, _, err := h.c.inner().CommitTable(t.Context(), ident, nil, []icebergtable.Update{update}); err != nil {
			t.Fatal(err)
		}
		h.expire(ExpirePolicy{SnapshotsMax: 2, OlderThan: time.Nanosecond, Batch: 1})
		if n := len(h.table().inner.Metadata().Snapshots()); n != 3 {
			t.Errorf("%d snapshots: one that was let go lately must stay for some time", n)
		}
		later := time.Now().Add(unreferencedAge)
		if e := planExpiry(h.table().inner.Metadata(), ExpirePolicy{}.withDefaults(), later); len(e.gone) != 1 {
			t.Errorf("%d snapshots go after that time", len(e.gone))
		}
	})
}

// A list is not certain when the commit's answer shows a snapshot that was not looked at.
func TestExpireUnseenSnapshot(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(4)
	table := h.table()
	e := planExpiry(table.inner.Metadata(), ExpirePolicy{SnapshotsMax: 2}.withDefaults(), time.Now())
	h.k.files.load = table.inner.FS
	pending, content, err := h.k.writeList(t.Context(), table, newList(listPending), e.ids(), nil)
	if err != nil {
		t.Fatal(err)
	}
	h.expire(ExpirePolicy{SnapshotsMax: 2, Batch: 1})
	answer := h.table().inner.Metadata()
	h.commit(1)
	later := h.table().inner.Metadata()
	if path := h.k.certify(t.Context(), table, e, later, pending, content); path != pending.path {
		t.Errorf("the list is certain: %s", path)
	}
	if path := h.k.certify(t.Context(), table, e, answer, pending, content); path == pending.path {
		t.Errorf("the list is not certain: %s", path)
	}
}

// C13, C15, C39: every request of an expiry and a sweep fails in turn, before or after the store has done it. Nothing
// that is needed is lost, and a later run finishes.
func TestExpireEveryRequestFails(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "1") // else the client hides most of them
	_, config := serveS3(t)
	clean := &fault.Plan{}
	expireThrough(t, config, "db.clean", clean)
	for at := 1; at <= clean.Count(); at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, after %t", at, after), func(t *testing.T) {
				expireThrough(t, config, fmt.Sprintf("db.at%d%t", at, after), &fault.Plan{At: at, After: after})
			})
		}
	}
}

func expireThrough(t *testing.T, config CatalogConfig, ident string, plan *fault.Plan) {
	h := newKept(t, openCatalog(t, config), ident)
	h.commit(4)
	base, through := proxied(config)
	proxy, err := fault.NewRequests(base, plan)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	k := committer(t, openCatalog(t, through(server.URL)), ident)
	_, expireErr := k.Expire(t.Context(), ExpirePolicy{SnapshotsMax: 1, Batch: 1})
	_, sweepErr := k.Sweep(t.Context(), SweepPolicy{DeleteAfter: soon, pendingAfter: soon})
	t.Logf("expire: %v, sweep: %v", expireErr, sweepErr)
	h.whole()
	h.expire(ExpirePolicy{SnapshotsMax: 1, Batch: 1})
	for range 2 { // the second time of lists that the first made certain
		h.k.lists = knownLists{}
		h.sweep(SweepPolicy{DeleteAfter: soon, pendingAfter: soon})
	}
	h.whole()
	if n := len(h.table().inner.Metadata().Snapshots()); n != 1 {
		t.Errorf("%d snapshots are left", n)
	}
	if l := h.removedLists(); len(l) > 0 {
		t.Errorf("lists are left: %v", l)
	}
	if left := h.orphans(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if plan.At > plan.Count() {
		t.Errorf("%d requests: the fault was not reached", plan.Count())
	}
}

// C05, C06, C13: whatever the answer to the commit of an expiry, nothing is lost and nothing stays behind.
func TestExpireFate(t *testing.T) {
	for name, fate := range map[string]fault.Fate{
		"answer lost":  fault.LandAndCut(),
		"not done":     fault.Refuse(503),
		"conflict":     fault.Refuse(409),
		"done and 500": fault.Land(500),
	} {
		t.Run(name, func(t *testing.T) {
			f := openFaulty(t, serveREST(t), once(fate), CommitterOptions{})
			h := &kept{t: t, c: f.direct, ident: f.ident, k: committer(t, f.direct, f.ident)}
			h.commit(8)
			h.k = f.committer
			h.expire(ExpirePolicy{SnapshotsMax: 3, Batch: 1})
			for range 2 {
				h.k.lists = knownLists{}
				h.sweep(SweepPolicy{DeleteAfter: soon, pendingAfter: soon})
			}
			h.whole()
			if left := h.orphans(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// A table whose files may belong to others is left as it is.
func TestExpireGCDisabled(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(4)
	tx := h.table().inner.NewTransaction()
	if err := tx.SetProperties(iceberg.Properties{"gc.enabled": "false"}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.k.Expire(t.Context(), ExpirePolicy{SnapshotsMax: 1, Batch: 1}); !errors.Is(err, ErrGCDisabled) {
		t.Errorf("expiry: %v", err)
	}
	if _, err := h.k.Orphans(t.Context(), OrphanPolicy{}); !errors.Is(err, ErrGCDisabled) {
		t.Errorf("orphans: %v", err)
	}
}

// A snapshot that stays and lost its manifests stops the expiry at once; one that goes does not.
func TestExpireBrokenSnapshot(t *testing.T) {
	h := newKept(t, openCatalog(t, sqlConfig(t)), "db.events")
	h.commit(8)
	lose := func(s *icebergtable.Snapshot) {
		if err := h.table().Store().Remove(t.Context(), s.ManifestList); err != nil {
			t.Fatal(err)
		}
	}
	line := slices.Collect(ancestors(h.table().inner.Metadata()))
	lose(line[len(line)-1])
	if out := h.expire(ExpirePolicy{SnapshotsMax: len(line) - 2, Batch: 1}); out.Snapshots != 2 {
		t.Errorf("expired %+v", out)
	}
	lose(line[2])
	_, err := h.k.Expire(t.Context(), ExpirePolicy{SnapshotsMax: 3, Batch: 1})
	if !errors.Is(err, errBroken) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// The number of metadata.json stays bounded in every catalog, expiries included.
func TestOldMetadataGoes(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table, err := c.Create(t.Context(), o.ident, CreateConfig{
			Schema: eventSchema(), Properties: map[string]string{"write.metadata.previous-versions-max": "4"},
		})
		if err != nil {
			t.Fatal(err)
		}
		begin(t, committer(t, c, o.ident))
		h := &kept{t: t, c: c, ident: o.ident, k: committer(t, c, o.ident)}
		for range 4 {
			h.commit(3)
			h.expire(ExpirePolicy{SnapshotsMax: 2, Batch: 1})
		}
		fio, err := table.inner.FS(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		err = walk(t.Context(), fio, table.Location()+"/metadata", "", func(f storedFile) error {
			if strings.HasSuffix(f.path, ".metadata.json") {
				names = append(names, f.path)
			}
			return nil
		})
		if err != nil || len(names) != 5 {
			t.Errorf("%d metadata files, want the newest and 4 before it: %v, error %v", len(names), names, err)
		}
	})
}
