package table

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
	"golang.org/x/sync/errgroup"
)

// AuditOptions says how far to look.
type AuditOptions struct {
	Store    bool   // look for every live file in the store, one request a file
	Progress func() // called after each snapshot, unless nil
}

// auditRequests is how many files are looked for in the store at a time: enough to hide the latency of an object store.
const auditRequests = 32

// ErrNoJob says that the table knows nothing of the job.
var ErrNoJob = errors.New("the job never committed to the table")

// Audit proves from the snapshots, as far as they have not expired, that each offset of the job's source is in the
// table exactly once. What is wrong is in the report's Faults; an error means that the audit could not be made. It
// reads the metadata of every snapshot, and holds the path of every data file that the snapshots added.
func (t *Table) Audit(ctx context.Context, job string, o AuditOptions) (AuditReport, error) {
	r, err := t.audit(ctx, job, o)
	if err != nil {
		return AuditReport{}, fmt.Errorf("auditing %s: %w", t.ident, err)
	}
	return r, nil
}

// Jobs is the firn jobs that the table's snapshots know, in order of name.
func (t *Table) Jobs() []string {
	jobs := make(map[string]bool)
	for s := range ancestors(t.inner.Metadata()) {
		for _, job := range snapshotJobs(s) {
			jobs[job] = true
		}
	}
	return slices.Sorted(maps.Keys(jobs))
}

// HistoryLength is how many snapshots Audit goes through: the current one and its ancestors.
func (t *Table) HistoryLength() int {
	n := 0
	for range ancestors(t.inner.Metadata()) {
		n++
	}
	return n
}

func (t *Table) audit(ctx context.Context, job string, o AuditOptions) (AuditReport, error) {
	if !slices.Contains(t.Jobs(), job) {
		return AuditReport{}, fmt.Errorf("%w: no job %q, its snapshots know: %s", ErrNoJob, job,
			orDash(strings.Join(t.Jobs(), ", ")))
	}
	fio, err := t.inner.FS(ctx)
	if err != nil {
		return AuditReport{}, fmt.Errorf("opening the store: %w", err)
	}
	a := newAuditor(t, job, fio)
	chain := slices.Collect(ancestors(t.inner.Metadata()))
	slices.Reverse(chain)
	if err := a.walk(ctx, chain, o.Progress); err != nil {
		return AuditReport{}, err
	}
	if err := a.live(ctx, chain[len(chain)-1], o.Store); err != nil {
		return AuditReport{}, err
	}
	a.finish()
	return a.report, nil
}

// auditor gathers the report. One goroutine owns it, but for what mu guards.
type auditor struct {
	report AuditReport
	table  *Table
	job    string
	fio    icebergio.IO
	ranges rangeAudit
	added  map[string]int64 // path of a data file -> snapshot that added it
	sealed map[string]int64 // flush id -> snapshot that committed it
	// noDeletes holds as long as no delete file can be in the table: then a rewrite keeps the number of rows.
	noDeletes bool

	mu      sync.Mutex // guards what follows, and the report's InStore, while the store is looked at
	inStore []AuditFault
}

func newAuditor(t *Table, job string, fio icebergio.IO) *auditor {
	return &auditor{
		table: t, job: job, fio: fio, ranges: newRangeAudit(),
		added: make(map[string]int64), sealed: make(map[string]int64), noDeletes: true,
		report: AuditReport{
			Table: t.ident, UUID: t.UUID(), Job: job, Ranges: []AuditRange{}, Moves: []FloorMove{},
			Foreign: []ForeignWrite{}, Notes: []string{}, Faults: []AuditFault{},
		},
	}
}

func (a *auditor) fault(code string, snapshot int64, format string, args ...any) {
	a.report.Faults = append(a.report.Faults, AuditFault{code, snapshot, fmt.Sprintf(format, args...)})
}

// walk goes through the snapshots of the main branch, oldest first.
func (a *auditor) walk(ctx context.Context, chain []*icebergtable.Snapshot, progress func()) error {
	oldest, head := chain[0], chain[len(chain)-1]
	a.report.SnapshotID = head.SnapshotID
	a.report.From = AuditStart{
		SnapshotID: oldest.SnapshotID, Time: time.UnixMilli(oldest.TimestampMs).UTC(),
		Complete: oldest.ParentSnapshotID == nil,
	}
	a.ranges.known = a.report.From.Complete
	for _, s := range chain {
		if err := ctx.Err(); err != nil {
			return err
		}
		change, err := readChange(a.fio, s)
		if err != nil {
			return err
		}
		if s == oldest && !a.report.From.Complete {
			if err := a.start(ctx, s, change); err != nil {
				return err
			}
		}
		a.snapshot(s, change)
		if progress != nil {
			progress()
		}
	}
	return nil
}

// start takes the rows and files that were there before the oldest snapshot that is left.
func (a *auditor) start(ctx context.Context, s *icebergtable.Snapshot, c change) error {
	a.report.Rows.Start = c.removedRows
	a.noDeletes = summaryInt(s, "total-delete-files", 1) == 0
	return liveEntries(ctx, a.fio, s, func(e iceberg.ManifestEntry) error {
		f := e.DataFile()
		if f.ContentType() == iceberg.EntryContentData && e.SnapshotID() != s.SnapshotID {
			a.added[f.FilePath()] = e.SnapshotID()
			a.report.Rows.Start += f.Count()
		}
		return nil
	})
}

// live looks at the files of the head: each once, and in the store.
func (a *auditor) live(ctx context.Context, head *icebergtable.Snapshot, inStore bool) error {
	seen := make(map[string]bool)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(auditRequests)
	err := liveEntries(ctx, a.fio, head, func(e iceberg.ManifestEntry) error {
		f := e.DataFile()
		path, size := f.FilePath(), f.FileSizeBytes()
		a.report.Files.Live++
		a.report.Files.LiveBytes += size
		if f.ContentType() != iceberg.EntryContentData {
			a.report.Rows.Deletes += f.Count()
		} else {
			a.report.Rows.Live += f.Count()
			if seen[path] {
				a.fault(FaultFileTwice, 0, "data file %s is live twice: its rows are read twice", path)
			}
			seen[path] = true
		}
		if inStore {
			g.Go(func() error { return a.lookFor(ctx, f) })
		}
		return nil
	})
	if lost := g.Wait(); lost != nil {
		return lost
	}
	return err
}

// lookFor finds a live file in the store and compares its size. A deletion vector is a part of its file, whose size
// the entry states as a whole.
func (a *auditor) lookFor(ctx context.Context, f iceberg.DataFile) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	size, err := sizeOf(a.fio, f.FilePath())
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return fmt.Errorf("looking for %s: %w", f.FilePath(), err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case missing:
		text := fmt.Sprintf("live file %s is not in the store: the table cannot be read", f.FilePath())
		a.inStore = append(a.inStore, AuditFault{Code: FaultFileMissing, Text: text})
	case size != f.FileSizeBytes():
		text := fmt.Sprintf("live file %s has %d bytes in the store, %d in its manifest", f.FilePath(), size,
			f.FileSizeBytes())
		a.inStore = append(a.inStore, AuditFault{Code: FaultFileSize, Text: text})
	default:
		a.report.Files.InStore++
	}
	return nil
}

func sizeOf(fio icebergio.IO, path string) (int64, error) {
	if s, ok := fio.(icebergio.StatIO); ok {
		info, err := s.Stat(path)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	f, err := fio.Open(path)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// finish draws the balance and puts everything in order.
func (a *auditor) finish() {
	r := &a.report
	r.Floor = a.ranges.floor
	r.Ranges = append(r.Ranges, a.ranges.list()...)
	b := r.Rows
	if sum := b.Start + b.Job + b.OtherJobs + b.Foreign + b.Rewritten - b.Removed; sum != b.Live {
		a.fault(FaultBalance, 0, "%d rows are live, and the snapshots add up to %d", b.Live, sum)
	}
	if s, err := stand(a.table.inner.Metadata(), a.job); err == nil && s.lost != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the table was rolled back: it once held %s", jsonText(s.lost)))
	}
	if !r.From.Complete {
		r.Notes = append(r.Notes, fmt.Sprintf("%d rows are older than the proof", b.Start))
	}
	// Files were looked for several at a time, in any order.
	slices.SortFunc(a.inStore, func(x, y AuditFault) int { return strings.Compare(x.Text, y.Text) })
	r.Faults = append(r.Faults, a.inStore...)
}
