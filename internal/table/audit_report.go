package table

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"firn/internal/record"
)

// AuditReport says what the snapshots of a table prove about one job: that every source offset between From and Floor
// is in the table exactly once, unless Faults says otherwise.
type AuditReport struct {
	Table      string       `json:"table"`
	UUID       string       `json:"table_uuid"`
	Job        string       `json:"job"`
	SnapshotID int64        `json:"snapshot_id"` // the head that was audited; 0: the table is empty
	Floor      record.Floor `json:"floor"`       // of the job, at the head
	From       AuditStart   `json:"from"`

	Snapshots SnapshotCounts `json:"snapshots"`
	Counts    record.Counts  `json:"counts"` // what became of the offsets, over all commits of the job
	Ranges    []AuditRange   `json:"ranges"` // what is in the table, by topic, incarnation and partition
	Moves     []FloorMove    `json:"moves"`  // of the floor, without rows
	Foreign   []ForeignWrite `json:"foreign"`
	Rows      RowBalance     `json:"rows"`
	Files     FileCheck      `json:"files"`
	Notes     []string       `json:"notes"`
	Faults    []AuditFault   `json:"faults"` // empty: proved
}

// AuditStart is where the proof begins: with the table itself, or with the oldest snapshot that has not expired.
type AuditStart struct {
	SnapshotID int64     `json:"snapshot_id"`
	Time       time.Time `json:"time"`
	Complete   bool      `json:"complete"` // no older snapshot ever was
}

// SnapshotCounts is the snapshots on the way from the head back, by what they did.
type SnapshotCounts struct {
	Commits   int `json:"commits"`    // of this job, with source ranges
	Moves     int `json:"moves"`      // of this job's floor, without files
	OtherJobs int `json:"other_jobs"` // commits and moves of other firn jobs
	Rewrites  int `json:"rewrites"`   // operation replace: compaction
	Foreign   int `json:"foreign"`    // all else
}

// AuditRange is offsets [From, To) of one incarnation of a topic's partition, committed once.
type AuditRange struct {
	Topic     string `json:"topic"`
	ClusterID string `json:"cluster"`
	TopicID   string `json:"topic_id"`
	Partition int32  `json:"partition"`
	From      int64  `json:"from"`
	To        int64  `json:"to"`
}

// FloorMove is a snapshot that set the floor of a partition without rows: where reading began (Was is -1), or where
// someone set it. Offsets that a move stepped over are not in the table by intent.
type FloorMove struct {
	SnapshotID int64     `json:"snapshot_id"`
	Time       time.Time `json:"time"`
	Topic      string    `json:"topic"`
	Partition  int32     `json:"partition"`
	Was        int64     `json:"was"` // -1: it had no floor, or the topic was made anew
	Now        int64     `json:"now"` // -1: it has no floor any more
}

// ForeignWrite is a snapshot by something else than firn.
type ForeignWrite struct {
	SnapshotID  int64     `json:"snapshot_id"`
	Time        time.Time `json:"time"`
	Operation   string    `json:"operation"`
	AddedRows   int64     `json:"added_rows"`
	RemovedRows int64     `json:"removed_rows"`
}

// RowBalance is where the live rows come from, counted from the manifest entries:
// Start + Job + OtherJobs + Foreign + Rewritten - Removed == Live.
type RowBalance struct {
	Start     int64 `json:"start"`      // live before the proof begins
	Job       int64 `json:"job"`        // added by this job
	OtherJobs int64 `json:"other_jobs"` // added by other firn jobs
	Foreign   int64 `json:"foreign"`    // added by others
	Rewritten int64 `json:"rewritten"`  // added by rewrites
	Removed   int64 `json:"removed"`    // in data files that any snapshot took out, rewrites included
	Live      int64 `json:"live"`       // in live data files
	// Deletes is the rows of live delete files: they hide rows of data files, which are still counted in Live.
	Deletes int64 `json:"deletes"`
}

// FileCheck is what was looked at.
type FileCheck struct {
	Live      int   `json:"live"` // data and delete files
	LiveBytes int64 `json:"live_bytes"`
	InStore   int   `json:"in_store"` // found there with the right size; 0 when the store was not looked at
}

// AuditFault is one thing that is wrong.
type AuditFault struct {
	Code       string `json:"code"`                  // see the Fault constants
	SnapshotID int64  `json:"snapshot_id,omitempty"` // 0: not of one snapshot
	Text       string `json:"text"`
}

// The codes of faults.
const (
	FaultUnreadable  = "unreadable"   // a summary entry of firn cannot be read
	FaultMissing     = "missing"      // offsets that no commit covers
	FaultTwice       = "twice"        // offsets that two commits cover
	FaultFloor       = "floor"        // the floor is not where the ranges end, or it moved beside files
	FaultCounts      = "counts"       // the counts do not add up to the offsets, or to the rows
	FaultRows        = "rows"         // the rows of the manifest entries are not those that the summary states
	FaultFileTwice   = "file-twice"   // a data file was added twice, or is live twice
	FaultFlushTwice  = "flush-twice"  // a flush was committed twice
	FaultFileMissing = "file-missing" // a live file is not in the store
	FaultFileSize    = "file-size"    // a live file has another size in the store
	FaultBalance     = "balance"      // the live rows are not the sum of what the snapshots did
)

// OK says that nothing is wrong.
func (r AuditReport) OK() bool { return len(r.Faults) == 0 }

// WriteText prints the report for people.
func (r AuditReport) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.line("table %s, job %s, snapshot %d", r.Table, r.Job, r.SnapshotID)
	if r.From.Complete {
		p.line("proved from the first snapshot on (%d, %s)", r.From.SnapshotID, r.From.Time.Format(time.RFC3339))
	} else {
		p.line("proved from snapshot %d on (%s): older ones have expired", r.From.SnapshotID,
			r.From.Time.Format(time.RFC3339))
	}
	s := r.Snapshots
	p.line("snapshots: %d commits of the job, %d moves of its floor, %d of other jobs, %d rewrites, %d foreign",
		s.Commits, s.Moves, s.OtherJobs, s.Rewrites, s.Foreign)
	c := r.Counts
	p.line("offsets: %d = %d rows + %d rejected + %d tombstones + %d without a record + %d expired",
		c.Offsets(), c.Rows, c.Rejected, c.Tombstones, c.Holes, c.Expired)
	b := r.Rows
	p.line("rows: %d at the start + %d of the job + %d of other jobs + %d foreign + %d rewritten - %d removed = %d live",
		b.Start, b.Job, b.OtherJobs, b.Foreign, b.Rewritten, b.Removed, b.Live)
	r.writeFiles(p)
	r.writeLists(p)
	if r.OK() {
		p.line("OK: every offset of the ranges is accounted for exactly once")
	} else {
		p.line("FAILED: %d faults", len(r.Faults))
	}
	return p.err
}

func (r AuditReport) writeFiles(p *printer) {
	store := "the store was not looked at"
	if r.Files.InStore > 0 || r.Files.Live == 0 {
		store = fmt.Sprintf("%d of them found in the store", r.Files.InStore)
	}
	p.line("files: %d live, %d bytes, %s", r.Files.Live, r.Files.LiveBytes, store)
	if r.Rows.Deletes > 0 {
		p.line("delete files hide rows: %d deletes are live", r.Rows.Deletes)
	}
}

func (r AuditReport) writeLists(p *printer) {
	for _, x := range r.Ranges {
		p.line("range: %s/%d [%d, %d) of topic id %s", x.Topic, x.Partition, x.From, x.To, orDash(x.TopicID))
	}
	for _, m := range r.Moves {
		p.line("move: %s/%d from %s to %s, snapshot %d", m.Topic, m.Partition, offsetText(m.Was), offsetText(m.Now),
			m.SnapshotID)
	}
	for _, f := range r.Foreign {
		p.line("foreign: snapshot %d, %s, %d rows added, %d removed", f.SnapshotID, f.Operation, f.AddedRows, f.RemovedRows)
	}
	for _, n := range r.Notes {
		p.line("note: %s", n)
	}
	for _, f := range r.Faults {
		where := ""
		if f.SnapshotID != 0 {
			where = fmt.Sprintf("snapshot %d: ", f.SnapshotID)
		}
		p.line("FAULT %s: %s%s", f.Code, where, f.Text)
	}
}

func offsetText(n int64) string {
	if n < 0 {
		return "none"
	}
	return strconv.FormatInt(n, 10)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
