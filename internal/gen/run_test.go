package gen

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// memorySink keeps what is sent. Send fails from the call with the number failAt on, if that is not 0.
type memorySink struct {
	mu      sync.Mutex // guards the following
	keys    []string
	values  []string
	calls   int
	largest int // bytes of one call
	flushed int // values at the last flush
	failAt  int
	hold    func(ctx context.Context) error
}

var errSink = errors.New("sink is broken")

func (s *memorySink) Send(ctx context.Context, messages []Message) error {
	if s.hold != nil {
		if err := s.hold(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.failAt > 0 && s.calls >= s.failAt {
		return errSink
	}
	size := 0
	for _, m := range messages {
		if m.Key != nil {
			s.keys = append(s.keys, string(m.Key))
		}
		s.values = append(s.values, string(m.Value))
		size += len(m.Key) + len(m.Value)
	}
	s.largest = max(s.largest, size)
	return nil
}

func (s *memorySink) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushed = len(s.values)
	return ctx.Err()
}

func TestRunExactLimit(t *testing.T) {
	for _, c := range []struct {
		workers int
		limit   int64
	}{{1, 1}, {1, 1000}, {3, 7}, {8, 10_001}} {
		sink := &memorySink{}
		progress := &Progress{}
		stats, err := Run(t.Context(), RunConfig{
			Template: compile(t, `{{index()}}`), KeyTemplate: compile(t, `k{{index()}}`),
			MessagesMax: c.limit, Workers: c.workers, Sink: sink, Progress: progress,
		})
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(sink.values)) != c.limit || distinct(sink.values) != len(sink.values) {
			t.Errorf("%d messages, %d different, want %d", len(sink.values), distinct(sink.values), c.limit)
		}
		if len(sink.keys) != len(sink.values) || distinct(sink.keys) != len(sink.keys) || sink.keys[0][0] != 'k' {
			t.Errorf("%d keys for %d messages", len(sink.keys), len(sink.values))
		}
		size := len(strings.Join(sink.values, "")) + len(strings.Join(sink.keys, ""))
		if stats.Messages != c.limit || stats.Bytes != int64(size) || len(stats.Workers) != c.workers {
			t.Errorf("stats are %+v, want %d messages of %d bytes", stats, c.limit, size)
		}
		if progress.Messages.Load() != c.limit || progress.Bytes.Load() != int64(size) {
			t.Errorf("progress is %d messages, %d bytes", progress.Messages.Load(), progress.Bytes.Load())
		}
		if sink.flushed != len(sink.values) {
			t.Errorf("flushed at %d of %d", sink.flushed, len(sink.values))
		}
	}
}

func TestRunByWorker(t *testing.T) {
	stats, err := Run(t.Context(), RunConfig{
		Template: compile(t, `{{alpha(10)}}`), MessagesMax: 5000, Workers: 4, Sink: &memorySink{},
	})
	if err != nil {
		t.Fatal(err)
	}
	var sum WorkerStats
	for _, w := range stats.Workers {
		sum.Messages += w.Messages
		sum.Bytes += w.Bytes
	}
	if sum != stats.WorkerStats || sum != (WorkerStats{5000, 50_000}) {
		t.Errorf("workers sum up to %+v, the run has %+v", sum, stats.WorkerStats)
	}
}

func TestRunHoldsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &memorySink{}
		stats, err := Run(t.Context(), RunConfig{
			Template: compile(t, `{{index()}}`), RatePerSecond: 1000, MessagesMax: 10_000, Workers: 3, Sink: sink,
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := stats.Elapsed.Seconds(); s < 9.9 || s > 10.1 {
			t.Errorf("10000 messages at 1000 a second took %.2f s", s)
		}
		if stats.RatePerSecond < 990 || stats.RatePerSecond > 1010 {
			t.Errorf("rate is %.1f", stats.RatePerSecond)
		}
	})
}

// The end of the context ends the run without an error, and what was sent is flushed.
func TestRunUntilCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		sink := &memorySink{}
		stats, err := Run(ctx, RunConfig{
			Template: compile(t, `{{index()}}`), RatePerSecond: 100, Workers: 2, Sink: sink,
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(sink.values); n < 495 || n > 500 || int64(n) != stats.Messages || sink.flushed != n {
			t.Errorf("%d messages, %d flushed, stats %+v", n, sink.flushed, stats)
		}
	})
}

func TestRunCancelledInSend(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	sink := &memorySink{hold: func(ctx context.Context) error {
		cancel(errors.New("stopped by hand"))
		<-ctx.Done()
		return ctx.Err()
	}}
	stats, err := Run(ctx, RunConfig{Template: compile(t, `x`), Workers: 2, Sink: sink})
	if err != nil || stats.Messages != 0 {
		t.Errorf("Run gave %+v, %v", stats, err)
	}
}

func TestRunSinkFails(t *testing.T) {
	sink := &memorySink{failAt: 3}
	stats, err := Run(t.Context(), RunConfig{Template: compile(t, `x`), Workers: 2, Sink: sink})
	if !errors.Is(err, errSink) {
		t.Errorf("Run gave %v", err)
	}
	if want := int64(len(sink.values)); stats.Messages != want || want == 0 {
		t.Errorf("stats count %d messages, the sink took %d", stats.Messages, want)
	}
}

func TestRunTemplateFails(t *testing.T) {
	failing := compile(t, `['{{repeat(0,1)}}', "{{put("a","x")}}"]{{get("a")}}`)
	for _, cfg := range []RunConfig{
		{Template: failing}, {Template: compile(t, `x`), KeyTemplate: failing},
	} {
		cfg.Sink, cfg.Workers, cfg.MessagesMax = &memorySink{}, 20, 10_000
		_, err := Run(t.Context(), cfg)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(wrong.What, "came before a put") {
			t.Errorf("Run gave %v", err)
		}
	}
}

// Large messages are sent in small batches, so that memory stays bounded.
func TestRunBatchBytes(t *testing.T) {
	sink := &memorySink{}
	_, err := Run(t.Context(), RunConfig{
		Template: compile(t, `{{alpha(100000)}}`), MessagesMax: 20, Workers: 1, Sink: sink,
	})
	if err != nil || len(sink.values) != 20 || sink.largest > batchBytesMax+100_000 {
		t.Errorf("%d messages in batches of up to %d bytes, %v", len(sink.values), sink.largest, err)
	}
}

func TestRunRefuses(t *testing.T) {
	good := RunConfig{Template: compile(t, `x`), Sink: &memorySink{}, MessagesMax: 1}
	for name, change := range map[string]func(c *RunConfig){
		"no template": func(c *RunConfig) { c.Template = nil }, "no sink": func(c *RunConfig) { c.Sink = nil },
		"rate": func(c *RunConfig) { c.RatePerSecond = -1 }, "limit": func(c *RunConfig) { c.MessagesMax = -1 },
		"workers": func(c *RunConfig) { c.Workers = -1 }, "flush": func(c *RunConfig) { c.FlushTimeout = -1 },
	} {
		cfg := good
		change(&cfg)
		if _, err := Run(t.Context(), cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Keys and values are whole although their memory is used again.
func TestRunMessagesAreWhole(t *testing.T) {
	sink := &memorySink{}
	_, err := Run(t.Context(), RunConfig{
		Template: compile(t,
			`{"n": {{put("n", index())}}, "again": {{get("n")}}, "fill": "{{alphaNumeric(0,3000)}}"}`),
		KeyTemplate: compile(t, `{{index()}}`), MessagesMax: 3000, Workers: 1, Sink: sink,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range sink.values {
		n := strconv.Itoa(i)
		if sink.keys[i] != n || !bytes.HasPrefix([]byte(v), []byte(`{"n": `+n+`, "again": `+n+`, "fill": "`)) ||
			!strings.HasSuffix(v, `"}`) {
			t.Fatalf("message %d has key %s and value %.60s", i, sink.keys[i], v)
		}
	}
}

// BenchmarkRun makes reference messages with the machinery of a run, into a sink that drops them.
func BenchmarkRun(b *testing.B) {
	t, err := Compile(ReferenceTemplate, Options{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	start := processorTime(b)
	stats, err := Run(b.Context(), RunConfig{Template: t, MessagesMax: int64(b.N), Workers: 1, Sink: dropSink{}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(stats.Bytes)/1e6/(processorTime(b)-start).Seconds(), "MB/cpu-s")
}

type dropSink struct{}

func (dropSink) Send(context.Context, []Message) error { return nil }
func (dropSink) Flush(context.Context) error           { return nil }
