package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"firn/internal/metric"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// start serves a job on a port of the system's choice until the test ends.
func start(t *testing.T, listen string) (*Server, *metric.Job, *clock) {
	t.Helper()
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	job := metric.NewJob("orders", c.Now)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Serve(ctx, listen, Handlers{Job: job, Stale: time.Minute}, nil)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := s.Wait(); err != nil {
			t.Errorf("stopping: %v", err)
		}
	})
	return s, job, c
}

func request(t *testing.T, method, url string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

func TestMetrics(t *testing.T) {
	s, job, _ := start(t, "127.0.0.1:0")
	job.Read("a", 0, 12, 100)
	code, body, _ := request(t, "GET", "http://"+s.Addr+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("code %d: %s", code, body)
	}
	for _, want := range []string{`firn_records_total{firn_job="orders"} 12`, "go_goroutines ", "process_"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q", want)
		}
	}
}

// C36: a job without progress does not look well to whoever watches it.
func TestHealth(t *testing.T) {
	s, job, c := start(t, "127.0.0.1:0")
	check := func(path string, wantCode int, want string) {
		t.Helper()
		code, body, _ := request(t, "GET", "http://"+s.Addr+path)
		if code != wantCode || !strings.Contains(body, want) {
			t.Errorf("%s: %d %q, want %d %q", path, code, body, wantCode, want)
		}
	}
	check("/healthz", 200, "ok")
	check("/readyz", 503, "starting")
	job.State(metric.Running)
	check("/readyz", 200, "running")
	job.Lag("a", 0, 5)
	c.Move(time.Hour)
	check("/healthz", 503, "no commit landed for 1h0m0s")
	job.Committed(metric.Commit{Start: c.Now()})
	check("/healthz", 200, "ok")
	job.State(metric.Retrying)
	check("/readyz", 200, "retrying")
	job.State(metric.Stopping)
	check("/readyz", 503, "stopping")
}

func TestStatus(t *testing.T) {
	s, job, _ := start(t, "127.0.0.1:0")
	job.Decoded(7, 0, 0)
	code, body, header := request(t, "GET", "http://"+s.Addr+"/status")
	var summary metric.Summary
	if err := json.Unmarshal([]byte(body), &summary); err != nil {
		t.Fatalf("code %d: %v", code, err)
	}
	if summary.Rows != 7 || summary.Job != "orders" || header.Get("Content-Type") != "application/json" {
		t.Errorf("summary %+v, header %v", summary, header)
	}
}

func TestOtherRequests(t *testing.T) {
	s, _, _ := start(t, "127.0.0.1:0")
	if code, _, _ := request(t, "GET", "http://"+s.Addr+"/nothing"); code != http.StatusNotFound {
		t.Errorf("unknown path: %d", code)
	}
	if code, _, _ := request(t, "POST", "http://"+s.Addr+"/status"); code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", code)
	}
}

func TestListensOnLoopbackUnlessNamed(t *testing.T) {
	s, _, _ := start(t, ":0")
	host, _, err := net.SplitHostPort(s.Addr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		t.Errorf("listens on %s, %v", s.Addr, err)
	}
	for listen, want := range map[string]string{"0.0.0.0:80": "0.0.0.0:80", "[::]:80": "[::]:80", ":80": "127.0.0.1:80"} {
		if got, err := loopbackUnlessNamed(listen); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", listen, got, err, want)
		}
	}
}

func TestServeErrors(t *testing.T) {
	s, job, _ := start(t, "127.0.0.1:0")
	tests := []struct {
		name, listen string
		job          *metric.Job
		want         string
	}{
		{"no port", "localhost", job, `web.listen "localhost": want host:port`},
		{"port in use", s.Addr, job, "choose another web.listen"},
		{"no job", "127.0.0.1:0", nil, "no job to show"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Serve(t.Context(), tt.listen, Handlers{Job: tt.job}, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A client that keeps its connection open does not hold up the end.
func TestStopsWithAnIdleConnection(t *testing.T) {
	job := metric.NewJob("orders", nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := Serve(ctx, "127.0.0.1:0", Handlers{Job: job}, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	cancel()
	if err := s.Wait(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	if _, err := net.Dial("tcp", s.Addr); err == nil {
		t.Error("still listening after Wait")
	}
}
