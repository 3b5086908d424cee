package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"firn/internal/metric"
)

// staleDefault is how long a job may commit nothing, with something to commit, before it counts as unhealthy. Commits
// come once a second by default, and a catalog that restarts is away for well under this.
const staleDefault = 2 * time.Minute

// Handlers is what the server shows.
type Handlers struct {
	Job   *metric.Job   // required
	Stale time.Duration // see metric.Job.Healthy; 0 is two minutes
}

// handler makes the routes:
//
//	GET /metrics   Prometheus text or OpenMetrics, with the Go and process collectors
//	GET /healthz   200, or 503 with the reason: restart or look at the job
//	GET /readyz    200 while the job moves data, 503 while it starts or stops
//	GET /status    metric.Summary as JSON
func (h Handlers) handler(log *slog.Logger) (http.Handler, error) {
	if h.Job == nil {
		return nil, errors.New("serving HTTP: no job to show")
	}
	if h.Stale == 0 {
		h.Stale = staleDefault
	}
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		h.Job.Collector(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), EnableOpenMetrics: true, MaxRequestsInFlight: 8,
	}))
	mux.HandleFunc("GET /healthz", h.healthz)
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.HandleFunc("GET /status", h.status)
	return mux, nil
}

func (h Handlers) healthz(w http.ResponseWriter, _ *http.Request) {
	if err := h.Job.Healthy(h.Stale); err != nil {
		text(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	text(w, http.StatusOK, "ok")
}

func (h Handlers) readyz(w http.ResponseWriter, _ *http.Request) {
	state, _ := h.Job.CurrentState()
	switch state {
	case metric.Starting, metric.Stopping:
		text(w, http.StatusServiceUnavailable, string(state))
	case metric.Running, metric.Retrying:
		text(w, http.StatusOK, string(state))
	default:
		text(w, http.StatusServiceUnavailable, "unknown state "+string(state))
	}
}

func (h Handlers) status(w http.ResponseWriter, _ *http.Request) {
	body, err := json.MarshalIndent(h.Job.Summary(), "", "  ")
	if err != nil {
		text(w, http.StatusInternalServerError, "writing the summary as JSON: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(body, '\n')) // a client that left needs no answer
}

func text(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body + "\n"))
}
