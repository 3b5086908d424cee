package metric

import "time"

// Event is Count records of one broker timestamp, in milliseconds since 1970.
type Event struct {
	UnixMs, Count int64
}

// Commit is one commit that landed.
type Commit struct {
	SnapshotID int64
	Start      time.Time
	Duration   time.Duration // from Start until the rows were visible
	Rows       int64
	Bytes      int64
	Files      int64
	FileBytes  []int64 // size of each file added
	Attempts   int     // tries it took, this one included
	Conflicts  int     // tries that another writer's commit beat
	Unknown    int     // tries whose outcome had to be looked up
	Events     []Event // of the rows that became visible
}

// End is when the rows were visible.
func (c Commit) End() time.Time { return c.Start.Add(c.Duration) }

// commits sums commits up. It is guarded by the job's lock.
type commits struct {
	count, attempts, conflicts, unknown int64
	rows, bytes, files                  int64

	seconds       buckets // of commit time, in microseconds
	duration      latency
	freshness     latency
	ahead         int64 // records whose timestamp is after the end of their commit: a clock is wrong
	fileSizes     buckets
	lastSnapshot  int64
	lastEnd       time.Time
	newestVisible time.Time // broker timestamp of the newest visible record
	newestMs      float64   // age of the newest record of the last commit that had rows, at its end
}

func newCommits() commits {
	return commits{
		seconds: newBuckets(commitBounds()), fileSizes: newBuckets(fileBounds()),
		duration: newLatency(), freshness: newLatency(),
	}
}

// Committed records a commit that landed: its time, its files, and the freshness of its rows, which is the end of the
// commit minus the broker timestamp, weighted by records. A timestamp later than the end counts as fresh at once and
// is counted apart.
func (j *Job) Committed(c Commit) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.commits.add(c)
	now := j.now()
	j.backlog.progressed(now)
	j.backlog.update(now, j.behind())
}

func (s *commits) add(c Commit) {
	end := c.End()
	s.count++
	s.attempts += int64(max(c.Attempts, 1))
	s.conflicts += int64(c.Conflicts)
	s.unknown += int64(c.Unknown)
	s.rows += c.Rows
	s.bytes += c.Bytes
	s.files += c.Files
	s.lastSnapshot, s.lastEnd = c.SnapshotID, end
	s.seconds.add(c.Duration.Microseconds())
	s.duration.record(end, c.Duration, 1)
	for _, size := range c.FileBytes {
		s.fileSizes.add(size)
	}
	s.addEvents(end, c.Events)
}

func (s *commits) addEvents(end time.Time, events []Event) {
	newest := int64(0)
	for _, e := range events {
		age := end.Sub(time.UnixMilli(e.UnixMs))
		if age < 0 {
			s.ahead += e.Count
		}
		s.freshness.record(end, age, e.Count)
		newest = max(newest, e.UnixMs)
	}
	if newest == 0 {
		return
	}
	at := time.UnixMilli(newest)
	s.newestMs = max(float64(end.Sub(at).Microseconds())/1000, 0)
	if at.After(s.newestVisible) {
		s.newestVisible = at
	}
}
