package metric

import (
	"sync"
	"sync/atomic"
	"time"
)

// State is what a job is doing.
type State string

// The states of a job.
const (
	Starting State = "starting" // connecting, reading the floor
	Running  State = "running"
	Retrying State = "retrying" // something outside does not answer, firn tries again
	Stopping State = "stopping" // flushing and committing what was read
)

// States is every state, in the order of a job's life.
func States() []State { return []State{Starting, Running, Retrying, Stopping} }

// Job is the counters of one job. All methods are safe for concurrent use. Those that are called once a block (Read,
// Decoded, Buffered) touch atomics and one short lock; the others may take longer and are called once a commit or so.
type Job struct {
	name    string
	now     func() time.Time
	started time.Time

	records, bytes             atomic.Int64
	rows, rejected, tombstones atomic.Int64
	reconnects, errors         atomic.Int64
	buffered, workers          atomic.Int64

	rate rate

	mu         sync.Mutex // guards what follows; never held over I/O
	state      State
	stateSince time.Time
	lastError  Problem
	partitions map[topicPartition]*partition
	lag        int64 // sum over partitions
	gaps       gaps
	commits    commits
	rollups    rollups
	backlog    backlog
}

// Problem is the last error that a job met, and when.
type Problem struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// NewJob starts the counters of the named job at zero, in state starting. now gives the time; nil means time.Now.
func NewJob(name string, now func() time.Time) *Job {
	if now == nil {
		now = time.Now
	}
	start := now()
	return &Job{
		name: name, now: now, started: start, state: Starting, stateSince: start,
		partitions: map[topicPartition]*partition{},
		commits:    newCommits(), rollups: newRollups(),
	}
}

// Name is the job's name.
func (j *Job) Name() string { return j.name }

// Read counts one block that a source returned: its records, and the bytes of their keys and values.
func (j *Job) Read(_ string, _ int32, records, bytes int) {
	j.records.Add(int64(records))
	j.bytes.Add(int64(bytes))
	j.rate.add(j.now(), int64(records), int64(bytes))
}

// Decoded counts what became of the records of a block: rows, rejected records (dead letters) and tombstones skipped.
func (j *Job) Decoded(rows, rejected, tombstones int) {
	j.rows.Add(int64(rows))
	j.rejected.Add(int64(rejected))
	j.tombstones.Add(int64(tombstones))
}

// Reconnected counts one lost connection to a source, catalog or store that was made again.
func (j *Job) Reconnected() { j.reconnects.Add(1) }

// Buffered sets the bytes of data that were read and are not yet in committed files.
func (j *Job) Buffered(bytes int64) {
	if j.buffered.Swap(bytes) == bytes {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.backlog.update(j.now(), j.behind())
}

// Workers sets how many workers decode and write.
func (j *Job) Workers(n int) { j.workers.Store(int64(n)) }

// State sets what the job is doing.
func (j *Job) State(s State) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != s {
		j.state, j.stateSince = s, j.now()
	}
}

// CurrentState is what the job is doing, and since when.
func (j *Job) CurrentState() (State, time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state, j.stateSince
}

// LastError counts an error and keeps it for the summary. nil is ignored.
func (j *Job) LastError(err error) {
	if err == nil {
		return
	}
	j.errors.Add(1)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lastError = Problem{Text: err.Error(), At: j.now()}
}
