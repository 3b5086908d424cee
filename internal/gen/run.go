package gen

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// batchMessagesMax and batchBytesMax bound what is made before it is sent: enough to make the cost of a Send small
	// for messages of 1 KB, little enough to stay in the second-level cache.
	batchMessagesMax = 256
	batchBytesMax    = 256 << 10
	// flushTimeoutDefault bounds the wait for messages in flight after the last was made.
	flushTimeoutDefault = 30 * time.Second
)

// Message is one message to send. A nil key is no key.
type Message struct {
	Key, Value []byte
}

// Sink is where messages go. Its methods are safe for concurrent use: every worker calls them.
type Sink interface {
	// Send takes messages. When it returns they are the caller's again: what the sink still needs it has copied.
	// A later Send or Flush may report the failure of an earlier one.
	Send(ctx context.Context, messages []Message) error
	// Flush waits until all that was sent has arrived.
	Flush(ctx context.Context) error
}

// RunConfig says what Run makes, how fast, how much and where it goes.
type RunConfig struct {
	Template      *Template
	KeyTemplate   *Template // nil: messages have no key
	RatePerSecond float64   // messages over all workers; 0: no limit
	MessagesMax   int64     // over all workers; 0: no limit
	Workers       int       // 0: one a CPU
	Sink          Sink
	FlushTimeout  time.Duration // for messages in flight at the end; 0: 30 s
	Progress      *Progress     // counts while Run goes on; nil: not watched
}

// Progress counts what was sent so far. Reading it is safe while Run goes on.
type Progress struct {
	Messages atomic.Int64
	Bytes    atomic.Int64 // of keys and values
}

// Stats says what a run did.
type Stats struct {
	WorkerStats
	Elapsed       time.Duration // flush included
	RatePerSecond float64       // messages
	Workers       []WorkerStats
}

// WorkerStats counts messages that the sink took, and the bytes of their keys and values.
type WorkerStats struct {
	Messages int64
	Bytes    int64
}

// Run makes messages and sends them until MessagesMax is reached, the context ends or something fails. The end of the
// context is the normal end of a run without limit and no error. In every case what was sent is flushed, and the
// stats are good.
func Run(ctx context.Context, cfg RunConfig) (Stats, error) {
	r, err := newRun(cfg)
	if err != nil {
		return Stats{}, err
	}
	start := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	for i := range r.workers {
		group.Go(func() error { return r.workers[i].work(groupCtx) })
	}
	err = group.Wait()
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		err = nil
	}
	// The messages in flight are flushed although the context has ended, within their own time.
	flushCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.FlushTimeout)
	defer cancel()
	if errFlush := cfg.Sink.Flush(flushCtx); errFlush != nil && !errors.Is(err, errFlush) {
		err = errors.Join(err, fmt.Errorf("flushing messages: %w", errFlush))
	}
	return r.stats(time.Since(start)), err
}

// run is what the workers share.
type run struct {
	RunConfig
	pacer   *Pacer
	left    atomic.Int64 // of MessagesMax
	workers []*worker
}

func newRun(cfg RunConfig) (*run, error) {
	r := &run{RunConfig: cfg}
	switch {
	case cfg.Template == nil || cfg.Sink == nil:
		return nil, errors.New("a run needs a template and a sink")
	case cfg.MessagesMax < 0 || cfg.Workers < 0 || cfg.FlushTimeout < 0:
		return nil, errors.New("limit of messages, workers and flush timeout must not be negative")
	}
	var err error
	if r.pacer, err = NewPacer(cfg.RatePerSecond); err != nil {
		return nil, err
	}
	r.left.Store(cfg.MessagesMax)
	if r.FlushTimeout == 0 {
		r.FlushTimeout = flushTimeoutDefault
	}
	if r.Progress == nil {
		r.Progress = &Progress{}
	}
	workers := cfg.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for i := range workers {
		r.workers = append(r.workers, newWorker(r, i))
	}
	return r, nil
}

func (r *run) stats(elapsed time.Duration) Stats {
	s := Stats{Elapsed: elapsed}
	for _, w := range r.workers {
		s.Workers = append(s.Workers, w.sent)
		s.Messages += w.sent.Messages
		s.Bytes += w.sent.Bytes
	}
	if elapsed > 0 {
		s.RatePerSecond = float64(s.Messages) / elapsed.Seconds()
	}
	return s
}

// grant takes up to n off what is left of MessagesMax.
func (r *run) grant(n int) int {
	if r.MessagesMax == 0 {
		return n
	}
	left := r.left.Add(-int64(n))
	return int(max(0, int64(n)+min(0, left)))
}

// worker makes and sends messages. One goroutine owns it; the memory of its messages is used again and again.
type worker struct {
	*run
	value    *State
	key      *State // nil: no keys
	text     []byte
	ends     []int // in text, of a key and a value in turn
	messages []Message
	sent     WorkerStats
}

func newWorker(r *run, number int) *worker {
	w := &worker{run: r, value: r.Template.NewState(number)}
	if r.KeyTemplate != nil {
		w.key = r.KeyTemplate.NewState(number)
	}
	return w
}

func (w *worker) work(ctx context.Context) error {
	for {
		n, err := w.pacer.Take(ctx, batchMessagesMax)
		if err != nil {
			return err
		}
		granted := w.grant(n)
		for left := granted; left > 0; left -= len(w.messages) {
			if err := w.make(left); err != nil {
				return err
			}
			if err := w.Sink.Send(ctx, w.messages); err != nil {
				return fmt.Errorf("sending messages: %w", err)
			}
			w.count()
		}
		if granted < n {
			return nil
		}
	}
}

// make fills w.messages with up to n messages, at least one.
func (w *worker) make(n int) error {
	w.text, w.ends, w.messages = w.text[:0], w.ends[:0], w.messages[:0]
	for len(w.ends) < 2*n && len(w.text) < batchBytesMax {
		if w.key != nil {
			w.text = w.KeyTemplate.Append(w.text, w.key)
		}
		w.ends = append(w.ends, len(w.text))
		w.text = w.Template.Append(w.text, w.value)
		w.ends = append(w.ends, len(w.text))
	}
	if err := w.value.Err(); err != nil {
		return fmt.Errorf("making a message: %w", err)
	}
	if w.key != nil && w.key.Err() != nil {
		return fmt.Errorf("making a key: %w", w.key.Err())
	}
	// Only now: the text moves while it grows.
	start := 0
	for i := 0; i < len(w.ends); i += 2 {
		key, end := w.ends[i], w.ends[i+1]
		m := Message{Value: w.text[key:end:end]}
		if w.key != nil {
			m.Key = w.text[start:key:key]
		}
		w.messages = append(w.messages, m)
		start = end
	}
	return nil
}

func (w *worker) count() {
	messages, bytes := int64(len(w.messages)), int64(len(w.text))
	w.sent.Messages += messages
	w.sent.Bytes += bytes
	w.Progress.Messages.Add(messages)
	w.Progress.Bytes.Add(bytes)
}
