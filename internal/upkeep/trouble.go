package upkeep

import (
	"log/slog"
	"sync"
	"time"

	"firn/internal/metric"
)

// trouble is what went wrong lately. Nothing of it ends the job: it is counted, told once in a while, and tried again
// after a pause. It is safe for concurrent use.
type trouble struct {
	metrics *metric.Job
	log     *slog.Logger

	mu     sync.Mutex // guards what follows
	row    int        // failures since the last success
	until  time.Time  // the pause
	warned map[string]time.Time
}

const (
	// warnInterval is the least time between two warnings of one kind.
	warnInterval = time.Hour
	pauseMin     = time.Second
	pauseMax     = time.Minute
	// restMin and restMax are for how long files rest that could not be joined.
	restMin = 10 * time.Second
	restMax = time.Hour
)

func newTrouble(m *metric.Job, log *slog.Logger) *trouble {
	return &trouble{metrics: m, log: log, warned: map[string]time.Time{}}
}

// note counts a failure of some kind, and warns of it unless that was done lately.
func (t *trouble) note(kind string, err error) {
	now := time.Now()
	t.metrics.RollupFailed()
	t.mu.Lock()
	last, told := t.warned[kind]
	told = told && now.Sub(last) < warnInterval
	if !told {
		t.warned[kind] = now
	}
	t.mu.Unlock()
	if !told {
		t.log.Warn("joining small files met an error; it is tried again, and data goes on", "step", kind, "error", err)
	}
}

// failed notes a failure of something that all joins need, and pauses them: the longer, the more there were in a row.
func (t *trouble) failed(kind string, err error) {
	t.note(kind, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row++
	t.until = time.Now().Add(doubled(pauseMin, pauseMax, t.row))
}

// doubled is a time that doubles with each failure after the first, up to a limit.
func doubled(first, limit time.Duration, failures int) time.Duration {
	d := first
	for i := 1; i < failures && d < limit; i++ {
		d *= 2
	}
	return min(d, limit)
}

func (t *trouble) succeeded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row = 0
}

// pause is when joins may go on.
func (t *trouble) pause() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.until
}
