package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The limits of a connection. What is served is small and made in memory, so seconds are plenty; they keep a slow or
// dead client from holding a connection for ever.
const (
	readTimeout     = 5 * time.Second
	writeTimeout    = 30 * time.Second // a CPU profile or a large registry on a busy machine
	idleTimeout     = 2 * time.Minute  // above the usual scrape interval
	headerBytesMax  = 64 << 10
	shutdownTimeout = 2 * time.Second // for requests that are being answered
)

// Server is a running HTTP server.
type Server struct {
	Addr string // host:port that it listens on, with the port that the system chose for port 0

	http *http.Server
	done chan struct{} // closed when serving ended
	err  error         // why, readable when done is closed
}

// Serve listens and then serves until ctx ends. When it returns without an error, connections are accepted already.
// listen is host:port; without a host, as in :8080, only this machine can connect: say 0.0.0.0 or [::] to open it to
// others. A nil log discards. The caller ends ctx and then calls Wait.
func Serve(ctx context.Context, listen string, h Handlers, log *slog.Logger) (*Server, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	handler, err := h.handler(log)
	if err != nil {
		return nil, err
	}
	addr, err := loopbackUnlessNamed(listen)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for HTTP on %s: %w; choose another web.listen", addr, err)
	}
	s := &Server{
		Addr: listener.Addr().String(),
		done: make(chan struct{}),
		http: &http.Server{
			Handler: handler, ReadTimeout: readTimeout, ReadHeaderTimeout: readTimeout, WriteTimeout: writeTimeout,
			IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytesMax, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		},
	}
	go s.run(ctx, listener)
	return s, nil
}

// Wait blocks until the server has stopped, and says why when that was not the end of ctx.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}

// run owns two goroutines: itself, and the one that accepts connections. Both have ended when done is closed.
func (s *Server) run(ctx context.Context, listener net.Listener) {
	defer close(s.done)
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(listener) }()
	select {
	case err := <-served:
		s.err = fmt.Errorf("serving HTTP on %s: %w", s.Addr, err)
		return
	case <-ctx.Done():
	}
	// ctx has ended, the requests under way have not: they get a little longer.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := s.http.Shutdown(grace); errors.Is(err, context.DeadlineExceeded) {
		_ = s.http.Close() // what is left is cut off; there is nothing to lose in an answer
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		s.err = fmt.Errorf("serving HTTP on %s: %w", s.Addr, err)
	}
}

func loopbackUnlessNamed(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("web.listen %q: want host:port, such as 127.0.0.1:8080: %w", listen, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}
