package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"firn/internal/metric"
	"firn/internal/record"
)

// Pipeline moves records of a source into a sink until its context ends.
type Pipeline struct {
	config Config
	floor  atomic.Pointer[record.Floor]
}

// New makes a pipeline. Nothing runs before Run.
func New(c Config) *Pipeline {
	if c.Rollup == nil {
		c.Rollup = noRollup{}
	}
	return &Pipeline{config: c}
}

// errRestart ends a session of which the ground has moved; Run begins the next from the table's floor.
var errRestart = errors.New("the position moved")

// restartPause keeps two replicas that fight over the same partitions from spinning.
const restartPause = time.Second

// Run moves records until ctx ends, then flushes and commits what was read within the shutdown limit and returns nil.
// All state is in the table, so that it can be killed at any instant. It is called once.
func (p *Pipeline) Run(ctx context.Context) error {
	c := &p.config
	defer c.Metrics.State(metric.Stopping)
	for {
		err := newSession(c, &p.floor).run(ctx)
		if !errors.Is(err, errRestart) {
			return err
		}
		c.Log.Warn("starting again from the table's floor", "reason", err.Error())
		c.Metrics.State(metric.Retrying)
		select {
		case <-time.After(restartPause):
		case <-ctx.Done():
			return nil
		}
	}
}

// Floor is how far the job has got as of its last commit; nil before it has looked. It is safe for concurrent use and
// the caller must not change it.
func (p *Pipeline) Floor() record.Floor {
	if f := p.floor.Load(); f != nil {
		return *f
	}
	return nil
}

// restartError wraps errRestart with its reason.
func restartError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errRestart, fmt.Sprintf(format, args...))
}
