package table

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"firn/internal/fault"
)

func TestProbe(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		createTable(t, c, o.ident)
		k := committer(t, c, o.ident)
		if err := k.Probe(t.Context()); err != nil {
			t.Errorf("of an empty table: %v", err)
		}
		begin(t, k)
		if err := k.Probe(t.Context()); err != nil {
			t.Errorf("of a table with a snapshot: %v", err)
		}
		table, err := c.Load(t.Context(), o.ident)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Property(probeKey); got != "" {
			t.Errorf("the probe left %s behind", got)
		}
	})
}

// A catalog that drops the requirements of a commit on its way is refused, and left as it was.
func TestProbeCatalogWithoutAssertions(t *testing.T) {
	upstream, err := url.Parse(serveREST(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(upstream)
		if !strings.Contains(r.In.URL.Path, "/tables/") || r.In.Method != http.MethodPost {
			return
		}
		var body map[string]any
		if err := json.NewDecoder(r.In.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		body["requirements"] = []any{}
		text := jsonText(body)
		r.Out.Body, r.Out.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	c := openCatalog(t, restConfig(server.URL))
	table := createTable(t, c, restIdent())
	if err := committer(t, c, table.Ident()).Probe(t.Context()); !errors.Is(err, ErrNoAssertion) {
		t.Errorf("error %v, want %v", err, ErrNoAssertion)
	}
	fresh, err := table.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := fresh.Property(probeKey); got != "" {
		t.Errorf("the probe left %s behind", got)
	}
}

// C25: a login that may read and not commit shows at the start.
func TestProbeForbidden(t *testing.T) {
	f := openFaulty(t, serveREST(t), once(fault.Refuse(http.StatusForbidden)), CommitterOptions{})
	if err := f.committer.Probe(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v, want %v", err, ErrRefused)
	}
}

// A catalog that is down for a moment is asked again.
func TestProbeUnavailable(t *testing.T) {
	f := openFaulty(t, serveREST(t), once(fault.Refuse(http.StatusServiceUnavailable)), CommitterOptions{})
	if err := f.committer.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}
