package table

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"firn/internal/fault"
	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"
)

// everyStore runs a test on a hadoop catalog in each object store.
func everyStore(t *testing.T, test func(t *testing.T, config CatalogConfig)) {
	t.Run("S3", func(t *testing.T) {
		_, config := serveS3(t)
		test(t, config)
	})
	t.Run("S3 server", func(t *testing.T) { test(t, realS3(t)) })
	t.Run("GCS server", func(t *testing.T) { test(t, realGCS(t)) })
}

// C16, C41: writers that race for each version, each with a client and a job of its own. Of those who put one version
// exactly one lands, until all are in: also where old versions go at once, so that names come free again.
func TestHadoopRace(t *testing.T) {
	everyStore(t, func(t *testing.T, config CatalogConfig) {
		for _, writers := range []int{2, 8} {
			for _, keep := range []string{"100", "1"} {
				t.Run(fmt.Sprintf("%d writers, %s old versions", writers, keep), func(t *testing.T) {
					t.Parallel()
					hadoopRace(t, config, fmt.Sprintf("db.w%dk%s", writers, keep), writers, keep)
				})
			}
		}
	})
}

func hadoopRace(t *testing.T, config CatalogConfig, ident string, writers int, keep string) {
	const rowsEach = 10
	rounds := 8 / writers
	direct := openCatalog(t, config)
	table, err := direct.Create(t.Context(), ident, CreateConfig{
		Schema:     eventSchema(),
		Properties: map[string]string{"write.metadata.previous-versions-max": keep},
	})
	if err != nil {
		t.Fatal(err)
	}
	gate := &contest{entrants: writers}
	base, through := proxied(config)
	server := httptest.NewServer(gate.before(t, base))
	t.Cleanup(server.Close)
	committers := make([]*Committer, writers)
	for w := range committers {
		job := fmt.Sprintf("job%d", w)
		k, err := NewCommitter(direct, ident, job, CommitterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		begin(t, k)
		k, err = NewCommitter(openCatalog(t, through(server.URL)), ident, job, CommitterOptions{Fold: fold})
		if err != nil {
			t.Fatal(err)
		}
		committers[w] = k
	}
	var conflicts, unknown atomic.Int64
	for i := range int64(rounds) {
		var group errgroup.Group
		for _, k := range committers {
			group.Go(func() error {
				out, err := k.Commit(t.Context(), []record.Sealed{flush(table, rowsEach*i, rowsEach*(i+1))})
				conflicts.Add(int64(out.Conflicts))
				unknown.Add(int64(out.Unknown))
				if err == nil && len(out.Committed) != 1 {
					err = fmt.Errorf("outcome %+v", out)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	// An answer that a busy machine lost sends its writer into one contest more: then the count is not exact, and the
	// rows still are.
	want := int64(rounds * writers * (writers - 1) / 2)
	if got := conflicts.Load(); unknown.Load() == 0 && got != want {
		t.Errorf("%d conflicts, want %d: all but one in each contest", got, want)
	}
	if got, want := rows(t, direct, ident), int64(writers*rounds*rowsEach); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	checkLine(t, reload(t, direct, ident), writers*(rounds+1))
}

// contest holds the puts of a version until all who can take part have sent theirs, and lets them go at once. One
// wins and leaves the round; after the last one all come again.
type contest struct {
	entrants int

	mu      sync.Mutex // guards the fields below
	waiting []chan struct{}
	held    int // contests
}

func (c *contest) enter() {
	released := make(chan struct{})
	c.mu.Lock()
	c.waiting = append(c.waiting, released)
	if len(c.waiting) == c.entrants-c.held%c.entrants {
		for _, w := range c.waiting {
			close(w)
		}
		c.waiting = nil
		c.held++
	}
	c.mu.Unlock()
	<-released
}

// before is a proxy for the store at the URL.
func (c *contest) before(t *testing.T, upstream string) http.Handler {
	t.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host // signatures cover it
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conditional := r.Header.Get("If-None-Match") != "" || r.URL.Query().Get("ifGenerationMatch") == "0"
		if name := r.URL.Path + r.URL.Query().Get("name"); conditional && strings.HasSuffix(name, ".metadata.json") {
			c.enter()
		}
		proxy.ServeHTTP(w, r)
	})
}

// proxied gives the URL of the store without a path, and the same catalog through a proxy.
func proxied(config CatalogConfig) (string, func(url string) CatalogConfig) {
	key := "s3.endpoint"
	if strings.HasPrefix(config.Warehouse, "gs:") {
		key = "gcs.endpoint"
	}
	scheme, rest, _ := strings.Cut(config.Properties[key], "://")
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host, func(url string) CatalogConfig {
		through := config
		through.Properties = maps.Clone(config.Properties)
		through.Properties[key] = url + "/" + path
		return through
	}
}

// checkLine checks that the table has so many snapshots, each the child of another, and that each came with a version.
func checkLine(t *testing.T, table *Table, snapshots int) {
	t.Helper()
	parents := map[int64]bool{}
	for _, s := range table.inner.Metadata().Snapshots() {
		if s.ParentSnapshotID == nil {
			parents[0] = true
		} else {
			parents[*s.ParentSnapshotID] = true
		}
	}
	if n := len(table.inner.Metadata().Snapshots()); n != snapshots || len(parents) != n {
		t.Errorf("%d snapshots with %d parents, want %d of each", n, len(parents), snapshots)
	}
	if want := fmt.Sprintf("/v%d.metadata.json", snapshots+1); !strings.HasSuffix(table.MetadataLocation(), want) {
		t.Errorf("the newest version is %s, want %s", table.MetadataLocation(), want)
	}
}

// hadoopTable is a table on the in-process store, with the floor at 0.
func hadoopTable(t *testing.T, properties map[string]string) (*s3Server, CatalogConfig, *Table) {
	t.Helper()
	s, config := serveS3(t)
	c := openCatalog(t, config)
	table, err := c.Create(t.Context(), "db.events", CreateConfig{Schema: eventSchema(), Properties: properties})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, committer(t, c, "db.events"))
	return s, config, table
}

// versions is the names of the versions of all tables.
func (s *s3Server) versions() []string {
	var names []string
	for _, k := range s.keys("/metadata/v") {
		if _, name, _ := strings.Cut(k, "/metadata/"); name != "version-hint.text" {
			names = append(names, name)
		}
	}
	return names
}

// C05, C06, C13, C15, C39: whatever becomes of the put of a version, and of the client's own repeats of it, the rows
// are in the table exactly once, and the commit is reported as what it became.
func TestHadoopPutFate(t *testing.T) {
	cut := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	status := func(code int, text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { s3Fail(w, code, text) }
	}
	conflict := status(409, "ConditionalRequestConflict")
	const repeats = 3 // by the client of S3
	for name, c := range map[string]struct {
		lands bool
		reply func(http.ResponseWriter)
		times int
		want  Outcome
	}{
		"lands, cut once":                {true, cut, 1, Outcome{Attempts: 1}},
		"lands, cut always":              {true, cut, repeats, Outcome{Attempts: 1}},
		"lands, 500 once":                {true, status(500, "InternalError"), 1, Outcome{Attempts: 1}},
		"lands, 503 always":              {true, status(503, "SlowDown"), repeats, Outcome{Attempts: 1}},
		"lands, precondition claimed":    {true, status(412, "PreconditionFailed"), 1, Outcome{Attempts: 1}},
		"lands, conflict claimed":        {true, conflict, 1, Outcome{Attempts: 1}},
		"does not land, cut once":        {false, cut, 1, Outcome{Attempts: 1}},
		"does not land, cut always":      {false, cut, repeats, Outcome{Attempts: 2, Unknown: 1}},
		"does not land, 500 always":      {false, status(500, "InternalError"), repeats, Outcome{Attempts: 2, Unknown: 1}},
		"does not land, conflict":        {false, conflict, 1, Outcome{Attempts: 2, Unknown: 1}},
		"does not land, denied":          {false, status(403, "AccessDenied"), 1, Outcome{Attempts: 2, Unknown: 1}},
		"does not land, not implemented": {false, status(501, "NotImplemented"), 1, Outcome{Attempts: 2, Unknown: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, config, table := hadoopTable(t, nil)
			k := committer(t, openCatalog(t, config), "db.events")
			if err := k.Probe(t.Context()); err != nil {
				t.Fatal(err)
			}
			var puts atomic.Int64
			s.meddle = func(w http.ResponseWriter, _ *http.Request, do func(http.ResponseWriter)) {
				if puts.Add(1) > int64(c.times) {
					do(w)
					return
				}
				if c.lands {
					do(httptest.NewRecorder())
				}
				c.reply(w)
			}
			a := flush(table, 0, 10)
			out := commit(t, k, a)
			c.want.Floor, c.want.Committed = floorAt(10), ids(a)
			if diff := cmp.Diff(c.want, out, cmpopts.IgnoreFields(Outcome{}, "SnapshotID")); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if got := rows(t, openCatalog(t, config), "db.events"); got != 10 {
				t.Errorf("%d rows, want 10", got)
			}
			want := []string{"v1.metadata.json", "v2.metadata.json", "v3.metadata.json"}
			if diff := cmp.Diff(want, s.versions()); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
		})
	}
}

// C13, C15, C39: every request of a commit fails in turn, before or after the store has done it, for each client.
func TestHadoopEveryRequestFails(t *testing.T) {
	sweep := func(t *testing.T, config CatalogConfig) {
		clean := &fault.Plan{}
		commitThrough(t, config, "db.clean", clean)
		for at := 1; at <= clean.Count(); at++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d, after %t", at, after), func(t *testing.T) {
					t.Parallel()
					commitThrough(t, config, fmt.Sprintf("db.at%d%t", at, after), &fault.Plan{At: at, After: after})
				})
			}
		}
	}
	t.Run("S3", func(t *testing.T) {
		_, config := serveS3(t)
		sweep(t, config)
	})
	t.Run("GCS server", func(t *testing.T) { sweep(t, realGCS(t)) })
}

// commitThrough commits through a proxy that fails as planned.
func commitThrough(t *testing.T, config CatalogConfig, ident string, plan *fault.Plan) {
	direct := openCatalog(t, config)
	table := startTable(t, direct, ident)
	base, through := proxied(config)
	proxy, err := fault.NewRequests(base, plan)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	k := committer(t, openCatalog(t, through(server.URL)), ident)
	commit(t, k, flush(table, 0, 10))
	if got := rows(t, direct, ident); got != 10 {
		t.Errorf("%d rows, want 10", got)
	}
	checkLine(t, reload(t, direct, ident), 2)
	if plan.At > plan.Count() {
		t.Errorf("%d requests: the fault was not reached", plan.Count())
	}
}

// C02, C03, C13: a writer sleeps before its put, others commit, and the version that it wants to put is deleted as too
// old. Its put succeeds, far below the head, and must not count.
func TestHadoopSleepingWriter(t *testing.T) {
	s, config, table := hadoopTable(t, map[string]string{"write.metadata.previous-versions-max": "1"})
	asleep, awake := make(chan struct{}), make(chan struct{})
	var seen atomic.Bool
	s.meddle = func(w http.ResponseWriter, r *http.Request, do func(http.ResponseWriter)) {
		if strings.HasSuffix(r.URL.Path, "/v3.metadata.json") && seen.CompareAndSwap(false, true) {
			close(asleep)
			<-awake
		}
		do(w)
	}
	sleeper := committer(t, openCatalog(t, config), "db.events")
	mine := flush(table, 0, 10)
	var out Outcome
	var group errgroup.Group
	group.Go(func() (err error) {
		out, err = sleeper.Commit(t.Context(), []record.Sealed{mine})
		return err
	})
	<-asleep
	c := openCatalog(t, config)
	k := committer(t, c, "db.events")
	for i := range int64(4) {
		commit(t, k, flush(table, 12*i, 12*i+12))
	}
	third := strings.TrimPrefix(config.Warehouse, "s3://bucket/") + "/db/events/metadata/v3.metadata.json"
	if got := s.get(third); got != nil {
		t.Fatal("version 3 is still there: the test shows nothing")
	}
	close(awake)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	want := Outcome{Floor: floorAt(48), Rejected: ids(mine), Attempts: 1, Unknown: 1}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if got := rows(t, c, "db.events"); got != 48 {
		t.Errorf("%d rows, want 48", got)
	}
}

// C08: no answer to the put. The attempt ends by its own time limit, and is found in the table.
func TestHadoopPutStalls(t *testing.T) {
	s, config, table := hadoopTable(t, nil)
	k, err := NewCommitter(openCatalog(t, config), "db.events", "job", CommitterOptions{
		Fold: fold, AttemptTimeout: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.meddle = func(_ http.ResponseWriter, r *http.Request, do func(http.ResponseWriter)) {
		do(httptest.NewRecorder())
		<-r.Context().Done()
	}
	a := flush(table, 0, 10)
	if out := commit(t, k, a); out.Attempts != 1 || !cmp.Equal(out.Committed, ids(a)) {
		t.Errorf("outcome %+v", out)
	}
	if got := rows(t, openCatalog(t, config), "db.events"); got != 10 {
		t.Errorf("%d rows, want 10", got)
	}
}

// The highest version is the table, whatever the hint says, and what lies beside it: claims and drafts of the
// library's own catalog that crashed, and versions of two digits, whose names sort before those of one.
func TestHadoopNewest(t *testing.T) {
	s, config, table := hadoopTable(t, nil)
	k := committer(t, openCatalog(t, config), "db.events")
	for i := range int64(10) {
		commit(t, k, flush(table, 10*i, 10*i+10))
	}
	folder := strings.TrimPrefix(config.Warehouse, "s3://bucket/") + "/db/events/metadata/"
	if got := string(s.get(folder + "version-hint.text")); got != "12" {
		t.Errorf("the hint is %q, want 12", got)
	}
	s.put(folder+"v13.metadata.json.claim", []byte("{}"))
	s.put(folder+"5f7c6bb4-8d2c-4b7a-9d64-1f6a2c9c6c11.metadata.json", []byte("{}"))
	for name, hint := range map[string][]byte{
		"behind": []byte("3"), "ahead": []byte("99"), "garbage": []byte("seven"), "empty": {}, "missing": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s.put(folder+"version-hint.text", hint)
			got := reload(t, openCatalog(t, config), "db.events").MetadataLocation()
			if want := "/v12.metadata.json"; !strings.HasSuffix(got, want) {
				t.Errorf("loaded %s, want %s", got, want)
			}
		})
	}
	commit(t, k, flush(table, 100, 110))
	if got := string(s.get(folder + "version-hint.text")); got != "13" {
		t.Errorf("the hint is %q, want 13", got)
	}
}

// The suffix of a version follows from the property of the one before it, so that a change of the property does not
// give two writers two names.
func TestHadoopCompressedMetadata(t *testing.T) {
	s, config, table := hadoopTable(t, map[string]string{"write.metadata.compression-codec": "gzip"})
	c := openCatalog(t, config)
	k := committer(t, c, "db.events")
	commit(t, k, flush(table, 0, 10))
	tx := reload(t, c, "db.events").inner.NewTransaction()
	if err := tx.SetProperties(map[string]string{"write.metadata.compression-codec": "none"}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	commit(t, k, flush(table, 10, 20))
	want := []string{
		"v1.metadata.json", "v2.gz.metadata.json", "v3.gz.metadata.json", "v4.gz.metadata.json", "v5.metadata.json",
	}
	if diff := cmp.Diff(want, s.versions()); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	if got := rows(t, openCatalog(t, config), "db.events"); got != 20 {
		t.Errorf("%d rows, want 20", got)
	}
	zipped := s.get(s.keys("/v4.gz.metadata.json")[0])
	if !bytes.HasPrefix(zipped, []byte{0x1f, 0x8b}) {
		t.Error("version 4 is not compressed")
	}
}

// What firn's own writers cannot have made is refused, loudly, for reading and for writing.
func TestHadoopForeignTraces(t *testing.T) {
	const foreign = "00000-5f7c6bb4-8d2c-4b7a-9d64-1f6a2c9c6c11.metadata.json"
	for name, c := range map[string]struct {
		make func(s *s3Server, folder string)
		want string
	}{
		"one version twice": {func(s *s3Server, folder string) {
			s.put(folder+"v2.gz.metadata.json", []byte("x"))
		}, "version 2 of the table"},
		"another catalog": {func(s *s3Server, folder string) {
			for _, v := range s.versions() {
				s.put(folder+v, nil)
			}
			s.put(folder+foreign, []byte("{}"))
		}, foreign},
		"no metadata": {func(s *s3Server, folder string) {
			s.put(folder+"v3.metadata.json", []byte("not JSON"))
		}, "v3.metadata.json"},
	} {
		t.Run(name, func(t *testing.T) {
			s, config, _ := hadoopTable(t, nil)
			c.make(s, strings.TrimPrefix(config.Warehouse, "s3://bucket/")+"/db/events/metadata/")
			o := openCatalog(t, config)
			if _, err := o.Load(t.Context(), "db.events"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("loading: error %v, want %q", err, c.want)
			}
			if _, err := o.Create(t.Context(), "db.events", CreateConfig{Schema: eventSchema()}); err == nil {
				t.Error("the table was made anew")
			}
		})
	}
}

// A store that replaces objects against the condition is refused before anything is committed, and at once.
func TestHadoopCarelessStore(t *testing.T) {
	s, config, table := hadoopTable(t, nil)
	s.careless = true
	c := openCatalog(t, config)
	k := committer(t, c, "db.events")
	if err := k.Probe(t.Context()); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "use a rest catalog") {
		t.Errorf("probe: error %v, want %v", err, ErrUnsafe)
	}
	if _, err := k.Commit(t.Context(), []record.Sealed{flush(table, 0, 10)}); !errors.Is(err, ErrUnsafe) {
		t.Errorf("commit: error %v, want %v", err, ErrUnsafe)
	}
	if _, err := c.Create(t.Context(), "db.other", CreateConfig{Schema: eventSchema()}); !errors.Is(err, ErrUnsafe) {
		t.Errorf("create: error %v, want %v", err, ErrUnsafe)
	}
	want := []string{"v1.metadata.json", "v2.metadata.json"}
	if diff := cmp.Diff(want, s.versions()); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

// Properties that would take the versions out of their folder or under names that nobody knows are refused.
func TestHadoopUnsafeProperties(t *testing.T) {
	for key, value := range map[string]string{
		"write.metadata.location":          "s3://bucket/elsewhere",
		"write.metadata.compression-codec": "zstd",
	} {
		t.Run(key, func(t *testing.T) {
			_, config := serveS3(t)
			_, err := openCatalog(t, config).Create(t.Context(), "db.events", CreateConfig{
				Schema: eventSchema(), Properties: map[string]string{key: value},
			})
			if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), key) {
				t.Errorf("error %v, want %v and %s", err, ErrUnsafe, key)
			}
		})
	}
}

// What a commit costs in requests, besides the data file: a list of versions to look, the manifest and its list, which
// builds on the one before, a list and a put for the version, a list to verify, and the hint.
func TestHadoopRequests(t *testing.T) {
	s, config, table := hadoopTable(t, nil)
	k := committer(t, openCatalog(t, config), "db.events")
	commit(t, k, flush(table, 0, 10))
	s.count()
	commit(t, k, flush(table, 10, 20))
	got := s.count()
	t.Logf("requests of a commit: %v", got)
	if got["LIST"] != 3*2 || got["PUT"] != 4 || got["HEAD"] != 0 { // a list has two pages here
		t.Errorf("requests %v", got)
	}
}

// C13: a listing whose connection is cut is not a shorter listing: the table does not seem to be gone, nor older.
func TestHadoopListingCut(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "1") // else the client hides it
	_, config, table := hadoopTable(t, nil)
	k := committer(t, openCatalog(t, config), "db.events")
	commit(t, k, flush(table, 0, 10))
	commit(t, k, flush(table, 10, 20)) // the fourth version, on the second page
	for at := 1; at <= 2; at++ {
		base, through := proxied(config)
		proxy, err := fault.NewRequests(base, &fault.Plan{At: at})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(proxy)
		t.Cleanup(server.Close)
		c := openCatalog(t, through(server.URL))
		table, err := c.Load(t.Context(), "db.events")
		switch {
		case errors.Is(err, ErrNoTable):
			t.Errorf("request %d is cut: %v", at, err)
		case err == nil && !strings.HasSuffix(table.MetadataLocation(), "/v4.metadata.json"): // asked again by the client
			t.Errorf("request %d is cut: the newest version is %s", at, table.MetadataLocation())
		}
	}
}
