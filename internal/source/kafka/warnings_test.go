package kafka

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestWarningsAreBounded(t *testing.T) {
	w := newWarnings(slog.New(slog.DiscardHandler))
	now := time.Now()
	f := func(message string, after time.Duration, skipped int, due bool) {
		t.Helper()
		if n, ok := w.due(message, now.Add(after)); n != skipped || ok != due {
			t.Errorf("%s after %s: %d skipped, due %v; want %d, %v", message, after, n, ok, skipped, due)
		}
	}
	f("a", 0, 0, true)
	f("a", time.Second, 0, false)
	f("b", time.Second, 0, true)
	f("a", 2*time.Second, 0, false)
	f("a", warningInterval, 2, true)
	f("a", warningInterval+time.Second, 0, false)
}

func TestWarningsOfTheClient(t *testing.T) {
	var log logged
	w := newWarnings(log.logger())
	if w.Level() != kgo.LogLevelWarn {
		t.Errorf("the client logs at %s", w.Level())
	}
	w.Log(kgo.LogLevelError, "broken", "broker", 1)
	w.Log(kgo.LogLevelInfo, "assigned")
	w.OnBrokerConnect(kgo.BrokerMetadata{Host: "h", Port: 1}, 0, nil, context.Canceled)
	w.OnBrokerConnect(kgo.BrokerMetadata{Host: "h", Port: 1}, 0, nil, nil)
	w.OnBrokerConnect(kgo.BrokerMetadata{Host: "h", Port: 9092}, 0, nil, errors.New("refused"))
	if len(log.lines) != 2 || log.count("kafka client: broken") != 1 || log.count("broker=h:9092 error=refused") != 1 {
		t.Errorf("the log is %q", log.lines)
	}
	debug := newWarnings(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	debug.Log(kgo.LogLevelInfo, "assigned")
	if debug.Level() != kgo.LogLevelInfo || log.count("kafka client: assigned") != 1 {
		t.Errorf("at debug the client logs at %s: %q", debug.Level(), log.lines)
	}
}
