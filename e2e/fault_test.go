package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"firn/internal/fault"
	"firn/internal/job"
	"firn/internal/table"
	"firn/internal/wire"
)

// numberedJob is the job of the numbered messages, in this process.
func numberedJob(broker, topic, name string, catalog job.Catalog) *job.Job {
	j := job.Default()
	j.Name, j.Kind = "numbered", job.KindKafkaToIceberg
	k := &j.Source.Kafka
	k.Brokers, k.Topics, k.Group = []string{broker}, []string{topic}, "firn-"+topic
	k.MetadataInterval = 200 * time.Millisecond
	j.Decode.Schema.Fields = []job.SchemaField{{Name: "seq", Type: "long", Required: true}, {Name: "text", Type: "string"}}
	i := &j.Sink.Iceberg
	i.Catalog, i.Table, i.Partition, i.CommitInterval = catalog, name, []string{"bucket(seq, 4)"}, 50*time.Millisecond
	return &j
}

// finish runs the job until all is committed that is there, however often it has to be started, and returns how often
// that was.
func finish(t *testing.T, j *job.Job, startsMax int) int {
	t.Helper()
	for n := 1; n <= startsMax; n++ {
		err := runOnce(t.Context(), j)
		if err == nil {
			return n
		}
		t.Logf("start %d ended: %v", n, err)
	}
	t.Fatalf("not finished after %d starts", startsMax)
	return 0
}

func runOnce(ctx context.Context, j *job.Job) (err error) {
	a, err := wire.Open(ctx, j, wire.Options{UntilCaughtUp: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.Run(ctx)
}

// load loads the job's table.
func load(t *testing.T, j *job.Job) *table.Table {
	t.Helper()
	c, err := wire.OpenCatalog(t.Context(), j.Sink.Iceberg.Catalog, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	loaded, err := c.Load(t.Context(), j.Sink.Iceberg.Table)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// metadataOf is where the metadata.json of the job's table is.
func metadataOf(t *testing.T, j *job.Job) string {
	t.Helper()
	return load(t, j).MetadataLocation()
}

// mustHold checks that the table holds the messages [0, n) once each, by the audit and by counting.
func mustHold(t *testing.T, j *job.Job, n int) {
	t.Helper()
	loaded := load(t, j)
	report, err := loaded.Audit(t.Context(), j.Name, table.AuditOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Errorf("audit: %+v", report.Faults)
	}
	rows, err := loaded.Peek(t.Context(), table.PeekOptions{Limit: n + 1000, Columns: []string{"seq"}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range rows.Values {
		seen[string(r[0])]++
	}
	if len(rows.Values) != n || len(seen) != n {
		t.Errorf("%d rows with %d numbers, want %d of each", len(rows.Values), len(seen), n)
	}
}

// TestCatalogThatDropsDelaysAndRefuses puts a proxy before the catalog that gives commits every fate there is: not
// reaching it, landing with the reply lost or replaced by 409, 500 or 503, landing late (C13, C15, C39, C82).
func TestCatalogThatDropsDelaysAndRefuses(t *testing.T) {
	broker, upstream := Kafka(t), RESTCatalog(t)
	topic := newTopic(t, broker, 4)
	random := rand.New(rand.NewPCG(11, 17))
	order := random.Perm(14) // each fate comes up, over and over
	var mu sync.Mutex        // guards random
	proxy, err := fault.NewCatalog(upstream, func(n int, _ *http.Request) fault.Fate {
		mu.Lock()
		defer mu.Unlock()
		soon := make(chan struct{})
		time.AfterFunc(time.Duration(random.IntN(300))*time.Millisecond, func() { close(soon) })
		switch order[n%len(order)] {
		case 0:
			return fault.Fate{}
		case 1:
			return fault.Refuse(http.StatusConflict)
		case 2:
			return fault.Refuse(http.StatusInternalServerError)
		case 3:
			return fault.Refuse(http.StatusServiceUnavailable)
		case 4:
			return fault.Land(http.StatusInternalServerError)
		case 5:
			return fault.Land(http.StatusServiceUnavailable)
		case 6:
			return fault.LandAndCut()
		case 7:
			return fault.LandLate(http.StatusBadGateway, soon)
		case 8:
			return fault.Fate{Forward: true, Reply: true, Hold: soon}
		default:
			return fault.Pass()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(proxy)
	defer server.Close()
	j := numberedJob(broker, topic, fmt.Sprintf("e2e.fates_%d", time.Now().UnixNano()),
		job.Catalog{Name: "rest", Type: "rest", URI: server.URL})
	sent := 0
	for range 12 {
		produce(t, broker, topic, sent, sent+500)
		sent += 500
		finish(t, j, 5)
	}
	mustHold(t, j, sent)
	if errs := proxy.Wait(); len(errs) > 0 {
		t.Error(errs)
	}
	if n := proxy.Commits(); n < len(order) {
		t.Errorf("%d commits: not every fate came up", n)
	}
	mustHold(t, j, sent) // also after what landed late
}

// TestStoreThatFailsEveryOperationInTurn runs a small job against an object store whose n-th request fails, for every
// n, before or after it was done.
func TestStoreThatFailsEveryOperationInTurn(t *testing.T) {
	broker, store := Kafka(t), S3(t)
	topic := newTopic(t, broker, 2)
	produce(t, broker, topic, 0, 50)
	build := func(plan *fault.Plan, name string) (*job.Job, func()) {
		proxy, err := fault.NewRequests(store.Endpoint, plan)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(proxy)
		j := numberedJob(broker, topic, "e2e."+name, job.Catalog{
			Name: "firn", Type: "sql", URI: t.TempDir() + "/catalog.db", Warehouse: "s3://" + store.Bucket + "/" + name,
			Properties: s3Properties(store, server.URL),
		})
		j.Sink.Iceberg.Partition = nil
		return j, server.Close
	}
	prefix := fmt.Sprintf("sweep_%d", time.Now().UnixNano())
	clean := &fault.Plan{}
	j, done := build(clean, prefix)
	finish(t, j, 1)
	done()
	for at := 1; at <= clean.Count(); at++ {
		for _, after := range []bool{false, true} {
			j, done := build(&fault.Plan{At: at, After: after}, fmt.Sprintf("%s_%d_%t", prefix, at, after))
			finish(t, j, 3)
			mustHold(t, j, 50)
			done()
			if t.Failed() {
				t.Fatalf("operation %d, after %t", at, after)
			}
		}
	}
	t.Logf("%d operations failed in turn", clean.Count())
}
