package kafka

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Values of Config.Start, besides an RFC 3339 time.
const (
	StartEarliest = "earliest"
	StartLatest   = "latest"
)

// Values of Config.Isolation.
const (
	ReadCommitted   = "read_committed"
	ReadUncommitted = "read_uncommitted"
)

// Values of Config.OnGap.
const (
	GapContinue = "continue"
	GapStop     = "stop"
)

// Config says what to read and within which limits.
type Config struct {
	Client    []kgo.Opt // the connection: brokers, TLS, SASL, client id
	Topics    []string
	Group     string // whose offsets Acknowledge moves; empty: none
	Start     string // where a never-read partition begins: earliest, latest or an RFC 3339 time; empty: earliest
	Isolation string // read_committed or read_uncommitted; empty: read_committed
	OnGap     string // continue or stop, when retention removed records before they were read; empty: continue
	// FetchBytesMax bounds one answer of one broker, as sent (compressed). 0: 50 MiB.
	FetchBytesMax int32
	// BufferBytesMax bounds the records that all brokers have sent and Next has not returned, as they lie in memory
	// (decompressed). It is an estimate from the ratio seen so far; a single batch may exceed it. 0: 128 MiB.
	BufferBytesMax int64
}

// Limits when the job says none. A fetch of 50 MiB is what Kafka's own consumer asks for.
const (
	fetchBytesDefault  = 50 << 20
	bufferBytesDefault = 128 << 20
)

// settings is a Config that was checked.
type settings struct {
	Config
	start     startAt
	committed bool // read_committed
	stop      bool // stop at a gap
	// lookInterval is how often partitions that cannot be read are looked at again: topics that are gone, partitions
	// without a leader, brokers that do not answer.
	lookInterval  time.Duration
	blockBytesMax int
	// wipe overwrites memory that was let go, so that tests see who still uses it.
	wipe bool
}

// startAt is where a never-read partition begins.
type startAt struct {
	latest bool
	time   time.Time // zero: earliest or latest
}

func (c Config) check() (settings, error) {
	s := settings{Config: c, lookInterval: lookIntervalDefault, blockBytesMax: blockBytesMax}
	if len(c.Topics) == 0 {
		return s, errors.New("kafka source: no topics are named")
	}
	switch c.Start {
	case "", StartEarliest:
	case StartLatest:
		s.start.latest = true
	default:
		t, err := time.Parse(time.RFC3339Nano, c.Start)
		if err != nil {
			return s, fmt.Errorf("kafka source: start %q is neither earliest, latest nor an RFC 3339 time", c.Start)
		}
		s.start.time = t
	}
	switch c.Isolation {
	case "", ReadCommitted:
		s.committed = true
	case ReadUncommitted:
	default:
		return s, fmt.Errorf("kafka source: isolation %q is neither read_committed nor read_uncommitted", c.Isolation)
	}
	switch c.OnGap {
	case "", GapContinue:
	case GapStop:
		s.stop = true
	default:
		return s, fmt.Errorf("kafka source: on_gap %q is neither continue nor stop", c.OnGap)
	}
	if s.FetchBytesMax <= 0 {
		s.FetchBytesMax = fetchBytesDefault
	}
	if s.BufferBytesMax <= 0 {
		s.BufferBytesMax = bufferBytesDefault
	}
	return s, nil
}

// isolation is the level of the protocol's ListOffsets and Fetch requests: 1 sees only committed records.
func (s settings) isolation() int8 {
	if s.committed {
		return 1
	}
	return 0
}
