package table

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"

	"firn/internal/record"
)

// change is what the manifests say that one snapshot did.
type change struct {
	added        []string // paths of data files
	addedRows    int64    // in them
	removed      int      // data files
	removedRows  int64
	addedDeletes int // delete files
}

func (c change) none() bool { return len(c.added) == 0 && c.removed == 0 && c.addedDeletes == 0 }

// readChange reads the manifests that the snapshot wrote. What they repeat of older snapshots has another snapshot id.
func readChange(fio icebergio.IO, s *icebergtable.Snapshot) (change, error) {
	var c change
	manifests, err := s.Manifests(fio)
	if err != nil {
		return c, fmt.Errorf("reading manifest list of snapshot %d: %w", s.SnapshotID, err)
	}
	for _, m := range manifests {
		if m.SnapshotID() != s.SnapshotID {
			continue
		}
		for e, err := range m.Entries(fio, false) {
			if err != nil {
				return c, fmt.Errorf("reading manifest %s: %w", m.FilePath(), err)
			}
			if e.SnapshotID() == s.SnapshotID {
				c.add(e)
			}
		}
	}
	return c, nil
}

func (c *change) add(e iceberg.ManifestEntry) {
	f := e.DataFile()
	data := f.ContentType() == iceberg.EntryContentData
	switch {
	case e.Status() == iceberg.EntryStatusADDED && data:
		c.added = append(c.added, f.FilePath())
		c.addedRows += f.Count()
	case e.Status() == iceberg.EntryStatusADDED:
		c.addedDeletes++
	case e.Status() == iceberg.EntryStatusDELETED && data:
		c.removed++
		c.removedRows += f.Count()
	}
}

// snapshot audits one snapshot, the next after those before.
func (a *auditor) snapshot(s *icebergtable.Snapshot, c change) {
	a.files(s, c)
	a.report.Rows.Removed += c.removedRows
	a.noDeletes = a.noDeletes && c.addedDeletes == 0
	switch {
	case summary(s, rangesKey(a.job)) != "":
		a.report.Snapshots.Commits++
		a.report.Rows.Job += c.addedRows
		a.commit(s, c)
	case s.Summary != nil && s.Summary.Operation == icebergtable.OpReplace:
		a.report.Snapshots.Rewrites++
		a.report.Rows.Rewritten += c.addedRows
		a.rewrite(s, c)
		a.carried(s, c)
	case isOfOtherJob(s, a.job, c):
		a.report.Snapshots.OtherJobs++
		a.report.Rows.OtherJobs += c.addedRows
		a.carried(s, c)
	case summary(s, offsetsKey(a.job)) != "" && c.none():
		a.report.Snapshots.Moves++
		a.carried(s, c)
	default:
		a.foreign(s, c)
		a.carried(s, c)
	}
}

// isOfOtherJob knows a commit by its ranges, and a move by a floor and no files.
func isOfOtherJob(s *icebergtable.Snapshot, job string, c change) bool {
	if s.Summary == nil {
		return false
	}
	jobs := snapshotJobs(s)
	for _, other := range jobs {
		if other != job && summary(s, rangesKey(other)) != "" {
			return true
		}
	}
	return len(jobs) > 0 && !slices.Contains(jobs, job) && c.none()
}

// files notes who added each data file: a file that is added twice has its rows in the table twice (or had).
func (a *auditor) files(s *icebergtable.Snapshot, c change) {
	for _, path := range c.added {
		if first, ok := a.added[path]; ok {
			a.fault(FaultFileTwice, s.SnapshotID, "data file %s was added by snapshot %d already", path, first)
			continue
		}
		a.added[path] = s.SnapshotID
	}
}

func (a *auditor) foreign(s *icebergtable.Snapshot, c change) {
	a.report.Snapshots.Foreign++
	a.report.Rows.Foreign += c.addedRows
	f := ForeignWrite{
		SnapshotID: s.SnapshotID, Time: time.UnixMilli(s.TimestampMs).UTC(),
		AddedRows: c.addedRows, RemovedRows: c.removedRows,
	}
	if s.Summary != nil {
		f.Operation = string(s.Summary.Operation)
	}
	a.report.Foreign = append(a.report.Foreign, f)
}

// rewrite checks that a compaction kept the rows. It may leave out rows that delete files hid.
func (a *auditor) rewrite(s *icebergtable.Snapshot, c change) {
	switch lost := c.removedRows - c.addedRows; {
	case lost < 0 || lost > 0 && a.noDeletes:
		a.fault(FaultRows, s.SnapshotID, "a rewrite took out %d rows and put in %d", c.removedRows, c.addedRows)
	case lost > 0:
		a.report.Notes = append(a.report.Notes,
			fmt.Sprintf("the rewrite of snapshot %d left out %d deleted rows", s.SnapshotID, lost))
	}
}

// carried audits the floor of a snapshot that commits no ranges. It may repeat the floor; it may move it only when it
// does nothing else.
func (a *auditor) carried(s *icebergtable.Snapshot, c change) {
	text := summary(s, offsetsKey(a.job))
	if text == "" {
		return
	}
	next, err := parseFloor(text)
	if err != nil {
		a.fault(FaultUnreadable, s.SnapshotID, "%s: %s", offsetsKey(a.job), err)
		return
	}
	moves := a.ranges.move(next)
	for _, m := range moves {
		m.SnapshotID, m.Time = s.SnapshotID, time.UnixMilli(s.TimestampMs).UTC()
		if !c.none() {
			a.fault(FaultFloor, s.SnapshotID, "the floor of %s/%d moved from %s to %s beside files that have no ranges",
				m.Topic, m.Partition, offsetText(m.Was), offsetText(m.Now))
			continue
		}
		a.report.Moves = append(a.report.Moves, m)
	}
}

// stated is what a commit of the job says in its summary.
type stated struct {
	floor  record.Floor
	ranges map[string]map[int32][][2]int64
	counts record.Counts
	sealed []string
}

func (a *auditor) stated(s *icebergtable.Snapshot) (stated, bool) {
	e := stated{sealed: strings.Split(summary(s, sealedKey(a.job)), ",")}
	floor, err := parseFloor(summary(s, offsetsKey(a.job)))
	if err != nil {
		a.fault(FaultUnreadable, s.SnapshotID, "%s: %s", offsetsKey(a.job), err)
	}
	e.floor = floor
	ok := err == nil
	for key, into := range map[string]any{rangesKey(a.job): &e.ranges, countsKey(a.job): &e.counts} {
		if err := json.Unmarshal([]byte(summary(s, key)), into); err != nil {
			a.fault(FaultUnreadable, s.SnapshotID, "%s: %s", key, err)
			ok = false
		}
	}
	return e, ok
}

// commit audits a snapshot that made ranges of the job visible.
func (a *auditor) commit(s *icebergtable.Snapshot, c change) {
	e, ok := a.stated(s)
	if !ok {
		// What follows is judged against what can be read of this one, so that one fault is not reported as many.
		if e.floor != nil {
			a.ranges.floor, a.ranges.known = e.floor, true
		}
		return
	}
	for _, f := range a.ranges.commit(e.floor, e.ranges, s.SnapshotID) {
		a.fault(f.Code, s.SnapshotID, "%s", f.Text)
	}
	a.counts(s, c, e)
	for _, id := range e.sealed {
		if first, ok := a.sealed[id]; ok && id != "" {
			a.fault(FaultFlushTwice, s.SnapshotID, "flush %s was committed by snapshot %d already", id, first)
		}
		a.sealed[id] = s.SnapshotID
	}
}

// counts checks that every offset of the ranges is accounted for, and the rows against summary and manifests.
func (a *auditor) counts(s *icebergtable.Snapshot, c change, e stated) {
	a.report.Counts = a.report.Counts.Add(e.counts)
	if offsets := rangesLen(e.ranges); e.counts.Offsets() != offsets {
		a.fault(FaultCounts, s.SnapshotID, "the ranges have %d offsets, and %d are accounted for: %s", offsets,
			e.counts.Offsets(), summary(s, countsKey(a.job)))
	}
	if e.counts.Rows != c.addedRows {
		a.fault(FaultRows, s.SnapshotID, "%d rows are stated, and the files added have %d", e.counts.Rows, c.addedRows)
	}
	if stated := summaryInt(s, "added-records", 0); stated != c.addedRows {
		a.fault(FaultRows, s.SnapshotID, "added-records is %d, and the files added have %d rows", stated, c.addedRows)
	}
	if c.removed > 0 {
		a.fault(FaultRows, s.SnapshotID, "a commit of source ranges took out %d data files", c.removed)
	}
}

func rangesLen(ranges map[string]map[int32][][2]int64) int64 {
	var n int64
	for _, partitions := range ranges {
		for _, pairs := range partitions {
			for _, p := range pairs {
				n += p[1] - p[0]
			}
		}
	}
	return n
}
