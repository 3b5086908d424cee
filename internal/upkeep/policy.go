package upkeep

import (
	"cmp"
	"slices"
	"time"
)

// policy says when files of a group are joined, and which. Files below half of the target are small ones; others are
// never touched.
//
// A group is due when its files add up to one and a half times the target, or when a file that was never joined is
// older than the age limit. The first joins the oldest ones into a file of the target's size, and leaves half of the
// target at least: so the rest does not end as a small file either, whenever the rows stop. The second joins all that
// was never joined, and of the files that were joined before, the smallest ones, as many as can be: each must grow by
// half at least, or be small no more. So
//
//   - a byte is copied once where its partition gets half of the target within the age limit, and then all of them end
//     in files that are not small; else at most 1 + log1.5(small limit / size of its first join) times, rounded up;
//   - of the small files that stay, each is more than twice as large as all smaller ones together, so that a group
//     keeps at most 2 + log3(small limit / twice its smallest file) beside those that are younger than the age limit.
//
// TestADay shows both.
type policy struct {
	target int64
	ageMax time.Duration // 0: none
}

// smallMax is the size from which a file is not small.
func (y policy) smallMax() int64 { return y.target / 2 }

// plenty is the bytes of a group with which it is due. Where nothing is joined for its age, nothing is left for it.
func (y policy) plenty() int64 {
	if y.ageMax == 0 {
		return y.target
	}
	return y.target + y.smallMax()
}

const (
	// pressedPart of the memory for descriptions may be full before files are joined early.
	pressedPart = 2
	// pressedMin is how many files a group must have for that.
	pressedMin = 16
)

// due tells whether files of a group are to be joined, or when they will be for their age; zero is never.
func (y policy) due(g *group, now time.Time, pressed bool) (due bool, at time.Time) {
	if g.stuck || len(g.waiting) == 0 {
		return false, at
	}
	if g.bytes >= y.plenty() || pressed && g.fresh >= pressedMin {
		return true, at
	}
	oldest := g.oldestFresh()
	if oldest == nil || y.ageMax == 0 {
		return false, at
	}
	return y.old(oldest, now), oldest.since.Add(y.ageMax)
}

func (y policy) old(p *part, now time.Time) bool { return y.ageMax > 0 && now.Sub(p.since) >= y.ageMax }

// pick chooses the parts of a group that is due, at least two and in the order of the group; nil when there are none.
func (y policy) pick(g *group) []*part {
	if g.bytes >= y.plenty() {
		if parts := y.upToTarget(g); parts != nil {
			return parts
		}
	}
	return y.growing(g)
}

// upToTarget takes the oldest files until they add up to the target, or until no more may go. It gives nil when the
// limit of a join comes first.
func (y policy) upToTarget(g *group) []*part {
	stay := y.smallMax()
	if y.ageMax == 0 {
		stay = 0
	}
	room := newRoom()
	for _, p := range g.waiting {
		if room.bytes >= y.target || g.bytes-room.bytes-p.bytes < stay {
			return room.parts
		}
		if !room.take(p) {
			return nil
		}
	}
	return room.parts
}

// growing takes the files that were never joined, and the smallest of the others, as many as may be joined again.
func (y policy) growing(g *group) []*part {
	room := newRoom()
	var others []*part
	for _, p := range g.waiting {
		if !p.fresh {
			others = append(others, p)
		} else if room.bytes < y.plenty() {
			room.take(p)
		}
	}
	slices.SortStableFunc(others, func(a, b *part) int { return cmp.Compare(a.bytes, b.bytes) })
	best := len(room.parts)
	for _, p := range others {
		if room.bytes+p.bytes > 2*y.target || !room.take(p) {
			break
		}
		if room.bytes >= p.bytes+p.bytes/2 || room.bytes >= y.smallMax() {
			best = len(room.parts)
		}
	}
	if best < 2 {
		return nil
	}
	chosen := room.parts[:best]
	slices.SortStableFunc(chosen, func(a, b *part) int { return a.since.Compare(b.since) })
	return chosen
}

// room is parts that fit in one join.
type room struct {
	parts []*part
	bytes int64
	said  int // bytes of descriptions
	limit int // parts
}

func newRoom() *room { return &room{limit: partsMax} }

// take adds a part, if there is room.
func (r *room) take(p *part) bool {
	limit := min(r.limit, p.limit)
	full := len(r.parts) >= limit || len(r.parts) >= 2 && r.said+len(p.said) > packedBytesMax
	if full {
		return false
	}
	r.limit = limit
	r.parts = append(r.parts, p)
	r.bytes += p.bytes
	r.said += len(p.said)
	return true
}
