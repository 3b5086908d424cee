package bigquery

import (
	"errors"
	"sync/atomic"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var testTable = TableName{Project: "p", Dataset: "d", Table: "t"}

func TestCallsAreTriedAgain(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted, codes.Internal, codes.NotFound} {
		var notices atomic.Int32
		s := &server{unary: func(_ string, n int) error {
			if n < 3 {
				return status.Error(code, "by the test")
			}
			return nil
		}}
		c := s.serve(t, func(o *Options) {
			o.OnRetry = func(Notice) { notices.Add(1) }
			o.Retry.NotFoundBudget = o.Retry.Budget
		})
		stream, err := c.Create(t.Context(), testTable, storagepb.WriteStream_COMMITTED)
		if err != nil || stream.Name != testTable.Path()+"/streams/s4" || len(stream.Schema.GetFields()) != 1 {
			t.Errorf("%s: %+v, %v", code, stream, err)
		}
		if notices.Load() != 3 || s.count("Create") != 4 {
			t.Errorf("%s: %d notices, %d calls", code, notices.Load(), s.count("Create"))
		}
	}
}

func TestCallsThatFail(t *testing.T) {
	s := &server{unary: func(method string, _ int) error {
		return map[string]error{
			"Create":   status.Error(codes.PermissionDenied, "no"),
			"Get":      status.Error(codes.NotFound, "no"),
			"Finalize": status.Error(codes.NotFound, "no"),
			"Flush":    status.Error(codes.AlreadyExists, "before"),
		}[method]
	}}
	c := s.serve(t, nil)
	if _, err := c.Create(t.Context(), testTable, storagepb.WriteStream_PENDING); !errors.Is(err, ErrDenied) {
		t.Errorf("create: %v", err)
	}
	if _, err := c.Stream(t.Context(), testStream); !errors.Is(err, ErrNotFound) || s.count("Get") < 2 {
		t.Errorf("get: %v after %d calls", err, s.count("Get"))
	}
	if _, err := c.Finalize(t.Context(), testStream); !errors.Is(err, ErrNotFound) || s.count("Finalize") != 1 {
		t.Errorf("finalize: %v after %d calls", err, s.count("Finalize"))
	}
	if err := c.Flush(t.Context(), testStream, 3); err != nil {
		t.Errorf("flush, repeated: %v", err)
	}
	if _, err := c.Commit(t.Context(), testTable, []string{testStream}); !errors.Is(err, ErrCommitted) {
		t.Errorf("commit, repeated: %v", err)
	}
}

// Finalize tells what is stored, and those who append afterwards are told.
func TestFinalizeFences(t *testing.T) {
	s := &server{}
	client := s.serve(t, nil)
	c := connect(t, client, testStream)
	resultOf(t, appendTo(t, c, Request{Rows: rowsOf("a", "b"), Offset: 0}))
	for range 2 {
		if rows, err := client.Finalize(t.Context(), testStream); rows != 2 || err != nil {
			t.Errorf("%d rows, %v", rows, err)
		}
	}
	if r := resultOf(t, appendTo(t, c, Request{Rows: rowsOf("c"), Offset: 2})); !errors.Is(r.Err, ErrFinalized) {
		t.Errorf("%v", r.Err)
	}
}
