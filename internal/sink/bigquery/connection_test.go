package bigquery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// sendAll appends n requests of two rows at their offsets, without waiting, and checks that all are stored once and in
// order.
func sendAll(t *testing.T, s *server, c *Connection, n int) {
	t.Helper()
	var want []string
	var pending []*Pending
	for i := range n {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		want = append(want, a, b)
		pending = append(pending, appendTo(t, c, Request{Rows: rowsOf(a, b), Offset: int64(2 * i)}))
	}
	for i, p := range pending {
		if r := resultOf(t, p); r.Err != nil || r.Offset != int64(2*i) {
			t.Fatalf("append %d: %+v", i, r)
		}
	}
	if got := texts(t, s.stored(testStream)); !slices.Equal(got, want) {
		t.Errorf("stored %v", got)
	}
}

func TestAppendsAreStoredInOrder(t *testing.T) {
	s := &server{}
	c := connect(t, s.serve(t, nil), testStream)
	sendAll(t, s, c, 50)
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if len(s.firsts) != 1 || s.firsts[0].GetTraceId() != "firn" ||
		s.firsts[0].GetProtoRows().GetWriterSchema().GetProtoDescriptor() == nil {
		t.Errorf("first requests: %v", s.firsts)
	}
	if _, err := c.Append(t.Context(), Request{Rows: rowsOf("x"), Offset: 100}); !errors.Is(err, ErrClosed) {
		t.Errorf("an append after the end: %v", err)
	}
}

// Whatever breaks, and wherever: all rows are there once, in order.
func TestBrokenStreamsAreResent(t *testing.T) {
	passing := func(code codes.Code) *deed { return &deed{refuse: status.New(code, "by the test").Proto()} }
	for name, d := range map[string]*deed{
		"lost": {lose: true}, "answer lost": {cut: true}, "ended": {cut: true, end: errEnd},
		"aborted": passing(codes.Aborted), "internal": passing(codes.Internal), "quota": passing(codes.ResourceExhausted),
		"out of range once": {refuse: storageStatus(codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)},
	} {
		for _, at := range []int{0, 1, 5, 19} {
			t.Run(fmt.Sprintf("%s at %d", name, at), func(t *testing.T) {
				s := &server{plan: func(n int, _ *storagepb.AppendRowsRequest) deed {
					if n == at {
						return *d
					}
					return deed{}
				}}
				var notices atomic.Int32
				c := connect(t, s.serve(t, func(o *Options) { o.OnRetry = func(Notice) { notices.Add(1) } }), testStream)
				sendAll(t, s, c, 20)
				if err := c.Close(t.Context()); err != nil || notices.Load() == 0 {
					t.Errorf("%v, %d notices", err, notices.Load())
				}
			})
		}
	}
}

func TestUnansweredRequestsEndTheStream(t *testing.T) {
	s := &server{plan: func(n int, _ *storagepb.AppendRowsRequest) deed { return deed{silent: n == 3} }}
	var kinds sync.Map
	client := s.serve(t, func(o *Options) {
		o.AnswerTimeout = 100 * time.Millisecond
		o.OnRetry = func(n Notice) { kinds.Store(status.Code(n.Err).String()+n.Err.Error(), n) }
	})
	sendAll(t, s, connect(t, client, testStream), 10)
	found := false
	kinds.Range(func(k, _ any) bool { found = found || strings.Contains(k.(string), "no answer for 100ms"); return true })
	if !found {
		t.Error("nobody was told of the silence")
	}
}

// A row that is refused ends the connection, and all that was sent behind it is known not to be stored.
func TestRefusedRowsAreNamed(t *testing.T) {
	s := &server{plan: func(n int, _ *storagepb.AppendRowsRequest) deed {
		if n != 1 {
			return deed{}
		}
		return deed{
			refuse: status.New(codes.InvalidArgument, "bad rows").Proto(), schema: tableWith(),
			rowErrs: []*storagepb.RowError{{Index: 1, Message: "too long"}},
		}
	}}
	client := s.serve(t, nil)
	c := connect(t, client, testStream)
	var pending []*Pending
	for i := range 5 {
		pending = append(pending, appendTo(t, c, Request{Rows: rowsOf("a", "b"), Offset: int64(2 * i)}))
	}
	if r := resultOf(t, pending[0]); r.Err != nil {
		t.Error(r.Err)
	}
	r := resultOf(t, pending[1])
	e := (*Error)(nil)
	if !errors.Is(r.Err, ErrRowsRefused) || !errors.As(r.Err, &e) ||
		!slices.Equal(e.Rows, []RowError{{Index: 1, Message: "too long"}}) {
		t.Errorf("%+v", r)
	}
	if r.UpdatedSchema == nil {
		t.Error("the new schema is not told")
	}
	for _, p := range pending[2:] {
		if r := resultOf(t, p); !errors.Is(r.Err, ErrBehind) || errors.Is(r.Err, ErrUnsettled) {
			t.Errorf("behind it: %v", r.Err)
		}
	}
	if _, err := c.Append(t.Context(), Request{Rows: rowsOf("x"), Offset: 2}); !errors.Is(err, ErrBehind) {
		t.Errorf("another append: %v", err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("all was answered: %v", err)
	}
	rows, err := WithoutRows(nil, rowsOf("a", "b"), []int{1})
	if err != nil {
		t.Fatal(err)
	}
	next := connect(t, client, testStream)
	if r := resultOf(t, appendTo(t, next, Request{Rows: rows, Offset: 2})); r.Err != nil {
		t.Error(r.Err)
	}
	if got := texts(t, s.stored(testStream)); !slices.Equal(got, []string{"a", "b", "a"}) {
		t.Errorf("stored %v", got)
	}
}

// What was sent behind a refused row and is not answered may still arrive.
func TestUnansweredBehindAFailureIsUnsettled(t *testing.T) {
	s := &server{plan: func(n int, _ *storagepb.AppendRowsRequest) deed {
		if n == 0 {
			return deed{refuse: storageStatus(codes.InvalidArgument, storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS)}
		}
		return deed{lose: true}
	}}
	c := connect(t, s.serve(t, nil), testStream)
	one := appendTo(t, c, Request{Rows: rowsOf("a"), Offset: 0})
	two, err := c.Append(t.Context(), Request{Rows: rowsOf("b"), Offset: 1})
	if r := resultOf(t, one); !errors.Is(r.Err, ErrSchemaMismatch) {
		t.Errorf("%v", r.Err)
	}
	if err != nil {
		t.Skip("the second came after the failure")
	}
	r := resultOf(t, two)
	closed := c.Close(t.Context())
	if unsettled := errors.Is(r.Err, ErrUnsettled); unsettled != errors.Is(closed, ErrUnsettled) ||
		!unsettled && !errors.Is(r.Err, ErrBehind) {
		t.Errorf("%v; closed with %v", r.Err, closed)
	}
}

func TestFailuresForGood(t *testing.T) {
	refused := func(code codes.Code, detail storagepb.StorageError_StorageErrorCode) deed {
		return deed{refuse: storageStatus(code, detail)}
	}
	for _, c := range []struct {
		name string
		deed deed
		want error
	}{
		{"finalized", refused(codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED), ErrFinalized},
		{"no detail", deed{refuse: status.New(codes.FailedPrecondition, "it is finalized").Proto()}, ErrFinalized},
		{"taken", refused(codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS), ErrOffsetTaken},
		{"denied", deed{lose: true, end: status.Error(codes.PermissionDenied, "no")}, ErrDenied},
		{"unauthenticated", deed{lose: true, end: status.Error(codes.Unauthenticated, "no")}, ErrDenied},
		{"not found", refused(codes.NotFound, storagepb.StorageError_STREAM_NOT_FOUND), ErrNotFound},
		{"out of range", refused(codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE), ErrOutOfRange},
		{"invalid", deed{refuse: status.New(codes.InvalidArgument, "no").Proto()}, ErrRejected},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{plan: func(int, *storagepb.AppendRowsRequest) deed { return c.deed }}
			connection := connect(t, s.serve(t, nil), testStream)
			r := resultOf(t, appendTo(t, connection, Request{Rows: rowsOf("x"), Offset: 0}))
			if !errors.Is(r.Err, c.want) {
				t.Errorf("%v, want %v", r.Err, c.want)
			}
			if err := connection.Close(t.Context()); (err != nil) != c.deed.lose {
				t.Errorf("closed with %v", err)
			}
		})
	}
}

func TestResentByTheCaller(t *testing.T) {
	s := &server{}
	client := s.serve(t, nil)
	c := connect(t, client, testStream)
	resultOf(t, appendTo(t, c, Request{Rows: rowsOf("x"), Offset: 0}))
	again := connect(t, client, testStream)
	if r := resultOf(t, appendTo(t, again, Request{Rows: rowsOf("x"), Offset: 0, Resend: true})); r.Err != nil {
		t.Error(r.Err)
	}
}

// A caller that waits for room is woken by an end, by its own context, and by answers.
func TestFullConnections(t *testing.T) {
	hold := make(chan struct{})
	s := &server{plan: func(n int, _ *storagepb.AppendRowsRequest) deed {
		<-hold
		return deed{lose: n > 0, end: status.Error(codes.PermissionDenied, "no")}
	}}
	c := connect(t, s.serve(t, func(o *Options) { o.InFlightBytes = 10 }), testStream)
	one := appendTo(t, c, Request{Rows: rowsOf("much more than it holds"), Offset: 0})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Append(ctx, Request{Rows: rowsOf("x"), Offset: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that is given up: %v", err)
	}
	var waiting sync.WaitGroup
	faults := make([]error, 3)
	for i := range faults {
		waiting.Go(func() {
			p, err := c.Append(t.Context(), Request{Rows: rowsOf("more than it holds"), Offset: 1})
			if err == nil {
				err = resultOf(t, p).Err
			}
			faults[i] = err
		})
	}
	close(hold)
	if r := resultOf(t, one); r.Err != nil {
		t.Error(r.Err)
	}
	waiting.Wait()
	for _, err := range faults {
		if !errors.Is(err, ErrDenied) {
			t.Errorf("%v", err)
		}
	}
}

// On a default stream one bad request does no harm to others, and what passes is sent again alone.
func TestDefaultStream(t *testing.T) {
	stream := TableName{"p", "d", "t"}.DefaultStream()
	s := &server{plan: func(n int, r *storagepb.AppendRowsRequest) deed {
		switch {
		case r.GetOffset() != nil:
			return deed{refuse: status.New(codes.InvalidArgument, "no offset here").Proto()}
		case n == 1:
			return deed{refuse: status.New(codes.InvalidArgument, "").Proto(), rowErrs: []*storagepb.RowError{{Index: 0}}}
		case n == 3:
			return deed{refuse: status.New(codes.ResourceExhausted, "quota").Proto()}
		}
		return deed{}
	}}
	var quota atomic.Int32
	client := s.serve(t, func(o *Options) {
		o.OnRetry = func(n Notice) {
			if errors.Is(n.Err, ErrQuota) {
				quota.Add(1)
			}
		}
	})
	c := connect(t, client, stream)
	var pending []*Pending
	for i := range 8 {
		pending = append(pending, appendTo(t, c, Request{Rows: rowsOf(fmt.Sprint(i)), Offset: NoOffset}))
	}
	for i, p := range pending {
		if r := resultOf(t, p); (r.Err != nil) != (i == 1) || r.Offset != NoOffset {
			t.Errorf("append %d: %+v", i, r)
		}
	}
	got := texts(t, s.stored(stream))
	slices.Sort(got)
	if want := []string{"0", "2", "3", "4", "5", "6", "7"}; !slices.Equal(got, want) || quota.Load() != 1 {
		t.Errorf("stored %v, %d notices of a quota", got, quota.Load())
	}
	if _, err := c.Append(t.Context(), Request{Rows: rowsOf("x"), Offset: 0}); err == nil {
		t.Error("it takes an offset")
	}
}

// Rows are given back once, and not before gRPC has let go of them. Where a gRPC stream breaks it may never do.
func TestRowsAreFreedOnce(t *testing.T) {
	for _, breaks := range []bool{false, true} {
		s := &server{plan: func(n int, _ *storagepb.AppendRowsRequest) deed { return deed{cut: n == 2 && breaks} }}
		c := connect(t, s.serve(t, nil), testStream)
		freed := make([]atomic.Int32, 10)
		var all sync.WaitGroup
		all.Add(len(freed))
		for i := range freed {
			r := Request{Rows: rowsOf(strings.Repeat("x", 1<<(2*i%13))), Offset: int64(i)}
			r.Free = func() { freed[i].Add(1); all.Done() }
			appendTo(t, c, r)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !breaks {
			all.Wait()
		}
		for i := range freed {
			if n := freed[i].Load(); n > 1 || n < 1 && !breaks {
				t.Errorf("rows of append %d were freed %d times", i, n)
			}
		}
	}
}

func TestEndsOfAConnection(t *testing.T) {
	s := &server{plan: func(int, *storagepb.AppendRowsRequest) deed { return deed{silent: true} }}
	client := s.serve(t, nil)
	c := connect(t, client, testStream)
	p := appendTo(t, c, Request{Rows: rowsOf("x"), Offset: 0})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Close(ctx); !errors.Is(err, ErrUnsettled) && err != nil {
		t.Errorf("closed with %v", err)
	}
	if r := resultOf(t, p); r.Err == nil || !errors.Is(r.Err, ErrClosed) {
		t.Errorf("%v", r.Err)
	}
	if err := connect(t, client, testStream).Close(t.Context()); err != nil {
		t.Errorf("a connection that was never used: %v", err)
	}
}
