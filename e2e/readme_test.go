package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// document reads a file of the checkout.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkout(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkout is the folder of the sources.
func checkout(t *testing.T) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// blocks gives the code blocks of a language in a document.
func blocks(text, language string) []string {
	var found []string
	for _, match := range fence.FindAllStringSubmatch(text, -1) {
		if match[1] == language {
			found = append(found, match[2])
		}
	}
	return found
}

// replaced exchanges what a document can only give an example of, such as an address. All of it must be there.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not there any more:\n%s", pairs[i], text)
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// shell runs a line of a document in a folder and gives what it printed on standard output.
func shell(t *testing.T, folder, line string) string {
	t.Helper()
	var log strings.Builder
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Stderr = folder, &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", line, err, out, log.String())
	}
	return string(out)
}

// newcomer is a folder such as a user has who follows the README: the program, the examples and the job file.
func newcomer(t *testing.T, job string) string {
	t.Helper()
	folder := t.TempDir()
	for name, to := range map[string]string{"firn": BuildFirn(t), "examples": filepath.Join(checkout(t), "examples")} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "orders.yaml"), []byte(job), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestReadme runs every command of the README, in its order, against the broker and the catalog of the tests.
func TestReadme(t *testing.T) {
	broker, catalog := Kafka(t), RESTCatalog(t)
	topic, table := newTopic(t, broker, 4), "readme.orders_"+strconv.FormatInt(time.Now().UnixNano(), 10)
	text := document(t, "README.md")
	jobs := blocks(text, "yaml")
	if len(jobs) != 1 {
		t.Fatalf("%d job files in the README, want 1", len(jobs))
	}
	folder := newcomer(t, replaced(t, jobs[0], "localhost:9092", broker, "topics: [orders]", "topics: ["+topic+"]",
		"http://localhost:8181", catalog, "shop.orders", table))
	seen := map[string]string{}
	for _, block := range blocks(text, "sh") {
		for line := range strings.Lines(block) {
			name, out := runReadme(t, folder, strings.TrimSpace(line), broker, topic)
			seen[name] = out
		}
	}
	for name, want := range map[string]string{
		"go run": "rows committed", "make test": "", "make build": "", "generate": "10,000 messages",
		"check": "ok   kafka   " + topic + " has 4 partitions", "run": "", "table peek": "customer",
		"table audit": "offsets: 10000 = 10000 rows + 0 rejected",
	} {
		if out, ok := seen[name]; !ok || !strings.Contains(out, want) {
			t.Errorf("%s: want %q in\n%s", name, want, out)
		}
	}
	if len(seen) != 8 {
		t.Errorf("commands of the README that the test does not know: %v", seen)
	}
}

// runReadme runs one line of the README and gives a name for it and what it printed.
func runReadme(t *testing.T, folder, line, broker, topic string) (name, out string) {
	t.Helper()
	line, _, _ = strings.Cut(line, "  #")
	words := strings.Fields(line)
	switch {
	case words[0] == "make":
		mustBeTarget(t, words[1])
		return "make " + words[1], ""
	case strings.HasPrefix(line, "go run ./cmd/firn "):
		return "go run", shell(t, checkout(t), line+" --for 1s --dir "+filepath.Join(folder, "firn-demo"))
	case words[0] != "./firn":
		t.Fatalf("no way to run %q", line)
	}
	switch words[1] {
	case "run":
		line += " --until-caught-up"
	case "generate":
		line = replaced(t, line, "localhost:9092", broker, "--topic orders", "--topic "+topic)
	case "table":
		return "table " + words[2], shell(t, folder, line)
	}
	return words[1], shell(t, folder, line)
}

// mustBeTarget checks that make knows a target. make test would run this very test, and make build what BuildFirn has
// built.
func mustBeTarget(t *testing.T, target string) {
	t.Helper()
	if !slices.ContainsFunc(strings.Split(document(t, "Makefile"), "\n"), func(line string) bool {
		return strings.HasPrefix(line, target+":")
	}) {
		t.Errorf("the Makefile has no target %s", target)
	}
}

// endOffsets is the number of messages that were sent to a topic that nothing was deleted from.
func endOffsets(t *testing.T, broker, topic string) int64 {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	ends.Each(func(o kadm.ListedOffset) { sum += o.Offset })
	return sum
}

// TestLocalExample runs examples/kafka-to-iceberg-local.yaml as its head says.
func TestLocalExample(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 1)
	send(t, broker, topic,
		`{"id": 7, "customer": "ada", "amount": 9.50, "created": "2026-01-31T08:00:00Z",`+
			` "items": [{"sku": "a", "count": 2}]}`,
		`{"id": "seven"}`,
		`{"id": 8, "customer": null, "amount": 0.05, "created": "2026-02-01T08:00:00+01:00", "items": []}`)
	folder := newcomer(t, replaced(t, document(t, "examples/kafka-to-iceberg-local.yaml"),
		"localhost:9092", broker, "topics: [orders]", "topics: ["+topic+"]", "127.0.0.1:9464", "127.0.0.1:0"))
	shell(t, folder, "./firn check orders.yaml")
	shell(t, folder, "./firn run orders.yaml --until-caught-up")
	rows := shell(t, folder, "./firn table peek --job orders.yaml --json --where 'id = 7'")
	want := `{"id":7,"customer":"ada","amount":"9.50","created":"2026-01-31T08:00:00Z","items":[{"sku":"a","count":2}]}`
	if strings.TrimSpace(rows) != want {
		t.Errorf("%s, want %s", rows, want)
	}
	if out := shell(t, folder, "./firn table audit --job orders.yaml"); !strings.Contains(out, "3 = 2 rows + 1 rejected") {
		t.Error(out)
	}
	if letters := shell(t, folder, "wc -l <orders-rejected.jsonl"); strings.TrimSpace(letters) != "1" {
		t.Errorf("%s dead letters", letters)
	}
}

// TestStoreExample runs examples/kafka-to-iceberg-rest-s3.yaml with the broker, catalog and store of the tests in place
// of those that it names, which want a login.
func TestStoreExample(t *testing.T) {
	broker, catalog, store := Kafka(t), RESTCatalog(t), S3(t)
	topic, letters := newTopic(t, broker, 1), newTopic(t, broker, 1)
	send(t, broker, topic, `{"user_id": 1, "page": "/", "at": 1769846400000000}`,
		`{"user_id": 2, "page": "/", "at": 1, "x": 0}`)
	text := document(t, "examples/kafka-to-iceberg-rest-s3.yaml")
	login, rest, found := strings.Cut(text, "    tls:\n")
	_, rest, closed := strings.Cut(rest, "    on_gap: stop")
	if !found || !closed {
		t.Fatal("the login of the example is not where it was")
	}
	table := "web.clicks_" + strconv.FormatInt(time.Now().UnixNano(), 10)
	t.Setenv("S3_ACCESS_KEY_ID", store.AccessKey)
	t.Setenv("S3_SECRET_ACCESS_KEY", store.SecretKey)
	folder := newcomer(t, replaced(t, login+"    on_gap: stop"+rest,
		"broker-1.example.com:9093", broker, "      - broker-2.example.com:9093\n", "",
		"topics: [clicks]", "topics: ["+topic+"]", "clicks-rejected", letters,
		"https://catalog.example.com/iceberg", catalog, "      warehouse: lake\n", "",
		"      credential: ${CATALOG_CREDENTIAL}\n", "",
		"https://s3.eu-west-1.amazonaws.com", store.Endpoint, "s3.region: eu-west-1", "s3.region: "+store.Region,
		"        s3.access-key-id:", "        s3.force-virtual-addressing: \"false\"\n        s3.access-key-id:",
		"    table: web.clicks", "    location: s3://"+store.Bucket+"/"+table+"\n    table: "+table,
		"0.0.0.0:9464", "127.0.0.1:0"))
	shell(t, folder, "./firn run orders.yaml --until-caught-up")
	rows := shell(t, folder, "./firn table peek --job orders.yaml --json")
	if want := `{"user_id":1,"page":"/","at":"2026-01-31T08:00:00Z","referrer":null}`; strings.TrimSpace(rows) != want {
		t.Errorf("%s, want %s", rows, want)
	}
	if files := shell(t, folder, "./firn table files --job orders.yaml"); !strings.Contains(files, "s3://"+store.Bucket) {
		t.Error(files)
	}
	if n := endOffsets(t, broker, letters); n != 1 {
		t.Errorf("%d dead letters", n)
	}
}
