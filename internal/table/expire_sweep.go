package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	icebergio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
)

// SweepPolicy says when files of expired snapshots are deleted. The zero value of a field is its default.
type SweepPolicy struct {
	DeleteAfter time.Duration // since their snapshots expired, for readers that are at those; default 1 hour
	FilesMax    int           // deleted by one call; default: no limit
	Progress    func(files int)

	pendingAfter time.Duration // default pendingAfter; tests wait less
}

// Swept is what a sweep did.
type Swept struct {
	Lists   int          `json:"lists"`   // whose files are deleted
	Dropped int          `json:"dropped"` // lists of expiries that did not happen
	Waiting int          `json:"waiting"` // lists whose time has not come, or that are not done with
	Files   RemovedFiles `json:"files"`   // deleted
}

const (
	deleteAfter = time.Hour
	// lookAfter is how often the store is asked for lists, which other processes may have left.
	lookAfter = 10 * time.Minute
	// pendingAfter is how old a pending list must be to be looked into: an expiry is done or given up much earlier.
	pendingAfter = 10 * time.Minute
	// restAfter is how long a sweep that failed is not tried again.
	restAfter = time.Minute
	// sweepBatch is how many files are deleted between two looks at the context and the limit.
	sweepBatch = 1000
)

// Sweep deletes the files of snapshots that expired some time ago. It returns at once, without a request, while it
// knows of no list that is due and has looked for lists lately.
//
// It deletes only the files of lists that are certain, see certify. Lists are certain at once, but for those of an
// expiry that was cut off: of those Sweep looks into the table and drops them, or makes a certain list of what nothing
// needs. Files that are gone are no error, so that a sweep that was cut off is done again, and several may go on at
// once.
func (k *Committer) Sweep(ctx context.Context, p SweepPolicy) (Swept, error) {
	if p.DeleteAfter <= 0 {
		p.DeleteAfter = deleteAfter
	}
	if p.Progress == nil {
		p.Progress = func(int) {}
	}
	p.pendingAfter = cmp.Or(p.pendingAfter, pendingAfter)
	s := &sweep{Committer: k, policy: p, now: time.Now()}
	if k.lists.idle(s.now, p) {
		return Swept{Waiting: len(k.lists.byName)}, nil
	}
	defer context.AfterFunc(ctx, k.files.drop)() // a store that hangs must not outlive the call
	err := s.run(ctx)
	s.out.Waiting = len(k.lists.byName)
	if err != nil {
		k.lists.restUntil = time.Now().Add(restAfter)
		return s.out, fmt.Errorf("deleting files of expired snapshots of table %s: %w", k.ident, err)
	}
	return s.out, nil
}

// idle tells whether there is nothing to look into, as far as is known.
func (n *knownLists) idle(now time.Time, p SweepPolicy) bool {
	return now.Before(n.restUntil) || now.Sub(n.lookedAt) < lookAfter && len(n.due(now, p)) == 0
}

// due is the lists that are to be looked into, the oldest first.
func (n *knownLists) due(now time.Time, p SweepPolicy) []removedList {
	var due []removedList
	for _, l := range n.byName {
		wait := p.DeleteAfter
		if l.kind == listPending {
			wait = p.pendingAfter
		}
		if now.Sub(l.at) >= wait {
			due = append(due, l)
		}
	}
	slices.SortFunc(due, func(a, b removedList) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.name, b.name))
	})
	return due
}

// sweep is one call of Sweep.
type sweep struct {
	*Committer
	table  *Table // as last seen
	policy SweepPolicy
	now    time.Time
	out    Swept
	count  int // files deleted
}

// refresh reads the newest version of the table.
func (s *sweep) refresh(ctx context.Context) error {
	err := s.retry(ctx, "sweeping", func(ctx context.Context) (err error) {
		s.table, _, err = s.view(ctx)
		return err
	})
	if err == nil {
		s.Committer.files.load = s.table.inner.FS
	}
	return err
}

func (s *sweep) run(ctx context.Context) error {
	if s.now.Sub(s.lists.lookedAt) >= lookAfter {
		if err := s.refresh(ctx); err != nil {
			return err
		}
		if err := s.look(ctx); err != nil {
			return err
		}
	}
	for _, l := range s.lists.due(s.now, s.policy) {
		if s.full() {
			return nil
		}
		err := s.one(ctx, l)
		switch {
		case errors.Is(err, errList): // another version's, or cut off; it is an orphan some day
			s.log.Warn("a list of removed files cannot be read", "list", l.path, "error", err)
			s.lists.forget(l)
		case missing(err): // another process is done with it
			s.lists.forget(l)
		case err != nil:
			return err
		}
	}
	return nil
}

func (s *sweep) full() bool { return s.policy.FilesMax > 0 && s.count >= s.policy.FilesMax }

// look finds the lists in the store.
func (s *sweep) look(ctx context.Context) error {
	found, err := s.findLists(ctx, s.table)
	if err != nil {
		return err
	}
	for _, l := range s.lists.byName {
		if !slices.ContainsFunc(found, func(f removedList) bool { return f.name == l.name }) {
			s.lists.forget(l)
		}
	}
	for _, l := range found {
		s.lists.add(l)
	}
	s.lists.lookedAt = s.now
	return nil
}

// findLists lists the lists of removed files.
func (k *Committer) findLists(ctx context.Context, t *Table) ([]removedList, error) {
	locations, err := t.inner.LocationProvider()
	if err != nil {
		return nil, err
	}
	fio, err := k.files.client(ctx)
	if err != nil {
		return nil, err
	}
	var found []removedList
	err = walk(ctx, fio, locations.NewMetadataLocation(""), listPrefix, func(f storedFile) error {
		if l, ok := parseList(f.path); ok {
			found = append(found, l)
		}
		return nil
	})
	return found, err
}

// one looks into a list, and into the table as it is after the list was made. The list of a table which had the place
// before is left alone.
func (s *sweep) one(ctx context.Context, l removedList) error {
	if err := s.refresh(ctx); err != nil {
		return err
	}
	r, err := openList(ctx, &s.files, l.path)
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	m := s.table.inner.Metadata()
	switch {
	case r.head.Table != s.table.UUID():
		s.lists.forget(l)
		return nil
	case slices.ContainsFunc(r.head.Snapshots, func(id int64) bool { return m.SnapshotByID(id) != nil }):
		// It did not happen; or it did, and the table was put back to an older version.
		s.dropList(ctx, l)
		s.out.Dropped++
		return nil
	case l.kind == listPending:
		return s.resolve(ctx, l, r)
	}
	done, err := s.empty(ctx, l, r)
	if err != nil || !done {
		return err
	}
	s.dropList(ctx, l)
	s.out.Lists++
	return nil
}

// resolve makes a certain list of a pending one whose snapshots have gone, by this expiry or another. When they went
// is not known, so that the time for readers begins now.
func (s *sweep) resolve(ctx context.Context, l removedList, r *listReader) error {
	files, err := r.all()
	if err != nil {
		return err
	}
	fio, err := s.files.client(ctx)
	if err != nil {
		return err
	}
	if files, err = unneeded(ctx, s.table.inner.Metadata(), fio, files); err != nil {
		return err
	}
	certain, _, err := s.writeList(ctx, s.table, newList(listRemoved), r.head.Snapshots, files)
	if err != nil {
		return err
	}
	s.lists.add(certain)
	s.dropList(ctx, l)
	return nil
}

// unneeded is the files that no snapshot of the table has. It reads every manifest of the table.
func unneeded(
	ctx context.Context, m icebergtable.Metadata, fio icebergio.IO, files []removedFile,
) ([]removedFile, error) {
	e := newExpiry(m)
	snapshots := m.Snapshots()
	for i := range snapshots {
		e.kept[snapshots[i].SnapshotID] = &snapshots[i]
	}
	f := newFinder(e, fio, &manifestPaths{}, nil)
	for _, file := range files {
		f.files[file.Path] = candidate{}
	}
	if err := f.leaveFilesOf(ctx, e.all(), contents{data: true, deletes: true}, f.hasFile); err != nil {
		return nil, err
	}
	for _, s := range e.kept {
		delete(f.files, s.ManifestList)
		for _, m := range f.lists[s.SnapshotID] {
			delete(f.files, m.FilePath())
		}
	}
	for s := range m.Statistics() {
		delete(f.files, s.StatisticsPath)
	}
	for s := range m.PartitionStatistics() {
		delete(f.files, s.StatisticsPath)
	}
	return slices.DeleteFunc(files, func(file removedFile) bool {
		_, left := f.files[file.Path]
		return !left
	}), nil
}
