package table

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
)

// openREST opens a REST catalog. Properties that the library reads only after its first request, but needs for it,
// are passed as options too.
func openREST(ctx context.Context, config CatalogConfig) (catalog.Catalog, error) {
	u, err := url.Parse(config.URI)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("uri %q of a rest catalog is not a URL: write http://host/path or https://host/path",
			withoutUserinfo(config.URI))
	}
	options, err := restOptions(config)
	if err != nil {
		return nil, err
	}
	return rest.NewCatalog(ctx, config.Name, config.URI, options...)
}

func restOptions(config CatalogConfig) ([]rest.Option, error) {
	p := iceberg.Properties(config.Properties)
	options := []rest.Option{
		rest.WithTransportFactory(newTransport),
		rest.WithAdditionalProps(catalogProperties(CatalogConfig{Properties: p})),
		rest.WithWarehouseLocation(config.Warehouse),
		rest.WithCredential(config.Credential),
		rest.WithOAuthToken(config.Token),
		rest.WithScope(p.Get("scope", "")),
		rest.WithAudience(p.Get("audience", "")),
		rest.WithResource(p.Get("resource", "")),
		rest.WithPrefix(p.Get("prefix", "")),
	}
	if server := p.Get("oauth2-server-uri", ""); server != "" {
		u, err := url.Parse(server)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("property oauth2-server-uri %q is not a URL", server)
		}
		options = append(options, rest.WithAuthURI(u))
	}
	if p.GetBool("rest.sigv4-enabled", false) {
		options = append(options,
			rest.WithSigV4RegionSvc(p.Get("rest.signing-region", ""), p.Get("rest.signing-name", "execute-api")))
	}
	if p.GetBool("rest.tls.skip-verify", false) {
		options = append(options, rest.WithTLSConfig(&tls.Config{InsecureSkipVerify: true})) //nolint:gosec // asked for
	}
	return options, nil
}

// newTransport is an HTTP transport that notes what became of each request, for the commit loop to judge.
func newTransport(tlsConfig *tls.Config) (http.RoundTripper, func()) {
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSClientConfig:     tlsConfig,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
	}
	return noteTransport{t}, t.CloseIdleConnections
}

// exchange is what is known about the last request for a table. It is used by one goroutine, and written by the
// transport while that goroutine waits.
type exchange struct {
	status    int  // of the reply; 0: none came
	unreached bool // no connection was made, so that the catalog has not seen the request
}

type exchangeKey struct{}

// noting makes requests for tables under the context note themselves in x.
func noting(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

type noteTransport struct{ next http.RoundTripper }

// RoundTrip notes requests for a table; others under the same context, such as for a token, are not the caller's.
func (t noteTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok || !strings.Contains(r.URL.Path, "/tables/") {
		return t.next.RoundTrip(r)
	}
	*x = exchange{}
	response, err := t.next.RoundTrip(r)
	if err == nil {
		x.status = response.StatusCode
		return response, nil
	}
	var dial *net.OpError
	x.unreached = errors.As(err, &dial) && dial.Op == "dial"
	return response, err
}

// loginPause is how long after a fresh login another rejection means that logging in does not help.
const loginPause = 10 * time.Second

// login opens the catalog anew, for a fresh token: the library renews one when its stated time is nearly over, not
// when the server rejects it earlier. It reports false when there is nothing to log in with, or it just did.
func (c *Catalog) login(ctx context.Context) (bool, error) {
	c.loginMu.Lock()
	defer c.loginMu.Unlock()
	if c.config.Type != "rest" || c.config.Credential == "" || time.Since(c.loginAt) < loginPause {
		return false, nil
	}
	fresh, err := openREST(ctx, c.config)
	if err != nil {
		return true, fmt.Errorf("logging in to catalog %s again: %w", c, err)
	}
	c.loginAt = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = fresh // tables in use still hold the old one, so that it is not closed
	return true, nil
}
