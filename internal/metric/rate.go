package metric

import (
	"sync"
	"time"
)

// rateSeconds is the window of the current rate: long enough to smooth one-second commits and fetches, short enough to
// follow a change by eye.
const rateSeconds = 10

// rate sums records and bytes by whole second over the last rateSeconds, in a ring. The zero value is ready.
type rate struct {
	mu    sync.Mutex // guards ring
	ring  [rateSeconds]second
	first int64 // Unix second of the first add
}

type second struct {
	unix           int64
	records, bytes int64
}

func (r *rate) add(now time.Time, records, bytes int64) {
	unix := now.Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == 0 {
		r.first = unix
	}
	s := &r.ring[unix%rateSeconds]
	if s.unix != unix {
		*s = second{unix: unix}
	}
	s.records += records
	s.bytes += bytes
}

// perSecond is the mean over the last rateSeconds, or since the first add when that is less, the current second
// included.
func (r *rate) perSecond(now time.Time) (records, bytes float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	unix := now.Unix()
	var recordSum, byteSum int64
	for _, s := range r.ring {
		if s.unix > unix-rateSeconds && s.unix <= unix {
			recordSum += s.records
			byteSum += s.bytes
		}
	}
	if r.first == 0 {
		return 0, 0
	}
	window := float64(min(max(unix-r.first+1, 1), rateSeconds))
	return float64(recordSum) / window, float64(byteSum) / window
}
