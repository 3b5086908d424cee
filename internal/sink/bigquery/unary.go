package bigquery

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// callTimeout bounds one try of a call. CreateWriteStream takes more than 25 s when a project makes many.
const callTimeout = 2 * time.Minute

// Stream is a write stream as the server describes it.
type Stream struct {
	Name string
	Type storagepb.WriteStream_Type
	// Schema is the table's; nil when the server gave none.
	Schema *storagepb.TableSchema
	// Created and Committed are times, zero when the server gave none.
	Created, Committed time.Time
	// Location is the region of the table's dataset.
	Location string
}

func streamOf(s *storagepb.WriteStream) Stream {
	stream := Stream{Name: s.GetName(), Type: s.GetType(), Schema: s.GetTableSchema(), Location: s.GetLocation()}
	if s.GetCreateTime() != nil {
		stream.Created = s.GetCreateTime().AsTime()
	}
	if s.GetCommitTime() != nil {
		stream.Committed = s.GetCommitTime().AsTime()
	}
	return stream
}

// Create makes a write stream (CreateWriteStream). It keeps to Options.CreatesPerSecond. A stream that was made and
// whose answer was lost stays behind, empty, and harms nobody.
func (c *Client) Create(ctx context.Context, table TableName, kind storagepb.WriteStream_Type) (Stream, error) {
	request := &storagepb.CreateWriteStreamRequest{
		Parent: table.Path(), WriteStream: &storagepb.WriteStream{Type: kind},
	}
	try := func(ctx context.Context, api storagepb.BigQueryWriteClient) (*storagepb.WriteStream, error) {
		if err := c.creates.Wait(ctx); err != nil {
			return nil, fmt.Errorf("waiting for a turn: %w", err)
		}
		return api.CreateWriteStream(ctx, request)
	}
	made, err := call(ctx, c, "parent", table.Path(), try)
	if err != nil {
		return Stream{}, fmt.Errorf("making a write stream: %w", err)
	}
	return streamOf(made), nil
}

// Stream looks at a write stream, its table's schema included (GetWriteStream). A table's default stream has one too.
func (c *Client) Stream(ctx context.Context, name string) (Stream, error) {
	request := &storagepb.GetWriteStreamRequest{Name: name, View: storagepb.WriteStreamView_FULL}
	try := func(ctx context.Context, api storagepb.BigQueryWriteClient) (*storagepb.WriteStream, error) {
		return api.GetWriteStream(ctx, request)
	}
	found, err := call(ctx, c, "name", name, try)
	if err != nil {
		return Stream{}, fmt.Errorf("looking at a write stream: %w", err)
	}
	return streamOf(found), nil
}

// Finalize ends a stream for all who append to it, and returns how many rows it has (FinalizeWriteStream). It may be
// called again, with the same result. A stream that is not found fails at once: what it had is not known.
func (c *Client) Finalize(ctx context.Context, stream string) (rows int64, err error) {
	request := &storagepb.FinalizeWriteStreamRequest{Name: stream}
	try := func(ctx context.Context, api storagepb.BigQueryWriteClient) (*storagepb.FinalizeWriteStreamResponse, error) {
		return api.FinalizeWriteStream(ctx, request)
	}
	done, err := callOnce(ctx, c, "name", stream, try)
	if err != nil {
		return 0, fmt.Errorf("finalizing a write stream: %w", err)
	}
	return done.GetRowCount(), nil
}

// Flush makes the rows of a BUFFERED stream visible up to the offset given and with it (FlushRows). That they are
// already is a success.
func (c *Client) Flush(ctx context.Context, stream string, offset int64) error {
	request := &storagepb.FlushRowsRequest{WriteStream: stream, Offset: wrapperspb.Int64(offset)}
	try := func(ctx context.Context, api storagepb.BigQueryWriteClient) (*storagepb.FlushRowsResponse, error) {
		return api.FlushRows(ctx, request)
	}
	_, err := callOnce(ctx, c, "write_stream", stream, try)
	if err != nil && !errors.Is(err, ErrOffsetTaken) {
		return fmt.Errorf("flushing a write stream: %w", err)
	}
	return nil
}

// Commit makes the rows of PENDING streams visible, all of them or none (BatchCommitWriteStreams). The streams must be
// finalized and of the one table. Where the server refuses some, the error joins an Error a stream; when each of them
// is ErrCommitted, the commit has happened before.
func (c *Client) Commit(ctx context.Context, table TableName, streams []string) (time.Time, error) {
	request := &storagepb.BatchCommitWriteStreamsRequest{Parent: table.Path(), WriteStreams: streams}
	type response = *storagepb.BatchCommitWriteStreamsResponse
	try := func(ctx context.Context, api storagepb.BigQueryWriteClient) (response, error) {
		return api.BatchCommitWriteStreams(ctx, request)
	}
	done, err := callOnce(ctx, c, "parent", table.Path(), try)
	if err != nil {
		return time.Time{}, fmt.Errorf("committing write streams: %w", err)
	}
	var faults []error
	for _, s := range done.GetStreamErrors() {
		kind := storageKinds[s.GetCode()]
		if kind == nil {
			kind = ErrRejected
		}
		faults = append(faults,
			&Error{Kind: kind, Subject: s.GetEntity(), Storage: s.GetCode(), Message: s.GetErrorMessage()})
	}
	if len(faults) > 0 || done.GetCommitTime() == nil {
		faults = append(faults, errors.New("the server committed no stream"))
		return time.Time{}, fmt.Errorf("committing write streams: %w", errors.Join(faults...))
	}
	return done.GetCommitTime().AsTime(), nil
}

// try is one try of a call.
type try[T any] func(ctx context.Context, api storagepb.BigQueryWriteClient) (T, error)

// call makes a call until it succeeds, fails for good, or the budget is spent. The parameter routes it to the region of
// the table.
func call[T any](ctx context.Context, c *Client, parameter, subject string, one try[T]) (T, error) {
	return retried(ctx, c, parameter, subject, c.options.Retry, one)
}

// callOnce is call for what is known to exist: NOT_FOUND is not tried again.
func callOnce[T any](ctx context.Context, c *Client, parameter, subject string, one try[T]) (T, error) {
	r := c.options.Retry
	r.NotFoundBudget = 0
	return retried(ctx, c, parameter, subject, r, one)
}

func retried[T any](ctx context.Context, c *Client, parameter, subject string, r Retry, one try[T]) (T, error) {
	waits := newPauses(r)
	ctx = routed(ctx, parameter, subject)
	for {
		result, err := attempt(ctx, c, one)
		if err == nil {
			return result, nil
		}
		if ctx.Err() != nil {
			return result, fmt.Errorf("%s: %w", subject, context.Cause(ctx))
		}
		e := classify(subject, err)
		wait, over := waits.next(e, time.Now())
		if over != nil {
			return result, over
		}
		c.notify(Notice{Subject: subject, Err: e, Attempt: waits.attempts, Wait: wait})
		if err := sleep(ctx, wait); err != nil {
			return result, fmt.Errorf("%s: %w after %w", subject, err, e)
		}
	}
}

// attempt makes a call once.
func attempt[T any](ctx context.Context, c *Client, one try[T]) (T, error) {
	ch, err := c.channels.take()
	if err != nil {
		var none T
		return none, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	result, err := one(ctx, storagepb.NewBigQueryWriteClient(ch.conn))
	c.channels.release(ch, ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded))
	return result, err
}

// routed adds the header by which Google's servers find the region.
func routed(ctx context.Context, parameter, value string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "x-goog-request-params", parameter+"="+url.QueryEscape(value))
}
