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
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// errIdle asks a connection to end as if it had been idle.
var errIdle = errors.New("idle")

var (
	errConnections = status.Error(codes.ResourceExhausted,
		"Exceeds 'Concurrent connections' quota, reason: QUOTA_EXCEEDED")
	errTaken = status.Error(codes.Aborted,
		"Closing the stream because there is another connection to the same write stream.")
)

// connection is an AppendRows stream. Its fields are of the goroutine of serve, but for end.
type connection struct {
	server *Server
	number int
	end    chan error // takes one error, which ends it; more are dropped

	stream    *stream
	switched  bool // appends went to more than one stream, so that each must name its own
	schema    []byte
	bound     *message
	version   int64 // of the table's columns that bound is bound to
	told      int64 // of the table's columns that the client knows
	trace     string
	otherwise interpretation
	request   request
	walker    walker
}

// answer is what to send, when it may be sent.
type answer struct {
	response *storagepb.AppendRowsResponse
	hold     <-chan struct{}
}

// answersMax is how many appends may be done whose answers are held.
const answersMax = 1000

// appendRows is the handler of AppendRows.
func (s *Server) appendRows(rpc grpc.ServerStream) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	defer s.disconnect(c)
	ctx := rpc.Context()
	received := make(chan *incoming)
	failed := make(chan error, 1)
	s.receivers.Go(func() { failed <- receive(ctx, rpc, received) })
	answers := make(chan answer, answersMax)
	sent := make(chan error, 1)
	sending, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { sent <- send(sending, rpc, answers) }()
	err = c.serve(ctx, received, failed, answers)
	close(answers)
	if err != nil {
		cancel() // an answer that is held is lost
	}
	if lost := <-sent; err == nil {
		err = lost
	}
	return err
}

// receive hands requests over until there are no more.
func receive(ctx context.Context, rpc grpc.ServerStream, received chan<- *incoming) error {
	for {
		in := &incoming{}
		if err := rpc.RecvMsg(in); err != nil {
			return err
		}
		select {
		case received <- in:
		case <-ctx.Done():
			in.free()
			return ctx.Err()
		}
	}
}

// send sends answers in order.
func send(ctx context.Context, rpc grpc.ServerStream, answers <-chan answer) error {
	var failure error
	for a := range answers {
		if a.hold != nil {
			select {
			case <-a.hold:
			case <-ctx.Done():
				failure = ctx.Err()
			}
		}
		if failure == nil && a.response != nil {
			failure = rpc.SendMsg(a.response)
		}
	}
	return failure
}

// serve answers requests until the client ends, or something ends the stream.
func (c *connection) serve(
	ctx context.Context, received <-chan *incoming, failed <-chan error, answers chan<- answer,
) error {
	idle := time.NewTimer(c.server.options.IdleTimeout)
	defer idle.Stop()
	for {
		select {
		case in := <-received:
			err := c.take(ctx, in, answers)
			if err != nil {
				return err
			}
			idle.Reset(c.server.options.IdleTimeout)
		case err := <-failed:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case <-idle.C:
			return c.idle()
		case err := <-c.end:
			if errors.Is(err, errIdle) {
				return c.idle()
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// idle is how the server ends a connection without appends.
func (c *connection) idle() error {
	text := fmt.Sprintf("Closing the stream because it has been inactive for %.0f seconds.",
		c.server.options.IdleTimeout.Seconds())
	if c.stream != nil {
		text += " Entity: " + c.stream.name
	}
	return status.Error(codes.Aborted, text)
}

// finish ends the connection from another goroutine.
func (c *connection) finish(err error) {
	select {
	case c.end <- err:
	default:
	}
}

// take does what a request asks for, as its fate is. An error ends the gRPC stream.
func (c *connection) take(ctx context.Context, in *incoming, answers chan<- answer) error {
	defer in.free()
	if err := c.request.parse(in.bytes()); err != nil {
		return status.Errorf(codes.InvalidArgument, "AppendRows request cannot be read: %v", err)
	}
	name := c.request.stream
	if name == "" && c.stream != nil {
		name = c.stream.name
	}
	if size, most := len(in.bytes()), c.server.options.RequestBytesMax; size > most {
		return invalid(name, "AppendRows request too large: %d limit %d", size, most).Err()
	}
	offset := int64(-1)
	if c.request.hasOffset {
		offset = c.request.offset
	}
	fate := c.server.faults.append(AppendCall{
		Connection: c.number, Stream: name, Offset: offset, Rows: len(c.request.rows),
	})
	response, err := c.do(fate)
	switch {
	case fate.Cut:
		return c.server.cut(ctx)
	case fate.Stall:
		response, fate.Hold = &storagepb.AppendRowsResponse{}, make(chan struct{}) // for ever, whatever became of it
	case fate.End:
		return fate.Err
	case fate.Err != nil:
		response = refusal(status.Convert(fate.Err))
	case err != nil:
		return err
	}
	response.WriteStream = name
	select {
	case answers <- answer{response, fate.Hold}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do appends, or where it is skipped takes over what is sticky only.
func (c *connection) do(fate Fate) (*storagepb.AppendRowsResponse, error) {
	if !fate.Skip {
		return c.append()
	}
	if s := c.route(); s != nil {
		return nil, s.Err()
	}
	return &storagepb.AppendRowsResponse{}, nil
}

func refusal(s *status.Status) *storagepb.AppendRowsResponse {
	return &storagepb.AppendRowsResponse{Response: &storagepb.AppendRowsResponse_Error{Error: s.Proto()}}
}

// cut closes the TCP connection of a call.
func (s *Server) cut(ctx context.Context) error {
	if p, ok := peer.FromContext(ctx); ok {
		s.gate.cutFrom(p.Addr.String())
	}
	<-ctx.Done()
	return ctx.Err()
}
