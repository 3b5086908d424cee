package bigquery

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"cloud.google.com/go/auth"
	bq "cloud.google.com/go/bigquery"
	"golang.org/x/time/rate"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// Options says how to reach BigQuery. Start from DefaultOptions.
type Options struct {
	// Project is that of tables which are named without one.
	Project     string
	Credentials Credentials

	// Endpoint is host:port of the Storage Write API, RESTEndpoint the URL of the BigQuery API; empty are Google's.
	Endpoint, RESTEndpoint string
	// Insecure speaks without TLS, and sends no credentials.
	Insecure bool
	// CAFile has the certificates that the server's must be signed by; empty are the system's.
	CAFile string
	// HTTPClient makes the calls of the BigQuery API, as it is; nil makes one of the credentials.
	HTTPClient *http.Client

	// TraceID names the program in BigQuery's own logs.
	TraceID string
	// Channels is how many TCP connections appends are spread over, once there are as many connections.
	Channels int
	// InFlightBytes is how many bytes of rows a Connection takes that are not answered.
	InFlightBytes int
	// AnswerTimeout is how long a request may stay without an answer before its connection counts as dead.
	AnswerTimeout time.Duration
	// CreatesPerSecond bounds CreateWriteStream: BigQuery gets slow above 40, counting all clients of a project.
	CreatesPerSecond float64
	Retry            Retry

	// Log gets what a person should know; nil discards it.
	Log *slog.Logger
	// OnRetry is called for each failure that is tried again, from any goroutine. It must not block.
	OnRetry func(Notice)
}

// DefaultOptions is a client of Google's servers with application default credentials.
func DefaultOptions() Options {
	return Options{
		TraceID: "firn", Channels: 4, InFlightBytes: 16 << 20, AnswerTimeout: time.Minute, CreatesPerSecond: 10,
		Retry: DefaultRetry(),
	}
}

const googleEndpoint = "bigquerystorage.googleapis.com:443"

// Client is a client of the Storage Write API and of the tables that it writes to. It is safe for concurrent use.
type Client struct {
	options  Options
	log      *slog.Logger
	channels *channels
	rest     *bq.Client
	creates  *rate.Limiter
}

// Dial makes a client. It reads credentials, and connects when it is first used.
func Dial(ctx context.Context, o Options) (*Client, error) {
	if o.InFlightBytes < 1 || o.Channels < 1 || o.AnswerTimeout <= 0 || o.CreatesPerSecond <= 0 {
		return nil, errors.New("options of a BigQuery client that are not set: start from DefaultOptions")
	}
	c := &Client{options: o, log: o.Log, creates: rate.NewLimiter(rate.Limit(o.CreatesPerSecond), 1)}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if o.Endpoint == "" {
		o.Endpoint = googleEndpoint
	}
	dial, rest, err := o.dialing()
	if err != nil {
		return nil, fmt.Errorf("connecting to BigQuery: %w", err)
	}
	c.channels = &channels{spread: o.Channels, dial: func() (*grpc.ClientConn, error) {
		return grpc.NewClient(o.Endpoint, dial...)
	}}
	project := o.Project
	if project == "" {
		project = "none" // it is asked for, and used for nothing: each table has its own
	}
	if c.rest, err = bq.NewClient(ctx, project, rest...); err != nil {
		return nil, fmt.Errorf("connecting to the BigQuery API: %w", err)
	}
	return c, nil
}

// dialing is how gRPC and the REST client connect.
func (o Options) dialing() (dial []grpc.DialOption, rest []option.ClientOption, err error) {
	dial = []grpc.DialOption{
		grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithUserAgent("firn"),
		// A connection that is gone without a word is noticed: by the kernel when what is sent is not received for the
		// timeout, and else by pings, which gRPC's servers take every five minutes unless told otherwise.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 5 * time.Minute, Timeout: 20 * time.Second}),
		// gRPC's usual pauses between attempts to connect grow to two minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 2, Jitter: 0.5, MaxDelay: 5 * time.Second,
			},
			MinConnectTimeout: 20 * time.Second,
		}),
	}
	if o.RESTEndpoint != "" {
		rest = append(rest, option.WithEndpoint(o.RESTEndpoint))
	}
	if o.Insecure {
		dial = append(dial, grpc.WithTransportCredentials(insecure.NewCredentials()))
		return dial, append(rest, o.restClient(nil, nil)), nil
	}
	roots, err := o.roots()
	if err != nil {
		return nil, nil, err
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	dial = append(dial, grpc.WithTransportCredentials(credentials.NewTLS(secure)))
	creds, err := o.Credentials.load()
	if err != nil {
		return nil, nil, err
	}
	if creds != nil {
		dial = append(dial, grpc.WithPerRPCCredentials(tokens{creds}))
	}
	return dial, append(rest, o.restClient(creds, roots)), nil
}

// restClient is the HTTP client that is given, or else one with the credentials and certificates; nil is none of the
// former and the system's of the latter.
func (o Options) restClient(creds *auth.Credentials, roots *x509.CertPool) option.ClientOption {
	switch {
	case o.HTTPClient != nil:
		return option.WithHTTPClient(o.HTTPClient)
	case roots != nil:
		transport := &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		}
		return option.WithHTTPClient(&http.Client{Transport: signing{creds: creds, next: transport}})
	case creds == nil:
		return option.WithoutAuthentication()
	default:
		return option.WithAuthCredentials(creds)
	}
}

// roots is the certificates of CAFile; nil is the system's.
func (o Options) roots() (*x509.CertPool, error) {
	if o.CAFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading the certificates: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", o.CAFile)
	}
	return roots, nil
}

// Close ends the client. Its connections must be closed before.
func (c *Client) Close() error {
	err := errors.Join(c.channels.close(), c.rest.Close())
	if err != nil {
		return fmt.Errorf("closing the BigQuery client: %w", err)
	}
	return nil
}
