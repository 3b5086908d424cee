package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/advise"
	"firn/internal/wire"
)

func TestAdvised(t *testing.T) {
	f := func(now []string, column string, buckets int, want ...string) {
		t.Helper()
		got := advised(now, advise.Cost{Choice: advise.Choice{Column: column, Buckets: buckets}})
		if !slices.Equal(got, want) {
			t.Errorf("%v with %d buckets of %s: %v, want %v", now, buckets, column, got, want)
		}
	}
	f(nil, "id", 16, "bucket(id, 16)")
	f([]string{"day(at)", "bucket(id, 4)"}, "id", 16, "day(at)", "bucket(id, 16)")
	f([]string{"bucket(id, 4)", "name"}, "", 1, "name")
	f([]string{"bucket(id, 4)"}, "other", 8, "bucket(other, 8)")
	f([]string{"bucket(id, 8)"}, "id", 8, "bucket(id, 8)")
	got := bucketColumns([]string{"bucket(id, 4)", "name", "bucket(a.b, 2)"})
	if !slices.Equal(got, []string{"id", "a.b"}) {
		t.Errorf("columns %v", got)
	}
}

// A job that has not run yet is advised by the newest messages of its topic.
func TestAdviseOfAJobWithoutATable(t *testing.T) {
	kafka, err := wire.NewEmbeddedKafka("orders", 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	produceOrders(t, kafka.Address())
	dir := t.TempDir()
	file := filepath.Join(dir, "job.yaml")
	text := fmt.Sprintf(`name: orders
kind: kafka-to-iceberg
source: {kafka: {brokers: [%q], topics: [orders]}}
decode: {schema: {fields: [{name: id, type: long}, {name: customer, type: string}]}}
sink:
  iceberg:
    catalog: {type: sql, uri: %q, warehouse: %q}
    table: shop.orders
    partition: ["bucket(id, 64)"]
`, kafka.Address(), dir+"/catalog.db", dir+"/warehouse")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := execute(t.Context(), []string{"advise", file, "--filter", "customer", "--json"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	var got struct {
		From    string
		Rate    advise.Rate
		Filters []advise.Filter
		Now     []string `json:"partition_now"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.From != "the newest 1000 messages of orders" || got.Rate.RowsPerSecond < 1.6 || got.Rate.RowsPerSecond > 1.7 {
		t.Errorf("from %s, rate %+v", got.From, got.Rate)
	}
	now := []string{"bucket(id, 64)"}
	if len(got.Filters) != 1 || got.Filters[0].Keys.HotShare() != 0.5 || !slices.Equal(got.Now, now) {
		t.Errorf("filters %+v, now %v", got.Filters, got.Now)
	}
	if _, err := os.Stat(dir + "/catalog.db"); err == nil {
		t.Error("a catalog was made")
	}
	errs.Reset()
	code := execute(t.Context(), []string{"advise", file, "--filter", "nope"}, &out, &errs)
	if code != exitUsage || !strings.Contains(errs.String(), `--filter nope: the job writes no column "nope"`) {
		t.Errorf("exit code %d: %s", code, &errs)
	}
	errs.Reset()
	code = execute(t.Context(), []string{"advise", file, "--apply", "--yes"}, &out, &errs)
	if code != exitRunFailed || !strings.Contains(errs.String(), "there is nothing to change") {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}

// produceOrders sends 1,000 orders, half of them of one customer.
func produceOrders(t *testing.T, address string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range 1000 {
		customer := "big"
		if i%2 == 0 {
			customer = fmt.Sprintf("customer %d", i)
		}
		client.Produce(t.Context(), kgo.StringRecord(fmt.Sprintf(`{"id": %d, "customer": %q}`, i, customer)), nil)
	}
	if err := client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}
