package bigquery

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
)

// Keep says what becomes of rows that are stored.
type Keep int

const (
	// KeepRows keeps all rows in memory, for Rows and Log.
	KeepRows Keep = iota
	// KeepNone checks rows, counts them and forgets them, for load. Rows and Log stay empty.
	KeepNone
)

// Options says what a server is like. The zero Options is one as Google's, on ports of its own choice.
type Options struct {
	// Insecure speaks without TLS.
	Insecure bool
	Keep     Keep
	// RequestBytesMax is how large an append may be; 0 is 10 MB.
	RequestBytesMax int
	// RowBytesMax is how large a row may be; 0 is 10 MB.
	RowBytesMax int
	// IdleTimeout is how long an AppendRows stream may be without an append; 0 is 10 minutes.
	IdleTimeout time.Duration
	// Location is that of datasets which are made without one; empty is US.
	Location string
	// Listen is where the write API listens, and RESTListen REST; empty is a free port of the loopback.
	Listen, RESTListen string
}

// Limits as BigQuery has them.
const (
	requestBytesMax = 10 << 20
	rowBytesMax     = 10 << 20
	idleTimeout     = 10 * time.Minute
)

func (o Options) withDefaults() Options {
	if o.RequestBytesMax == 0 {
		o.RequestBytesMax = requestBytesMax
	}
	if o.RowBytesMax == 0 {
		o.RowBytesMax = rowBytesMax
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = idleTimeout
	}
	if o.Location == "" {
		o.Location = "US"
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.RESTListen == "" {
		o.RESTListen = "127.0.0.1:0"
	}
	return o
}

// Server is a BigQuery within the process. It is safe for concurrent use.
type Server struct {
	storagepb.UnimplementedBigQueryWriteServer

	options     Options
	faults      *Faults
	ca          []byte
	secure      *tls.Config // nil: without TLS
	gate        *gate
	rest        *http.Server
	restAddress string
	running     sync.WaitGroup // accepting, serving and draining
	receivers   sync.WaitGroup // receive of each AppendRows stream
	closing     sync.Once
	closed      error
	commits     sync.Mutex // one BatchCommitWriteStreams at a time

	mu          sync.Mutex // guards the fields below
	servers     []*grpc.Server
	datasets    map[string]*dataset // by projects/p/datasets/d
	tables      map[string]*table   // by name
	streams     map[string]*stream  // by name
	connections map[*connection]bool
}

// Start starts a server. Close must be called.
func Start(o Options) (*Server, error) {
	s := &Server{
		options: o.withDefaults(), faults: &Faults{calls: make(map[string]int)},
		datasets: make(map[string]*dataset), tables: make(map[string]*table), streams: make(map[string]*stream),
		connections: make(map[*connection]bool),
	}
	s.faults.server = s
	ca, own, err := certificates()
	if err != nil {
		return nil, err
	}
	if !o.Insecure {
		s.ca = ca
		s.secure = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own}}
	}
	listener, err := net.Listen("tcp", s.options.Listen)
	if err != nil {
		return nil, fmt.Errorf("listening for the write API: %w", err)
	}
	s.gate = newGate(listener)
	s.admit()
	s.running.Go(s.gate.run)
	if err := s.serveREST(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// serveREST starts the REST server.
func (s *Server) serveREST() error {
	listener, err := net.Listen("tcp", s.options.RESTListen)
	if err != nil {
		return fmt.Errorf("listening for REST: %w", err)
	}
	s.restAddress = listener.Addr().String()
	s.rest = &http.Server{Handler: s.restHandler(), ReadHeaderTimeout: time.Minute}
	if s.secure != nil {
		listener = tls.NewListener(listener, s.secure)
	}
	s.running.Go(func() { _ = s.rest.Serve(listener) }) // it ends with Close
	return nil
}

// streamsMax is how many streams an HTTP/2 connection carries, as with Google's servers: more wait for one to end.
const streamsMax = 100

// pingsMin is how often a client may send pings.
const pingsMin = 30 * time.Second

// windowBytes lets a client send some requests while others are looked at.
const windowBytes = 4 << 20

// admit starts a gRPC server for the connections to come, and returns the one before.
func (s *Server) admit() (before *grpc.Server) {
	o := []grpc.ServerOption{
		grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(2*s.options.RequestBytesMax + 1<<20),
		grpc.MaxConcurrentStreams(streamsMax),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingsMin, PermitWithoutStream: true}),
		grpc.InitialWindowSize(windowBytes), grpc.InitialConnWindowSize(windowBytes),
		grpc.ReadBufferSize(1 << 17), grpc.UnaryInterceptor(s.intercept), grpc.WaitForHandlers(true),
	}
	if s.secure != nil {
		o = append(o, grpc.Creds(credentials.NewTLS(s.secure)))
	}
	server := grpc.NewServer(o...)
	server.RegisterService(serviceDesc(), s)
	door := s.gate.next()
	s.mu.Lock()
	if n := len(s.servers); n > 0 {
		before = s.servers[n-1]
	}
	s.servers = append(s.servers, server)
	s.mu.Unlock()
	s.running.Go(func() { _ = server.Serve(door) }) // it ends with Close, or when it is drained
	return before
}

// serviceDesc is the service, with AppendRows by a handler that gets requests as they came.
func serviceDesc() *grpc.ServiceDesc {
	d := storagepb.BigQueryWrite_ServiceDesc
	d.Streams = append([]grpc.StreamDesc{}, d.Streams...)
	for i := range d.Streams {
		if d.Streams[i].StreamName == "AppendRows" {
			d.Streams[i].Handler = func(server any, rpc grpc.ServerStream) error {
				return server.(*Server).appendRows(rpc)
			}
		}
	}
	return &d
}

// drain has the server at hand take no new streams, and another one take its place.
func (s *Server) drain() {
	before := s.admit()
	s.running.Go(before.GracefulStop)
}

// Endpoint is host:port of the write API.
func (s *Server) Endpoint() string { return s.gate.listener.Addr().String() }

// RESTEndpoint is the URL of the BigQuery API, as clients take it for an endpoint.
func (s *Server) RESTEndpoint() string {
	scheme := "https"
	if s.secure == nil {
		scheme = "http"
	}
	return scheme + "://" + s.restAddress + "/bigquery/v2/"
}

// CA is the certificate that signed the server's, in PEM; nil when it speaks without TLS.
func (s *Server) CA() []byte { return s.ca }

// Faults is what goes wrong.
func (s *Server) Faults() *Faults { return s.faults }

// Close ends all connections and waits for what the server started. It may be called twice.
func (s *Server) Close() error {
	s.closing.Do(func() {
		var faults []error
		faults = append(faults, s.gate.listener.Close())
		if s.rest != nil {
			faults = append(faults, s.rest.Close())
		}
		s.mu.Lock()
		servers := s.servers
		s.mu.Unlock()
		for _, server := range servers {
			server.Stop()
		}
		s.running.Wait()
		s.receivers.Wait()
		if err := errors.Join(faults...); err != nil {
			s.closed = fmt.Errorf("closing the BigQuery double: %w", err)
		}
	})
	return s.closed
}

// tableName makes a full name of project.dataset.table, or leaves one as it is.
func tableName(name string) string {
	parts := strings.Split(name, ".")
	if len(parts) != 3 || strings.Contains(name, "/") {
		return name
	}
	return "projects/" + parts[0] + "/datasets/" + parts[1] + "/tables/" + parts[2]
}

// lookUp finds a table by project.dataset.table or by its full name.
func (s *Server) lookUp(name string) *table {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tables[tableName(name)]
}

// Rows is what a query of the table sees, in the order of its becoming visible: rows of PENDING streams once they are
// committed, of BUFFERED ones once they are flushed, and of a key only the last change. The table is named
// project.dataset.table or in full; one that is not there has no rows. The caller must not change them.
func (s *Server) Rows(table string) []Row {
	t := s.lookUp(table)
	if t == nil {
		return nil
	}
	return t.rows()
}

// Log is all that was stored in the table, visible or not. The caller must not change the rows.
func (s *Server) Log(table string) Log {
	t := s.lookUp(table)
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(Log{}, t.log...)
}

// Count is how much was stored in the table, visible or not.
func (s *Server) Count(table string) Count {
	t := s.lookUp(table)
	if t == nil {
		return Count{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// connect notes another AppendRows stream, if there may be one.
func (s *Server) connect() (*connection, error) {
	s.mu.Lock()
	open := len(s.connections)
	c := &connection{server: s, end: make(chan error, 1)}
	s.connections[c] = true
	s.mu.Unlock()
	var err error
	if c.number, err = s.faults.connect(open); err != nil {
		s.disconnect(c)
		return nil, err
	}
	return c, nil
}

func (s *Server) disconnect(c *connection) {
	if c.stream != nil {
		c.stream.mu.Lock()
		if c.stream.owner == c {
			c.stream.owner = nil
		}
		c.stream.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, c)
}

func (s *Server) endConnections(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		c.finish(err)
	}
}

// intercept lets a call have its fate.
func (s *Server) intercept(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler,
) (answer any, err error) {
	fate := s.faults.call(info.FullMethod[strings.LastIndexByte(info.FullMethod, '/')+1:], nameOf(request))
	if !fate.Skip {
		answer, err = handle(ctx, request)
	}
	if fate.Hold != nil {
		select {
		case <-fate.Hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	switch {
	case fate.Cut:
		return nil, s.cut(ctx)
	case fate.Stall:
		<-ctx.Done()
		return nil, ctx.Err()
	case fate.Err != nil:
		return nil, fate.Err
	}
	return answer, err
}

// nameOf is the table or stream that a call is about.
func nameOf(request any) string {
	switch r := request.(type) {
	case interface{ GetParent() string }:
		return r.GetParent()
	case interface{ GetName() string }:
		return r.GetName()
	case interface{ GetWriteStream() string }:
		return r.GetWriteStream()
	default:
		return ""
	}
}
