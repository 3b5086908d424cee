package deadletter

import (
	"time"

	"firn/internal/record"
)

// Letter is one rejected record with what is known about it.
type Letter struct {
	record.Rejected
	Job  string
	Time time.Time // when it was rejected; zero when the store does not keep it
}
