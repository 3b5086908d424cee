package iceberg

import (
	"cmp"
	"context"
	"slices"
)

// Spill implements pipeline.Writer.
func (w *Writer) Spill(ctx context.Context, bytesMax int64) error {
	g := w.generation()
	if excess := w.buffered.Load() - bytesMax; excess > 0 && !g.mostlyDescribed(bytesMax) {
		g.closeEarly(excess, bytesMax/idlePart)
	}
	return g.storeClosed(ctx)
}

const (
	// idlePart: a file is idle when this part of the memory was filled since its last row.
	idlePart = 2
	// describedPart is the part of the memory that descriptions of sealed files may take: beyond it only a commit helps.
	describedPart = 4
)

func (g *generation) mostlyDescribed(bytesMax int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.described > bytesMax/describedPart
}

// candidate is an open file that could be closed early.
type candidate struct {
	lane      *lane
	file      *dataFile
	held      int64
	idle, age int64 // bytes buffered since its last row and since its first
}

// closeEarly closes open files until they and those that are closed already hold the bytes given.
func (g *generation) closeEarly(bytes, idleMin int64) {
	g.mu.Lock()
	for _, f := range g.closed {
		bytes -= f.held
	}
	g.mu.Unlock()
	candidates := g.candidates()
	slices.SortFunc(candidates, func(a, b candidate) int { return leastMissed(a, b, idleMin) })
	for _, c := range candidates {
		if bytes <= 0 {
			return
		}
		bytes -= c.held
		c.close()
	}
}

// leastMissed is the order in which files are closed early: those that are idle first, the least recently written one
// before all, since they may get no more rows. Then those that have taken the most memory for the longest time: that
// makes the fewest files where rows come at different rates, and files of twice the mean size where they come at one.
func leastMissed(a, b candidate, idleMin int64) int {
	if aIdle, bIdle := a.idle >= idleMin, b.idle >= idleMin; aIdle && bIdle {
		return cmp.Compare(b.idle, a.idle)
	} else if aIdle != bIdle {
		return map[bool]int{true: -1, false: 1}[aIdle]
	}
	return cmp.Compare(float64(b.held)*float64(b.age), float64(a.held)*float64(a.age))
}

func (g *generation) candidates() []candidate {
	var out []candidate
	for _, l := range g.all() {
		l.mu.Lock()
		if f := l.open; f != nil {
			now := g.writer.clock.Load()
			out = append(out, candidate{l, f, f.held, now - f.written, now - f.begun})
		}
		l.mu.Unlock()
	}
	return out
}

// close closes the file, unless it was full meanwhile.
func (c candidate) close() {
	c.lane.mu.Lock()
	defer c.lane.mu.Unlock()
	if c.lane.open == c.file {
		c.lane.close()
	}
}
