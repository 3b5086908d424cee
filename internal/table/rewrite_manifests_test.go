package table

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"firn/internal/fault"
	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// entryOf is what must not change of a live file.
type entryOf struct {
	Sequence, FileSequence, Snapshot, Rows, FirstRowID int64
	Content                                            iceberg.ManifestEntryContent
}

// entriesByPath is the live entries of a table's head.
func entriesByPath(t *testing.T, table *Table) map[string]entryOf {
	t.Helper()
	all := make(map[string]entryOf)
	for _, e := range entriesOf(t, table) {
		f := e.DataFile()
		if _, twice := all[f.FilePath()]; twice {
			t.Errorf("file %s is in the table twice", f.FilePath())
		}
		all[f.FilePath()] = entryOf{
			e.SequenceNum(), valueOf(e.FileSequenceNum()), e.SnapshotID(), f.Count(), valueOf(f.FirstRowID()), f.ContentType(),
		}
	}
	return all
}

// manifestsOf is the manifests of data files of the table's head.
func manifestsOf(t *testing.T, table *Table) []iceberg.ManifestFile {
	t.Helper()
	files, err := table.inner.FS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := table.inner.CurrentSnapshot().Manifests(files)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(m iceberg.ManifestFile) bool {
		return m.ManifestContent() != iceberg.ManifestContentData
	})
}

// upkeepOf is a committer for work by hand.
func upkeepOf(t *testing.T, c *Catalog, ident string) *Committer {
	t.Helper()
	k, err := reload(t, c, ident).Upkeep(CommitterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func rewriteManifests(t *testing.T, k *Committer, p RewriteManifestsPolicy) RewrittenManifests {
	t.Helper()
	out, err := k.RewriteManifests(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// separate is the properties of a table whose manifests no commit merges.
func separate(version string) map[string]string {
	return map[string]string{"format-version": version, icebergtable.ManifestMergeEnabledKey: "false"}
}

// bucketed is a flush of one row group in a partition of bucket(id, 16).
func bucketed(t *Table, from, to int64, bucket int32) record.Sealed {
	s := flush(t, from, to)
	value, err := singleValue(bucket)
	if err != nil {
		panic(err)
	}
	s.Files[0].Partition = []record.PartitionValue{{
		FieldID: t.Partition()[0].FieldID, Type: t.Partition()[0].Result, Value: value,
	}}
	return s
}

func startBucketed(t *testing.T, c *Catalog, ident string, properties map[string]string) *Table {
	t.Helper()
	table, err := c.Create(t.Context(), ident, CreateConfig{
		Schema: eventSchema(), Partition: []string{"bucket(id, 16)"}, Properties: properties,
	})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, committer(t, c, ident))
	return table
}

// Many manifests become one; no live file, sequence number, row id or floor changes.
func TestRewriteManifests(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		for _, version := range []string{"2", "3"} {
			ident := o.ident + version
			c := o.again(t)
			table := startBucketed(t, c, ident, separate(version))
			k := committer(t, c, ident)
			for i := range int64(7) {
				commit(t, k, bucketed(table, 10*i, 10*i+10, int32(15-i)))
			}
			before := reload(t, c, ident)
			entries := entriesByPath(t, before)
			dry := rewriteManifests(t, upkeepOf(t, c, ident), RewriteManifestsPolicy{DryRun: true})
			if got := reload(t, c, ident); got.MetadataLocation() != before.MetadataLocation() {
				t.Error("a dry run has changed the table")
			}
			read := 0
			out := rewriteManifests(t, upkeepOf(t, c, ident), RewriteManifestsPolicy{Progress: func(n int) { read += n }})
			want := RewrittenManifests{
				Before: 7, After: 1, Replaced: 7, Written: 1, Files: 7, Bytes: dry.Bytes, SnapshotID: out.SnapshotID,
				Attempts: 1,
			}
			if diff := cmp.Diff(want, out); diff != "" || read != 7 {
				t.Errorf("%d manifests read, result (-want +got):\n%s", read, diff)
			}
			want.SnapshotID, want.Attempts = 0, 0
			if diff := cmp.Diff(want, dry); diff != "" {
				t.Errorf("dry run (-want +got):\n%s", diff)
			}
			after := reload(t, o.again(t), ident)
			if diff := cmp.Diff(entries, entriesByPath(t, after)); diff != "" {
				t.Errorf("live entries (-before +after):\n%s", diff)
			}
			checkRegrouped(t, before, after, out)
			commit(t, k, bucketed(table, 70, 80, 3)) // the job goes on
			if got := floorOf(t, committer(t, o.again(t), ident)); !got.Equal(floorAt(80)) {
				t.Errorf("floor %v", got)
			}
		}
	})
}

// checkRegrouped checks the snapshot of a rewriting that made one manifest.
func checkRegrouped(t *testing.T, before, after *Table, out RewrittenManifests) {
	t.Helper()
	head := after.inner.CurrentSnapshot()
	if head.SnapshotID != out.SnapshotID || head.Summary.Operation != icebergtable.OpReplace {
		t.Errorf("head %d is of operation %s, want replace of %d", head.SnapshotID, head.Summary.Operation, out.SnapshotID)
	}
	for key, want := range map[string]string{
		"manifests-created": "1", "manifests-replaced": "7", "manifests-kept": "0", "entries-processed": "7",
		"total-data-files": "7", "total-records": "70", "added-data-files": "", "deleted-data-files": "",
		offsetsKey("job"): summary(before.inner.CurrentSnapshot(), offsetsKey("job")), offsetsKey("upkeep"): "",
	} {
		if got := head.Summary.Properties[key]; got != want {
			t.Errorf("summary %s is %q, want %q", key, got, want)
		}
	}
	if diff := cmp.Diff(before.Properties(), after.Properties()); diff != "" {
		t.Errorf("properties (-before +after):\n%s", diff)
	}
	var buckets []int32
	for _, e := range entriesOf(t, after) {
		buckets = append(buckets, e.DataFile().Partition()[after.Partition()[0].FieldID].(int32))
	}
	if !slices.IsSorted(buckets) {
		t.Errorf("entries are in the order of partitions %v", buckets)
	}
}

// A target size gives several manifests, each of few partitions. Then there is nothing left to do, unless it is forced.
func TestRewriteManifestsToTarget(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startBucketed(t, c, "db.events", separate("2"))
	k := committer(t, c, "db.events")
	for i := range int64(48) {
		commit(t, k, bucketed(table, i, i+1, int32(7*i%16)))
	}
	sum := int64(0)
	for _, m := range manifestsOf(t, reload(t, c, "db.events")) {
		sum += m.Length()
	}
	tx := reload(t, c, "db.events").inner.NewTransaction()
	if err := tx.SetProperties(iceberg.Properties{targetBytesKey: fmt.Sprint(sum / 4)}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	u := upkeepOf(t, c, "db.events")
	if out := rewriteManifests(t, u, RewriteManifestsPolicy{}); out.Before != 48 || out.After < 4 || out.After > 5 {
		t.Fatalf("result %+v", out)
	}
	last := math.MinInt
	ranges := manifestsOf(t, reload(t, c, "db.events"))
	for _, m := range ranges {
		low, high := bucketBounds(t, m)
		if low < last || high-low > 16/len(ranges)+1 {
			t.Errorf("a manifest of partitions %d to %d comes after %d", low, high, last)
		}
		last = high
	}
	rewriteManifests(t, u, RewriteManifestsPolicy{}) // what was small shrinks together: the sum may allow one fewer
	if out := rewriteManifests(t, u, RewriteManifestsPolicy{}); out.SnapshotID != 0 || out.Written != 0 ||
		out.After != out.Before {
		t.Errorf("rewriting again: %+v", out)
	}
	out := rewriteManifests(t, u, RewriteManifestsPolicy{Force: true})
	if out.SnapshotID == 0 || out.Written != out.Replaced {
		t.Errorf("by force: %+v", out)
	}
}

// bucketBounds is the least and the greatest partition value that a manifest is listed with.
func bucketBounds(t *testing.T, m iceberg.ManifestFile) (low, high int) {
	t.Helper()
	s := m.Partitions()[0]
	values := make([]int, 2)
	for i, b := range [][]byte{*s.LowerBound, *s.UpperBound} {
		v, err := iceberg.LiteralFromBytes(iceberg.PrimitiveTypes.Int32, b)
		if err != nil {
			t.Fatal(err)
		}
		values[i] = int(v.(iceberg.Int32Literal))
	}
	return values[0], values[1]
}

// Files of an older partition spec stay with it, and delete files where they are.
func TestRewriteManifestsOfSpecsAndDeletes(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startBucketed(t, c, "db.events", separate("2"))
	k := committer(t, c, "db.events")
	commit(t, k, bucketed(table, 0, 10, 1))
	commit(t, k, bucketed(table, 10, 20, 0))
	if _, err := reload(t, c, "db.events").Repartition(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	k = committer(t, c, "db.events")
	table = reload(t, c, "db.events")
	commit(t, k, flush(table, 20, 30))
	deleteRows(t, c, "db.events", iceberg.EntryContentEqDeletes)
	commit(t, k, flush(table, 30, 40))
	before := entriesByPath(t, reload(t, c, "db.events"))
	out := rewriteManifests(t, upkeepOf(t, c, "db.events"), RewriteManifestsPolicy{})
	if out.Before != 4 || out.After != 2 || len(before) != 5 {
		t.Errorf("%d live files, result %+v", len(before), out)
	}
	if diff := cmp.Diff(before, entriesByPath(t, reload(t, c, "db.events"))); diff != "" {
		t.Errorf("live entries (-before +after):\n%s", diff)
	}
}

// A table without a snapshot has nothing to rewrite.
func TestRewriteManifestsOfNothing(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	createTable(t, c, "db.events")
	out := rewriteManifests(t, upkeepOf(t, c, "db.events"), RewriteManifestsPolicy{Force: true})
	if out != (RewrittenManifests{}) {
		t.Errorf("result %+v", out)
	}
}

// A job commits between the look at the table and the swap: what it committed is there afterwards, and was rewritten
// with the rest.
func TestRewriteManifestsConflict(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table, err := c.Create(t.Context(), o.ident, CreateConfig{Schema: eventSchema(), Properties: separate("2")})
		if err != nil {
			t.Fatal(err)
		}
		begin(t, committer(t, c, o.ident))
		k := committer(t, c, o.ident)
		commit(t, k, flush(table, 0, 10))
		commit(t, k, flush(table, 10, 20))
		other := committer(t, o.again(t), o.ident)
		once := false
		out := rewriteManifests(t, upkeepOf(t, c, o.ident), RewriteManifestsPolicy{Progress: func(int) {
			if !once {
				once = true
				commit(t, other, flush(table, 20, 30))
			}
		}})
		if out.Attempts != 2 || out.Before != 3 || out.After != 1 {
			t.Errorf("result %+v", out)
		}
		if got := rows(t, o.again(t), o.ident); got != 30 {
			t.Errorf("%d rows, want 30", got)
		}
		if got := floorOf(t, committer(t, o.again(t), o.ident)); !got.Equal(floorAt(30)) {
			t.Errorf("floor %v", got)
		}
	})
}

// The answer is lost: what landed is found, what did not is sent again.
func TestRewriteManifestsUnknownOutcome(t *testing.T) {
	for name, fate := range map[string]fault.Fate{"landed": fault.Land(500), "dropped": fault.Refuse(500)} {
		t.Run(name, func(t *testing.T) {
			n := 0
			f := openFaulty(t, serveREST(t), func(int) fault.Fate {
				if n++; n == 3 {
					return fate
				}
				return fault.Pass()
			}, CommitterOptions{})
			commit(t, f.committer, flush(f.table, 0, 10))
			commit(t, f.committer, flush(f.table, 10, 20))
			out := rewriteManifests(t, f.committer, RewriteManifestsPolicy{})
			head := reload(t, f.direct, f.ident).inner.CurrentSnapshot()
			if out.SnapshotID != head.SnapshotID || out.Written != 1 || head.Summary.Operation != icebergtable.OpReplace {
				t.Errorf("head %d of operation %s, result %+v", head.SnapshotID, head.Summary.Operation, out)
			}
			if got := floorOf(t, f.committer); !got.Equal(floorAt(20)) {
				t.Errorf("floor %v", got)
			}
		})
	}
}

// One that is cancelled leaves the table as it was.
func TestRewriteManifestsCancelled(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startBucketed(t, c, "db.events", separate("2"))
	k := committer(t, c, "db.events")
	commit(t, k, bucketed(table, 0, 10, 1))
	commit(t, k, bucketed(table, 10, 20, 0))
	before := reload(t, c, "db.events")
	u := upkeepOf(t, c, "db.events")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := u.RewriteManifests(ctx, RewriteManifestsPolicy{Progress: func(int) { cancel() }}); err == nil {
		t.Error("no error")
	}
	if got := reload(t, c, "db.events"); got.MetadataLocation() != before.MetadataLocation() {
		t.Error("the table has changed")
	}
}

// Appends, replacements and rewritings at random: live entries are the same before and after each rewriting.
func TestRewriteManifestsModel(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		t.Run("format version "+version, func(t *testing.T) {
			config := sqlConfig(t)
			rapid.Check(t, func(rt *rapid.T) {
				c := openCatalog(t, config)
				ident := "db.t" + uuid.NewString()[:8]
				table := startBucketed(t, c, ident, map[string]string{
					"format-version": version, icebergtable.ManifestMergeEnabledKey: fmt.Sprint(rapid.Bool().Draw(rt, "merges")),
					targetBytesKey: fmt.Sprint(rapid.IntRange(1, 60_000).Draw(rt, "target")),
				})
				k, u := committer(t, c, ident), upkeepOf(t, c, ident)
				small := make(map[int32][]record.Sealed)
				next := int64(0)
				for range rapid.IntRange(1, 20).Draw(rt, "steps") {
					bucket := rapid.Int32Range(0, 3).Draw(rt, "bucket")
					switch rapid.IntRange(0, 4).Draw(rt, "step") {
					case 0:
						before := entriesByPath(t, reload(t, c, ident))
						force := rapid.Bool().Draw(rt, "force")
						out := rewriteManifests(t, u, RewriteManifestsPolicy{Force: force})
						after := reload(t, c, ident)
						if got := entriesByPath(t, after); !maps.Equal(before, got) {
							rt.Fatalf("live entries (-before +after):\n%s", cmp.Diff(before, got))
						}
						if got := len(manifestsOf(t, after)); got != out.After && out.SnapshotID != 0 {
							rt.Fatalf("%d manifests, result %+v", got, out)
						}
					case 1:
						if len(small[bucket]) > 1 {
							r := joined(table, small[bucket]...)
							if out := commitWith(t, k, nil, r); len(out.Replaced) != 1 {
								rt.Fatalf("outcome %+v", out)
							}
							small[bucket] = []record.Sealed{{ID: r.ID, Files: r.Add}}
						}
					default:
						s := bucketed(table, next, next+3, bucket)
						next += 3
						commit(t, k, s)
						small[bucket] = append(small[bucket], s)
					}
				}
				if got := rows(t, c, ident); got != next {
					rt.Fatalf("%d rows, want %d", got, next)
				}
			})
		})
	}
}

// A table that comes from format version 2: its rows get ids once, and keep them when their order in manifests changes.
func TestRewriteManifestsAfterUpgrade(t *testing.T) {
	t.Run("at once", func(t *testing.T) { rewriteUpgraded(t, false) })
	t.Run("after a commit", func(t *testing.T) { rewriteUpgraded(t, true) })
}

func rewriteUpgraded(t *testing.T, commitFirst bool) {
	t.Helper()
	c := openCatalog(t, sqlConfig(t))
	table := startBucketed(t, c, "db.events", separate("2"))
	k := committer(t, c, "db.events")
	for i := range int64(5) {
		commit(t, k, bucketed(table, 10*i, 10*i+10, int32(9-i)))
	}
	tx := reload(t, c, "db.events").inner.NewTransaction()
	if err := tx.UpgradeFormatVersion(3); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	given := make(map[string]int64)
	step := func(name string, do func()) {
		do()
		now := rowIDs(t, reload(t, c, "db.events"))
		first := slices.Sorted(maps.Values(now))
		for i := 1; i < len(first); i++ {
			if first[i] < first[i-1]+10 {
				t.Errorf("%s: files of 10 rows begin at row ids %v", name, first)
			}
		}
		for path, id := range given {
			if now[path] != id {
				t.Errorf("%s: file %s has row id %d, and had %d", name, path, now[path], id)
			}
		}
		given = now
	}
	rewrite := func() {
		if out := rewriteManifests(t, upkeepOf(t, c, "db.events"), RewriteManifestsPolicy{}); out.SnapshotID == 0 {
			t.Error("nothing was rewritten")
		}
	}
	more := func(from int64) func() {
		return func() { commit(t, committer(t, c, "db.events"), bucketed(table, from, from+10, 2)) }
	}
	if commitFirst {
		step("a commit", more(50))
		step("rewriting", rewrite)
		step("another commit", more(60))
	} else {
		step("rewriting", rewrite)
		step("a commit", more(50))
	}
	step("rewriting again", rewrite)
}
