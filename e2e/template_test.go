package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
)

// templateRun runs Kafka_To_Iceberg_Yaml to the end of the topic, with the parameters as they were typed, and gives
// what it said.
func templateRun(t *testing.T, parameters ...string) string {
	t.Helper()
	args := []string{"run", "--template", "Kafka_To_Iceberg_Yaml", "--until-caught-up"}
	for _, p := range parameters {
		args = append(args, "--parameters", p)
	}
	cmd := exec.Command(BuildFirn(t), args...)
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("firn %v: %v\n%s", args, err, said)
	}
	return string(said)
}

// orders are messages as a user of the template has them, with a column that nobody wants in the table.
func orders(t *testing.T, broker, topic string, from, to int) {
	t.Helper()
	var values []string
	for n := from; n < to; n++ {
		values = append(values, fmt.Sprintf(
			`{"id": %d, "customer": "c%d", "total": %d.25, "at": "2026-01-%02dT08:00:00Z", "note": "x"}`, n, n%3, n, 1+n%3))
	}
	send(t, broker, topic, values...)
}

// send produces values to partition 0 of a topic, in order.
func send(t *testing.T, broker, topic string, values ...string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, v := range values {
		client.Produce(t.Context(), kgo.StringRecord(v), func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// orderSchema is the JSON Schema of the messages.
const orderSchema = `{"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"},` +
	` "customer": {"type": "string"}, "total": {"type": "number"},` +
	` "at": {"type": "string"}, "note": {"type": "string"}}}`

// rowsOf gives the rows of a table as JSON texts, sorted.
func rowsOf(t *testing.T, catalogFlags []string, table string) []string {
	t.Helper()
	args := append([]string{"table", "peek", table, "--json", "--limit", "1000"}, catalogFlags...)
	text := strings.TrimRight(string(mustRun(t, BuildFirn(t), args...)), "\n")
	rows := strings.Split(text, "\n")
	slices.Sort(rows)
	return rows
}

// partitionsOf is the partitions that have live files, sorted.
func partitionsOf(t *testing.T, catalogFlags []string, table string) []string {
	t.Helper()
	var files []struct {
		Partition string `json:"partition"`
	}
	out := mustRun(t, BuildFirn(t), append([]string{"table", "files", table, "--json"}, catalogFlags...)...)
	if err := json.Unmarshal(out, &files); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Partition)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestTemplateWithRESTCatalog gives the parameters of Kafka_To_Iceberg_Yaml as they are typed for gcloud, with @ for a
// delimiter where the values have commas.
func TestTemplateWithRESTCatalog(t *testing.T) {
	broker, catalog := Kafka(t), RESTCatalog(t)
	topic, table := newTopic(t, broker, 1), fmt.Sprintf("template.rest_%d", time.Now().UnixNano())
	orders(t, broker, topic, 0, 6)
	group := "group-" + topic
	parameters := strings.Join([]string{
		"^@^bootstrapServers=" + broker, "topic=" + topic, "table=" + table, "catalogName=lake",
		fmt.Sprintf(`catalogProperties={"type": "rest", "uri": %q}`, catalog),
		"triggeringFrequencySeconds=1", "schema=" + orderSchema, `drop=["note", "at"]`,
		`partitionFields=["customer", "bucket(id, 2)"]`,
		`tableProperties={"write.parquet.compression-codec": "snappy", "owner": "shop"}`,
		fmt.Sprintf(
			`consumerConfigUpdates={"group.id": %q, "auto.offset.reset": "earliest", "max.poll.records": "9"}`, group),
		"allowDuplicates=true",
	}, "@")
	said := templateRun(t, parameters)
	for _, ignored := range []string{"consumerConfigUpdates.max.poll.records", "allowDuplicates"} {
		if !strings.Contains(said, "template parameter "+ignored+" is not used") {
			t.Errorf("nothing is said of %s:\n%s", ignored, said)
		}
	}
	flags := []string{"--catalog-type", "rest", "--catalog-uri", catalog}
	want := []string{
		`{"id":0,"customer":"c0","total":0.25}`, `{"id":1,"customer":"c1","total":1.25}`,
		`{"id":2,"customer":"c2","total":2.25}`, `{"id":3,"customer":"c0","total":3.25}`,
		`{"id":4,"customer":"c1","total":4.25}`, `{"id":5,"customer":"c2","total":5.25}`,
	}
	if d := cmp.Diff(want, rowsOf(t, flags, table)); d != "" {
		t.Error(d)
	}
	if p := partitionsOf(t, flags, table); len(p) < 3 || !strings.HasPrefix(p[0], "customer=c0/id_bucket=") {
		t.Errorf("partitions %v", p)
	}
	mustHaveProperties(t, catalog, table, map[string]string{"owner": "shop", "write.parquet.compression-codec": "snappy"})
	if at := committedOffset(t, broker, group, topic); at != 6 {
		t.Errorf("group %s stands at %d, want 6", group, at)
	}
	// Started again, it goes on where it stopped.
	orders(t, broker, topic, 6, 8)
	templateRun(t, parameters)
	if n := len(rowsOf(t, flags, table)); n != 8 {
		t.Errorf("%d rows after the second run, want 8", n)
	}
}

// TestTemplateWithHadoopCatalog gives the parameters with commas between, in snake case and in two flags, as far as the
// values allow it.
func TestTemplateWithHadoopCatalog(t *testing.T) {
	broker, warehouse := Kafka(t), t.TempDir()
	topic := newTopic(t, broker, 1)
	orders(t, broker, topic, 0, 4)
	templateRun(t,
		"bootstrap_servers="+broker+",topic="+topic+",table=shop.orders,catalog_name=lake,triggering_frequency_seconds=1",
		fmt.Sprintf(`catalogProperties={"type": "hadoop", "warehouse": %q},keep=["id", "total"],schema=%s`,
			"file://"+warehouse, orderSchema))
	flags := []string{"--catalog-type", "hadoop", "--warehouse", warehouse}
	want := []string{`{"id":0,"total":0.25}`, `{"id":1,"total":1.25}`, `{"id":2,"total":2.25}`, `{"id":3,"total":3.25}`}
	if d := cmp.Diff(want, rowsOf(t, flags, "shop.orders")); d != "" {
		t.Error(d)
	}
	j := job.Default()
	j.Sink.Iceberg.Catalog = job.Catalog{Name: "lake", Type: "hadoop", Warehouse: warehouse}
	j.Sink.Iceberg.Table = "shop.orders"
	r := Read(t, DuckDB, Query{Metadata: metadataOf(t, &j), Column: "id"})
	if r.Rows != 4 || deref(r.Sum) != "6" || !slices.Equal(r.Columns, []string{"id", "total"}) {
		t.Errorf("DuckDB: %+v", r)
	}
}

// TestTemplateReadsLatest asks for new records only, as a consumer would.
func TestTemplateReadsLatest(t *testing.T) {
	broker, warehouse := Kafka(t), t.TempDir()
	topic := newTopic(t, broker, 1)
	orders(t, broker, topic, 0, 3)
	parameters := fmt.Sprintf(`^@^bootstrapServers=%s@topic=%s@table=shop.orders@catalogName=lake`+
		`@triggeringFrequencySeconds=1@catalogProperties={"type": "hadoop", "warehouse": %q}@keep=["id"]@schema=%s`+
		`@consumerConfigUpdates={"auto.offset.reset": "latest"}`, broker, topic, warehouse, orderSchema)
	templateRun(t, parameters)
	orders(t, broker, topic, 3, 5)
	templateRun(t, parameters)
	flags := []string{"--catalog-type", "hadoop", "--warehouse", warehouse}
	if d := cmp.Diff([]string{`{"id":3}`, `{"id":4}`}, rowsOf(t, flags, "shop.orders")); d != "" {
		t.Error(d)
	}
}

// TestTemplateFrequency shows that triggeringFrequencySeconds is the commit interval.
func TestTemplateFrequency(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 1)
	out := mustRun(t, BuildFirn(t), "check", "--template", "Kafka_To_Iceberg_Yaml", "--parameters", fmt.Sprintf(
		`bootstrapServers=%s,topic=%s,table=a.b,catalogName=x,catalogProperties={"type": "hadoop", "warehouse": %q},`+
			`triggeringFrequencySeconds=90,schema=%s`, broker, topic, t.TempDir(), orderSchema))
	if !strings.Contains(string(out), "commit_interval: 1m30s\n") {
		t.Errorf("%s", out)
	}
}

func mustHaveProperties(t *testing.T, catalog, table string, want map[string]string) {
	t.Helper()
	j := job.Default()
	j.Sink.Iceberg.Catalog, j.Sink.Iceberg.Table = job.Catalog{Name: "rest", Type: "rest", URI: catalog}, table
	loaded := load(t, &j)
	for key, value := range want {
		if got := loaded.Property(key); got != value {
			t.Errorf("property %s is %q, want %q", key, got, value)
		}
	}
}

// committedOffset is where a group stands in partition 0 of a topic, or -1.
func committedOffset(t *testing.T, broker, group, topic string) int64 {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	offsets, err := kadm.NewClient(client).FetchOffsets(t.Context(), group)
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := offsets.Lookup(topic, 0); ok {
		return at.At
	}
	return -1
}
