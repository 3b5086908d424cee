package bigquery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestErrorsAreToldApart(t *testing.T) {
	detailed := func(code codes.Code, d storagepb.StorageError_StorageErrorCode) error {
		return status.FromProto(storageStatus(code, d)).Err()
	}
	for _, c := range []struct {
		err   error
		kind  error
		again bool
	}{
		{io.EOF, ErrUnreachable, true},
		{fmt.Errorf("sending: %w", io.EOF), ErrUnreachable, true},
		{context.DeadlineExceeded, ErrUnreachable, true},
		{errors.New("anything"), ErrUnreachable, true},
		{status.Error(codes.Aborted, ""), ErrUnreachable, true},
		{status.Error(codes.ResourceExhausted, "Exceeds 'AppendRows throughput' quota"), ErrQuota, true},
		{status.Error(codes.NotFound, ""), ErrNotFound, true},
		{status.Error(codes.InvalidArgument, ""), ErrRejected, false},
		{status.Error(codes.FailedPrecondition, "The stream has been Finalized"), ErrFinalized, false},
		{status.Error(codes.Unauthenticated, ""), ErrDenied, false},
		{detailed(codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED), ErrFinalized, false},
		{detailed(codes.InvalidArgument, storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS), ErrSchemaMismatch, false},
		{detailed(codes.Internal, storagepb.StorageError_OFFSET_ALREADY_EXISTS), ErrOffsetTaken, false},
		{detailed(codes.InvalidArgument, storagepb.StorageError_TABLE_NOT_FOUND), ErrNotFound, true},
		{detailed(codes.FailedPrecondition, storagepb.StorageError_KMS_SERVICE_ERROR), ErrUnreachable, true},
		{detailed(codes.FailedPrecondition, storagepb.StorageError_CMEK_NOT_PROVIDED), ErrRejected, false},
	} {
		e := classify("x", c.err)
		if !errors.Is(e, c.kind) || e.retryable() != c.again || e.Subject != "x" {
			t.Errorf("%v: %v, %t", c.err, e, e.retryable())
		}
		if classify("y", fmt.Errorf("again: %w", e)) != e {
			t.Errorf("%v is told apart twice", c.err)
		}
	}
}

func TestErrorsSayWhatAndWhere(t *testing.T) {
	answer := storageStatus(codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	e := classify(testStream, status.FromProto(answer).Err())
	for _, want := range []string{
		testStream, "beyond the end", "OutOfRange", "OFFSET_OUT_OF_RANGE", "refused by the test",
	} {
		if !strings.Contains(e.Error(), want) {
			t.Errorf("%s: %s is missing", e, want)
		}
	}
	rows := classifyAnswer(testStream, &spb.Status{Code: int32(codes.InvalidArgument)},
		[]*storagepb.RowError{{Index: 7, Message: "too long"}, {Index: 9}})
	if !errors.Is(rows, ErrRowsRefused) || !strings.Contains(rows.Error(), "2, the first is 7: too long") {
		t.Error(rows)
	}
}

func TestPausesHaveABudget(t *testing.T) {
	r := Retry{
		Pause: time.Second, PauseMax: 8 * time.Second, QuotaPause: 20 * time.Second, Budget: time.Minute,
		NotFoundBudget: 3 * time.Second,
	}
	gone, quota, missing := &Error{Kind: ErrUnreachable}, &Error{Kind: ErrQuota}, &Error{Kind: ErrNotFound}
	now := time.Unix(0, 0)
	waits := func(e *Error) (n int, last time.Duration, err error) {
		p := newPauses(r)
		for at := now; ; n++ {
			wait, err := p.next(e, at)
			if err != nil {
				return n, last, err
			}
			last = wait
			at = at.Add(wait)
		}
	}
	n, last, err := waits(gone)
	if n < 6 || last < 4*time.Second || last > 12*time.Second || !errors.Is(err, ErrUnreachable) {
		t.Errorf("%d pauses, the last %s, %v", n, last, err)
	}
	if n, last, err := waits(quota); n < 1 || n > 6 || last < 10*time.Second || !errors.Is(err, ErrQuota) {
		t.Errorf("quota: %d pauses, the last %s, %v", n, last, err)
	}
	if n, _, err := waits(missing); n > 3 || !errors.Is(err, ErrNotFound) {
		t.Errorf("not found: %d pauses, %v", n, err)
	}
	if n, _, err := waits(&Error{Kind: ErrDenied}); n != 0 || !errors.Is(err, ErrDenied) {
		t.Errorf("denied: %d pauses, %v", n, err)
	}
	p := newPauses(r)
	asked := &Error{Kind: ErrQuota, RetryAfter: 45 * time.Second}
	if wait, err := p.next(asked, now); wait != asked.RetryAfter || err != nil {
		t.Errorf("asked to wait for %s: %s, %v", asked.RetryAfter, wait, err)
	}
	p.reset()
	if _, err := p.next(gone, now); err != nil {
		t.Fatal(err)
	}
	p.reset()
	if wait, err := p.next(gone, now.Add(time.Hour)); err != nil || wait > 2*time.Second {
		t.Errorf("after a success: %s, %v", wait, err)
	}
}
