package bigquery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// NoOffset is the offset of appends to a default stream.
const NoOffset = -1

// Request is one append.
type Request struct {
	// Rows is what Encoder.Append made, one row at least. The connection owns it until Free.
	Rows []byte
	// Offset is where in the stream the first row goes; NoOffset on a default stream.
	Offset int64
	// Resend says that these rows may have been sent at this offset before, on another connection. That the stream has
	// rows there is a success then.
	Resend bool
	// Free is called once nothing refers to Rows any more, which may be before Append returns or after the answer; nil
	// leaves them to the garbage collector. It may never be called: gRPC can lose count when its stream breaks. Do not
	// wait for it. It must not block or call the connection.
	Free func()
}

// pendingBytes is about what an append takes beside its rows, so that a great many small ones are bounded too.
const pendingBytes = 512

func (r *Request) bytes() int { return len(r.Rows) + pendingBytes }

// Result is what became of an append.
type Result struct {
	// Offset is where the first row is; NoOffset on a default stream.
	Offset int64
	// UpdatedSchema is the table's schema when the server says that it changed; else nil. It may come with any result.
	UpdatedSchema *storagepb.TableSchema
	// Err is nil when the rows are stored. Otherwise errors.Is tells what is known: none of the rows is stored, but after
	// ErrUnsettled, ErrUnreachable, ErrQuota or the end of a context they may be, now or later.
	Err error
}

// Pending is an append that is on its way. It is safe for concurrent use.
type Pending struct {
	request Request
	rows    mem.Buffer
	sends   int  // how often it was sent
	strays  int  // how often it was answered by OUT_OF_RANGE
	lost    bool // it was sent and may be stored, but that was not answered
	done    chan struct{}
	result  Result
}

// Done is closed when there is a result.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Result waits for the result. The error is that of ctx, and says nothing about the append.
func (p *Pending) Result(ctx context.Context) (Result, error) {
	select {
	case <-p.done:
		return p.result, nil
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
}

// ConnectionOptions is what differs between the connections of a client.
type ConnectionOptions struct {
	// DefaultValues has columns that rows do not have filled with their default values instead of null. A null in a
	// message is the same as a column that is missing.
	DefaultValues bool
}

// Connection appends to one write stream, over one gRPC stream at a time (AppendRows). Appends are sent one behind the
// other without waiting for answers. When the gRPC stream breaks, or a request has no answer for
// Options.AnswerTimeout, it is opened again, and what is not answered is sent again in order.
//
// On a stream with offsets a failure ends the connection: what was sent after the append that failed ends with
// ErrBehind once it is answered, and what was not sent with it. A new connection may follow it when Close returns nil.
// On a default stream rows that are refused do not end it, and results may come in another order than the appends.
//
// It is safe for concurrent use. One goroutine is behind it until Close, and two more while it has a gRPC stream.
type Connection struct {
	client *Client
	stream string
	exact  bool // appends have offsets
	first  header
	cancel context.CancelCauseFunc
	ended  chan struct{}

	mu      sync.Mutex
	queue   []*Pending // not sent, in order
	again   []*Pending // answered by an error that may pass, to be sent again before those of queue
	sent    []*Pending // sent on the gRPC stream at hand and not answered, in order
	held    int        // bytes of all of them
	changed chan struct{}
	// drain is why nothing more is sent on the gRPC stream at hand: it ends with this when all that was sent is answered.
	drain     error
	failure   error // why no more appends are taken
	unsettled bool  // an append was sent and will never be answered
	closing   bool
	progress  bool // there was a success since the last look
	known     bool // there was one on the gRPC stream at hand, so that the server knows what first says
}

// Connect makes a connection to a stream, whose rows are messages of the descriptor. It opens the gRPC stream with the
// first append. When ctx ends the connection does, and what is not answered fails. Close must be called.
func (c *Client) Connect(
	ctx context.Context, stream string, rows *descriptorpb.DescriptorProto, o ConnectionOptions,
) (*Connection, error) {
	schema, err := proto.Marshal(&storagepb.ProtoSchema{ProtoDescriptor: rows})
	if err != nil {
		return nil, fmt.Errorf("writing the schema of rows for %s: %w", stream, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	connection := &Connection{
		client: c, stream: stream, exact: !isDefault(stream), cancel: cancel,
		first:   header{stream: stream, schema: schema, trace: c.options.TraceID},
		changed: make(chan struct{}), ended: make(chan struct{}),
	}
	if o.DefaultValues {
		connection.first.missing = storagepb.AppendRowsRequest_DEFAULT_VALUE
	}
	go connection.run(ctx)
	return connection, nil
}

// Append sends a request. It waits while Options.InFlightBytes are not answered, of all callers together. After an
// error the rows are still the caller's.
func (c *Connection) Append(ctx context.Context, r Request) (*Pending, error) {
	if len(r.Rows) == 0 || c.exact == (r.Offset == NoOffset) || r.Offset < NoOffset {
		return nil, fmt.Errorf("an append of %d bytes at offset %d to %s: there must be rows, and an offset unless the "+
			"stream is a default one", len(r.Rows), r.Offset, c.stream)
	}
	for {
		p, changed, err := c.enqueue(r)
		if p != nil || err != nil {
			return p, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// enqueue takes a request when there is room for it; otherwise changed tells when to look again.
func (c *Connection) enqueue(r Request) (p *Pending, changed <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failure != nil:
		return nil, nil, behind(c.failure)
	case c.closing:
		return nil, nil, fmt.Errorf("%s: %w", c.stream, ErrClosed)
	case c.held > 0 && c.held+r.bytes() > c.client.options.InFlightBytes:
		return nil, c.changed, nil
	}
	p = &Pending{request: r, rows: rowsBuffer(r.Rows, r.Free), done: make(chan struct{})}
	c.queue = append(c.queue, p)
	c.held += r.bytes()
	c.wake()
	return p, nil, nil
}

// wake has those who wait for a change look again. The caller holds c.mu.
func (c *Connection) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// behind is the error of an append that was not stored because of another one's.
func behind(cause error) error {
	if errors.Is(cause, ErrBehind) || errors.Is(cause, ErrClosed) {
		return cause
	}
	return fmt.Errorf("%w: %w", ErrBehind, cause)
}

// Close waits for the results of all appends and ends the connection; when ctx ends before, they fail. It returns
// ErrUnsettled when an append was sent and is not answered: it may still arrive. It may be called twice.
func (c *Connection) Close(ctx context.Context) error {
	c.mu.Lock()
	if !c.closing {
		c.closing = true
		c.wake()
	}
	c.mu.Unlock()
	select {
	case <-c.ended:
	case <-ctx.Done():
		c.cancel(fmt.Errorf("%s: %w: %w", c.stream, ErrClosed, context.Cause(ctx)))
		<-c.ended
	}
	c.cancel(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsettled {
		return fmt.Errorf("%s: %w", c.stream, ErrUnsettled)
	}
	return nil
}

// complete gives appends their results. The caller does not hold c.mu, and has taken them off all lists.
func (c *Connection) complete(results ...completed) {
	if len(results) == 0 {
		return
	}
	for _, r := range results {
		r.p.result = r.result
		close(r.p.done)
		r.p.rows.Free()
	}
	c.mu.Lock()
	for _, r := range results {
		c.held -= r.p.request.bytes()
	}
	c.wake()
	c.mu.Unlock()
}

// completed is an append with its result.
type completed struct {
	p      *Pending
	result Result
}

// fail ends the connection: nothing more is taken, and what is not answered fails.
func (c *Connection) fail(err error) {
	c.mu.Lock()
	fresh := c.failure == nil
	if fresh {
		c.failure = err
	}
	for _, p := range c.sent {
		p.lost = true
	}
	var results []completed
	for i, p := range append(append(c.again, c.sent...), c.queue...) {
		cause := c.failure
		switch {
		case p.lost:
			c.unsettled = true
			cause = fmt.Errorf("%w: %w", ErrUnsettled, c.failure)
		case i > 0 || !fresh: // the first one failed by itself
			cause = behind(c.failure)
		}
		results = append(results, failed(p, cause))
	}
	c.again, c.sent, c.queue = nil, nil, nil
	c.mu.Unlock()
	c.complete(results...)
}

func failed(p *Pending, err error) completed {
	return completed{p, Result{Offset: p.request.Offset, Err: err}}
}

// answerTimer ends a gRPC stream that does not answer. It is stopped while nothing is on its way.
type answerTimer struct {
	timer   *time.Timer
	timeout time.Duration
}

func newAnswerTimer(timeout time.Duration, expire func()) *answerTimer {
	return &answerTimer{timer: time.AfterFunc(timeout, expire), timeout: timeout}
}

func (t *answerTimer) restart() { t.timer.Reset(t.timeout) }
func (t *answerTimer) stop()    { t.timer.Stop() }
