package bigquery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What an error of the Storage Write API means for the caller: errors.Is tells. Those of the transport, of quotas, and
// of tables and streams that are not there are tried again within the budget of Options.Retry before they are returned.
var (
	// ErrRowsRefused: the server names rows that it cannot store, in Error.Rows, and has stored none of the request.
	ErrRowsRefused = errors.New("rows were refused")
	// ErrFinalized: the stream takes no more rows. Somebody fenced it, or the server ended it.
	ErrFinalized = errors.New("the stream is finalized")
	// ErrNotFound: there is no such table or stream, or not any more.
	ErrNotFound = errors.New("not found")
	// ErrOutOfRange: the request's offset lies beyond the end of the stream, and still does after it was sent again.
	ErrOutOfRange = errors.New("the offset is beyond the end of the stream")
	// ErrOffsetTaken: the stream has rows at the request's offset that are not this request's.
	ErrOffsetTaken = errors.New("the offset is taken by other rows")
	// ErrSchemaMismatch: rows have fields that the table does not.
	ErrSchemaMismatch = errors.New("rows do not fit the table's schema")
	// ErrCommitted: the stream was committed before.
	ErrCommitted = errors.New("the stream is committed already")
	// ErrDenied: the credentials are missing, wrong, or not allowed to do this.
	ErrDenied = errors.New("access is denied")
	// ErrQuota: a quota was exceeded for as long as the budget reaches.
	ErrQuota = errors.New("a quota is exceeded")
	// ErrUnreachable: the server did not answer, or with errors of its own, for as long as the budget reaches.
	ErrUnreachable = errors.New("the server cannot be reached")
	// ErrRejected: the server refuses the request for another reason, and would again.
	ErrRejected = errors.New("the request is rejected")
	// ErrBehind: the append was not stored, because one before it on the connection failed.
	ErrBehind = errors.New("an append before this one failed")
	// ErrUnsettled: the append was sent and never answered, and may be stored now or later: only the stream's row count
	// after Finalize tells.
	ErrUnsettled = errors.New("the append was not answered")
	// ErrClosed: the connection is closed.
	ErrClosed = errors.New("the connection is closed")
)

// Error is an answer of the server that is no success.
type Error struct {
	// Kind is one of the errors above; errors.Is finds it.
	Kind    error
	Subject string // the stream or table
	Code    codes.Code
	Storage storagepb.StorageError_StorageErrorCode
	Message string     // the server's
	Rows    []RowError // of ErrRowsRefused
	// RetryAfter is how long the server wants to be left alone; 0 when it does not say.
	RetryAfter time.Duration
}

// RowError is why the server refuses a row.
type RowError struct {
	Index   int // of the row in the request
	Message string
}

// Error is what is wrong, where, and in the server's words why.
func (e *Error) Error() string {
	code := e.Code.String()
	if e.Storage != 0 {
		code += ", " + e.Storage.String()
	}
	if len(e.Rows) > 0 {
		return fmt.Sprintf("%s: %s: %d, the first is %d: %s (%s)",
			e.Subject, e.Kind, len(e.Rows), e.Rows[0].Index, e.Rows[0].Message, code)
	}
	return fmt.Sprintf("%s: %s: %s (%s)", e.Subject, e.Kind, e.Message, code)
}

// Unwrap is the error's kind.
func (e *Error) Unwrap() error { return e.Kind }

// is tells whether the error is of a kind.
func (e *Error) is(kind error) bool { return errors.Is(e.Kind, kind) }

// retryable tells whether the same request may succeed later.
func (e *Error) retryable() bool { return e.is(ErrUnreachable) || e.is(ErrQuota) || e.is(ErrNotFound) }

// classify makes an Error of what a call or a stream ended with.
func classify(subject string, err error) *Error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return known
	}
	if errors.Is(err, io.EOF) {
		return &Error{Kind: ErrUnreachable, Subject: subject, Code: codes.Unavailable, Message: "the server ended the stream"}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Kind: ErrUnreachable, Subject: subject, Code: codes.DeadlineExceeded, Message: err.Error()}
	}
	return classifyStatus(subject, status.Convert(err))
}

// classifyAnswer makes an Error of an answer to an append that holds one.
func classifyAnswer(subject string, answer *spb.Status, rows []*storagepb.RowError) *Error {
	e := classifyStatus(subject, status.FromProto(answer))
	for _, r := range rows {
		e.Rows = append(e.Rows, RowError{Index: int(r.GetIndex()), Message: r.GetMessage()})
	}
	if len(rows) > 0 {
		e.Kind = ErrRowsRefused
	}
	return e
}

func classifyStatus(subject string, s *status.Status) *Error {
	e := &Error{Subject: subject, Code: s.Code(), Message: s.Message()}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *storagepb.StorageError:
			e.Storage = d.GetCode()
		case *errdetails.RetryInfo:
			e.RetryAfter = d.GetRetryDelay().AsDuration()
		}
	}
	if e.Kind = storageKinds[e.Storage]; e.Kind != nil {
		return e
	}
	e.Kind = codeKind(e.Code)
	// Not every version of the server adds the detail.
	if e.is(ErrRejected) && strings.Contains(strings.ToLower(e.Message), "finalized") {
		e.Kind = ErrFinalized
	}
	return e
}

// storageKinds has the codes of the Storage Write API that say more than gRPC's.
var storageKinds = map[storagepb.StorageError_StorageErrorCode]error{
	storagepb.StorageError_TABLE_NOT_FOUND:              ErrNotFound,
	storagepb.StorageError_STREAM_NOT_FOUND:             ErrNotFound,
	storagepb.StorageError_STREAM_FINALIZED:             ErrFinalized,
	storagepb.StorageError_STREAM_ALREADY_COMMITTED:     ErrCommitted,
	storagepb.StorageError_OFFSET_ALREADY_EXISTS:        ErrOffsetTaken,
	storagepb.StorageError_OFFSET_OUT_OF_RANGE:          ErrOutOfRange,
	storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS: ErrSchemaMismatch,
	storagepb.StorageError_KMS_SERVICE_ERROR:            ErrUnreachable,
	storagepb.StorageError_KMS_PERMISSION_DENIED:        ErrDenied,
}

func codeKind(code codes.Code) error {
	switch code {
	case codes.AlreadyExists:
		return ErrOffsetTaken
	case codes.OutOfRange:
		return ErrOutOfRange
	case codes.NotFound:
		return ErrNotFound
	case codes.PermissionDenied, codes.Unauthenticated:
		return ErrDenied
	case codes.ResourceExhausted:
		return ErrQuota
	case codes.InvalidArgument, codes.FailedPrecondition, codes.Unimplemented:
		return ErrRejected
	default: // UNAVAILABLE, ABORTED, INTERNAL, CANCELLED, DEADLINE_EXCEEDED, UNKNOWN, DATA_LOSS
		return ErrUnreachable
	}
}
