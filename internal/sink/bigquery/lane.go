package bigquery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"

	"firn/internal/record"
)

// lane is one write stream at a time, and the encoder of the rows that go there.
type lane struct {
	writer  *Writer
	writing sync.Mutex // guards encoder, and is held before a part's mu
	encoder *Encoder

	storing    sync.Mutex // guards the fields below; held while requests are on their way
	stream     string     // "" when there is none
	end        int64      // rows that are known to be in the stream
	connection *Connection
}

// part is the rows of a generation in a lane.
type part struct {
	lane    *lane
	refused atomic.Int64

	mu   sync.Mutex // guards the fields below
	open *request   // the one that takes rows; nil when there is none
	full []*request // not stored yet, in order

	stored []record.DataFile // guarded by the lane's storing
}

// request is the rows of one append.
type request struct {
	rows  []byte
	count int64
	held  int          // of the writer's buffered bytes
	uses  atomic.Int32 // how many use rows: the part, and each append that is not over
}

func newRequest(rows []byte, count int64) *request {
	r := &request{rows: rows, count: count}
	r.uses.Store(1)
	return r
}

// write encodes the rows of a batch. The caller holds the lane's writing.
func (p *part) write(b *record.Batch) ([]RefusedRow, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var refused []RefusedRow
	w := p.lane.writer
	for next := 0; next < b.Rows; {
		if p.open == nil {
			p.open = newRequest(w.buffer(), 0)
		}
		r := p.open
		var cut Cut
		r.rows, cut = p.lane.encoder.Append(r.rows, b, next, b.Rows)
		next = cut.Next
		r.count += int64(cut.Rows)
		w.buffered.Add(int64(cap(r.rows) - r.held))
		r.held = cap(r.rows)
		if len(cut.Refused) > 0 {
			rows, err := ofBatch(b, cut.Refused)
			if err != nil {
				return nil, err
			}
			refused = append(refused, rows...)
		}
		if cut.Full {
			p.close()
		}
	}
	return refused, nil
}

// close ends the open request. The caller holds p.mu.
func (p *part) close() {
	if p.open != nil && p.open.count > 0 {
		p.full = append(p.full, p.open)
		p.open = nil
	}
}

// waiting is the requests that are not stored.
func (p *part) waiting(all bool) []*request {
	p.mu.Lock()
	defer p.mu.Unlock()
	if all {
		p.close()
	}
	return slices.Clone(p.full)
}

// note adds the rows of a stored request. The caller holds the lane's storing.
func (p *part) note(stream string, at int64, r *request) {
	if !p.lane.exact() {
		at = 0
	}
	if n := len(p.stored); n > 0 && p.stored[n-1].Path == stream {
		p.stored[n-1].Rows += r.count
		p.stored[n-1].SizeBytes += int64(len(r.rows))
		return
	}
	p.stored = append(p.stored, record.DataFile{Path: stream, Offset: at, Rows: r.count, SizeBytes: int64(len(r.rows))})
}

// done takes a request off the list.
func (p *part) done(r *request) { p.replace(r, nil) }

// replace puts a request with rows in the place of another.
func (p *part) replace(r, by *request) {
	w := p.lane.writer
	p.mu.Lock()
	i := slices.Index(p.full, r)
	if by != nil && by.count > 0 {
		by.held = cap(by.rows)
		w.buffered.Add(int64(by.held))
		p.full[i] = by
	} else {
		p.full = slices.Delete(p.full, i, i+1)
	}
	p.mu.Unlock()
	w.release(r.held)
	p.lane.unused(r)
}

func (p *part) discard() {
	p.mu.Lock()
	rest := p.full
	if p.open != nil {
		rest = append(rest, p.open)
	}
	p.full, p.open = nil, nil
	p.mu.Unlock()
	for _, r := range rest {
		p.lane.writer.release(r.held)
	}
}

// streamFailuresMax bounds how many streams one flush of a lane gives up: that a new one fails at once has other
// reasons than the stream.
const streamFailuresMax = 4

// store appends the requests of a part until all are stored.
func (l *lane) store(ctx context.Context, p *part, all bool) error {
	l.storing.Lock()
	defer l.storing.Unlock()
	for failures := 0; ; {
		rest := p.waiting(all)
		if len(rest) == 0 {
			return nil
		}
		err := l.send(ctx, p, rest)
		switch {
		case err == nil: // what the server refused rows of is left, without them
		case ctx.Err() != nil:
			l.leave()
			return fmt.Errorf("appending to %s: %w", l.writer.table, context.Cause(ctx))
		case !l.exact() || !ofStream(err) || failures >= streamFailuresMax:
			l.leave()
			return fmt.Errorf("appending to %s: %w", l.writer.table, err)
		default:
			l.writer.log.Warn("a write stream takes no more rows; going on with another", "stream", l.stream, "error", err)
			l.leave()
			failures++
		}
	}
}

// ofStream tells whether another stream may take what this one did not.
func ofStream(err error) bool {
	for _, kind := range []error{
		ErrRowsRefused, ErrSchemaMismatch, ErrDenied, ErrQuota, ErrUnreachable, ErrRejected, errRefusing,
	} {
		if errors.Is(err, kind) {
			return false
		}
	}
	return true
}

// sending is an append with its request.
type sending struct {
	request *request
	pending *Pending
}

// sent is what became of requests so far.
type sent struct {
	refused bool  // some lost rows, and are to be sent again without them
	err     error // the first failure that is no refusal of rows
}

// send appends requests, one behind the other, and sorts the results: a nil error says that all are stored but for
// those that lost refused rows, and in a stream with offsets those behind them. After another one the lane needs a new
// stream: rows behind its known end may be there or not, and nobody will show them.
func (l *lane) send(ctx context.Context, p *part, requests []*request) error {
	if err := l.connect(ctx); err != nil {
		return err
	}
	var out sent
	var waiting []sending
	var stopped error
	at := l.end
	for _, r := range requests {
		pending, err := l.append(ctx, r, at)
		if err != nil {
			stopped = err // the connection's failure, which the results tell better
			break
		}
		at += r.count
		for waiting = append(waiting, sending{r, pending}); len(waiting) > 0 && ready(waiting[0].pending); {
			l.settle(ctx, p, waiting[0], &out)
			waiting = waiting[1:]
		}
	}
	for _, s := range waiting {
		l.settle(ctx, p, s, &out)
	}
	switch {
	case out.err != nil:
		return out.err
	case !out.refused:
		return stopped
	case l.exact():
		return l.disconnect(ctx)
	default:
		return nil
	}
}

func ready(p *Pending) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// append sends a request. The connection and the part both use its rows until they say otherwise.
func (l *lane) append(ctx context.Context, r *request, at int64) (*Pending, error) {
	if !l.exact() {
		at = NoOffset
	}
	r.uses.Add(1)
	pending, err := l.connection.Append(ctx, Request{Rows: r.rows, Offset: at, Free: func() { l.unused(r) }})
	if err != nil {
		r.uses.Add(-1) // the part still does
	}
	return pending, err
}

// unused says that one of those who use a request's rows does no more.
func (l *lane) unused(r *request) {
	if r.uses.Add(-1) == 0 {
		l.writer.keep(r.rows)
	}
}

// settle waits for a result and notes it.
func (l *lane) settle(ctx context.Context, p *part, s sending, out *sent) {
	result, err := s.pending.Result(ctx)
	if err == nil {
		err = result.Err
	}
	switch {
	case out.err != nil && l.exact(): // nothing behind a failure counts
	case out.refused && l.exact(): // it is behind one that is sent again
	case errors.Is(err, ErrRowsRefused):
		out.refused = true
		if err := l.strip(ctx, p, s.request, err); err != nil {
			out.err = err
		}
	case err != nil:
		out.err = err
	default:
		p.note(l.stream, l.end, s.request)
		l.end += s.request.count
		p.done(s.request)
	}
}

// strip puts a request without the rows that the server names in the place of one, once the dead letters have them.
func (l *lane) strip(ctx context.Context, p *part, r *request, cause error) error {
	var e *Error
	if !errors.As(cause, &e) || len(e.Rows) == 0 {
		return cause
	}
	faults := slices.Clone(e.Rows)
	slices.SortFunc(faults, func(a, b RowError) int { return a.Index - b.Index })
	faults = slices.CompactFunc(faults, func(a, b RowError) bool { return a.Index == b.Index })
	rows, err := l.writer.refusals.named(r.rows, faults)
	if err != nil {
		return err
	}
	indexes := make([]int, len(faults))
	for i, f := range faults {
		indexes[i] = f.Index
	}
	rest, err := WithoutRows(l.writer.buffer(), r.rows, indexes)
	if err != nil {
		return fmt.Errorf("taking out %d refused rows: %w", len(rows), err)
	}
	if err := l.writer.refuse(ctx, rows); err != nil {
		return err
	}
	p.refused.Add(int64(len(rows)))
	p.replace(r, newRequest(rest, r.count-int64(len(rows))))
	return nil
}

func (l *lane) exact() bool { return l.writer.options.Mode == ExactlyOnce }

// connect sees that there are a stream and a connection to it. The connection lives on when ctx ends.
func (l *lane) connect(ctx context.Context) (err error) {
	w := l.writer
	if l.connection != nil {
		return nil
	}
	if l.stream == "" && l.exact() {
		made, err := w.client.Create(ctx, w.table, storagepb.WriteStream_BUFFERED)
		if err != nil {
			return err
		}
		l.stream, l.end = made.Name, 0
	} else if l.stream == "" {
		l.stream = w.table.DefaultStream()
	}
	l.connection, err = w.client.Connect(context.WithoutCancel(ctx), l.stream, w.descriptor, w.options.Connection)
	return err
}

// disconnect ends the connection; the stream stays when all that was sent is answered.
func (l *lane) disconnect(ctx context.Context) error {
	c := l.connection
	l.connection = nil
	return c.Close(ctx)
}

// leave gives up the stream: what is on its way to it may arrive, and nobody shows it.
func (l *lane) leave() {
	if l.connection != nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errStopped)
		if err := l.disconnect(ctx); err != nil {
			l.writer.log.Debug("leaving a write stream", "stream", l.stream, "error", err)
		}
	}
	l.stream, l.end = "", 0
}

// abandon is leave for other goroutines than the one that stores.
func (l *lane) abandon() {
	l.storing.Lock()
	defer l.storing.Unlock()
	l.leave()
}
