package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
)

// jobFile writes a job as a file and returns its path.
func jobFile(t *testing.T, j *job.Job) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.yaml")
	written := *j
	written.Sink.Iceberg.CommitInterval = 200 * time.Millisecond // the least that a job file may have
	if err := os.WriteFile(path, []byte(written.YAML()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mustFail runs the program, which must end with the code, and returns what it wrote to standard error.
func mustFail(t *testing.T, code int, args ...string) string {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(BuildFirn(t), args...)
	cmd.Stderr = &log
	var ended *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &ended) || ended.ExitCode() != code {
		t.Fatalf("firn %v: %v, want exit code %d\n%s", args, err, code, log.String())
	}
	return log.String()
}

// mustStop ends a run by the first signal, which must make it exit with 0.
func mustStop(t *testing.T, cmd *exec.Cmd, log *output) {
	t.Helper()
	signal(t, cmd, syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
}

var addressLogged = regexp.MustCompile(`msg="serving metrics".* address=(\S+)`)

// startServing starts a run that serves its figures, and returns where.
func startServing(t *testing.T, file string) (cmd *exec.Cmd, log *output, url string) {
	t.Helper()
	cmd, log = start(t, BuildFirn(t), "run", file, "--listen", "127.0.0.1:0")
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended before unless the test failed
	eventually(t, "an address in the log", func() bool { return logged(t, log, addressLogged) })
	return cmd, log, "http://" + addressLogged.FindStringSubmatch(log.String())[1]
}

// logged tells whether a run has logged something. A run that ended with an error will not.
func logged(t *testing.T, log *output, what *regexp.Regexp) bool {
	t.Helper()
	text := log.String()
	if strings.HasPrefix(text, "firn: ") || strings.Contains(text, "\nfirn: ") {
		t.Fatal(text)
	}
	return what.MatchString(text)
}

// get requests a page and returns its status code and text.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// status is what the tests read of /status.
type status struct {
	Job     string `json:"job"`
	State   string `json:"state"`
	Lag     int64  `json:"lag_records"`
	Commits struct {
		Rows int64 `json:"rows"`
	} `json:"commits"`
}

func statusOf(t *testing.T, url string) (s status) {
	t.Helper()
	_, text := get(t, url+"/status")
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return s
}

// hasRows tells whether a run has committed so many rows.
func hasRows(t *testing.T, url string, n int64) func() bool {
	return func() bool { return statusOf(t, url).Commits.Rows >= n }
}

// TestServedPages looks at all that a run shows over HTTP.
func TestServedPages(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 2)
	produce(t, broker, topic, 0, 300)
	j := numberedJob(broker, topic, "e2e.pages", localCatalog(t))
	j.Name = "pages"
	cmd, log, url := startServing(t, jobFile(t, j))
	eventually(t, "the rows", hasRows(t, url, 300))
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "running\n"} {
		if code, text := get(t, url+path); code != http.StatusOK || text != want {
			t.Errorf("%s: %d %q", path, code, text)
		}
	}
	_, metrics := get(t, url+"/metrics")
	for _, line := range []string{
		`firn_committed_rows_total{firn_job="pages"} 300`, `firn_records_total{firn_job="pages"} 300`,
		`firn_state{firn_job="pages",state="running"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s in /metrics:\n%s", line, metrics)
		}
	}
	if s := statusOf(t, url); s.Job != "pages" || s.State != "running" || s.Commits.Rows != 300 {
		t.Errorf("status %+v", s)
	}
	mustStop(t, cmd, log)
}

// TestRunPrintsItsFigures asks for the figures of a run as JSON.
func TestRunPrintsItsFigures(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 1)
	produce(t, broker, topic, 0, 20)
	j := numberedJob(broker, topic, "e2e.figures", localCatalog(t))
	var s status
	said := mustRun(t, BuildFirn(t), "run", jobFile(t, j), "--until-caught-up", "--json")
	if err := json.Unmarshal(said, &s); err != nil {
		t.Fatal(err)
	}
	if s.Job != "numbered" || s.Commits.Rows != 20 || s.Lag != 0 {
		t.Errorf("%+v", s)
	}
}

// generated is what firn generate --json prints.
type generated struct {
	Messages int64   `json:"messages"`
	Bytes    int64   `json:"bytes"`
	Seconds  float64 `json:"seconds"`
	Rate     float64 `json:"messages_per_second"`
}

func generate(t *testing.T, args ...string) (g generated) {
	t.Helper()
	said := mustRun(t, BuildFirn(t), append([]string{"generate", "--json"}, args...)...)
	if err := json.Unmarshal(said, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGenerateSendsWhatItSays counts in the topic what the generator reports.
func TestGenerateSendsWhatItSays(t *testing.T) {
	broker := Kafka(t)
	for _, c := range []struct {
		name string
		args func(topic string) []string
		want int64 // 0: as many as it says
	}{
		{"a number of messages at a rate", func(topic string) []string {
			return []string{"--brokers", broker, "--topic", topic, "--messages", "5000", "--rate", "20000"}
		}, 5000},
		{"for a time", func(topic string) []string {
			return []string{"--brokers", broker, "--topic", topic, "--for", "500ms", "--rate", "1000",
				"--template", "GAME_EVENT"}
		}, 0},
		{"the parameters of Streaming_Data_Generator", func(topic string) []string {
			return []string{"--parameters", "qps=2000,messagesLimit=777,schemaTemplate=GAME_EVENT,sinkType=KAFKA," +
				"bootstrapServer=" + broker + ",kafkaTopic=" + topic}
		}, 777},
		{"its parameters with a template file", func(topic string) []string {
			return []string{"--parameters", "^@^qps=1000@messagesLimit=40@sinkType=KAFKA@bootstrapServer=" + broker +
				"@kafkaTopic=" + topic + "@schemaLocation=" + filepath.Join(checkout(t), "examples", "order.json")}
		}, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			topic := newTopic(t, broker, 3)
			g := generate(t, c.args(topic)...)
			if c.want != 0 && g.Messages != c.want || g.Messages == 0 {
				t.Errorf("%d messages, want %d", g.Messages, c.want)
			}
			if n := endOffsets(t, broker, topic); n != g.Messages {
				t.Errorf("the topic has %d messages, the generator sent %d", n, g.Messages)
			}
			if g.Bytes <= g.Messages || g.Seconds <= 0 || g.Rate <= 0 {
				t.Errorf("%+v", g)
			}
		})
	}
}

// rejectedMessages makes a topic with five messages, of which the second and the fourth cannot become rows.
func rejectedMessages(t *testing.T, broker string) (topic string) {
	t.Helper()
	topic = newTopic(t, broker, 1)
	send(t, broker, topic, `{"seq": 0}`, `{"seq": "one"}`, `{"seq": 1}`, "\xff\xfe", `{"seq": 2}`)
	return topic
}

// TestRejectedRecordStopsTheJob is what becomes of a record that does not fit when the job file does not say.
func TestRejectedRecordStopsTheJob(t *testing.T) {
	broker := Kafka(t)
	topic := rejectedMessages(t, broker)
	j := numberedJob(broker, topic, "e2e.stops", localCatalog(t))
	said := mustFail(t, 1, "run", jobFile(t, j), "--until-caught-up")
	if !strings.Contains(said, "record at "+topic+"/0 offset 1 cannot become a row: ") ||
		!strings.Contains(said, "set errors.policy to dead_letter") {
		t.Error(said)
	}
}

// TestDeadLettersInAFile reads them as the documentation of their format says.
func TestDeadLettersInAFile(t *testing.T) {
	broker := Kafka(t)
	topic := rejectedMessages(t, broker)
	j := numberedJob(broker, topic, "e2e.letters_file", localCatalog(t))
	j.Errors.Policy, j.Errors.DeadLetter.File = "dead_letter", filepath.Join(t.TempDir(), "rejected.jsonl")
	mustRun(t, BuildFirn(t), "run", jobFile(t, j), "--until-caught-up")
	mustHold(t, j, 3)
	text, err := os.ReadFile(j.Errors.DeadLetter.File)
	if err != nil {
		t.Fatal(err)
	}
	type letter struct {
		Job, Topic, Reason, Field string
		Partition                 int32
		Offset                    int64
		Value                     string
		ValueEncoding             string `json:"value_encoding"`
	}
	var letters []letter
	for line := range bytes.Lines(text) {
		var l letter
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if l.Reason == "" {
			t.Errorf("no reason: %s", line)
		}
		l.Reason = ""
		letters = append(letters, l)
	}
	want := []letter{
		{Job: "numbered", Topic: topic, Offset: 1, Field: "seq", Value: `{"seq": "one"}`},
		{Job: "numbered", Topic: topic, Offset: 3, Value: "//4=", ValueEncoding: "base64"},
	}
	if d := cmp.Diff(want, letters); d != "" {
		t.Error(d)
	}
}

// TestDeadLettersInATopic reads them with a plain consumer.
func TestDeadLettersInATopic(t *testing.T) {
	broker := Kafka(t)
	topic, letters := rejectedMessages(t, broker), newTopic(t, broker, 1)
	j := numberedJob(broker, topic, "e2e.letters_topic", localCatalog(t))
	j.Errors.Policy, j.Errors.DeadLetter.Topic = "dead_letter", letters
	mustRun(t, BuildFirn(t), "run", jobFile(t, j), "--until-caught-up")
	mustHold(t, j, 3)
	records := consume(t, broker, letters, 2)
	for i, want := range []struct{ offset, field, value string }{{"1", "seq", `{"seq": "one"}`}, {"3", "", "\xff\xfe"}} {
		headers := map[string]string{}
		for _, h := range records[i].Headers {
			headers[h.Key] = string(h.Value)
		}
		got := []string{headers["firn.job"], headers["firn.topic"], headers["firn.partition"], headers["firn.offset"],
			headers["firn.field"], string(records[i].Value)}
		if d := cmp.Diff([]string{"numbered", topic, "0", want.offset, want.field, want.value}, got); d != "" {
			t.Error(d)
		}
		if headers["firn.reason"] == "" || headers["firn.timestamp"] == "" {
			t.Errorf("headers %v", headers)
		}
	}
	j.Errors.DeadLetter.Topic = "nothere-" + letters
	said := mustFail(t, 1, "run", jobFile(t, j), "--until-caught-up")
	if !strings.Contains(said, "opening dead letter topic nothere-") || !strings.Contains(said, "it does not exist") {
		t.Error(said)
	}
}

// consume reads the first n records of partition 0.
func consume(t *testing.T, broker, topic string, n int) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		topic: {0: kgo.NewOffset().AtStart()},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var records []*kgo.Record
	for len(records) < n {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(fmt.Errorf("after %d of %d records: %w", len(records), n, err))
		}
		records = append(records, fetches.Records()...)
	}
	return records
}
