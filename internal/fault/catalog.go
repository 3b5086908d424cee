package fault

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
)

// Catalog is an HTTP proxy before an Iceberg REST catalog that gives every commit the fate that a test wants. Other
// requests pass. It is safe for concurrent use.
type Catalog struct {
	upstream *url.URL
	decide   func(n int, r *http.Request) Fate
	proxy    *httputil.ReverseProxy
	late     sync.WaitGroup // commits that are forwarded after their answer

	mu      sync.Mutex // guards the fields below
	commits int
	faults  []error // of the proxy itself, such as an upstream that is down
}

// Fate is what becomes of one commit. The zero Fate never reaches the catalog, and the connection is cut.
type Fate struct {
	Forward bool            // the catalog gets the commit
	Hold    <-chan struct{} // forward only once it is closed; nil: at once
	First   bool            // answer before it is forwarded: it lands late
	Status  int             // the answer in place of the catalog's
	Reply   bool            // the answer is the catalog's
	Stall   bool            // no answer until the client gives up
}

// Pass lets a commit through.
func Pass() Fate { return Fate{Forward: true, Reply: true} }

// Refuse answers with a status; the catalog never sees the commit.
func Refuse(status int) Fate { return Fate{Status: status} }

// Land lets a commit through and answers with a status in place of the catalog's answer.
func Land(status int) Fate { return Fate{Forward: true, Status: status} }

// LandAndCut lets a commit through and cuts the connection.
func LandAndCut() Fate { return Fate{Forward: true} }

// LandAndStall lets a commit through and answers nothing.
func LandAndStall() Fate { return Fate{Forward: true, Stall: true} }

// LandLate answers with a status at once, and lets the commit through when the channel is closed.
func LandLate(status int, when <-chan struct{}) Fate {
	return Fate{Forward: true, First: true, Status: status, Hold: when}
}

// NewCatalog makes a proxy for the catalog at the URL. decide is asked for each commit, counted from 1; it may block,
// which delays the commit.
func NewCatalog(upstream string, decide func(n int, r *http.Request) Fate) (*Catalog, error) {
	u, err := url.Parse(upstream)
	if err != nil {
		return nil, fmt.Errorf("parsing the catalog's URL: %w", err)
	}
	c := &Catalog{upstream: u, decide: decide}
	c.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) },
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // a client that gave up is no fault of the proxy
				c.fail(err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return c, nil
}

// Commits is how many commits were asked for.
func (c *Catalog) Commits() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.commits
}

// Wait waits for the commits that land late, and returns the faults that were not planned.
func (c *Catalog) Wait() []error {
	c.late.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.faults
}

func (c *Catalog) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, err)
}

// ServeHTTP implements http.Handler.
func (c *Catalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isCommit(r) {
		c.proxy.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.fail(err)
		return
	}
	c.mu.Lock()
	c.commits++
	n := c.commits
	c.mu.Unlock()
	c.serve(w, r, body, c.decide(n, r))
}

// isCommit knows updateTable and commitTransaction of the REST catalog specification.
func isCommit(r *http.Request) bool {
	_, table, ok := strings.Cut(r.URL.Path, "/tables/")
	return r.Method == http.MethodPost &&
		(ok && !strings.Contains(table, "/") || strings.HasSuffix(r.URL.Path, "/transactions/commit"))
}

func (c *Catalog) serve(w http.ResponseWriter, r *http.Request, body []byte, f Fate) {
	if f.First {
		c.late.Go(func() {
			<-f.Hold
			c.forward(r, body)
		})
		c.answer(w, r, f, nil)
		return
	}
	if f.Hold != nil {
		<-f.Hold
	}
	var reply *reply
	if f.Forward {
		reply = c.forward(r, body)
	}
	c.answer(w, r, f, reply)
}

type reply struct {
	status      int
	contentType string
	body        []byte
}

// forward sends a commit on, under a context of its own: the catalog works on when its client has gone.
func (c *Catalog) forward(r *http.Request, body []byte) *reply {
	target := c.upstream.JoinPath(r.URL.EscapedPath())
	request, err := http.NewRequest(r.Method, target.String(), bytes.NewReader(body))
	if err != nil {
		c.fail(err)
		return nil
	}
	request.Header = r.Header.Clone()
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		c.fail(err)
		return nil
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		c.fail(err)
		return nil
	}
	return &reply{response.StatusCode, response.Header.Get("Content-Type"), content}
}

func (c *Catalog) answer(w http.ResponseWriter, r *http.Request, f Fate, reply *reply) {
	switch {
	case f.Stall:
		<-r.Context().Done()
	case f.Reply && reply != nil:
		w.Header().Set("Content-Type", reply.contentType)
		w.WriteHeader(reply.status)
		c.note(w.Write(reply.body))
	case f.Status != 0:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.Status)
		c.note(fmt.Fprintf(w, `{"error":{"message":"injected fault","type":"InjectedFault","code":%d}}`, f.Status))
	default:
		c.cut(w)
	}
}

// note keeps a fault of writing an answer.
func (c *Catalog) note(_ int, err error) {
	if err != nil {
		c.fail(err)
	}
}

// cut closes the connection without an answer.
func (c *Catalog) cut(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		c.fail(err)
		return
	}
	if err := connection.Close(); err != nil {
		c.fail(err)
	}
}
