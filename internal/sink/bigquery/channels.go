package bigquery

import (
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"
)

// streamsMax is how many streams an HTTP/2 connection carries. Google's servers take 100, and calls that are no streams
// need some of them.
const streamsMax = 50

// channels is the HTTP/2 connections that streams share. It is safe for concurrent use.
type channels struct {
	dial   func() (*grpc.ClientConn, error)
	spread int

	mu     sync.Mutex
	open   []*channel
	closed bool
}

// channel is one HTTP/2 connection. Its fields are guarded by channels.mu.
type channel struct {
	conn    *grpc.ClientConn
	streams int
	// suspect says that a request was not answered on it: it takes no further streams, and ends with the last.
	suspect bool
}

var errClientClosed = errors.New("the BigQuery client is closed")

// take is the channel for another stream: the one with the fewest, or a new one until there are as many as streams are
// spread over, and beyond that when all are full. It must be released.
func (c *channels) take() (*channel, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClientClosed
	}
	var best *channel
	sound := 0
	for _, ch := range c.open {
		if ch.suspect {
			continue
		}
		sound++
		if best == nil || ch.streams < best.streams {
			best = ch
		}
	}
	if best == nil || best.streams >= streamsMax || best.streams > 0 && sound < c.spread {
		conn, err := c.dial()
		if err != nil {
			return nil, fmt.Errorf("opening a connection to BigQuery: %w", err)
		}
		best = &channel{conn: conn}
		c.open = append(c.open, best)
	}
	best.streams++
	return best, nil
}

// release gives a stream's place back; suspect says that the channel seems to be dead.
func (c *channels) release(ch *channel, suspect bool) {
	c.mu.Lock()
	ch.streams--
	ch.suspect = ch.suspect || suspect
	over := ch.suspect && ch.streams == 0 && !c.closed
	if over {
		for i, o := range c.open {
			if o == ch {
				c.open = append(c.open[:i], c.open[i+1:]...)
				break
			}
		}
	}
	c.mu.Unlock()
	if over {
		_ = ch.conn.Close() // it says only that it is closed already
	}
}

func (c *channels) close() error {
	c.mu.Lock()
	open := c.open
	c.open, c.closed = nil, true
	c.mu.Unlock()
	var faults []error
	for _, ch := range open {
		faults = append(faults, ch.conn.Close())
	}
	return errors.Join(faults...)
}
