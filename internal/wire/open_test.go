package wire

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
	"firn/internal/table"
)

// localJob is a job from an embedded Kafka into a table in a temporary folder.
func localJob(t *testing.T, kafka *EmbeddedKafka, topic string) *job.Job {
	t.Helper()
	dir := t.TempDir()
	j := job.Default()
	j.Name, j.Kind = "local", job.KindKafkaToIceberg
	k := &j.Source.Kafka
	k.Brokers, k.Topics, k.Group = []string{kafka.Address()}, []string{topic}, "firn-local"
	k.MetadataInterval = 100 * time.Millisecond
	j.Decode.Schema.Fields = []job.SchemaField{
		{Name: "seq", Type: "long", Required: true}, {Name: "text", Type: "string"},
		{Name: "tags", Type: "list<string>"}, {Name: "at", Type: "struct<lat: double, lon: double>"},
	}
	i := &j.Sink.Iceberg
	i.Catalog = job.Catalog{
		Name: "firn", Type: "sql", URI: filepath.Join(dir, "catalog.db"), Warehouse: filepath.Join(dir, "warehouse"),
	}
	i.Table, i.Partition, i.CommitInterval = "db.numbers", []string{"bucket(seq, 4)"}, 20*time.Millisecond
	return &j
}

func send(t *testing.T, kafka *EmbeddedKafka, topic string, values ...string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(kafka.Address()), kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, v := range values {
		client.Produce(t.Context(), kgo.StringRecord(v), nil)
	}
	if err := client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// runToEnd runs the job until all is committed that is there.
func runToEnd(t *testing.T, j *job.Job) *Assembly {
	t.Helper()
	a, err := Open(t.Context(), j, Options{UntilCaughtUp: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := a.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

func mustLoad(t *testing.T, j *job.Job) *table.Table {
	t.Helper()
	c, err := OpenCatalog(t.Context(), j.Sink.Iceberg.Catalog, slog.New(slog.DiscardHandler))
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

func mustAudit(t *testing.T, j *job.Job) {
	t.Helper()
	report, err := mustLoad(t, j).Audit(t.Context(), j.Name, table.AuditOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Errorf("audit: %+v", report.Faults)
	}
}

func TestFromKafkaIntoATableThatItMakes(t *testing.T) {
	kafka, err := NewEmbeddedKafka("numbers", 3)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	j := localJob(t, kafka, "numbers")
	var values []string
	for n := range 1000 {
		values = append(values, fmt.Sprintf(
			`{"seq": %d, "text": "t%d", "tags": ["a", null, "b%d"], "at": {"lat": %d.5, "lon": -1e3}, "more": [1, {}]}`,
			n, n, n, n))
	}
	send(t, kafka, "numbers", values[:600]...)
	if rows := runToEnd(t, j).Metrics.Summary().Commits.Rows; rows != 600 {
		t.Errorf("first run: %d rows", rows)
	}
	send(t, kafka, "numbers", values[600:]...)
	if rows := runToEnd(t, j).Metrics.Summary().Commits.Rows; rows != 400 {
		t.Errorf("second run: %d rows", rows)
	}
	mustAudit(t, j)
	rows, err := mustLoad(t, j).Peek(t.Context(), table.PeekOptions{Where: "seq = 777"})
	if err != nil {
		t.Fatal(err)
	}
	want := `[[777 "t777" ["a",null,"b777"] {"lat":777.5,"lon":-1000}]]`
	if got := fmt.Sprintf("%s", rows.Values); got != want {
		t.Errorf("row 777: %s, want %s", got, want)
	}
}
