package bigquery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// server is a small BigQueryWrite: streams with rows and ends. Each append asks plan what to do; nil is as it should
// be.
type server struct {
	storagepb.UnimplementedBigQueryWriteServer
	plan  func(n int, r *storagepb.AppendRowsRequest) deed // n counts all appends from 0
	unary func(method string, n int) error                 // n counts the calls of the method from 0

	mu      sync.Mutex
	appends int
	calls   map[string]int
	rows    map[string][]string // by stream
	final   map[string]bool
	firsts  []*storagepb.AppendRowsRequest // the first of each gRPC stream
}

// deed is what becomes of an append.
type deed struct {
	refuse  *spb.Status           // the answer; nothing is stored
	rowErrs []*storagepb.RowError // with it
	lose    bool                  // the rows are not stored, and the gRPC stream breaks
	cut     bool                  // they are, and it breaks before the answer
	end     error                 // what it breaks with; nil is UNAVAILABLE, errEnd no error
	last    bool                  // the gRPC stream ends after the answer
	silent  bool                  // no answer, ever
	schema  *storagepb.TableSchema
}

// errEnd ends a stream as if all were well.
var errEnd = errors.New("the end")

func (s *server) AppendRows(stream storagepb.BigQueryWrite_AppendRowsServer) error {
	for first := true; ; first = false {
		r, err := stream.Recv()
		if err != nil {
			return nil
		}
		if first {
			s.mu.Lock()
			s.firsts = append(s.firsts, r)
			s.mu.Unlock()
		}
		answer, d := s.take(r)
		switch {
		case d.silent:
			<-stream.Context().Done()
			return nil
		case (d.lose || d.cut) && errors.Is(d.end, errEnd):
			return nil
		case (d.lose || d.cut) && d.end != nil:
			return d.end
		case d.lose || d.cut:
			return status.Error(codes.Unavailable, "broken by the test")
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
		if d.last {
			if errors.Is(d.end, errEnd) {
				return nil
			}
			return d.end
		}
	}
}

// take stores an append as the server's protocol has it.
func (s *server) take(r *storagepb.AppendRowsRequest) (*storagepb.AppendRowsResponse, deed) {
	var d deed
	s.mu.Lock()
	n := s.appends
	s.appends++
	s.mu.Unlock()
	if s.plan != nil {
		d = s.plan(n, r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.GetWriteStream()
	answer := &storagepb.AppendRowsResponse{WriteStream: name, UpdatedSchema: d.schema, RowErrors: d.rowErrs}
	at, fault := int64(len(s.rows[name])), d.refuse
	switch o := r.GetOffset(); {
	case fault != nil:
	case s.final[name]:
		fault = storageStatus(codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED)
	case o != nil && o.GetValue() < at:
		fault = storageStatus(codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS)
	case o != nil && o.GetValue() > at:
		fault = storageStatus(codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	}
	if fault != nil {
		answer.Response = &storagepb.AppendRowsResponse_Error{Error: fault}
		return answer, d
	}
	result := &storagepb.AppendRowsResponse_AppendResult{}
	if r.GetOffset() != nil {
		result.Offset = wrapperspb.Int64(at)
	}
	answer.Response = &storagepb.AppendRowsResponse_AppendResult_{AppendResult: result}
	if !d.lose && !d.silent {
		for _, row := range r.GetProtoRows().GetRows().GetSerializedRows() {
			s.rows[name] = append(s.rows[name], string(row))
		}
	}
	return answer, d
}

// storageStatus is an error with the API's detail.
func storageStatus(code codes.Code, detail storagepb.StorageError_StorageErrorCode) *spb.Status {
	s, err := status.New(code, "refused by the test").WithDetails(&storagepb.StorageError{Code: detail, Entity: "x"})
	if err != nil {
		panic(err)
	}
	return s.Proto()
}

// call counts a unary call and asks what is to become of it.
func (s *server) call(method string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.calls[method]
	s.calls[method]++
	if s.unary == nil {
		return nil
	}
	return s.unary(method, n)
}

// count is how often a method was called.
func (s *server) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

func (s *server) CreateWriteStream(
	_ context.Context, r *storagepb.CreateWriteStreamRequest,
) (*storagepb.WriteStream, error) {
	if err := s.call("Create"); err != nil {
		return nil, err
	}
	return &storagepb.WriteStream{
		Name: fmt.Sprintf("%s/streams/s%d", r.GetParent(), s.count("Create")), Type: r.GetWriteStream().GetType(),
		TableSchema: tableWith(columnOf("s", storagepb.TableFieldSchema_STRING)),
	}, nil
}

func (s *server) GetWriteStream(_ context.Context, r *storagepb.GetWriteStreamRequest) (*storagepb.WriteStream, error) {
	return &storagepb.WriteStream{Name: r.GetName()}, s.call("Get")
}

func (s *server) FinalizeWriteStream(
	_ context.Context, r *storagepb.FinalizeWriteStreamRequest,
) (*storagepb.FinalizeWriteStreamResponse, error) {
	if err := s.call("Finalize"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final[r.GetName()] = true
	return &storagepb.FinalizeWriteStreamResponse{RowCount: int64(len(s.rows[r.GetName()]))}, nil
}

func (s *server) FlushRows(_ context.Context, r *storagepb.FlushRowsRequest) (*storagepb.FlushRowsResponse, error) {
	return &storagepb.FlushRowsResponse{Offset: r.GetOffset().GetValue()}, s.call("Flush")
}

func (s *server) BatchCommitWriteStreams(
	context.Context, *storagepb.BatchCommitWriteStreamsRequest,
) (*storagepb.BatchCommitWriteStreamsResponse, error) {
	return &storagepb.BatchCommitWriteStreamsResponse{StreamErrors: []*storagepb.StorageError{
		{Code: storagepb.StorageError_STREAM_ALREADY_COMMITTED, Entity: "x"},
	}}, s.call("Commit")
}

// stored is the rows of a stream.
func (s *server) stored(stream string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.rows[stream]...)
}

// serve starts the server, and gives a client of it whose retries are fast.
func (s *server) serve(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	s.calls, s.rows, s.final = map[string]int{}, map[string][]string{}, map[string]bool{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	storagepb.RegisterBigQueryWriteServer(g, s)
	done := make(chan error, 1)
	go func() { done <- g.Serve(listener) }()
	o := DefaultOptions()
	o.Endpoint, o.Insecure, o.CreatesPerSecond = listener.Addr().String(), true, 1000
	o.Retry = Retry{
		Pause: time.Millisecond, PauseMax: 5 * time.Millisecond, QuotaPause: time.Millisecond,
		Budget: 20 * time.Second, NotFoundBudget: 50 * time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		g.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

const testStream = "projects/p/datasets/d/tables/t/streams/s1"

// rowsOf is the rows of a request, of one text column each.
func rowsOf(texts ...string) []byte {
	var buf []byte
	for _, s := range texts {
		row := appendField(nil, 1<<3|wireBytes, s)
		buf = appendField(buf, rowsTag, row)
	}
	return buf
}

// connect opens a connection, and has it closed at the end.
func connect(t *testing.T, c *Client, stream string) *Connection {
	t.Helper()
	table := tableWith(columnOf("s", storagepb.TableFieldSchema_STRING))
	e := encoderOf(t, recordSchemaOf(t, table), table)
	connection, err := c.Connect(t.Context(), stream, e.Descriptor(), ConnectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = connection.Close(ctx)
	})
	return connection
}

func appendTo(t *testing.T, c *Connection, r Request) *Pending {
	t.Helper()
	p, err := c.Append(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func resultOf(t *testing.T, p *Pending) Result {
	t.Helper()
	r, err := p.Result(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// texts is the texts that rows hold.
func texts(t *testing.T, rows []string) []string {
	t.Helper()
	table := tableWith(columnOf("s", storagepb.TableFieldSchema_STRING))
	d := messageOf(t, encoderOf(t, recordSchemaOf(t, table), table).Descriptor())
	var all []string
	for _, row := range rows {
		m := messagesOf(t, appendField(nil, rowsTag, row), d)[0]
		all = append(all, m.Get(d.Fields().Get(0)).String())
	}
	return all
}
