package bigquery

import (
	"errors"
	"net"
	"sync"
)

// gate accepts TCP connections for whichever gRPC server is the one at hand, and knows those that are open.
type gate struct {
	listener net.Listener

	mu      sync.Mutex
	current *door
	open    map[string]*tracked // by the client's address
}

func newGate(listener net.Listener) *gate {
	return &gate{listener: listener, open: make(map[string]*tracked)}
}

// run accepts until the listener is closed.
func (g *gate) run() {
	for {
		conn, err := g.listener.Accept()
		if err != nil {
			return
		}
		g.pass(conn)
	}
}

func (g *gate) pass(conn net.Conn) {
	t := &tracked{Conn: conn, gate: g}
	g.mu.Lock()
	door := g.current
	g.open[conn.RemoteAddr().String()] = t
	g.mu.Unlock()
	select {
	case door.conns <- t:
	case <-door.closed:
		_ = t.Close() // the client tries again
	}
}

// next makes a door for another server; new connections go there.
func (g *gate) next() *door {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.current = &door{gate: g, conns: make(chan net.Conn), closed: make(chan struct{})}
	return g.current
}

// cut closes all connections.
func (g *gate) cut() {
	g.mu.Lock()
	var all []*tracked
	for _, t := range g.open {
		all = append(all, t)
	}
	g.mu.Unlock()
	for _, t := range all {
		_ = t.Close() // it is gone either way
	}
}

// cutFrom closes the connection of one client.
func (g *gate) cutFrom(address string) {
	g.mu.Lock()
	t := g.open[address]
	g.mu.Unlock()
	if t != nil {
		_ = t.Close() // it is gone either way
	}
}

// tracked is a connection that leaves the gate's list when it is closed.
type tracked struct {
	net.Conn
	gate *gate
}

// Close closes the connection.
func (t *tracked) Close() error {
	t.gate.mu.Lock()
	if address := t.RemoteAddr().String(); t.gate.open[address] == t {
		delete(t.gate.open, address)
	}
	t.gate.mu.Unlock()
	return t.Conn.Close()
}

// door is the listener of one gRPC server.
type door struct {
	gate   *gate
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

var errDoorClosed = errors.New("the listener is closed")

// Accept waits for a connection.
func (d *door) Accept() (net.Conn, error) {
	select {
	case conn := <-d.conns:
		return conn, nil
	case <-d.closed:
		return nil, errDoorClosed
	}
}

// Close ends Accept.
func (d *door) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

// Addr is the address of the gate's listener.
func (d *door) Addr() net.Addr { return d.gate.listener.Addr() }
