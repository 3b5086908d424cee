package table

import (
	"cmp"
	"slices"
	"time"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

const (
	// unreferencedAge is how long a snapshot stays that no branch or tag leads to: rolled back, or staged to be
	// published. It is Iceberg's default of history.expire.max-snapshot-age-ms.
	unreferencedAge = 5 * 24 * time.Hour

	// One commit takes out so many snapshots at most, and as many as have so many files at most, since the paths of
	// the files are in memory at once.
	goneSnapshotsMax = 1000
	goneFilesMax     = 200_000
)

// expiry is which snapshots of one version of a table go, and which stay.
type expiry struct {
	meta     icebergtable.Metadata
	gone     []*icebergtable.Snapshot // in the order in which they were made
	kept     map[int64]*icebergtable.Snapshot
	line     []*icebergtable.Snapshot // the main branch as far as its history goes, the oldest first
	position map[int64]int            // in line
	bounded  bool                     // more could go
}

func newExpiry(m icebergtable.Metadata) *expiry {
	e := &expiry{meta: m, kept: make(map[int64]*icebergtable.Snapshot), position: make(map[int64]int)}
	for s := range ancestors(m) {
		e.line = append(e.line, s)
	}
	slices.Reverse(e.line)
	for i, s := range e.line {
		e.position[s.SnapshotID] = i
	}
	return e
}

// planExpiry keeps what a branch or a tag names, all of other branches' history that is left, the newest of the main
// branch, and for some time what nothing leads to. The table's properties may ask to keep more.
func planExpiry(m icebergtable.Metadata, p ExpirePolicy, now time.Time) *expiry {
	e := newExpiry(m)
	r := retentionOf(m, p, now)
	e.keepMain(r)
	for name, ref := range m.Refs() {
		if name != mainBranch {
			e.keepRef(ref)
		}
	}
	snapshots := m.Snapshots()
	for i := range snapshots {
		s := &snapshots[i]
		_, onMain := e.position[s.SnapshotID]
		switch {
		case e.kept[s.SnapshotID] != nil:
		case onMain || r.now-s.TimestampMs >= r.unreferencedMs:
			e.gone = append(e.gone, s)
		default:
			e.kept[s.SnapshotID] = s
		}
	}
	slices.SortFunc(e.gone, func(a, b *icebergtable.Snapshot) int {
		return cmp.Or(cmp.Compare(a.SequenceNumber, b.SequenceNumber), cmp.Compare(a.TimestampMs, b.TimestampMs),
			cmp.Compare(a.SnapshotID, b.SnapshotID))
	})
	e.bound()
	e.keepUnreadable()
	return e
}

// onTop is the same expiry on a newer version of the table, so that it is not starved by commits. It is nil where what
// goes has to be decided anew: the newer version must have all that goes, no branch or tag on it, and beside what
// stays only snapshots of firn's on top of that, whose files are those of their parents and new ones.
func (e *expiry) onTop(m icebergtable.Metadata) *expiry {
	next := newExpiry(m)
	next.bounded = e.bounded
	goes := make(map[int64]bool)
	for _, s := range e.gone {
		s = m.SnapshotByID(s.SnapshotID)
		if s == nil {
			return nil
		}
		goes[s.SnapshotID] = true
		next.gone = append(next.gone, s)
	}
	snapshots := m.Snapshots()
	for i := range snapshots {
		s := &snapshots[i]
		parent := s.ParentSnapshotID
		follows := summary(s, "engine-name") == "firn" && parent != nil && !goes[*parent] && m.SnapshotByID(*parent) != nil
		switch {
		case goes[s.SnapshotID]:
		case e.kept[s.SnapshotID] == nil && !follows:
			return nil
		default:
			next.kept[s.SnapshotID] = s
		}
	}
	for _, ref := range m.Refs() {
		if goes[ref.SnapshotID] {
			return nil
		}
	}
	return next
}

// retention is what policy and table ask for together. Times are in milliseconds, since tables ask for ages beyond
// those of a time.Duration.
type retention struct {
	now            int64
	count          int   // of the newest snapshots of the main branch
	ageMs          int64 // of snapshots of the main branch that stay whatever their number
	unreferencedMs int64
}

func retentionOf(m icebergtable.Metadata, p ExpirePolicy, now time.Time) retention {
	properties := m.Properties()
	tableMs := properties.GetInt64(icebergtable.MaxSnapshotAgeMsKey, 0)
	r := retention{
		now:   now.UnixMilli(),
		count: max(p.SnapshotsMax, properties.GetInt(icebergtable.MinSnapshotsToKeepKey, 0)),
		ageMs: max(p.OlderThan.Milliseconds(), tableMs), unreferencedMs: max(p.OlderThan.Milliseconds(), tableMs),
	}
	if r.unreferencedMs == 0 {
		r.unreferencedMs = unreferencedAge.Milliseconds()
	}
	for name, ref := range m.Refs() {
		if name != mainBranch {
			continue
		}
		if ref.MinSnapshotsToKeep != nil {
			r.count = max(r.count, *ref.MinSnapshotsToKeep)
		}
		if ref.MaxSnapshotAgeMs != nil {
			r.ageMs = max(r.ageMs, *ref.MaxSnapshotAgeMs)
		}
	}
	return r
}

// keepMain keeps the newest snapshots without a gap: the history of the main branch stays one line.
func (e *expiry) keepMain(r retention) {
	for i := len(e.line) - 1; i >= 0; i-- {
		s := e.line[i]
		if n := len(e.line) - 1 - i; n >= r.count && (r.ageMs == 0 || r.now-s.TimestampMs >= r.ageMs) {
			return
		}
		e.kept[s.SnapshotID] = s
	}
}

// keepRef keeps what a tag names, or a branch and its history.
func (e *expiry) keepRef(ref icebergtable.SnapshotRef) {
	s := e.meta.SnapshotByID(ref.SnapshotID)
	seen := make(map[int64]bool)
	for s != nil && !seen[s.SnapshotID] {
		seen[s.SnapshotID] = true
		e.kept[s.SnapshotID] = s
		if ref.SnapshotRefType != icebergtable.BranchRef || s.ParentSnapshotID == nil {
			return
		}
		s = e.meta.SnapshotByID(*s.ParentSnapshotID)
	}
}

// bound leaves the newest of those that go for another time, when they are too many.
func (e *expiry) bound() {
	files := 0
	for i, s := range e.gone {
		files += e.fileCount(s)
		if i == goneSnapshotsMax || i > 0 && files > goneFilesMax {
			for _, s := range e.gone[i:] {
				e.kept[s.SnapshotID] = s
			}
			e.gone, e.bounded = e.gone[:i], true
			return
		}
	}
}

// fileCount is about how many files are looked at for a snapshot: those that it removed, and all that it has where
// nothing follows it.
func (e *expiry) fileCount(s *icebergtable.Snapshot) int {
	n := summaryInt(s, "deleted-data-files", 0) + summaryInt(s, "removed-delete-files", 0)
	if _, onMain := e.position[s.SnapshotID]; !onMain {
		n += summaryInt(s, "total-data-files", 0) + summaryInt(s, "total-delete-files", 0)
	}
	return int(n)
}

// keepUnreadable keeps a snapshot whose floor is the newest of a job and cannot be copied.
func (e *expiry) keepUnreadable() {
	unreadable := make(map[int64]bool)
	for job, s := range e.holders() {
		if _, err := parseFloor(summary(s, offsetsKey(job))); err != nil {
			unreadable[s.SnapshotID] = true
			e.kept[s.SnapshotID] = s
		}
	}
	e.gone = slices.DeleteFunc(e.gone, func(s *icebergtable.Snapshot) bool { return unreadable[s.SnapshotID] })
}

// holders is the snapshots with the newest floor of each job, of those that go.
func (e *expiry) holders() map[string]*icebergtable.Snapshot {
	seen := make(map[string]bool)
	holders := make(map[string]*icebergtable.Snapshot)
	for i := len(e.line) - 1; i >= 0; i-- {
		s := e.line[i]
		for _, job := range snapshotJobs(s) {
			if !seen[job] && e.kept[s.SnapshotID] == nil {
				holders[job] = s
			}
			seen[job] = true
		}
	}
	return holders
}

// mirrors is the properties that take the place of floors whose snapshots go. To leave such a snapshot behind, without
// the ones between it and the head, would look like a rollback; and a job that has ended would keep the files of its
// time in the store for good.
func (e *expiry) mirrors(uuid string) iceberg.Properties {
	properties := iceberg.Properties{}
	for job, s := range e.holders() {
		floor, err := parseFloor(summary(s, offsetsKey(job)))
		if err != nil {
			continue // such a snapshot stays
		}
		c := mirror{Table: uuid, Floor: floor, Snapshot: s.SnapshotID, Sequence: s.SequenceNumber}
		properties[offsetsKey(job)] = jsonText(c)
	}
	return properties
}

func (e *expiry) ids() []int64 {
	ids := make([]int64, len(e.gone))
	for i, s := range e.gone {
		ids[i] = s.SnapshotID
	}
	return ids
}

// onMain tells whether the snapshot is in the history of the main branch.
func (e *expiry) onMain(s *icebergtable.Snapshot) bool {
	_, ok := e.position[s.SnapshotID]
	return ok
}
