package bigquery

import (
	"context"
	"errors"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// nth gives the n-th append a fate.
func nth(n int, fate Fate) func(AppendCall) Fate {
	return func(c AppendCall) Fate {
		if c.N == n {
			return fate
		}
		return Pass()
	}
}

func TestFatesOfAppends(t *testing.T) {
	never := make(chan struct{})
	for _, c := range []struct {
		name   string
		fate   Fate
		stored int64
		check  func(t *testing.T, a *appending)
	}{
		{"refuse", Refuse(ThroughputQuota(time.Second)), 1, func(t *testing.T, a *appending) {
			answer := a.receive()
			refused(t, answer, codes.ResourceExhausted, none)
			info, ok := status.FromProto(answer.GetError()).Details()[0].(*errdetails.RetryInfo)
			if !ok || info.GetRetryDelay().AsDuration() != time.Second {
				t.Errorf("the details are %v", answer.GetError().GetDetails())
			}
			accepted(t, a.append(appendRequest("", 1, nil, plainRow(2, "b"))), 1)
		}},
		{"refuse and end", RefuseAndEnd(Unavailable()), 1, func(_ *testing.T, a *appending) {
			a.ended(codes.Unavailable, none)
		}},
		{"cut", Cut(), 1, func(_ *testing.T, a *appending) { a.ended(codes.Unavailable, none) }},
		{"land", Land(Unavailable()), 2, func(t *testing.T, a *appending) {
			refused(t, a.receive(), codes.Unavailable, none)
		}},
		{"land and end", LandAndEnd(Unavailable()), 2, func(_ *testing.T, a *appending) {
			a.ended(codes.Unavailable, none)
		}},
		{"land and cut", LandAndCut(), 2, func(_ *testing.T, a *appending) { a.ended(codes.Unavailable, none) }},
		{"land late and lost", LandLate(never), 3, func(_ *testing.T, a *appending) {
			a.send(appendRequest("", 2, nil, plainRow(3, "c"))) // it is done while the answer is held
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := start(t, Options{})
			stream := d.create(d.table("t", plain, ""), committed)
			d.Faults().OnAppend(nth(2, c.fate))
			a := d.open()
			accepted(t, a.append(appendRequest(stream, 0, plainWriter(), plainRow(1, "a"))), 0)
			a.send(appendRequest("", 1, nil, plainRow(2, "b")))
			c.check(t, a)
			if c.name == "refuse" {
				return
			}
			if c.name == "land late and lost" {
				d.waitFor(func() bool { return d.Count("p.d.t").Rows == c.stored })
				d.Faults().EndConnections(Unavailable())
				a.ended(codes.Unavailable, none)
			}
			if n := d.finalize(stream); n != c.stored {
				t.Errorf("%d rows are stored, want %d", n, c.stored)
			}
		})
	}
}

// waitFor looks until a condition holds, or the test's time is over.
func (d *double) waitFor(condition func() bool) {
	d.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-d.t.Context().Done():
			d.t.Fatal("the condition never held")
		}
	}
}

func TestHeldAnswersKeepTheirOrder(t *testing.T) {
	d := start(t, Options{})
	stream := d.create(d.table("t", plain, ""), committed)
	hold := make(chan struct{})
	d.Faults().OnAppend(nth(1, LandLate(hold)))
	a := d.open()
	a.send(appendRequest(stream, 0, plainWriter(), plainRow(1, "a")))
	a.send(appendRequest("", 1, nil, plainRow(2, "b")))
	d.waitFor(func() bool { return d.Count("p.d.t").Rows == 2 })
	close(hold)
	accepted(t, a.receive(), 0)
	accepted(t, a.receive(), 1)
}

func TestFatesOfCalls(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	stream := d.create(table, committed)
	d.Faults().OnCall(func(c Call) Fate {
		if c.Method != "FinalizeWriteStream" || c.Name != stream {
			return Pass()
		}
		return []Fate{LandAndStall(), LandAndCut(), Land(Unavailable()), Refuse(Unavailable()), Pass()}[c.N-1]
	})
	finalize := func(ctx context.Context) error {
		_, err := d.api.FinalizeWriteStream(ctx, &storagepb.FinalizeWriteStreamRequest{Name: stream})
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- finalize(ctx) }()
	d.waitFor(func() bool {
		s, wrong := d.stream(stream)
		if wrong != nil {
			t.Fatal(wrong)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.finalized
	})
	cancel()
	fails(t, <-over, codes.Canceled, none)
	for range 3 {
		fails(t, finalize(t.Context()), codes.Unavailable, none)
	}
	if err := finalize(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNewTablesAreHidden(t *testing.T) {
	d := start(t, Options{})
	d.Faults().HideNewTables(2)
	table := d.table("t", plain, "")
	_, err := d.api.CreateWriteStream(t.Context(), &storagepb.CreateWriteStreamRequest{
		Parent: table, WriteStream: &storagepb.WriteStream{Type: committed},
	})
	fails(t, err, codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND)
	a := d.open()
	a.send(appendRequest(table+"/streams/_default", -1, plainWriter(), plainRow(1, "a")))
	a.ended(codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND)
	accepted(t, d.open().append(appendRequest(table+"/streams/_default", -1, plainWriter(), plainRow(1, "a"))), -1)
}

func TestLimits(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	d.Faults().LimitCreates(1)
	stream := d.create(table, committed)
	_, err := d.api.CreateWriteStream(t.Context(), &storagepb.CreateWriteStreamRequest{
		Parent: table, WriteStream: &storagepb.WriteStream{Type: committed},
	})
	fails(t, err, codes.ResourceExhausted, none)
	d.Faults().LimitCreates(0)
	d.create(table, committed)

	d.Faults().LimitConnections(1)
	a := d.open()
	accepted(t, a.append(appendRequest(stream, 0, plainWriter(), plainRow(1, "a"))), 0)
	d.open().ended(codes.ResourceExhausted, none)
	d.Faults().LimitConnections(0)
	d.Faults().OnConnect(func(int) error { return Unavailable() })
	d.open().ended(codes.Unavailable, none)
}

func TestConnectionsEnd(t *testing.T) {
	d := start(t, Options{IdleTimeout: time.Hour})
	stream := d.table("t", plain, "") + "/streams/_default"
	for name, c := range map[string]struct {
		end  func()
		code codes.Code
	}{
		"idle": {d.Faults().CloseIdle, codes.Aborted},
		"ends": {func() { d.Faults().EndConnections(Unavailable()) }, codes.Unavailable},
		"cut":  {d.Faults().CutConnections, codes.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			a := d.open()
			accepted(t, a.append(appendRequest(stream, -1, plainWriter(), plainRow(1, "a"))), -1)
			c.end()
			a.ended(c.code, none)
		})
	}
}

func TestIdleConnectionIsClosed(t *testing.T) {
	d := start(t, Options{IdleTimeout: time.Millisecond})
	d.open().ended(codes.Aborted, none)
}

// TestDrain has the client go away: its stream goes on, and another one comes over a new TCP connection.
func TestDrain(t *testing.T) {
	d := start(t, Options{})
	stream := d.table("t", plain, "") + "/streams/_default"
	a := d.open()
	accepted(t, a.append(appendRequest(stream, -1, plainWriter(), plainRow(1, "a"))), -1)
	connections := func() int {
		d.gate.mu.Lock()
		defer d.gate.mu.Unlock()
		return len(d.gate.open)
	}
	before := connections()
	d.Faults().Drain()
	d.waitFor(func() bool {
		accepted(t, d.open().append(appendRequest(stream, -1, plainWriter(), plainRow(2, "b"))), -1)
		return connections() == before+1
	})
	accepted(t, a.append(appendRequest("", -1, nil, plainRow(3, "c"))), -1)
	if err := a.rpc.CloseSend(); err != nil {
		t.Error(err)
	}
}

func TestCountsWithoutKeeping(t *testing.T) {
	d := start(t, Options{Keep: KeepNone})
	table := d.table("t", plain, "")
	stream := d.create(table, buffered)
	one, two := plainRow(1, "a"), plainRow(2, "bb")
	accepted(t, d.open().append(appendRequest(stream, 0, plainWriter(), one, two)), 0)
	want := Count{Rows: 2, Bytes: int64(len(one) + len(two)), Requests: 1, Sum: Checksum(two) + Checksum(one)}
	if got := d.Count(table); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := d.flush(stream, 1); err != nil {
		t.Error(err)
	}
	if n, m := len(d.Rows(table)), len(d.Log(table)); n+m != 0 {
		t.Errorf("%d rows and %d appends are kept", n, m)
	}
}

func TestPlainText(t *testing.T) {
	s, err := Start(Options{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.CA() != nil || s.RESTEndpoint()[:7] != "http://" {
		t.Errorf("CA %q, REST at %s", s.CA(), s.RESTEndpoint())
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
