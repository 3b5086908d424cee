package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"firn/internal/job"
)

// gcsProperties are the catalog properties of an emulator of GCS behind an endpoint.
func gcsProperties(endpoint string) map[string]string {
	return map[string]string{"gcs.endpoint": endpoint + "/storage/v1/", "gcs.no-auth": "true"}
}

// hadoopOnS3 is a hadoop catalog below a prefix of its own.
func hadoopOnS3(store S3Config, prefix string) job.Catalog {
	return job.Catalog{
		Name: "firn", Type: "hadoop", Warehouse: "s3://" + store.Bucket + "/" + prefix,
		Properties: s3Properties(store, store.Endpoint),
	}
}

func hadoopOnGCS(store GCSConfig, prefix string) job.Catalog {
	return job.Catalog{
		Name: "firn", Type: "hadoop", Warehouse: "gs://" + store.Bucket + "/" + prefix,
		Properties: gcsProperties(store.Endpoint),
	}
}

// TestObjectStores fills a table of every kind of catalog in GCS, and of a hadoop catalog in S3, and has other readers
// count it.
func TestObjectStores(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 4)
	const n = 20_000
	produce(t, broker, topic, 0, n)
	name := fmt.Sprintf("e2e.stores_%d", time.Now().UnixNano())
	t.Run("hadoop on S3", func(t *testing.T) {
		store := S3(t)
		j := numberedJob(broker, topic, name, hadoopOnS3(store, name))
		finish(t, j, 1)
		metadata := metadataOf(t, j)
		readersAgree(t, j, n, Query{Metadata: metadata, S3: &store})
		folder, _, _ := strings.Cut(metadata, "/metadata/")
		if r := Read(t, DuckDB, Query{Metadata: folder, S3: &store}); r.Rows != n {
			t.Errorf("DuckDB finds %d rows by the version hint, want %d", r.Rows, n)
		}
	})
	t.Run("hadoop on GCS", func(t *testing.T) {
		store := GCS(t)
		j := numberedJob(broker, topic, name, hadoopOnGCS(store, name))
		finish(t, j, 1)
		readersAgree(t, j, n, Query{Metadata: metadataOf(t, j), GCS: &store})
	})
	t.Run("sqlite on GCS", func(t *testing.T) {
		dir, store := t.TempDir(), GCS(t)
		j := numberedJob(broker, topic, name, job.Catalog{
			Name: "firn", Type: "sql", URI: dir + "/catalog.db", Warehouse: "gs://" + store.Bucket + "/sql/" + name,
			Properties: gcsProperties(store.Endpoint),
		})
		readersAgree(t, j, n, Query{Catalog: "sqlite:///" + dir + "/catalog.db", Table: name, GCS: &store})
	})
	t.Run("rest on GCS", func(t *testing.T) {
		url, store := RESTCatalog(t), GCS(t)
		j := numberedJob(broker, topic, name, job.Catalog{
			Name: "rest", Type: "rest", URI: url, Properties: gcsProperties(store.Endpoint),
		})
		j.Sink.Iceberg.Location = "gs://" + store.Bucket + "/rest/" + name
		readersAgree(t, j, n, Query{Catalog: url, Table: name, GCS: &store})
	})
}

// TestTwoJobsKilledOnHadoopStores runs two jobs into one table of a hadoop catalog in a store, where they commit
// against each other several times a second, and kills both again and again: every message is in the table once (C01,
// C13, C41).
func TestTwoJobsKilledOnHadoopStores(t *testing.T) {
	broker, name := Kafka(t), fmt.Sprintf("e2e.two_%d", time.Now().UnixNano())
	t.Run("S3", func(t *testing.T) {
		store := S3(t)
		killTwo(t, broker, name, hadoopOnS3(store, name), Query{S3: &store})
	})
	t.Run("GCS", func(t *testing.T) {
		store := GCS(t)
		killTwo(t, broker, name, hadoopOnGCS(store, name), Query{GCS: &store})
	})
}

func killTwo(t *testing.T, broker, name string, catalog job.Catalog, q Query) {
	const rounds = 6
	binary := BuildFirn(t)
	text, err := json.Marshal(map[string]any{
		"type": catalog.Type, "warehouse": catalog.Warehouse, "properties": catalog.Properties,
	})
	if err != nil {
		t.Fatal(err)
	}
	topics := []string{newTopic(t, broker, 4), newTopic(t, broker, 4)}
	files := make([]string, len(topics))
	for i, topic := range topics {
		files[i] = renamed(t, writeJob(t, broker, topic, name, string(text), ""), fmt.Sprintf("numbered-%d", i))
	}
	sent := 0
	for range rounds {
		a, aLog := start(t, binary, "run", files[0])
		b, bLog := start(t, binary, "run", files[1])
		// From before they have connected to well into steady work.
		for range rand.IntN(60) {
			for _, topic := range topics {
				produce(t, broker, topic, sent, sent+20)
				sent += 20
			}
			pause := time.NewTimer(50 * time.Millisecond)
			<-pause.C
		}
		for _, cmd := range []*exec.Cmd{a, b} {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatalf("it had ended before it was killed: %v\n%s%s", err, aLog, bLog)
			}
			_ = cmd.Wait() // killed
		}
	}
	for _, file := range files {
		mustRun(t, binary, "run", file, "--until-caught-up")
		var report auditReport
		if err := json.Unmarshal(mustRun(t, binary, "table", "audit", name, "--job", file, "--json"), &report); err != nil {
			t.Fatal(err)
		}
		if len(report.Faults) > 0 {
			t.Errorf("audit: %s", report.Faults)
		}
	}
	q.Metadata, q.Column = metadataOf(t, numberedJob(broker, topics[0], name, catalog)), "seq"
	r := Read(t, DuckDB, q)
	if r.Rows != int64(sent) || r.Distinct != int64(sent) || deref(r.Max) != strconv.Itoa(sent-1) {
		t.Errorf("%d rows, %d distinct, up to %s, want the numbers 0 to %d", r.Rows, r.Distinct, deref(r.Max), sent-1)
	}
	t.Logf("%d messages in %s, after %d kills of two", sent, q.Metadata, rounds)
}

// renamed gives a job file another name for its job.
func renamed(t *testing.T, file, name string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("name: numbered\n"), []byte("name: "+name+"\n"), 1)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
