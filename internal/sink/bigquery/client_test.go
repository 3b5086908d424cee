package bigquery

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

// certificate makes one for 127.0.0.1 that is signed by itself, and writes it to a file.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, path
}

// secureServer is a server with TLS that notes the headers of calls.
type secureServer struct {
	server
	mu      sync.Mutex
	headers []metadata.MD
}

func (s *secureServer) note(ctx context.Context) {
	md, _ := metadata.FromIncomingContext(ctx)
	s.mu.Lock()
	s.headers = append(s.headers, md)
	s.mu.Unlock()
}

// serveTLS starts the server, and gives its address and the file of its certificate.
func (s *secureServer) serveTLS(t *testing.T) (address, caFile string) {
	t.Helper()
	s.calls, s.rows, s.final = map[string]int{}, map[string][]string{}, map[string]bool{}
	pair, caFile := certificate(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&pair)),
		grpc.UnaryInterceptor(func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
			s.note(ctx)
			return h(ctx, r)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, h grpc.StreamHandler) error {
			s.note(stream.Context())
			return h(srv, stream)
		}))
	storagepb.RegisterBigQueryWriteServer(g, &s.server)
	done := make(chan error, 1)
	go func() { done <- g.Serve(listener) }()
	t.Cleanup(func() {
		g.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String(), caFile
}

// tokenServer gives a token for whatever it is asked, and the key file of an account that asks it.
func tokenServer(t *testing.T) (keyFile string) {
	t.Helper()
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answerWith(w, map[string]any{"access_token": "secret", "token_type": "Bearer", "expires_in": 3600})
	}))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		tokens.CloseClientConnections()
		tokens.Close()
	})
	return keyFor(t, tokens.URL)
}

// keyFor is the key file of an account whose tokens come from a server.
func keyFor(t *testing.T, url string) string {
	t.Helper()
	text, err := os.ReadFile(serviceAccount(t))
	if err != nil {
		t.Fatal(err)
	}
	var key map[string]string
	if err := json.Unmarshal(text, &key); err != nil {
		t.Fatal(err)
	}
	key["token_uri"] = url
	return writeJSON(t, key)
}

// Calls and appends go over TLS with a token, and with the header by which Google finds the table's region.
func TestCallsCarryTokens(t *testing.T) {
	s := &secureServer{}
	o := DefaultOptions()
	o.Endpoint, o.CAFile = s.serveTLS(t)
	o.Credentials.File = tokenServer(t)
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r := resultOf(t, appendTo(t, connect(t, c, testStream), Request{Rows: rowsOf("x"), Offset: 0})); r.Err != nil {
		t.Error(r.Err)
	}
	if n, err := c.Finalize(t.Context(), testStream); err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
	wantParameters := []string{"write_stream=", "name="}
	for i, md := range s.headers {
		parameters := strings.Join(md.Get("x-goog-request-params"), " ")
		if got := md.Get("authorization"); len(got) != 1 || got[0] != "Bearer secret" ||
			!strings.HasPrefix(parameters, wantParameters[i]) || !strings.Contains(parameters, "%2Ftables%2Ft%2F") {
			t.Errorf("headers of call %d: %v", i, md)
		}
	}
	if len(s.headers) != 2 {
		t.Errorf("%d calls", len(s.headers))
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Tokens that are refused are told from servers that are not there, in calls and about tables.
func TestTokensThatAreRefused(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusBadRequest, "invalid_grant")
	}))
	defer refusing.Close()
	s := &secureServer{}
	o := DefaultOptions()
	o.Endpoint, o.CAFile = s.serveTLS(t)
	o.RESTEndpoint, o.Credentials.File, o.Retry.Budget = "https://"+o.Endpoint, keyFor(t, refusing.URL), time.Second
	for _, ca := range []string{o.CAFile, ""} {
		o.CAFile = ca
		c, err := Dial(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Table(t.Context(), testTable); !errors.Is(err, ErrDenied) {
			t.Errorf("certificates %q, a table: %v", ca, err)
		}
		if _, err := c.Finalize(t.Context(), testStream); ca != "" && !errors.Is(err, ErrDenied) {
			t.Errorf("a call: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// A server whose certificate nobody signed is not spoken to.
func TestServersMustBeKnown(t *testing.T) {
	s := &secureServer{}
	_, other := certificate(t)
	o := DefaultOptions()
	o.Endpoint, _ = s.serveTLS(t)
	o.CAFile, o.Credentials.None, o.Retry.Budget = other, true, time.Millisecond
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Finalize(t.Context(), testStream)
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "x509") {
		t.Errorf("%v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestOptionsThatAreWrong(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		set  func(o *Options)
		want string
	}{
		{"nothing set", func(o *Options) { *o = Options{} }, "start from DefaultOptions"},
		{"no certificates", func(o *Options) { o.CAFile = empty }, "has no certificate in PEM"},
		{"no such file", func(o *Options) { o.CAFile = filepath.Join(t.TempDir(), "gone") }, "reading the certificates"},
		{"no credentials", func(*Options) {}, "there are no Google credentials"},
	} {
		o := DefaultOptions()
		c.set(&o)
		if _, err := Dial(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}
