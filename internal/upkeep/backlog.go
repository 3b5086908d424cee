package upkeep

import (
	"slices"
	"strings"
	"time"

	"firn/internal/record"
)

// suffix is in the names of files that a roll-up made: their turn to be joined for their age is over.
const suffix = "-rollup.parquet"

// backlog is the small live files that are known, by group. It takes times from its callers and is not safe for
// concurrent use.
type backlog struct {
	policy policy
	parts  map[string]*part  // by path
	groups map[string]*group // by key
	rested []*part           // those in state resting

	packedBytes int64 // what the parts take
	bytesMax    int64 // of that
	cut         bool  // a part was refused for it
	looks       int   // at all live files so far, one that is going on included
}

// group is the files that can be joined with each other.
type group struct {
	key     string
	like    record.DataFile // what they have in common: spec, partition, schema
	known   int             // parts in any state
	waiting []*part         // in the order in which they became visible

	fresh int   // of those waiting
	bytes int64 // of those waiting
	stuck bool  // nothing of it can be joined until it changes
}

// part is a small live file.
type part struct {
	group *group
	path  string
	bytes int64
	rows  int64
	since time.Time // when it became visible, or the oldest of the files that it was joined from
	fresh bool      // its turn to be joined for its age has not come
	said  packed

	state   state
	rest    time.Time // resting: at least until then
	suspect int       // resting: until a look after this one finds it; 0 when it is none
	seen    int       // the last look at all live files that found it, or after which it became visible
	stale   int       // times that a replacement of it no longer fitted
	failed  int       // times that joining it failed since it succeeded
	limit   int       // parts that it may be joined with, itself included
}

type state int

const (
	waiting state = iota
	resting       // left alone for a while
	taken         // being joined, or part of a replacement that is not settled
	gone
)

// partBytes is what a part takes beside its path and description.
const partBytes = 200

func newBacklog(p policy, bytesMax int64) *backlog {
	return &backlog{policy: p, bytesMax: bytesMax, parts: map[string]*part{}, groups: map[string]*group{}}
}

// add learns of a small file that is live. It tells whether there was room for it.
func (b *backlog) add(f *record.DataFile, said packed, since time.Time) bool {
	if p := b.parts[f.Path]; p != nil {
		p.seen = b.looks
		return true
	}
	p := &part{
		path: f.Path, bytes: f.SizeBytes, rows: f.Rows, since: since, fresh: !strings.HasSuffix(f.Path, suffix), said: said,
		seen: b.looks, limit: partsMax,
	}
	if b.packedBytes+p.held() > b.bytesMax {
		b.cut = true
		return false
	}
	b.packedBytes += p.held()
	b.parts[p.path] = p
	p.group = b.group(f)
	p.group.known++
	p.group.insert(p)
	return true
}

func (p *part) held() int64 { return int64(partBytes + len(p.path) + len(p.said)) }

// group finds or makes the group of a file.
func (b *backlog) group(f *record.DataFile) *group {
	key := groupKey(f)
	g := b.groups[key]
	if g == nil {
		g = &group{key: key, like: record.DataFile{SpecID: f.SpecID, SchemaID: f.SchemaID, Partition: f.Partition}}
		b.groups[key] = g
	}
	return g
}

// describe is the whole description of a part.
func (p *part) describe() record.DataFile {
	f := p.group.like
	f.Path = p.path
	p.said.unpack(&f)
	return f
}

// insert has a part wait.
func (g *group) insert(p *part) {
	p.state = waiting
	at, _ := slices.BinarySearchFunc(g.waiting, p, func(a, b *part) int {
		if c := a.since.Compare(b.since); c != 0 {
			return c
		}
		return -1 // after those of the same time
	})
	g.waiting = slices.Insert(g.waiting, at, p)
	g.count(p)
	g.stuck = false
}

func (g *group) count(p *part) {
	if p.fresh {
		g.fresh++
	}
	g.bytes += p.bytes
}

// refresh drops those that wait no longer.
func (g *group) refresh() {
	g.waiting = slices.DeleteFunc(g.waiting, func(p *part) bool { return p.state != waiting })
	g.fresh, g.bytes, g.stuck = 0, 0, false
	for _, p := range g.waiting {
		g.count(p)
	}
}

// oldestFresh is the waiting part whose age counts, or nil. Parts that were joined are few and stand before it.
func (g *group) oldestFresh() *part {
	for _, p := range g.waiting {
		if p.fresh {
			return p
		}
	}
	return nil
}

// next takes the parts that are to be joined first, in the order in which they became visible: of the group with the
// most files, and of two like it the one with the oldest. When there are none it says when there may be some without
// another change; zero is never.
func (b *backlog) next(now time.Time) (parts []*part, again time.Time) {
	again = b.wake(now)
	for {
		g, at := b.mostUrgent(now)
		if g == nil {
			return nil, sooner(again, at)
		}
		if parts = b.policy.pick(g); parts != nil {
			for _, p := range parts {
				p.state = taken
			}
			g.refresh()
			return parts, time.Time{}
		}
		b.season(g, now)
	}
}

// sooner is the earlier of two times, of which zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// wake ends the rest of parts, and says when the next one ends.
func (b *backlog) wake(now time.Time) (again time.Time) {
	b.rested = slices.DeleteFunc(b.rested, func(p *part) bool {
		switch {
		case p.state != resting:
			return true
		case p.suspect > 0:
			return false
		case p.rest.After(now):
			again = sooner(again, p.rest)
			return false
		}
		p.group.insert(p)
		return true
	})
	return again
}

func (b *backlog) mostUrgent(now time.Time) (best *group, again time.Time) {
	pressed := b.packedBytes > b.bytesMax/pressedPart
	for _, g := range b.groups {
		due, at := b.policy.due(g, now, pressed)
		if !due {
			again = sooner(again, at)
		} else if best == nil || moreUrgent(g, best) {
			best = g
		}
	}
	return best, again
}

func moreUrgent(a, b *group) bool {
	if len(a.waiting) != len(b.waiting) {
		return len(a.waiting) > len(b.waiting)
	}
	return a.waiting[0].since.Before(b.waiting[0].since)
}

// season says that nothing of a group can be joined now: a file that came alone, or beside others that are much larger,
// waits for more like a file that was joined.
func (b *backlog) season(g *group, now time.Time) {
	for _, p := range g.waiting {
		if p.fresh && b.policy.old(p, now) {
			p.fresh = false
		}
	}
	g.refresh()
	g.stuck = true
}

// putBack has parts wait again that were taken, those that are not gone and do not rest.
func (b *backlog) putBack(parts []*part) {
	for _, p := range parts {
		if p.state == taken {
			p.group.insert(p)
		}
	}
}

// lay has a part that was taken rest.
func (b *backlog) lay(p *part, until time.Time) {
	if p.state == taken {
		p.state, p.rest = resting, until
		b.rested = append(b.rested, p)
	}
}

// forget drops parts that are not in the table any more.
func (b *backlog) forget(parts []*part) {
	groups := map[*group]bool{}
	for _, p := range parts {
		if p.state == gone {
			continue
		}
		if p.state == waiting {
			groups[p.group] = true
		}
		p.state = gone
		delete(b.parts, p.path)
		b.packedBytes -= p.held()
		if p.group.known--; p.group.known == 0 {
			delete(b.groups, p.group.key)
		}
	}
	for g := range groups {
		g.refresh()
	}
}

// pending is the files that are to be joined and are not yet: how many, their bytes, and since when the oldest waits.
func (b *backlog) pending() (files, bytes int64, oldest time.Time) {
	for _, p := range b.parts {
		if p.fresh {
			files++
			bytes += p.bytes
			oldest = sooner(oldest, p.since)
		}
	}
	return files, bytes, oldest
}
