package table

import (
	"maps"
	"slices"
	"testing"
	"time"

	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// steps is the random history of a table.
func (w *world) steps(vague bool) map[string]func(*rapid.T) {
	// with lets a step draw from the step's own source.
	with := func(do func()) func(*rapid.T) {
		return func(t *rapid.T) {
			defer func(outer *rapid.T) { w.T = outer }(w.T)
			w.T = t
			do()
		}
	}
	some := func(do func()) func(*rapid.T) {
		return with(func() {
			if len(w.snapshots()) == 0 {
				w.Skip("no snapshot yet")
			}
			do()
		})
	}
	set := func(name string, kind icebergtable.RefType, id int64) {
		w.update(func(b *icebergtable.MetadataBuilder) error { return b.SetSnapshotRef(name, id, kind) })
	}
	unset := func(kind icebergtable.RefType) {
		names := slices.DeleteFunc(w.refs(kind), func(name string) bool { return name == mainBranch })
		if len(names) == 0 {
			w.Skip("nothing to remove")
		}
		name := one(w.T, "removed ref", names)
		w.update(func(b *icebergtable.MetadataBuilder) error { return b.RemoveSnapshotRef(name) })
	}
	names := []string{"a", "b"}
	return map[string]func(*rapid.T){
		"change": with(func() { w.change(vague) }),
		"again":  with(func() { w.change(vague) }),
		"tag": some(func() {
			set("tag-"+one(w.T, "name", names), icebergtable.TagRef, one(w.T, "tagged", w.snapshots()))
		}),
		"branch": some(func() {
			set("branch-"+one(w.T, "name", names), icebergtable.BranchRef, one(w.T, "branched", w.snapshots()))
		}),
		"untag":    with(func() { unset(icebergtable.TagRef) }),
		"unbranch": with(func() { unset(icebergtable.BranchRef) }),
		"rollback": some(func() {
			var ids []int64
			for s := range ancestors(w.meta) {
				ids = append(ids, s.SnapshotID)
			}
			if len(ids) == 0 {
				w.Skip("no main branch")
			}
			set(mainBranch, icebergtable.BranchRef, one(w.T, "rolled back to", ids))
		}),
		"expire": with(func() {
			p := ExpirePolicy{
				SnapshotsMax: rapid.IntRange(1, 6).Draw(w.T, "max"), Batch: 1,
				OlderThan: time.Duration(rapid.IntRange(0, 6).Draw(w.T, "older")) * 10 * time.Millisecond,
			}
			w.expire(p, w.clock+int64(rapid.IntRange(0, 50).Draw(w.T, "now")))
		}),
	}
}

// end leaves nothing but the head of the main branch.
func (w *world) end() {
	for _, name := range slices.Concat(w.refs(icebergtable.TagRef), w.refs(icebergtable.BranchRef)) {
		if name != mainBranch {
			w.update(func(b *icebergtable.MetadataBuilder) error { return b.RemoveSnapshotRef(name) })
		}
	}
	for w.expire(ExpirePolicy{SnapshotsMax: 1, OlderThan: time.Millisecond, Batch: 1}, w.clock+1000) > 0 {
	}
}

// C48: whatever the history of a table, with tags, branches and rollbacks: no file is deleted that a snapshot needs,
// and when all but the head have expired, nothing is left that it does not need.
func TestExpireModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(w.steps(false))
		w.end()
		want := map[string]bool{}
		if head := w.meta.SnapshotByName(mainBranch); head != nil {
			want = w.needs[head.SnapshotID]
		}
		if d := cmp.Diff(want, w.store); d != "" {
			t.Errorf("files left (- needed, + there):\n%s", d)
		}
	})
}

// The same where files are added again, by cherry-picks, and where writers leave out what is optional. Files may be
// left for Orphans then, but none is missing.
func TestExpireModelPicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		steps := maps.Clone(w.steps(true))
		steps["pick"] = func(t *rapid.T) {
			defer func(outer *rapid.T) { w.T = outer }(w.T)
			w.T = t
			if len(w.snapshots()) == 0 {
				t.Skip("no snapshot yet")
			}
			w.pick()
		}
		t.Repeat(steps)
		w.end()
	})
}
