package iceberg

import "sync/atomic"

// loads counts the bytes that each writer of a generation has taken in, and which partition values they were of. A
// writer is what one goroutine can encode beside the others; there are as many as workers. It is safe for concurrent
// use, but for large, which the generation's lock guards.
type loads struct {
	writers []atomic.Int64
	total   atomic.Int64
	checkAt atomic.Int64 // total at which the assignment is looked at again
	large   []*partition // those with enough bytes to be worth a split
}

// checkBytes is how much a generation takes in before its assignment is looked at for the first time. That happens
// again whenever it has doubled, for commits that are rare and values that become hot.
const checkBytes = 16 << 20

func newLoads(writers int) *loads {
	l := &loads{writers: make([]atomic.Int64, writers)}
	l.checkAt.Store(checkBytes)
	return l
}

// of is the bytes of a writer. Workers beyond the number of writers share their counts.
func (l *loads) of(writer int) int64 { return l.writers[writer%len(l.writers)].Load() }

// grew counts encoded bytes of a lane.
func (g *generation) grew(at *lane, bytes int64) {
	if bytes <= 0 { // an estimate was corrected
		return
	}
	l := g.loads
	l.writers[at.writer%len(l.writers)].Add(bytes)
	total := l.total.Add(bytes)
	now := at.partition.bytes.Add(bytes)
	if worth := 2 * g.writer.options.SplitBytesMin; now >= worth && now-bytes < worth {
		g.mu.Lock()
		l.large = append(l.large, at.partition)
		g.mu.Unlock()
	}
	if check := l.checkAt.Load(); total >= check && l.checkAt.CompareAndSwap(check, 2*total) {
		g.rebalance()
	}
}

// assignment says for each partition value that is large, by the rows so far, which writers are to share it.
func (g *generation) assignment() map[string][]int {
	o := &g.writer.options
	if o.Distribution != DistributionAuto || o.Writers < 2 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	large := make([]load, len(g.loads.large))
	for i, p := range g.loads.large {
		large[i] = load{p.key, p.bytes.Load()}
	}
	return assign(large, g.loads.total.Load(), o.Writers, o.SplitBytesMin)
}

// rebalance gives more lanes to the partition values that turned out to be too much for one.
func (g *generation) rebalance() {
	assigned := g.assignment()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.loads.large {
		if writers := assigned[p.key]; len(writers) > len(*p.lanes.Load()) {
			p.extend(writers...)
		}
	}
}
