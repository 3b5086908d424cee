package fault

import (
	"errors"
	"fmt"
	"sync"
)

// ErrInjected is in every error that a Plan makes.
var ErrInjected = errors.New("injected fault")

// Plan fails one operation: the At-th of all that ask it, counted from 1. It is safe for concurrent use. A nil Plan
// fails none.
type Plan struct {
	At    int  // 0: none
	After bool // the operation takes effect first, and only its reply is lost

	mu    sync.Mutex // guards count
	count int
}

// Do runs an operation, or fails it as planned.
func (p *Plan) Do(name string, operation func() error) error {
	if p == nil {
		return operation()
	}
	p.mu.Lock()
	p.count++
	hit := p.count == p.At
	p.mu.Unlock()
	if !hit {
		return operation()
	}
	if p.After {
		if err := operation(); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: operation %d, %s", ErrInjected, p.At, name)
}

// Count is how many operations were asked for.
func (p *Plan) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}
