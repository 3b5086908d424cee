package kafka

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
)

// dialer opens connections to brokers, as net.Dialer.DialContext does.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// connection is a connection of a reader's client. It receives the answers to fetches itself, into memory that is
// used again, and hands the client what frames.cut makes of them; all else passes. The client allocates each answer
// anew, and every megabyte of that is cleared by the runtime and mapped by the kernel.
type connection struct {
	net.Conn
	frames *frames
	in     *bufio.Reader
	out    []byte // of a cut answer, not read by the client yet
	room   []byte // memory for out
	pass   int64  // bytes of an answer that passes, not read by the client yet

	mu     sync.Mutex      // guards asked: the client writes and reads at once
	asked  map[int32]int16 // fetches without an answer: correlation id -> version
	closed bool
}

// through makes connections whose answers go through the frames.
func (f *frames) through(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err //nolint:wrapcheck // the client looks at it and says what was dialed
		}
		f.connected(1)
		return &connection{
			Conn: conn, frames: f, in: bufio.NewReader(conn), asked: make(map[int32]int16),
		}, nil
	}
}

// Close ends the connection. It may be called twice.
func (c *connection) Close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.frames.connected(-1)
	}
	c.mu.Unlock()
	if err := c.Conn.Close(); err != nil {
		return fmt.Errorf("closing a connection: %w", err)
	}
	return nil
}

// Layout of a request's head: its size, without itself, the API's key and version, and the correlation id.
const (
	sizeBytes     = 4
	requestKeyAt  = 4
	requestVerAt  = 6
	requestIDAt   = 8
	requestBytes  = 12
	fetchKey      = 1
	answerIDBytes = 8 // the size and the correlation id of an answer
)

// Write notes fetches. The client writes a request at once.
func (c *connection) Write(p []byte) (int, error) {
	if len(p) >= requestBytes && int64(binary.BigEndian.Uint32(p)) == int64(len(p)-sizeBytes) &&
		binary.BigEndian.Uint16(p[requestKeyAt:]) == fetchKey {
		c.mu.Lock()
		c.asked[int32(binary.BigEndian.Uint32(p[requestIDAt:]))] = int16(binary.BigEndian.Uint16(p[requestVerAt:]))
		c.mu.Unlock()
	}
	return c.Conn.Write(p) //nolint:wrapcheck // the client looks at it
}

// Read gives answers: cut ones and those that pass.
func (c *connection) Read(p []byte) (int, error) {
	for {
		switch {
		case len(p) == 0:
			return 0, nil
		case len(c.out) > 0:
			n := copy(p, c.out)
			c.out = c.out[n:]
			return n, nil
		case c.pass > 0:
			n, err := c.in.Read(p[:min(int64(len(p)), c.pass)])
			c.pass -= int64(n)
			return n, err //nolint:wrapcheck // the client looks at it
		}
		if err := c.next(); err != nil {
			return 0, err
		}
	}
}

// next waits for an answer and says whether it is cut or passes.
func (c *connection) next() error {
	head, err := c.in.Peek(sizeBytes)
	if err != nil {
		return err //nolint:wrapcheck // the client looks at it
	}
	size := int64(binary.BigEndian.Uint32(head))
	c.pass = sizeBytes + size
	if size < sizeBytes || size > readBytesMax {
		return nil // the client knows what to make of it
	}
	if head, err = c.in.Peek(answerIDBytes); err != nil {
		return err //nolint:wrapcheck // the client looks at it
	}
	version, fetch := c.answered(int32(binary.BigEndian.Uint32(head[sizeBytes:])))
	if !fetch {
		return nil
	}
	c.pass = 0
	if _, err = c.in.Discard(sizeBytes); err != nil {
		return err //nolint:wrapcheck // it was peeked at
	}
	kept := &frame{buffer: c.frames.buffers.take(int(size))}
	if _, err = io.ReadFull(c.in, kept.buffer.bytes); err != nil {
		kept.buffer.free()
		return err //nolint:wrapcheck // the client looks at it
	}
	c.room = c.frames.cut(kept, version, c.room[:0])
	c.out = c.room
	return nil
}

// answered says whether an answer is one to a fetch, and to which version.
func (c *connection) answered(id int32) (version int16, fetch bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version, fetch = c.asked[id]
	delete(c.asked, id)
	return version, fetch
}
