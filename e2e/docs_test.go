package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"firn/internal/job"
)

// python runs a script with the interpreter that has a reader, and gives what it printed.
func python(t *testing.T, reader, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.py")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd := exec.CommandContext(t.Context(), interpreter(t, reader), path)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+filepath.Join(checkout(t), "e2e", "readers"))
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s%s", err, script, out, tail(log.String(), 30))
	}
	return string(out)
}

// duckDB runs statements and gives the rows of the last. The extension is loaded from a package, not by its name.
func duckDB(t *testing.T, statements string) string {
	t.Helper()
	_, statements, found := strings.Cut(statements, "LOAD iceberg;")
	if !found {
		t.Fatalf("no LOAD iceberg in %s", statements)
	}
	return python(t, DuckDB, fmt.Sprintf(`from read_duckdb import connect
db = connect()
for statement in filter(None, map(str.strip, """%s""".split(";"))):
    rows = db.execute(statement)
print(rows.fetchall())
`, statements))
}

// ordersTable has a job fill a table with the numbers [0, 30) as ids, in several commits.
func ordersTable(t *testing.T, broker, catalog string) *job.Job {
	t.Helper()
	name := fmt.Sprintf("docs.orders_%d", time.Now().UnixNano())
	topic := newTopic(t, broker, 1)
	j := numberedJob(broker, topic, name, job.Catalog{Name: "lake", Type: "rest", URI: catalog})
	j.Decode.Schema.Fields[0].Name, j.Sink.Iceberg.Partition = "id", nil
	for n := range 3 {
		moreOrders(t, broker, topic, 10*n, 10*n+10)
		finish(t, j, 1)
	}
	return j
}

func moreOrders(t *testing.T, broker, topic string, from, to int) {
	t.Helper()
	var values []string
	for n := from; n < to; n++ {
		values = append(values, fmt.Sprintf(`{"id": %d}`, n))
	}
	send(t, broker, topic, values...)
}

// TestOperationsReadsTheTable runs what docs/operations.md says of reading a table with PyIceberg and DuckDB.
func TestOperationsReadsTheTable(t *testing.T) {
	broker, catalog := Kafka(t), RESTCatalog(t)
	j, text := ordersTable(t, broker, catalog), document(t, "docs/operations.md")
	pairs := []string{"http://localhost:8181", catalog, "shop.orders", j.Sink.Iceberg.Table}
	t.Run(PyIceberg, func(t *testing.T) {
		out := python(t, PyIceberg, replaced(t, blocks(text, "python")[0], pairs...)+
			"print(table.scan(row_filter='id < 10').to_arrow().num_rows)\n")
		if !strings.HasSuffix(out, "\n10\n") {
			t.Error(out)
		}
	})
	t.Run(DuckDB, func(t *testing.T) {
		if out := duckDB(t, replaced(t, blocks(text, "sql")[0], pairs...)); out != "[(10,)]\n" {
			t.Error(out)
		}
	})
}

// TestOperationsMaintainsTheTable runs what docs/operations.md says of Spark: its compaction and expiry take away every
// snapshot of the job, which goes on where it was all the same.
func TestOperationsMaintainsTheTable(t *testing.T) {
	broker, catalog := Kafka(t), RESTCatalog(t)
	_ = interpreter(t, Spark) // skips where it is not there
	j, scripts := ordersTable(t, broker, catalog), blocks(document(t, "docs/operations.md"), "python")
	read := replaced(t, scripts[1], "http://localhost:8181", catalog, "shop.orders", j.Sink.Iceberg.Table)
	maintain := replaced(t, scripts[2], "shop.orders", j.Sink.Iceberg.Table,
		"'shop.orders')", "'"+j.Sink.Iceberg.Table+"', options => map('min-input-files', '2'))", // of any size
		"retain_last => 100", "older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 1")
	out := python(t, Spark, read+maintain)
	if !strings.Contains(out, "|      10|") {
		t.Error(out)
	}
	topic := j.Source.Kafka.Topics[0]
	moreOrders(t, broker, topic, 30, 35)
	finish(t, j, 1)
	r := Read(t, DuckDB, Query{Catalog: catalog, Table: j.Sink.Iceberg.Table, Column: "id"})
	if r.Rows != 35 || r.Distinct != 35 {
		t.Errorf("%d rows, %d distinct, want 35", r.Rows, r.Distinct)
	}
	if report := audited(t, j); report.From.Complete || report.Counts.Rows != 5 {
		t.Errorf("%+v", report)
	}
}

var (
	printedSQL    = regexp.MustCompile(`(?s)with DuckDB:\n(.*?)or with`)
	printedPython = regexp.MustCompile(`(?s)with PyIceberg:\n(.*?)or with`)
	printedFirn   = regexp.MustCompile(`(?m)^  (firn table peek .*)$`)
)

// TestDemoSaysHowToOpenItsTable runs what the demo prints at its end.
func TestDemoSaysHowToOpenItsTable(t *testing.T) {
	folder := newcomer(t, "")
	out := shell(t, folder, "./firn demo --for 1s --rate 500")
	part := func(r *regexp.Regexp) string {
		t.Helper()
		found := r.FindStringSubmatch(out)
		if found == nil {
			t.Fatalf("no %s in\n%s", r, out)
		}
		return found[1]
	}
	if rows := shell(t, folder, "./"+part(printedFirn)); !strings.HasPrefix(rows, "logStreamId") {
		t.Error(rows)
	}
	t.Run(DuckDB, func(t *testing.T) {
		if rows := duckDB(t, part(printedSQL)); !regexp.MustCompile(`^\[\([1-9]\d*,\)\]`).MatchString(rows) {
			t.Error(rows)
		}
	})
	t.Run(PyIceberg, func(t *testing.T) {
		script := strings.ReplaceAll(part(printedPython), "\n  ", "\n")
		if rows := python(t, PyIceberg, strings.TrimPrefix(script, "  ")); !strings.Contains(rows, "logStreamId: int64") {
			t.Error(rows)
		}
	})
}
