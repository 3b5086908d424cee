package fault

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

const commitPath = "/v1/namespaces/db/tables/events"

func TestCatalogFates(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	for name, c := range map[string]struct {
		fate   Fate
		status int // of the answer; 0: the connection is cut
		body   string
		landed int64
	}{
		"pass":         {Pass(), 200, "from the catalog", 1},
		"refuse":       {Refuse(409), 409, "injected", 0},
		"land":         {Land(500), 500, "injected", 1},
		"land and cut": {LandAndCut(), 0, "", 1},
		"cut":          {Fate{}, 0, "", 0},
		"land late":    {LandLate(504, closed), 504, "injected", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var landed atomic.Int64
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err == nil && string(body) == "commit" {
					landed.Add(1)
				}
				_, _ = io.WriteString(w, "from the catalog")
			}))
			t.Cleanup(upstream.Close)
			proxy, err := NewCatalog(upstream.URL, func(int, *http.Request) Fate { return c.fate })
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(proxy)
			t.Cleanup(server.Close)
			status, body := post(t, server.URL+commitPath)
			if status != c.status || !strings.Contains(body, c.body) {
				t.Errorf("answer %d %q, want %d and %q", status, body, c.status, c.body)
			}
			if faults := proxy.Wait(); len(faults) > 0 {
				t.Error(faults)
			}
			if landed.Load() != c.landed || proxy.Commits() != 1 {
				t.Errorf("%d landed of %d commits, want %d of 1", landed.Load(), proxy.Commits(), c.landed)
			}
		})
	}
}

// post sends a commit and returns the status, or 0 when the connection was cut.
func post(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader("commit"))
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestCatalogIsCommit(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         bool
	}{
		{http.MethodPost, commitPath, true},
		{http.MethodPost, "/v1/prefix/namespaces/a%1Fb/tables/events", true},
		{http.MethodPost, "/v1/transactions/commit", true},
		{http.MethodGet, commitPath, false},
		{http.MethodPost, "/v1/namespaces/db/tables", false},
		{http.MethodPost, commitPath + "/metrics", false},
		{http.MethodPost, "/v1/oauth/tokens", false},
	} {
		if got := isCommit(httptest.NewRequest(c.method, c.path, nil)); got != c.want {
			t.Errorf("%s %s: %t, want %t", c.method, c.path, got, c.want)
		}
	}
}
