package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
	"firn/internal/wire"
)

// page reads a document.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// example is the first code block below a heading of a document.
func example(t *testing.T, text, heading string) string {
	t.Helper()
	_, below, found := strings.Cut(text, "\n"+heading+"\n")
	_, below, fenced := strings.Cut(below, "\n```")
	_, below, _ = strings.Cut(below, "\n") // the language
	block, _, closed := strings.Cut(below, "\n```")
	if !found || !fenced || !closed {
		t.Fatalf("no example below %q", heading)
	}
	return block
}

var (
	ids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	longs = regexp.MustCompile(`\b\d{13,}\b`) // snapshot ids, timestamps
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
)

// plain puts letters where values differ from run to run, and drops white space outside of texts.
func plain(t *testing.T, text string) string {
	t.Helper()
	if json.Valid([]byte(text)) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(text)); err != nil {
			t.Fatal(err)
		}
		text = compact.String()
	}
	return longs.ReplaceAllString(times.ReplaceAllString(ids.ReplaceAllString(text, "ID"), "TIME"), "N")
}

// documentedRun is the job of the documents of the formats, and its messages.
type documentedRun struct {
	job     *job.Job
	address string
}

// runDocumented runs the job that the documents show. change sets where dead letters go.
func runDocumented(t *testing.T, change func(*job.Job)) documentedRun {
	t.Helper()
	kafka, err := wire.NewEmbeddedKafka("orders", 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	sendDocumented(t, kafka.Address())
	dir := t.TempDir()
	j := job.Default()
	j.Name, j.Kind = "orders", job.KindKafkaToIceberg
	k := &j.Source.Kafka
	k.Brokers, k.Topics, k.Group = []string{kafka.Address()}, []string{"orders"}, "orders"
	j.Decode.Schema.Fields = []job.SchemaField{{Name: "id", Type: "long"}}
	i := &j.Sink.Iceberg
	i.Catalog = job.Catalog{Name: "firn", Type: "sql", URI: dir + "/catalog.db", Warehouse: dir + "/warehouse"}
	i.Table, i.CommitInterval = "shop.orders", 3*time.Second // so long that all is in one commit
	j.Errors.Policy = "dead_letter"
	change(&j)
	a, err := wire.Open(t.Context(), &j, wire.Options{UntilCaughtUp: true}, slog.New(slog.DiscardHandler))
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
	return documentedRun{&j, kafka.Address()}
}

// sendDocumented sends five messages to partition 0, of which one is no row and one a tombstone, and two to 1.
func sendDocumented(t *testing.T, address string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	wrong := &kgo.Record{Key: []byte("a"), Value: []byte(`{"id": "seven"}`),
		Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte{0xff, 0xfe}}}}
	records := []*kgo.Record{
		{Value: []byte(`{"id": 1}`)}, {Value: nil}, {Value: []byte(`{"id": 2}`)}, wrong, {Value: []byte(`{"id": 3}`)},
		{Partition: 1, Value: []byte(`{"id": 4}`)}, {Partition: 1, Value: []byte(`{"id": 5}`)},
	}
	for _, r := range records {
		r.Topic = "orders"
	}
	if err := client.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// metadata is what the documents show of a metadata.json.
type metadata struct {
	Properties map[string]string `json:"properties"`
	Snapshots  []struct {
		Summary map[string]string `json:"summary"`
	} `json:"snapshots"`
}

// newestMetadata reads the metadata of the job's table as any other program would.
func newestMetadata(t *testing.T, j *job.Job) (m metadata) {
	t.Helper()
	files, err := filepath.Glob(j.Sink.Iceberg.Catalog.Warehouse + "/shop/orders/metadata/*.metadata.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no metadata: %v", err)
	}
	text, err := os.ReadFile(slices.Max(files)) // they are numbered
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// own gives the entries that are firn's and not the library's, in plain form.
func own(t *testing.T, entries map[string]string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for key, value := range entries {
		if strings.HasPrefix(key, "firn.") || strings.HasPrefix(key, "engine-") {
			found[key] = plain(t, value)
		}
	}
	return found
}

// The examples in docs/formats are what the program writes, and nothing that it writes is left out.
func TestFormatsAreAsDocumented(t *testing.T) {
	letters := filepath.Join(t.TempDir(), "rejected.jsonl")
	run := runDocumented(t, func(j *job.Job) { j.Errors.DeadLetter.File = letters })
	m := newestMetadata(t, run.job)
	if len(m.Snapshots) != 2 {
		t.Fatalf("%d snapshots, want the floor's and the rows'", len(m.Snapshots))
	}
	text := page(t, "docs/formats/snapshot.md")
	documented := map[string]string{}
	for _, key := range []string{
		"firn.orders.offsets", "firn.orders.ranges", "firn.orders.counts", "firn.orders.sealed", "engine-name",
	} {
		documented[key] = plain(t, example(t, text, "### `"+key+"`"))
	}
	if d := cmp.Diff(documented, own(t, m.Snapshots[1].Summary)); d != "" {
		t.Errorf("summary of a snapshot (- docs/formats/snapshot.md, + written): %s", d)
	}
	keys := slices.Sorted(maps.Keys(own(t, m.Snapshots[0].Summary)))
	if d := cmp.Diff([]string{"engine-name", "firn.orders.offsets"}, keys); d != "" {
		t.Errorf("summary of a snapshot that moves only the floor: %s", d)
	}
	property := plain(t, example(t, text, "### `firn.orders.offsets` as a property"))
	if d := cmp.Diff(map[string]string{"firn.orders.offsets": property}, own(t, m.Properties)); d != "" {
		t.Errorf("properties (- docs/formats/snapshot.md, + written): %s", d)
	}
	lines, err := os.ReadFile(letters)
	if err != nil {
		t.Fatal(err)
	}
	letter := plain(t, example(t, page(t, "docs/formats/dead-letters.md"), "## Lines of a file"))
	if d := cmp.Diff(letter, plain(t, string(lines))); d != "" {
		t.Errorf("dead letter (- docs/formats/dead-letters.md, + written): %s", d)
	}
}

var headerRow = regexp.MustCompile("(?m)^\\| `(firn\\.[a-z]+)` \\|")

// The headers of a dead letter are those of the table in docs/formats, in that order.
func TestDeadLetterHeadersAreAsDocumented(t *testing.T) {
	const topic = "rejected"
	run := runDocumented(t, func(j *job.Job) {
		makeTopic(t, j.Source.Kafka.Brokers[0], topic)
		j.Errors.DeadLetter.Topic = topic
	})
	client, err := kgo.NewClient(kgo.SeedBrokers(run.address), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	records := client.PollFetches(t.Context()).Records()
	if len(records) != 1 {
		t.Fatalf("%d dead letters", len(records))
	}
	want := []string{"trace"}
	for _, row := range headerRow.FindAllStringSubmatch(page(t, "docs/formats/dead-letters.md"), -1) {
		want = append(want, row[1])
	}
	var got []string
	for _, h := range records[0].Headers {
		got = append(got, h.Key)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("headers (- documented, + written): %s", d)
	}
}

func makeTopic(t *testing.T, address, topic string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 1, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}

var (
	joined     = regexp.MustCompile("[\"`] ?\\+\\s*[\"`]") // of a text over several lines
	messageRow = regexp.MustCompile("(?m)^### .*\n\n`(.*)`$")
	sections   = regexp.MustCompile("(?m)^### ")
)

// sources is the text of the program, with texts over several lines joined.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"*.go", "../../internal/*/*.go", "../../internal/*/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return joined.ReplaceAllString(all.String(), "")
}

// Every message in docs/errors.md is one that the program has.
func TestErrorsAreAsDocumented(t *testing.T) {
	text, program := page(t, "docs/errors.md"), sources(t)
	messages := messageRow.FindAllStringSubmatch(text, -1)
	if n := len(sections.FindAllString(text, -1)); len(messages) != n {
		t.Errorf("%d messages in %d sections", len(messages), n)
	}
	for _, m := range messages {
		for part := range strings.SplitSeq(m[1], "...") {
			part = strings.Trim(part, " :(,;")
			if part != "" && !strings.Contains(program, part) {
				t.Errorf("no error has %q, of %q", part, m[1])
			}
		}
	}
}

// pages gives the names of all documents, from the root of the checkout.
func pages(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "changelog/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			names = append(names, strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		}
	}
	return names
}

var (
	link    = regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped = regexp.MustCompile("[^a-z0-9 _-]")
)

// anchors are the ids that a heading gets where documents are shown.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		found[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return found
}

var figures = filepath.Join("docs", "figures")

// Links between documents lead to a file that is there, and to a heading in it.
func TestLinksOfDocuments(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, name := range pages(t) {
		for _, l := range link.FindAllStringSubmatch(page(t, name), -1) {
			target, anchor := l[1], l[2]
			path := filepath.Join(filepath.Dir(name), target)
			measured := filepath.Dir(path) == figures && filepath.Ext(path) != ".md" // made by the benchmarks
			if measured || strings.Contains(target, "://") {
				continue
			}
			if target == "" {
				path = name
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: %s: %v", name, l[0], err)
				continue
			}
			if anchor != "" && !anchors(page(t, path))[anchor] {
				t.Errorf("%s: %s: no such heading", name, l[0])
			}
		}
	}
}

var metricName = regexp.MustCompile(`\bfirn_[a-z_]+`)

// The metrics that documents name are those of docs/metrics.md, which a test of their package holds to the program.
func TestMetricsInDocuments(t *testing.T) {
	known := map[string]bool{"firn_job": true} // a label
	for _, name := range metricName.FindAllString(page(t, "docs/metrics.md"), -1) {
		known[name] = true
	}
	for _, name := range pages(t) {
		for _, metric := range metricName.FindAllString(page(t, name), -1) {
			if !known[metric] {
				t.Errorf("%s: no metric %s", name, metric)
			}
		}
	}
}
