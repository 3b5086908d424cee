package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	icebergtable "github.com/apache/iceberg-go/table"

	"firn/internal/record"
)

// SnapshotInfo is one snapshot of a table. Numbers come from its summary, which is what its writer said; one that the
// writer left out is 0, or -1 for the totals.
type SnapshotInfo struct {
	ID             int64                   `json:"id"`
	ParentID       int64                   `json:"parent_id,omitempty"` // 0: none
	SequenceNumber int64                   `json:"sequence_number"`
	Time           time.Time               `json:"time"`
	Operation      string                  `json:"operation"` // append, replace, overwrite or delete
	SchemaID       int                     `json:"schema_id"` // -1: not stated
	AddedRows      int64                   `json:"added_rows"`
	AddedFiles     int64                   `json:"added_files"`
	AddedBytes     int64                   `json:"added_bytes"`
	DeletedRows    int64                   `json:"deleted_rows"` // in data files that were taken out
	DeletedFiles   int64                   `json:"deleted_files"`
	TotalRows      int64                   `json:"total_rows"`
	TotalFiles     int64                   `json:"total_files"`
	Floors         map[string]record.Floor `json:"floors,omitempty"` // by job, as this snapshot states them
	Current        bool                    `json:"current"`
	Live           bool                    `json:"live"` // the current one, or an ancestor of it
	Refs           []string                `json:"refs,omitempty"`
}

// Snapshots lists the snapshots that have not expired, oldest first. A floor that cannot be read is an error, since
// a job would refuse it too.
func (t *Table) Snapshots() ([]SnapshotInfo, error) {
	m := t.inner.Metadata()
	live := make(map[int64]bool)
	for s := range ancestors(m) {
		live[s.SnapshotID] = true
	}
	refs := make(map[int64][]string)
	for name, ref := range m.Refs() {
		refs[ref.SnapshotID] = append(refs[ref.SnapshotID], name)
	}
	current := t.inner.CurrentSnapshot()
	list := make([]SnapshotInfo, 0, len(m.Snapshots()))
	for _, s := range m.Snapshots() {
		info, err := snapshotInfo(&s)
		if err != nil {
			return nil, fmt.Errorf("snapshot %d of %s: %w", s.SnapshotID, t.ident, err)
		}
		info.Live, info.Refs = live[s.SnapshotID], slices.Sorted(slices.Values(refs[s.SnapshotID]))
		info.Current = current != nil && current.SnapshotID == s.SnapshotID
		list = append(list, info)
	}
	slices.SortStableFunc(list, func(a, b SnapshotInfo) int { return a.Time.Compare(b.Time) })
	return list, nil
}

func snapshotInfo(s *icebergtable.Snapshot) (SnapshotInfo, error) {
	floors, err := snapshotFloors(s)
	if err != nil {
		return SnapshotInfo{}, err
	}
	info := SnapshotInfo{
		ID: s.SnapshotID, SequenceNumber: s.SequenceNumber, SchemaID: -1,
		Time: time.UnixMilli(s.TimestampMs).UTC(), Floors: floors,
		AddedRows: summaryInt(s, "added-records", 0), AddedFiles: summaryInt(s, "added-data-files", 0),
		AddedBytes: summaryInt(s, "added-files-size", 0), DeletedRows: summaryInt(s, "deleted-records", 0),
		DeletedFiles: summaryInt(s, "deleted-data-files", 0),
		TotalRows:    summaryInt(s, "total-records", -1), TotalFiles: summaryInt(s, "total-data-files", -1),
	}
	if s.Summary != nil {
		info.Operation = string(s.Summary.Operation)
	}
	if s.ParentSnapshotID != nil {
		info.ParentID = *s.ParentSnapshotID
	}
	if s.SchemaID != nil {
		info.SchemaID = *s.SchemaID
	}
	return info, nil
}

// summaryInt is a number in the summary, or missing when it is not there or is none.
func summaryInt(s *icebergtable.Snapshot, key string, missing int64) int64 {
	n, err := strconv.ParseInt(summary(s, key), 10, 64)
	if err != nil {
		return missing
	}
	return n
}

// snapshotFloors is the floors that a snapshot states, by job; nil when it states none.
func snapshotFloors(s *icebergtable.Snapshot) (map[string]record.Floor, error) {
	var floors map[string]record.Floor
	for _, job := range snapshotJobs(s) {
		floor, err := parseFloor(summary(s, offsetsKey(job)))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", offsetsKey(job), err)
		}
		if floors == nil {
			floors = make(map[string]record.Floor)
		}
		floors[job] = floor
	}
	return floors, nil
}

// snapshotJobs is the jobs whose floor a snapshot states, in order of name.
func snapshotJobs(s *icebergtable.Snapshot) []string {
	if s.Summary == nil {
		return nil
	}
	var jobs []string
	for key := range s.Summary.Properties {
		job, isFloor := strings.CutSuffix(key, ".offsets")
		job, isFirn := strings.CutPrefix(job, "firn.")
		if isFloor && isFirn && jobName.MatchString(job) {
			jobs = append(jobs, job)
		}
	}
	slices.Sort(jobs)
	return jobs
}
