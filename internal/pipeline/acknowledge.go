package pipeline

import (
	"context"
	"time"

	"firn/internal/record"
)

// acknowledgeLimit is how long the end of a session waits for the last floor to be shown.
const acknowledgeLimit = 5 * time.Second

// shower shows floors to the source: only the newest, and beside the commits, which a source that does not answer must
// not hold up. A floor that is shown is only a gauge, so that its failing is said and not acted on.
type shower struct {
	config *Config
	floors chan record.Floor // of capacity 1
	ended  chan struct{}
	stop   context.CancelFunc
}

// newShower starts its goroutine; close waits for it. The end of ctx does not end it: the last floor comes after that.
func newShower(ctx context.Context, c *Config) *shower {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &shower{config: c, floors: make(chan record.Floor, 1), ended: make(chan struct{}), stop: stop}
	go s.run(ctx)
	return s
}

func (s *shower) run(ctx context.Context) {
	defer close(s.ended)
	for floor := range s.floors {
		if err := s.config.Source.Acknowledge(ctx, floor); err != nil {
			s.config.Metrics.LastError(err)
			s.config.Log.Warn("showing the position to the source", "error", err.Error())
		}
	}
}

// show takes a floor in place of one that nobody has taken. One goroutine at a time calls it.
func (s *shower) show(floor record.Floor) {
	select {
	case <-s.floors:
	default:
	}
	s.floors <- floor
}

// close waits until the last floor is shown, for a limited time.
func (s *shower) close() {
	close(s.floors)
	limit := time.AfterFunc(acknowledgeLimit, s.stop)
	defer limit.Stop()
	<-s.ended
	s.stop()
}
