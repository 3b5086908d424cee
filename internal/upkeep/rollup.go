package upkeep

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"firn/internal/record"
)

// Rollup joins the small data files that a streaming job commits into files of the target size, and hands the job's
// committer the replacements. It is safe for concurrent use, but for Run, of which one runs at a time.
//
// A file that it made is removed again only where it is known that no commit holds it: when it was never handed over,
// or when the committer said that it does not fit. A file that was handed over, and of which the committer said
// nothing before Run was called again, stays.
type Rollup struct {
	config  Config
	kept    *kept
	trouble *trouble
	changed chan struct{} // of capacity 1: there may be something to do

	mu       sync.Mutex // guards what follows
	backlog  *backlog
	joining  int
	ready    []*replacement          // stored, and not handed over
	handed   map[string]*replacement // by id: handed over, and not settled
	unneeded []string                // files that nothing will ever refer to
	look     bool                    // at all live files is due
	looked   bool                    // there was one since Run began
	lookedAt time.Time               // when the last one began; zero when it failed
	departed map[string]bool         // paths that were replaced since a look began; nil when none goes on
}

// replacement is files and what they are replaced by.
type replacement struct {
	id    string
	parts []*part
	file  record.DataFile
}

// New checks the settings. It starts nothing.
func New(c Config) (*Rollup, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("preparing the roll-up of small files: %w", err)
	}
	r := &Rollup{
		config: c, changed: make(chan struct{}, 1), handed: map[string]*replacement{},
		trouble: newTrouble(c.Metrics, c.Log),
	}
	r.backlog = newBacklog(r.policy(), r.config.knownMax())
	r.kept = newKept(&c, r.trouble.note)
	return r, nil
}

func (r *Rollup) policy() policy { return policy{r.config.TargetBytes, r.config.AgeMax} }

// Run joins files until ctx ends, and returns nil then. It forgets what it knew and looks at the table first, so that
// it may be called again after it returned, whatever became of what was handed over.
func (r *Rollup) Run(ctx context.Context) error {
	r.forgetAll()
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { r.kept.run(ctx) })
	for ctx.Err() == nil {
		r.removeUnneeded(ctx)
		if again, due := r.lookDue(time.Now()); due {
			r.lookAtTable(ctx)
			continue
		} else if picked, later := r.next(time.Now()); picked == nil {
			r.wait(ctx, sooner(again, later))
		} else {
			parts.Go(func() { r.rollUp(ctx, picked) })
		}
	}
	return nil
}

// wait returns when something changed, at a time (zero: never), or when ctx ends.
func (r *Rollup) wait(ctx context.Context, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-r.changed:
	case <-due:
	}
}

// wake has Run look what there is to do.
func (r *Rollup) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// forgetAll begins anew. What was not handed over is known to be in no commit.
func (r *Rollup) forgetAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.ready {
		r.unneeded = append(r.unneeded, x.file.Path)
	}
	r.ready, r.handed = nil, map[string]*replacement{}
	r.backlog = newBacklog(r.policy(), r.config.knownMax())
	r.look, r.looked, r.lookedAt = true, false, time.Time{}
}

// next takes parts to join, or says when to look again.
func (r *Rollup) next(now time.Time) (picked []*part, again time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.config.Metrics.RollupPending(r.backlog.pending())
	if until := r.trouble.pause(); until.After(now) {
		return nil, until
	}
	busy := r.joining >= max(1, r.config.Parallel) || r.joining+len(r.ready)+len(r.handed) >= unsettledMax
	if busy || !r.looked {
		return nil, time.Time{} // until a join ends, the committer settles some, or there was a look
	}
	picked, again = r.backlog.next(now)
	if picked != nil {
		r.joining++
	}
	return picked, again
}

// giveBack has parts wait again that were taken and not joined.
func (r *Rollup) giveBack(parts []*part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.joining--
	r.backlog.putBack(parts)
}

// Committed says that files became visible; their lineage must be stated where the table has it.
func (r *Rollup) Committed(files []record.DataFile) {
	now := time.Now()
	said := make([]packed, len(files))
	for i := range files {
		said[i] = pack(&files[i])
	}
	var unwanted []string
	r.mu.Lock()
	for i := range files {
		if !r.joinable(&files[i]) || !r.backlog.add(&files[i], said[i], now) {
			unwanted = append(unwanted, files[i].Path)
		}
	}
	r.mu.Unlock()
	r.kept.release(unwanted...)
	r.wake()
}

// joinable tells whether a file is small, of a schema that is known, and has the lineage that the table wants.
func (r *Rollup) joinable(f *record.DataFile) bool {
	traced := !r.config.RowLineage || f.Lineage.SequenceNumber > 0
	return f.SizeBytes < r.policy().smallMax() && r.config.Schema(f.SchemaID) != nil && traced
}

// Ready hands over the replacements that can be committed, each once. Their files are durable.
func (r *Rollup) Ready() []record.Replacement {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []record.Replacement
	for _, x := range r.ready {
		r.handed[x.id] = x
		out = append(out, record.Replacement{ID: x.id, Remove: paths(x.parts), Add: []record.DataFile{x.file}})
	}
	r.ready = nil
	return out
}

func paths(parts []*part) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p.path
	}
	return out
}

// Settled says what became of replacements, by id: those that are in the table, and those that do not fit it any more,
// because a file that should go is gone, or has deletes on it. Ids that it does not know are passed over.
func (r *Rollup) Settled(replaced, stale []string) {
	now := time.Now()
	r.mu.Lock()
	var released []string
	for _, x := range r.settle(replaced) {
		released = append(released, paths(x.parts)...)
		r.replaced(x, now)
	}
	for _, x := range r.settle(stale) {
		released = append(released, paths(x.parts)...)
		r.refused(x, now)
	}
	r.mu.Unlock()
	r.kept.release(released...)
	r.wake()
}

// settle takes replacements out of those that were handed over.
func (r *Rollup) settle(ids []string) (out []*replacement) {
	for _, id := range ids {
		if x := r.handed[id]; x != nil {
			delete(r.handed, id)
			out = append(out, x)
		}
	}
	return out
}

// replaced learns that a replacement is in the table: its file may be joined again.
func (r *Rollup) replaced(x *replacement, now time.Time) {
	since := now
	for _, p := range x.parts {
		since = sooner(since, p.since)
		if r.departed != nil {
			r.departed[p.path] = true
		}
	}
	r.backlog.forget(x.parts)
	if x.file.SizeBytes < r.policy().smallMax() { // it has its lineage in it
		r.backlog.add(&x.file, pack(&x.file), since)
	}
	if r.backlog.cut && r.backlog.packedBytes < r.backlog.bytesMax/pressedPart {
		r.look = true // there is room for those that were refused
	}
	r.config.Metrics.RolledUp(len(x.parts), x.file.SizeBytes)
}

// refused learns that a replacement does not fit. Which of its parts are still there only a look at the table says.
func (r *Rollup) refused(x *replacement, now time.Time) {
	r.unneeded = append(r.unneeded, x.file.Path)
	for _, p := range x.parts {
		p.stale++
		until := now
		if p.stale >= staleMax {
			until = now.Add(doubled(leaveAlone, leaveAloneMax, p.stale-staleMax+1))
		}
		p.suspect = max(1, r.backlog.looks)
		r.backlog.lay(p, until)
	}
	r.look = true
	r.config.Metrics.RollupStale()
}

// Keep keeps the bytes of a file that was stored, until it is joined, if there is room: sizeBytes of them, which write
// writes before Keep returns. It does not wait for a disk.
func (r *Rollup) Keep(path string, sizeBytes int64, write func(io.Writer) error) {
	if sizeBytes < r.policy().smallMax() {
		r.kept.keep(path, sizeBytes, write)
	}
}

// Close removes what is left that no commit holds, until ctx ends, and gives back memory and disk. Run has returned,
// and nothing is called after it.
func (r *Rollup) Close(ctx context.Context) error {
	r.forgetAll()
	r.removeUnneeded(ctx)
	if err := r.kept.close(); err != nil {
		return fmt.Errorf("removing the spool of small files: %w", err)
	}
	return nil
}

// removeUnneeded removes files that nothing refers to. One that cannot be removed is left to the removal of orphans.
func (r *Rollup) removeUnneeded(ctx context.Context) {
	for ctx.Err() == nil {
		path, ok := r.takeUnneeded()
		if !ok {
			return
		}
		err := r.remove(ctx, path)
		if err != nil && ctx.Err() != nil {
			r.unneed(path)
			return
		}
		if err != nil {
			r.trouble.note("removing", fmt.Errorf("removing %s, which no snapshot refers to: %w", path, err))
		}
	}
}

func (r *Rollup) takeUnneeded() (path string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.unneeded)
	if n == 0 {
		return "", false
	}
	path = r.unneeded[n-1]
	r.unneeded = r.unneeded[:n-1]
	return path, true
}

// unneed has a file removed that no commit holds.
func (r *Rollup) unneed(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unneeded = append(r.unneeded, path)
}

func (r *Rollup) remove(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	return r.config.Remove(ctx, path)
}
