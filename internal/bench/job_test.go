package bench

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"firn/internal/job"
	"firn/internal/metric"
	"firn/internal/wire"
)

// TestJobFile: a user could run it, and beside what is said it has the defaults.
func TestJobFile(t *testing.T) {
	folder := t.TempDir()
	b := &broker{addresses: []string{"a:1", "b:2"}, topic: "t"}
	c := jobConfig{b, folder, narrow(), bucketed, "zstd", 10 * time.Second, nil}
	j, err := job.Parse(jobText(t, c), "job.yaml", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	want := job.Default()
	want.Name, want.Kind, want.Log.Level = "bench", job.KindKafkaToIceberg, "warn"
	k := &want.Source.Kafka
	k.Brokers, k.Topics, k.Group = []string{"a:1", "b:2"}, []string{"t"}, "firn-bench"
	want.Decode.Schema.Fields = []job.SchemaField{{Name: "logStreamId", Type: "long"}, {Name: "message", Type: "string"}}
	i := &want.Sink.Iceberg
	i.Catalog = job.Catalog{Name: "default", Type: "hadoop", Warehouse: filepath.Join(folder, "warehouse")}
	i.Table, i.Partition, i.Compression, i.CommitInterval = "bench.messages", []string{bucketed}, "zstd", 10*time.Second
	if diff := cmp.Diff(&want, j); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
}

func jobText(t *testing.T, c jobConfig) []byte {
	t.Helper()
	text, err := c.file()
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}

// TestWideJobFile: every field of the wide messages gets the type that it has in the figures of decode.
func TestWideJobFile(t *testing.T) {
	c := jobConfig{&broker{topic: "t", addresses: []string{"a:1"}}, t.TempDir(), wide(), "", "zstd", time.Second, nil}
	j, err := job.Parse(jobText(t, c), "job.yaml", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := schemaOf(wideColumns)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range j.Decode.Schema.Fields {
		if want := schema.Fields[i]; f.Name != want.Name || f.Type != want.Type.String() {
			t.Errorf("field %d is %s %s, want %s %s", i, f.Name, f.Type, want.Name, want.Type)
		}
	}
	if len(j.Decode.Schema.Fields) != 20 {
		t.Errorf("%d fields", len(j.Decode.Schema.Fields))
	}
}

// TestRunJobEndsWithItsInput: a job whose starter has gone ends too, and says what it came to.
func TestRunJobEndsWithItsInput(t *testing.T) {
	kafka, err := wire.NewEmbeddedKafka("t", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	b := &broker{addresses: []string{kafka.Address()}, topic: "t"}
	c := jobConfig{b, t.TempDir(), narrow(), "", "none", time.Second, nil}
	j, err := job.Parse(jobText(t, c), "job.yaml", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	in, starter := io.Pipe()
	said, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- RunJob(t.Context(), j, false, in, out, slog.New(slog.DiscardHandler))
		_ = out.Close()
	}()
	heard := json.NewDecoder(said)
	var first, second jobMessage
	if err := heard.Decode(&first); err != nil || !first.Running {
		t.Fatalf("first it said %+v, %v", first, err)
	}
	_ = starter.Close()
	if err := heard.Decode(&second); err != nil || second.Report == nil || second.Report.PeakRSSBytes <= 0 {
		t.Fatalf("then it said %+v, %v", second, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestMovedOnce(t *testing.T) {
	report := func(rows, rejected, gap int64) *jobReport {
		return &jobReport{Summary: metric.Summary{
			Commits: metric.Commits{Rows: rows}, Rejected: rejected, Gaps: metric.Gaps{Offsets: gap},
		}}
	}
	if err := report(10, 0, 0).moved(10); err != nil {
		t.Error(err)
	}
	for name, r := range map[string]*jobReport{
		"lost": report(9, 0, 0), "doubled": report(11, 0, 0), "rejected": report(10, 1, 0), "gap": report(10, 0, 1),
	} {
		if err := r.moved(10); err == nil || !strings.Contains(err.Error(), "10 messages were sent") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var k tail
	for range 3000 {
		if n, err := k.Write([]byte("abc")); n != 3 || err != nil {
			t.Fatal(n, err)
		}
	}
	_, _ = k.Write([]byte("end"))
	if len(k.text) != tailBytesMax || !strings.HasSuffix(string(k.text), "abcend") {
		t.Errorf("%d bytes, ending in %q", len(k.text), k.text[len(k.text)-6:])
	}
}
