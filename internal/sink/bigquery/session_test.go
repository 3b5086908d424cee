package bigquery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// randomDeed is something that passes, for one append in a few.
func randomDeed(r *rand.Rand) deed {
	code := []codes.Code{
		codes.Unavailable, codes.Aborted, codes.Internal, codes.Canceled, codes.DeadlineExceeded, codes.Unknown,
		codes.ResourceExhausted,
	}[r.IntN(7)]
	switch r.IntN(12) {
	case 0:
		return deed{refuse: status.New(code, "by the test").Proto()}
	case 1:
		return deed{lose: true, end: status.Error(code, "by the test")}
	case 2:
		return deed{cut: true, end: status.Error(code, "by the test")}
	case 3:
		return deed{cut: true, end: errEnd}
	default:
		return deed{}
	}
}

// Whatever passes, as often as it comes: all is stored once, in order, and every caller is told so.
func TestRowsSurviveWhatPasses(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0)) // the server asks one append after the other
			s := &server{plan: func(int, *storagepb.AppendRowsRequest) deed { return randomDeed(r) }}
			client := s.serve(t, func(o *Options) { o.InFlightBytes = 5000 })
			c := connect(t, client, testStream)
			sendAll(t, s, c, 60)
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// When the process does not survive, what it was told is true: results without an error are stored, what is behind a
// failure is not, and only what is unsettled may be either.
func TestResultsAreTrue(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			end := 5 + r.IntN(20)
			refusals := []deed{
				{refuse: storageStatus(codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED)},
				{refuse: status.New(codes.InvalidArgument, "").Proto(), rowErrs: []*storagepb.RowError{{Index: 0}}},
				{lose: true, end: status.Error(codes.PermissionDenied, "no")},
				{cut: true, end: status.Error(codes.PermissionDenied, "no")},
				{silent: true},
			}
			last := refusals[seed%5]
			s := &server{plan: func(n int, _ *storagepb.AppendRowsRequest) deed {
				if n >= end {
					return last
				}
				return randomDeed(r)
			}}
			client := s.serve(t, func(o *Options) {
				o.AnswerTimeout, o.Retry.Budget = 50*time.Millisecond, 100*time.Millisecond
			})
			checkResults(t, s, connect(t, client, testStream), 40)
		})
	}
}

func checkResults(t *testing.T, s *server, c *Connection, n int) {
	t.Helper()
	pending := make([]*Pending, n)
	for i := range pending {
		p, err := c.Append(t.Context(), Request{Rows: rowsOf(fmt.Sprint(i)), Offset: int64(i)})
		if err != nil {
			break
		}
		pending[i] = p
	}
	closed := c.Close(t.Context())
	stored := texts(t, s.stored(testStream))
	unsettled := false
	for i, p := range pending {
		there := slices.Contains(stored, fmt.Sprint(i))
		if p == nil {
			if there {
				t.Errorf("append %d was not taken, and is stored", i)
			}
			continue
		}
		r := resultOf(t, p)
		unsettled = unsettled || errors.Is(r.Err, ErrUnsettled)
		switch {
		case r.Err == nil && !there:
			t.Errorf("append %d is said to be stored", i)
		case r.Err != nil && there && !errors.Is(r.Err, ErrUnsettled):
			t.Errorf("append %d is said not to be stored: %v", i, r.Err)
		}
	}
	if unsettled != errors.Is(closed, ErrUnsettled) {
		t.Errorf("closed with %v, and unsettled is %t", closed, unsettled)
	}
}

// The answer was lost, and before the append could be sent again somebody fenced the stream.
func TestFencedWhileUnanswered(t *testing.T) {
	s := &server{}
	s.plan = func(n int, _ *storagepb.AppendRowsRequest) deed {
		if n == 1 {
			return deed{refuse: storageStatus(codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED)}
		}
		return deed{cut: true}
	}
	c := connect(t, s.serve(t, nil), testStream)
	r := resultOf(t, appendTo(t, c, Request{Rows: rowsOf("x"), Offset: 0}))
	if !errors.Is(r.Err, ErrFinalized) || !errors.Is(r.Err, ErrUnsettled) {
		t.Errorf("%v", r.Err)
	}
}

// A server that ends streams on which nothing is going on does no harm, and costs no notice.
func TestIdleStreamsAreEndedByTheServer(t *testing.T) {
	for _, end := range []error{errEnd, status.Error(codes.Unavailable, "idle"), status.Error(codes.Aborted, "idle")} {
		s := &server{plan: func(int, *storagepb.AppendRowsRequest) deed { return deed{last: true, end: end} }}
		var notices atomic.Int32
		client := s.serve(t, func(o *Options) { o.OnRetry = func(Notice) { notices.Add(1) } })
		c := connect(t, client, testStream)
		for i := range 3 {
			if r := resultOf(t, appendTo(t, c, Request{Rows: rowsOf("x"), Offset: int64(i)})); r.Err != nil {
				t.Fatal(r.Err)
			}
			for streamsOf(client) > 0 {
				<-time.After(time.Millisecond)
			}
		}
		if len(s.firsts) != 3 || notices.Load() != 0 {
			t.Errorf("%v: %d streams, %d notices", end, len(s.firsts), notices.Load())
		}
	}
}

// streamsOf is how many streams a client has open.
func streamsOf(c *Client) (n int) {
	c.channels.mu.Lock()
	defer c.channels.mu.Unlock()
	for _, ch := range c.channels.open {
		n += ch.streams
	}
	return n
}

// The budget of retries ends them, and what was sent is unsettled.
func TestRetriesEnd(t *testing.T) {
	s := &server{plan: func(int, *storagepb.AppendRowsRequest) deed { return deed{lose: true} }}
	c := connect(t, s.serve(t, func(o *Options) { o.Retry.Budget = 20 * time.Millisecond }), testStream)
	r := resultOf(t, appendTo(t, c, Request{Rows: rowsOf("x"), Offset: 0}))
	if !errors.Is(r.Err, ErrUnreachable) || !errors.Is(r.Err, ErrUnsettled) {
		t.Errorf("%v", r.Err)
	}
	if err := c.Close(t.Context()); !errors.Is(err, ErrUnsettled) {
		t.Errorf("closed with %v", err)
	}
}

// Nobody listens at the address.
func TestServersThatAreNotThere(t *testing.T) {
	s := &server{}
	client := s.serve(t, func(o *Options) { o.Endpoint, o.Retry.Budget = "127.0.0.1:1", 20*time.Millisecond })
	r := resultOf(t, appendTo(t, connect(t, client, testStream), Request{Rows: rowsOf("x"), Offset: 0}))
	if !errors.Is(r.Err, ErrUnreachable) || errors.Is(r.Err, ErrUnsettled) {
		t.Errorf("an append that was never sent: %v", r.Err)
	}
	if _, err := client.Finalize(t.Context(), testStream); !errors.Is(err, ErrUnreachable) {
		t.Errorf("a call: %v", err)
	}
}

// The end of the context of Connect ends the connection, with whatever is not answered.
func TestContextsEndConnections(t *testing.T) {
	reached := make(chan struct{}, 1)
	s := &server{plan: func(int, *storagepb.AppendRowsRequest) deed {
		reached <- struct{}{}
		return deed{silent: true}
	}}
	client := s.serve(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	table := tableWith(columnOf("s", storagepb.TableFieldSchema_STRING))
	rows := encoderOf(t, recordSchemaOf(t, table), table).Descriptor()
	c, err := client.Connect(ctx, testStream, rows, ConnectionOptions{DefaultValues: true})
	if err != nil {
		t.Fatal(err)
	}
	p := appendTo(t, c, Request{Rows: rowsOf("x"), Offset: 0})
	<-reached
	why := errors.New("enough")
	cancel(why)
	if r := resultOf(t, p); !errors.Is(r.Err, why) || !errors.Is(r.Err, ErrUnsettled) {
		t.Errorf("%v", r.Err)
	}
	if err := c.Close(t.Context()); !errors.Is(err, ErrUnsettled) {
		t.Errorf("closed with %v", err)
	}
	if m := s.firsts[0].GetDefaultMissingValueInterpretation(); m != storagepb.AppendRowsRequest_DEFAULT_VALUE {
		t.Errorf("missing values are %s", m)
	}
}
