package bigquery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// run opens gRPC streams one after the other while there is something to send.
func (c *Connection) run(ctx context.Context) {
	defer close(c.ended)
	waits := newPauses(c.client.options.Retry)
	for c.await(ctx) {
		err := c.session(ctx)
		if c.took() {
			waits.reset()
		}
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			continue
		}
		e := classify(c.stream, err)
		wait, over := waits.next(e, time.Now())
		if over != nil {
			c.fail(over)
			return
		}
		c.rewind()
		c.client.notify(Notice{Subject: c.stream, Err: e, Attempt: waits.attempts, Wait: wait})
		if err := sleep(ctx, wait); err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		c.fail(fmt.Errorf("%s: %w", c.stream, context.Cause(ctx)))
		return
	}
	c.fail(fmt.Errorf("%s: %w", c.stream, ErrClosed))
}

// await waits until there is something to send; false when there will be nothing more.
func (c *Connection) await(ctx context.Context) bool {
	for {
		c.mu.Lock()
		waiting, over, changed := len(c.queue) > 0, c.closing || c.failure != nil, c.changed
		failed := c.failure != nil
		c.mu.Unlock()
		switch {
		case failed:
			return false
		case waiting:
			return true
		case over:
			return false
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// took tells whether there was a success since the last call.
func (c *Connection) took() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := c.progress
	c.progress = false
	return took
}

// rewind queues what is not answered, in order, before what was not sent.
func (c *Connection) rewind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.sent {
		p.lost = true
	}
	c.queue = append(append(c.again, c.sent...), c.queue...)
	c.again, c.sent, c.drain = nil, nil, nil
}

// errUnanswered is why a gRPC stream is ended that does not answer.
var errUnanswered = &Error{Kind: ErrUnreachable, Code: codes.DeadlineExceeded}

// answerBytesMax bounds an answer, which may name every row of a request as wrong.
const answerBytesMax = 64 << 20

var appendRows = &grpc.StreamDesc{StreamName: "AppendRows", ClientStreams: true, ServerStreams: true}

// session sends and receives on one gRPC stream until it breaks, or has to be opened anew, or there is nothing left to
// do. A stream that breaks while nothing is on its way is no failure: the server ends idle ones.
func (c *Connection) session(ctx context.Context) error {
	ch, err := c.client.channels.take()
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.known = false
	c.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	timer := newAnswerTimer(c.client.options.AnswerTimeout, func() { cancel(errUnanswered) })
	stream, err := ch.conn.NewStream(routed(ctx, "write_stream", c.stream), appendRows,
		storagepb.BigQueryWrite_AppendRows_FullMethodName, grpc.ForceCodecV2(codec{}), grpc.MaxRetryRPCBufferSize(0),
		grpc.MaxCallRecvMsgSize(answerBytesMax))
	if err == nil {
		err = c.converse(ctx, cancel, stream, timer)
	}
	timer.stop()
	unanswered := errors.Is(context.Cause(ctx), errUnanswered)
	if unanswered && err != nil {
		err = &Error{Kind: ErrUnreachable, Subject: c.stream, Code: codes.DeadlineExceeded,
			Message: "no answer for " + c.client.options.AnswerTimeout.String()}
	}
	cancel(nil)
	c.client.channels.release(ch, unanswered)
	return err
}

// converse has two goroutines send and receive, and waits for both.
func (c *Connection) converse(
	ctx context.Context, cancel context.CancelCauseFunc, stream grpc.ClientStream, timer *answerTimer,
) error {
	sending := make(chan error, 1)
	go func() { sending <- c.send(ctx, stream, timer) }()
	receiving := make(chan error, 1)
	go func() {
		err := c.receive(stream, timer)
		cancel(nil) // the sender may wait for the server, or for something to send
		receiving <- err
	}()
	sent, received := <-sending, <-receiving
	if sent != nil && !errors.Is(sent, io.EOF) {
		return sent
	}
	return received // the end of the stream is told to the sender as io.EOF
}

// send sends what is queued, until nothing more is to be sent on this stream.
func (c *Connection) send(ctx context.Context, stream grpc.ClientStream, timer *answerTimer) error {
	rest := header{stream: c.stream}
	for {
		p, known, err := c.next(ctx, timer)
		if p == nil {
			if err != nil {
				return nil // the receiver knows why the stream ended
			}
			timer.restart() // the server is to end the stream too
			return stream.CloseSend()
		}
		h := &c.first
		if known {
			h = &rest
		}
		request := &outgoing{rows: p.rows}
		request.header = h.append(make([]byte, 0, 64+len(h.stream)+len(h.schema)), p.request.Offset, len(p.request.Rows))
		err = stream.SendMsg(request)
		p.rows.Free()
		if err != nil {
			return fmt.Errorf("sending an append: %w", err)
		}
	}
}

// next moves the next append from the queue to those sent, before it is: an answer must find it. It is nil when there
// will be none on this stream; the error is that of ctx. The server knows the schema of rows once it took some.
func (c *Connection) next(ctx context.Context, timer *answerTimer) (p *Pending, known bool, err error) {
	for {
		c.mu.Lock()
		stop := c.drain != nil || c.closing && len(c.queue) == 0
		if !stop && len(c.queue) > 0 {
			p, known = c.queue[0], c.known
			c.queue[0] = nil
			c.queue = c.queue[1:]
			p.sends++
			p.rows.Ref()
			if c.sent = append(c.sent, p); len(c.sent) == 1 {
				timer.restart()
			}
			c.mu.Unlock()
			return p, known, nil
		}
		changed := c.changed
		c.mu.Unlock()
		if stop {
			return nil, false, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

// receive takes answers until the stream ends. The result is nil when nothing is left to be done about it.
func (c *Connection) receive(stream grpc.ClientStream, timer *answerTimer) error {
	for {
		answer := &storagepb.AppendRowsResponse{}
		if err := stream.RecvMsg(answer); err != nil {
			return c.broken(err)
		}
		if over, err := c.answered(answer, timer); over || err != nil {
			return err
		}
	}
}
