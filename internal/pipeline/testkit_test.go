package pipeline_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"firn/internal/pipeline"
	"firn/internal/record"
)

// held is a gate that a test opens: operations enter it and wait there, or fail when their context ends first.
type held struct {
	inside  chan struct{} // closed when the first has entered
	release chan struct{}
	entered sync.Once
}

func newHeld() *held { return &held{inside: make(chan struct{}), release: make(chan struct{})} }

func (h *held) wait(ctx context.Context) error {
	h.entered.Do(func() { close(h.inside) })
	select {
	case <-h.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// heldLetters writes dead letters once its gate is open.
type heldLetters struct {
	pipeline.DeadLetters
	gate *held
}

func (l heldLetters) Write(ctx context.Context, rejected []record.Rejected) error {
	if err := l.gate.wait(ctx); err != nil {
		return err
	}
	return l.DeadLetters.Write(ctx, rejected)
}

// committer changes single methods of another one; a nil function leaves the method as it is.
type committer struct {
	pipeline.Committer
	init   func(base, next record.Floor) error
	commit func(ctx context.Context, sealed []record.Sealed) (pipeline.Outcome, error)
}

func (c *committer) Init(ctx context.Context, base, next record.Floor) error {
	if c.init != nil {
		if err := c.init(base, next); err != nil {
			return err
		}
	}
	return c.Committer.Init(ctx, base, next)
}

func (c *committer) Commit(
	ctx context.Context, sealed []record.Sealed, replacements []record.Replacement,
) (pipeline.Outcome, error) {
	if c.commit != nil {
		return c.commit(ctx, sealed)
	}
	return c.Committer.Commit(ctx, sealed, replacements)
}

// setCommit puts a function in place of the Commit of a process.
func setCommit(c *pipeline.Config, commit func(context.Context, []record.Sealed) (pipeline.Outcome, error)) {
	c.Committer = &committer{Committer: c.Committer, commit: commit}
}

// valued makes records of values.
func valued(values ...string) []record.Record {
	records := make([]record.Record, len(values))
	for i, v := range values {
		records[i].Value = []byte(v)
	}
	return records
}

// source shows only the splits that seen lets through, and gives only the blocks that given does.
type source struct {
	pipeline.Source
	seen  func(record.Split) bool
	given func(*record.Block) bool
	fail  atomic.Pointer[error] // when set, reading fails with it
}

func (s *source) Splits(ctx context.Context) ([]record.Split, error) {
	all, err := s.Source.Splits(ctx)
	var out []record.Split
	for _, x := range all {
		if s.seen == nil || s.seen(x) {
			out = append(out, x)
		}
	}
	return out, err
}

func (s *source) Open(ctx context.Context, from map[record.TopicPartition]int64) (pipeline.Reader, error) {
	r, err := s.Source.Open(ctx, from)
	return &reader{r, s}, err
}

type reader struct {
	pipeline.Reader
	source *source
}

func (r *reader) Next(ctx context.Context) ([]*record.Block, error) {
	if err := r.source.fail.Load(); err != nil {
		return nil, *err
	}
	blocks, err := r.Reader.Next(ctx)
	var out []*record.Block
	for _, b := range blocks {
		if r.source.given == nil || r.source.given(b) {
			out = append(out, b)
		}
	}
	return out, err
}

// running is a pipeline that runs beside the test.
type running struct {
	stop  context.CancelFunc
	ended chan error
}

func start(t *testing.T, c pipeline.Config) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r := &running{stop: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- pipeline.New(c).Run(ctx) }()
	return r
}

// end is what Run returned, which is waited for.
func (r *running) end(t *testing.T) error {
	t.Helper()
	var got error
	eventually(t, "the end of the run", func() bool {
		select {
		case got = <-r.ended:
			return true
		default:
			return false
		}
	})
	return got
}

var errOwn = errors.New("a fault of the test")
