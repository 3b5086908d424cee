package wire

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	_ kgo.HookBrokerConnect = (*reconnects)(nil)
	_ kgo.HookBrokerRead    = (*reconnects)(nil)
	_ kgo.HookBrokerWrite   = (*reconnects)(nil)
)

// reconnects counts connections to brokers that broke and were made again: one for each broker and outage. Those that
// the client closes itself, as when they are idle or what it asks for changes, are not. It is a hook of clients and
// safe for concurrent use.
type reconnects struct {
	count func()

	mu     sync.Mutex
	broken map[int32]bool // brokers, by id
}

func newReconnects(count func()) *reconnects {
	return &reconnects{count: count, broken: make(map[int32]bool)}
}

// OnBrokerRead sees answers that do not come.
func (r *reconnects) OnBrokerRead(meta kgo.BrokerMetadata, _ int16, _ int, _, _ time.Duration, err error) {
	r.failed(meta, err)
}

// OnBrokerWrite sees requests that cannot be sent.
func (r *reconnects) OnBrokerWrite(meta kgo.BrokerMetadata, _ int16, _ int, _, _ time.Duration, err error) {
	r.failed(meta, err)
}

func (r *reconnects) failed(meta kgo.BrokerMetadata, err error) {
	if err == nil || errors.Is(err, kgo.ErrClientClosed) || errors.Is(err, context.Canceled) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[meta.NodeID] = true
}

// OnBrokerConnect sees a broker come back.
func (r *reconnects) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken[meta.NodeID] {
		delete(r.broken, meta.NodeID)
		r.count()
	}
}
