package table

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"firn/internal/fault"
	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"
)

// faulty is a table behind a proxy that decides the fate of each commit, and the committer that goes through it. The
// table's floor is at 0.
type faulty struct {
	direct    *Catalog // past the proxy
	catalog   *Catalog
	ident     string
	table     *Table
	committer *Committer
	proxy     *fault.Catalog
}

func openFaulty(t *testing.T, upstream string, decide func(n int) fault.Fate, o CommitterOptions) faulty {
	t.Helper()
	f := faulty{direct: openCatalog(t, restConfig(upstream)), ident: restIdent()}
	f.table = startTable(t, f.direct, f.ident)
	proxy, err := fault.NewCatalog(upstream, func(n int, _ *http.Request) fault.Fate { return decide(n) })
	if err != nil {
		t.Fatal(err)
	}
	f.proxy = proxy
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	f.catalog = openCatalog(t, restConfig(server.URL))
	o.Fold = fold
	if f.committer, err = NewCommitter(f.catalog, f.ident, "job", o); err != nil {
		t.Fatal(err)
	}
	return f
}

// everyREST runs a test on the REST catalog of this process, and on the one that the environment names.
func everyREST(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("in process", func(t *testing.T) { test(t, serveREST(t)) })
	t.Run("server", func(t *testing.T) { test(t, realREST(t)) })
}

// once gives the first commit a fate and lets the others pass.
func once(f fault.Fate) func(int) fault.Fate {
	return func(n int) fault.Fate {
		if n == 1 {
			return f
		}
		return fault.Pass()
	}
}

// C05, C06, C13, C15, C39: whatever the answer to a commit, its rows are in the table exactly once, and the commit is
// reported as what it became.
func TestCommitFate(t *testing.T) {
	landed := Outcome{Attempts: 1, Unknown: 1}
	again := Outcome{Attempts: 2, Unknown: 1}
	cases := map[string]struct {
		fate fault.Fate
		want Outcome
	}{
		"passes":                           {fault.Pass(), Outcome{Attempts: 1}},
		"lands, 500":                       {fault.Land(500), landed},
		"lands, 502":                       {fault.Land(502), landed},
		"lands, 503":                       {fault.Land(503), landed},
		"lands, 504":                       {fault.Land(504), landed},
		"lands, connection cut":            {fault.LandAndCut(), landed},
		"lands, conflict claimed":          {fault.Land(409), Outcome{Attempts: 1, Conflicts: 1}},
		"does not land, 500":               {fault.Refuse(500), again},
		"does not land, 503":               {fault.Refuse(503), again},
		"does not land, connection cut":    {fault.Fate{}, again},
		"does not land, too many requests": {fault.Refuse(429), Outcome{Attempts: 2}},
		"does not land, conflict":          {fault.Refuse(409), Outcome{Attempts: 2, Conflicts: 1}},
	}
	everyREST(t, func(t *testing.T, url string) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				f := openFaulty(t, url, once(c.fate), CommitterOptions{})
				a, b := flush(f.table, 0, 10), flush(f.table, 10, 20)
				out := commit(t, f.committer, a, b)
				c.want.Floor, c.want.Committed = floorAt(20), ids(a, b)
				if diff := cmp.Diff(c.want, out, cmpopts.IgnoreFields(Outcome{}, "SnapshotID")); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
				checkRows(t, f, 20)
			})
		}
	})
}

func checkRows(t *testing.T, f faulty, want int64) {
	t.Helper()
	for _, err := range f.proxy.Wait() {
		t.Error(err)
	}
	if got := rows(t, f.direct, f.ident); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
}

// C08, C15: no answer at all. The attempt ends by its own time limit, and is found in the table.
func TestCommitStalled(t *testing.T) {
	f := openFaulty(t, serveREST(t), once(fault.LandAndStall()), CommitterOptions{AttemptTimeout: time.Second})
	a := flush(f.table, 0, 10)
	out := commit(t, f.committer, a)
	if diff := cmp.Diff(ids(a), out.Committed); diff != "" || out.Unknown == 0 {
		t.Errorf("outcome %+v, committed (-want +got):\n%s", out, diff)
	}
	checkRows(t, f, 10)
}

// C13, C15, C82: an attempt that was given up lands late, before or after the next one. Either it or the next one
// fails its assertion on the head.
func TestCommitLandsLate(t *testing.T) {
	everyREST(t, func(t *testing.T, url string) {
		t.Run("before the next attempt", func(t *testing.T) {
			when, landed := make(chan struct{}), make(chan struct{})
			f := openFaulty(t, url, func(n int) fault.Fate {
				switch n {
				case 1:
					return fault.LandLate(504, when)
				case 2:
					return fault.Fate{Forward: true, Reply: true, Hold: landed}
				default:
					return fault.Pass()
				}
			}, CommitterOptions{})
			a := flush(f.table, 0, 10)
			var out Outcome
			var group errgroup.Group
			group.Go(func() (err error) {
				out, err = f.committer.Commit(t.Context(), []record.Sealed{a})
				return err
			})
			waitFor(t, func() bool { return f.proxy.Commits() == 2 })
			close(when)
			f.proxy.Wait()
			close(landed)
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			want := Outcome{Floor: floorAt(10), Committed: ids(a), Attempts: 2, Unknown: 1, Conflicts: 1}
			if diff := cmp.Diff(want, out, cmpopts.IgnoreFields(Outcome{}, "SnapshotID")); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			checkRows(t, f, 10)
		})
		t.Run("after the next attempt", func(t *testing.T) {
			when := make(chan struct{})
			f := openFaulty(t, url, once(fault.LandLate(504, when)), CommitterOptions{})
			a := flush(f.table, 0, 10)
			out := commit(t, f.committer, a)
			close(when)
			want := Outcome{Floor: floorAt(10), Committed: ids(a), Attempts: 2, Unknown: 1}
			if diff := cmp.Diff(want, out, cmpopts.IgnoreFields(Outcome{}, "SnapshotID")); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			checkRows(t, f, 10)
		})
	})
}

// waitFor polls a condition that another goroutine brings about.
func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatal("waited a minute in vain")
		}
		<-time.After(time.Millisecond)
	}
}

// C06, C36: what will never land ends the commit at once, and says what to do.
func TestCommitRefused(t *testing.T) {
	for status, want := range map[int]error{
		400: ErrRefused, 401: ErrRefused, 403: ErrRefused, 404: ErrNoTable, 413: ErrRefused,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			f := openFaulty(t, serveREST(t), once(fault.Refuse(status)), CommitterOptions{})
			out, err := f.committer.Commit(t.Context(), []record.Sealed{flush(f.table, 0, 10)})
			if !errors.Is(err, want) || out.Attempts != 1 {
				t.Errorf("error %v after %d attempts, want %v after 1", err, out.Attempts, want)
			}
			checkRows(t, f, 0)
		})
	}
}

// C36, C39: a catalog that stays down is given up after the timeout, and the next call goes on where it was.
func TestCommitTimeout(t *testing.T) {
	down := true
	f := openFaulty(t, serveREST(t), func(int) fault.Fate {
		if down {
			return fault.Refuse(503)
		}
		return fault.Pass()
	}, CommitterOptions{Timeout: 300 * time.Millisecond})
	a := flush(f.table, 0, 10)
	if _, err := f.committer.Commit(t.Context(), []record.Sealed{a}); !errors.Is(err, ErrTimeout) {
		t.Errorf("error %v, want %v", err, ErrTimeout)
	}
	down = false
	f.committer.options.Timeout = time.Minute
	if out := commit(t, f.committer, a); len(out.Committed) != 1 {
		t.Errorf("outcome after the catalog is back: %+v", out)
	}
	checkRows(t, f, 10)
}

// C01, C08, C13, C15, C16: two committers of one job, at random fates, until all is in: each row is there once, and
// what one was told is true.
func TestCommitRandomFates(t *testing.T) {
	const flushes, rowsEach = 40, 10
	random := rand.New(rand.NewPCG(1, 2)) // a fixed seed, to repeat the test
	fates := []func() fault.Fate{
		fault.Pass, fault.Pass, fault.LandAndCut, func() fault.Fate { return fault.Land(500) },
		func() fault.Fate { return fault.Land(409) }, func() fault.Fate { return fault.Refuse(409) },
		func() fault.Fate { return fault.Refuse(503) }, func() fault.Fate { return fault.Fate{} },
		func() fault.Fate {
			now := make(chan struct{})
			close(now)
			return fault.LandLate(504, now)
		},
	}
	f := openFaulty(t, serveREST(t), func(int) fault.Fate { return fates[random.IntN(len(fates))]() }, CommitterOptions{})
	committers := []*Committer{f.committer, committer(t, f.catalog, f.ident)}
	committed := make(map[string]bool)
	next := int64(0)
	for len(committed) < flushes {
		// One in three is what another replica wrote of the same range.
		writers := []record.Sealed{flush(f.table, next, next+rowsEach)}
		if random.IntN(3) == 0 {
			writers = append(writers, flush(f.table, next, next+rowsEach))
		}
		for i, s := range writers {
			out := commit(t, committers[(random.IntN(2)+i)%2], s)
			for _, id := range out.Committed {
				committed[id] = true
			}
			next, _ = out.Floor.Next(partition0)
		}
	}
	checkRows(t, f, flushes*rowsEach)
	for path := range liveFiles(t, f.direct, f.ident) {
		id := path[len(path)-len(".parquet")-36 : len(path)-len(".parquet")]
		if !committed[id] {
			t.Errorf("file %s is in the table and its flush was not reported as committed", path)
		}
	}
}
