package upkeep

import (
	"context"
	"fmt"
	"time"
)

// lookDue tells whether a look at the live files of the table is due, or when it will be; zero is never.
func (r *Rollup) lookDue(now time.Time) (at time.Time, due bool) {
	pause := r.trouble.pause()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.look {
		return time.Time{}, false
	}
	at = pause
	if next := r.lookedAt.Add(listingInterval); !r.lookedAt.IsZero() && next.After(at) {
		at = next
	}
	return at, !at.After(now)
}

// lookAtTable learns which files are live: what it does not find is forgotten, but for what becomes visible meanwhile.
func (r *Rollup) lookAtTable(ctx context.Context) {
	keptBefore := r.kept.paths()
	r.mu.Lock()
	r.backlog.looks++
	r.backlog.cut = false
	r.departed = map[string]bool{}
	r.look, r.lookedAt = false, time.Now()
	r.mu.Unlock()
	err := r.config.Live(ctx, r.found)
	r.mu.Lock()
	r.departed = nil
	if err != nil {
		r.look, r.lookedAt = true, time.Time{}
	} else {
		r.looked = true
		r.conclude()
	}
	cut, known := r.backlog.cut, len(r.backlog.parts)
	r.mu.Unlock()
	if cut {
		r.config.Log.Info("the table has more small files than are kept in mind; the others follow", "files", known)
	}
	if err == nil {
		r.trouble.succeeded()
		r.kept.release(r.unknown(keptBefore)...)
	} else if ctx.Err() == nil {
		r.trouble.failed("listing", fmt.Errorf("listing the small files of the table: %w", err))
	}
}

// found learns that a file is live, or was when the look began.
func (r *Rollup) found(f LiveFile) {
	if !r.joinable(&f.File) {
		return
	}
	said := pack(&f.File)
	if f.Since.IsZero() {
		f.Since = time.Now()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.departed[f.File.Path] {
		r.backlog.add(&f.File, said, f.Since)
	}
}

// conclude draws the conclusions of a look. A replacement that was not handed over and that does not fit is given up.
func (r *Rollup) conclude() {
	b := r.backlog
	var missing []*part
	for _, p := range b.parts {
		if p.seen < b.looks {
			missing = append(missing, p)
		} else if p.suspect < b.looks {
			p.suspect = 0
		}
	}
	b.forget(missing)
	kept := r.ready[:0]
	for _, x := range r.ready {
		if fits(x.parts) {
			kept = append(kept, x)
			continue
		}
		r.unneeded = append(r.unneeded, x.file.Path)
		b.putBack(x.parts)
	}
	r.ready = kept
}

// fits tells whether all parts are still in the table, as far as is known.
func fits(parts []*part) bool {
	for _, p := range parts {
		if p.state == gone {
			return false
		}
	}
	return true
}

// unknown is those of the paths that are not to be joined.
func (r *Rollup) unknown(paths []string) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range paths {
		if r.backlog.parts[path] == nil {
			out = append(out, path)
		}
	}
	return out
}
