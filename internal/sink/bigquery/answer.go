package bigquery

import (
	"errors"
	"fmt"
	"io"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
)

// errOver ends a gRPC stream without its being opened again.
var errOver = errors.New("the connection is over")

// answered takes the answer to the oldest append that was sent. The gRPC stream is over when nothing more is to be sent
// on it and this was the last answer; the error is then why it has to be opened again, if so.
func (c *Connection) answered(answer *storagepb.AppendRowsResponse, timer *answerTimer) (over bool, err error) {
	c.mu.Lock()
	if len(c.sent) == 0 {
		c.mu.Unlock()
		return true, &Error{Kind: ErrUnreachable, Subject: c.stream, Code: codes.Internal, Message: "an answer to no append"}
	}
	p := c.sent[0]
	c.sent[0] = nil
	c.sent = c.sent[1:]
	if answer.GetUpdatedSchema() != nil {
		p.result.UpdatedSchema = answer.GetUpdatedSchema()
	}
	var results []completed
	if passing, err := c.judge(p, answer); passing != nil {
		c.again = append(c.again, p)
		if c.drain == nil {
			c.drain = passing
		}
	} else {
		results = append(results, c.settle(p, err))
	}
	if len(c.sent) > 0 || c.closing {
		timer.restart()
	} else {
		timer.stop()
	}
	over, err = c.drain != nil && len(c.sent) == 0, c.drain
	if c.drain != nil {
		c.wake()
	}
	c.mu.Unlock()
	c.complete(results...)
	if !over || errors.Is(err, errOver) {
		return over, nil
	}
	return true, err
}

// settle makes the result of an append; the first failure on a stream with offsets ends the connection. The caller
// holds c.mu.
func (c *Connection) settle(p *Pending, err error) completed {
	if err == nil {
		c.progress, c.known = true, true
	} else if c.exact && c.failure == nil {
		c.failure, c.drain = err, errOver
	}
	p.result.Offset, p.result.Err = p.request.Offset, err
	return completed{p, p.result}
}

// judge tells what an answer means: the error passes, and the append is to be sent again; or it is for good; or
// neither, and the rows are stored. The caller holds c.mu.
func (c *Connection) judge(p *Pending, answer *storagepb.AppendRowsResponse) (passing *Error, err error) {
	if answer.GetError() == nil {
		return nil, c.stored(p, answer.GetAppendResult())
	}
	e := classifyAnswer(c.stream, answer.GetError(), answer.GetRowErrors())
	// It may be stored all the same, unless one before it is not: then its offset is beyond the end.
	p.lost = p.lost || e.is(ErrUnreachable) && (!c.exact || c.failure == nil)
	defer func() {
		if err != nil && p.lost && !e.is(ErrRowsRefused) {
			c.unsettled = true
			err = fmt.Errorf("%w: %w", ErrUnsettled, err)
		}
	}()
	switch {
	case c.exact && e.is(ErrOffsetTaken) && (p.sends > 1 || p.request.Resend):
		return nil, nil // it was stored when it was sent before
	case c.exact && c.failure != nil:
		return nil, behind(c.failure)
	case c.exact && c.drain != nil:
		return e, nil // as it must, since an append before it has to be sent again
	case c.exact && e.is(ErrOutOfRange) && p.strays == 0:
		// All before it are stored, and yet the stream ends before it: what was stored may not be known everywhere.
		p.strays++
		return &Error{Kind: ErrUnreachable, Subject: e.Subject, Code: e.Code, Storage: e.Storage, Message: e.Message}, nil
	case e.retryable():
		return e, nil
	default:
		return nil, e
	}
}

// stored checks an answer of success.
func (c *Connection) stored(p *Pending, result *storagepb.AppendRowsResponse_AppendResult) error {
	if result == nil {
		c.unsettled = true
		return fmt.Errorf("%s: %w: the server's answer has neither a result nor an error", c.stream, ErrUnsettled)
	}
	if at := result.GetOffset(); c.exact && at != nil && at.GetValue() != p.request.Offset {
		c.unsettled = true
		return fmt.Errorf("%s: %w: rows for offset %d are at %d", c.stream, ErrUnsettled, p.request.Offset, at.GetValue())
	}
	return nil
}

// broken tells what the end of a gRPC stream is: nil when nothing was on its way and nothing waits, or nothing more is
// to be sent.
func (c *Connection) broken(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := len(c.sent) == 0 && len(c.queue) == 0 && c.drain == nil
	switch {
	case errors.Is(c.drain, errOver):
		return nil // what is still on its way stays unsettled
	case c.drain != nil:
		return c.drain // what is on its way is sent again in any case, and tells then whether the stream is at fault
	case idle && (errors.Is(err, io.EOF) || classify(c.stream, err).retryable()):
		return nil
	default:
		return err
	}
}
