package fault

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
)

// Requests is an HTTP proxy before any server, such as an object store, that cuts the connection of the request that
// the plan names, before or after the server has done it. It is safe for concurrent use.
type Requests struct {
	Plan  *Plan
	proxy *httputil.ReverseProxy
}

// NewRequests makes a proxy for the server at the URL. It keeps the Host header, which signatures cover.
func NewRequests(upstream string, plan *Plan) (*Requests, error) {
	u, err := url.Parse(upstream)
	if err != nil {
		return nil, fmt.Errorf("parsing the server's URL: %w", err)
	}
	return &Requests{Plan: plan, proxy: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host
	}}}, nil
}

// ServeHTTP implements http.Handler.
func (p *Requests) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	err := p.Plan.Do(r.Method+" "+r.URL.Path, func() error {
		p.proxy.ServeHTTP(answer, r)
		return nil
	})
	if err != nil {
		panic(http.ErrAbortHandler) // the server's way to cut a connection
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}
