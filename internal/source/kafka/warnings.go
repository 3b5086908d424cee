package kafka

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// warningInterval is how often the same warning is logged. The client retries several times a second and would fill
// the log during an outage that one line describes.
const warningInterval = time.Minute

// warnings passes on what the Kafka client and the readers warn about, each message at most once a minute. It is the
// client's logger and its hook for failed connections. Safe for concurrent use.
type warnings struct {
	log *slog.Logger

	mu    sync.Mutex
	times map[string]warned // by message; messages are constants, so the map is small
}

type warned struct {
	at      time.Time
	skipped int // since at
}

func newWarnings(log *slog.Logger) *warnings {
	return &warnings{log: log, times: make(map[string]warned)}
}

func (w *warnings) warn(message string, attributes ...any) {
	skipped, due := w.due(message, time.Now())
	if !due {
		return
	}
	if skipped > 0 {
		attributes = append(attributes, "repeated", skipped)
	}
	w.log.Warn(message, attributes...) //nolint:sloglint // a constant of the caller
}

// due says whether the message may be logged now, and how often it was held back since it last was.
func (w *warnings) due(message string, now time.Time) (skipped int, due bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, seen := w.times[message]
	if seen && now.Sub(last.at) < warningInterval {
		last.skipped++
		w.times[message] = last
		return 0, false
	}
	w.times[message] = warned{at: now}
	return last.skipped, true
}

// Level makes the client prepare only what Log uses.
func (w *warnings) Level() kgo.LogLevel {
	if w.log.Enabled(context.Background(), slog.LevelDebug) {
		return kgo.LogLevelInfo
	}
	return kgo.LogLevelWarn
}

// Log takes the client's own log: its warnings and errors are warnings here, because the client goes on by itself.
func (w *warnings) Log(level kgo.LogLevel, message string, attributes ...any) {
	if level == kgo.LogLevelWarn || level == kgo.LogLevelError {
		w.warn("kafka client: "+message, attributes...)
		return
	}
	w.log.Debug("kafka client: "+message, attributes...) //nolint:sloglint // the client's messages are constants
}

// OnBrokerConnect says why no connection comes about: the network, TLS or SASL.
func (w *warnings) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	w.warn("kafka broker cannot be reached, trying on",
		"broker", net.JoinHostPort(meta.Host, portText(meta.Port)), "error", err)
}
