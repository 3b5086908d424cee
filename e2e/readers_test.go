package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"firn/internal/job"
)

// auditReport is what a test needs of firn table audit --json.
type auditReport struct {
	Faults []json.RawMessage `json:"faults"`
}

// mustHoldNumbered checks that a table holds the messages [0, n) once each: by a reader that is not firn, and by the
// audit.
func mustHoldNumbered(t *testing.T, binary, jobFile, name, catalog string, n int) {
	t.Helper()
	var report auditReport
	if err := json.Unmarshal(mustRun(t, binary, "table", "audit", name, "--job", jobFile, "--json"), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Faults) > 0 {
		t.Errorf("audit: %s", report.Faults)
	}
	r := Read(t, DuckDB, Query{Catalog: catalog, Table: name, Column: "seq"})
	if r.Rows != int64(n) || r.Distinct != int64(n) || deref(r.Min) != "0" || deref(r.Max) != strconv.Itoa(n-1) {
		t.Errorf("%d rows, %d distinct, from %s to %s, want the numbers 0 to %d", r.Rows, r.Distinct, deref(r.Min),
			deref(r.Max), n-1)
	}
}

func deref(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// TestReadersAgree fills a table in every kind of catalog and store, and has every other reader count it.
func TestReadersAgree(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 4)
	const n = 20_000
	produce(t, broker, topic, 0, n)
	name := fmt.Sprintf("e2e.readers_%d", time.Now().UnixNano())
	t.Run("rest", func(t *testing.T) {
		url := RESTCatalog(t)
		j := numberedJob(broker, topic, name, job.Catalog{Name: "rest", Type: "rest", URI: url})
		readersAgree(t, j, n, Query{Catalog: url, Table: name})
	})
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		j := numberedJob(broker, topic, name,
			job.Catalog{Name: "firn", Type: "sql", URI: dir + "/catalog.db", Warehouse: dir + "/warehouse"})
		readersAgree(t, j, n, Query{Catalog: "sqlite:///" + dir + "/catalog.db", Table: name})
	})
	t.Run("hadoop", func(t *testing.T) {
		j := numberedJob(broker, topic, name, job.Catalog{Name: "firn", Type: "hadoop", Warehouse: t.TempDir()})
		finish(t, j, 1)
		readersAgree(t, j, n, Query{Metadata: metadataOf(t, j)})
	})
	t.Run("sqlite on S3", func(t *testing.T) {
		dir, store := t.TempDir(), S3(t)
		j := numberedJob(broker, topic, name, job.Catalog{
			Name: "firn", Type: "sql", URI: dir + "/catalog.db", Warehouse: "s3://" + store.Bucket + "/" + name,
			Properties: s3Properties(store, store.Endpoint),
		})
		readersAgree(t, j, n, Query{Catalog: "sqlite:///" + dir + "/catalog.db", Table: name, S3: &store})
	})
}

// s3Properties are the catalog properties of a store behind an endpoint.
func s3Properties(s S3Config, endpoint string) map[string]string {
	return map[string]string{
		"s3.endpoint": endpoint, "s3.region": s.Region, "s3.access-key-id": s.AccessKey,
		"s3.secret-access-key": s.SecretKey, "s3.force-virtual-addressing": "false",
	}
}

// readersAgree runs the job and compares the readers: rows, sums, ends, nulls, and a filter on the partition column.
func readersAgree(t *testing.T, j *job.Job, n int64, q Query) {
	t.Helper()
	finish(t, j, 1)
	mustHold(t, j, int(n))
	q.Column, q.Where = "seq", "seq >= 15000"
	sum, least, most := strconv.FormatInt(n*(n-1)/2, 10), "0", strconv.FormatInt(n-1, 10)
	want := Result{
		Columns: []string{"seq", "text"}, Rows: n, Sum: &sum, Min: &least, Max: &most, Distinct: n, Filtered: n - 15_000,
	}
	for _, reader := range Readers {
		t.Run(reader, func(t *testing.T) {
			got := Read(t, reader, q)
			if reader == PyIceberg {
				one := q
				one.Where = "seq = 777" // one bucket of four
				if r := Read(t, reader, one); r.Filtered != 1 || r.FilesFiltered >= r.Files {
					t.Errorf("seq = 777: %d rows in %d of %d files", r.Filtered, r.FilesFiltered, r.Files)
				}
			}
			got.Metadata, got.Files, got.FilesFiltered = "", 0, 0
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
