package table

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// guarded is a REST catalog that wants a token, and counts the logins. The token of a login is valid until revoke.
type guarded struct {
	url    string
	logins atomic.Int64
	valid  atomic.Int64 // number of the login whose token is taken
	status int          // the answer to a token that is not
}

func serveGuarded(t *testing.T, status int) *guarded {
	t.Helper()
	upstream, err := url.Parse(serveREST(t))
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{status: status}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/oauth/tokens" {
			g.valid.Store(g.logins.Add(1))
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"access_token":"%d","token_type":"bearer","expires_in":3600}`, g.logins.Load())
			return
		}
		if r.Header.Get("Authorization") != fmt.Sprintf("Bearer %d", g.valid.Load()) {
			w.WriteHeader(g.status)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// C72, C73: a token that dies before its time leads to a fresh login, whatever the catalog answers to it, and nothing
// is lost.
func TestLoginAgain(t *testing.T) {
	for _, status := range []int{401, 419, 501} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			g := serveGuarded(t, status)
			config := restConfig(g.url)
			config.Credential = "me:secret"
			c := openCatalog(t, config)
			table := startTable(t, c, restIdent())
			before := g.logins.Load()
			g.valid.Store(-1)
			out := commit(t, committer(t, c, table.Ident()), flush(table, 0, 10))
			if len(out.Committed) != 1 || g.logins.Load() == before {
				t.Errorf("outcome %+v after %d logins", out, g.logins.Load()-before)
			}
			if got := rows(t, c, table.Ident()); got != 10 {
				t.Errorf("%d rows, want 10", got)
			}
		})
	}
}
