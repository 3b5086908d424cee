package wire

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"firn/internal/job"
)

// Every kind of bad record goes aside with a reason that says what and where, and its neighbours become rows.
func TestBadRecordsGoAsideWithTheirReasons(t *testing.T) {
	kafka, err := NewEmbeddedKafka("bad", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	cases := []struct{ name, value, reason string }{
		{"unreadable", `{"seq": 1`, "the end of the text"},
		{"wrong type", `{"seq": "one"}`, "seq"},
		{"missing required", `{"text": "x"}`, "seq"},
		{"null required", `{"seq": null}`, "seq"},
		{"overflow", `{"seq": 9223372036854775808}`, "9223372036854775808"},
		{"bad UTF-8", "{\"seq\": 1, \"text\": \"\xff\"}", "UTF-8"},
		{"duplicate key", `{"seq": 1, "seq": 2}`, "twice"},
		{"depth", `{"seq": 1, "more": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`, "64"},
		{"not an object", `[1]`, "object"},
		{"nested wrong type", `{"seq": 1, "at": {"lat": true}}`, "at.lat"},
	}
	j := localJob(t, kafka, "bad")
	path := filepath.Join(t.TempDir(), "letters.jsonl")
	j.Errors = job.Errors{Policy: "dead_letter", DeadLetter: job.DeadLetter{File: path}}
	j.Decode.DuplicateKeys = "reject"
	for i, c := range cases {
		send(t, kafka, "bad", c.value, `{"seq": `+string(rune('0'+i))+`}`)
	}
	s := runToEnd(t, j).Metrics.Summary()
	if s.Commits.Rows != int64(len(cases)) || s.Rejected != int64(len(cases)) {
		t.Errorf("%d rows and %d rejected, want %d of each", s.Commits.Rows, s.Rejected, len(cases))
	}
	mustAudit(t, j)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for i, c := range cases {
		var letter struct {
			Topic     string `json:"topic"`
			Partition int32  `json:"partition"`
			Offset    int64  `json:"offset"`
			Reason    string `json:"reason"`
		}
		if !lines.Scan() {
			t.Fatalf("%s: no letter", c.name)
		}
		if err := json.Unmarshal(lines.Bytes(), &letter); err != nil {
			t.Fatal(err)
		}
		if letter.Topic != "bad" || letter.Offset != int64(2*i) || !strings.Contains(letter.Reason, c.reason) {
			t.Errorf("%s: %+v, want %q in the reason", c.name, letter, c.reason)
		}
	}
}

func TestTableWhoseSchemaDoesNotFit(t *testing.T) {
	kafka, err := NewEmbeddedKafka("fit", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	j := localJob(t, kafka, "fit")
	runToEnd(t, j)
	j.Decode.Schema.Fields = []job.SchemaField{{Name: "seq", Type: "string"}, {Name: "other", Type: "long"}}
	_, err = Open(t.Context(), j, Options{}, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Fatal("it opened")
	}
	want := `the schema of the job does not fit table db.numbers:
the schema says string for seq and the table has long
the schema's field other (long) is not in the table
change decode.schema or the table`
	if d := cmp.Diff(want, err.Error()); d != "" {
		t.Error(d)
	}
	findings := Check(t.Context(), j, slog.New(slog.DiscardHandler))
	if last := findings[len(findings)-1]; last.Err == nil || last.Err.Error() != want {
		t.Errorf("check: %v", last.Err)
	}
}

func TestWhatIsDownAtTheStart(t *testing.T) {
	kafka, err := NewEmbeddedKafka("down", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	f := func(name string, change func(*job.Job), want string) {
		t.Run(name, func(t *testing.T) {
			j := localJob(t, kafka, "down")
			j.Limits.ConnectTimeout = 300 * time.Millisecond
			change(j)
			_, err := Open(t.Context(), j, Options{}, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), "cannot be reached within 300ms") {
				t.Errorf("error %v, want %q in it", err, want)
			}
		})
	}
	f("catalog", func(j *job.Job) {
		j.Sink.Iceberg.Catalog = job.Catalog{Name: "x", Type: "rest", URI: "http://127.0.0.1:1"}
	}, "the rest catalog")
	f("brokers", func(j *job.Job) { j.Source.Kafka.Brokers = []string{"127.0.0.1:1"} }, "Kafka at 127.0.0.1:1")
}

func TestNoSchemaForATableThatIsMissing(t *testing.T) {
	kafka, err := NewEmbeddedKafka("none", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	j := localJob(t, kafka, "none")
	j.Decode.Schema.Fields = nil
	_, err = Open(t.Context(), j, Options{}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "table db.numbers does not exist and the job has no decode.schema") {
		t.Errorf("error %v", err)
	}
}

func TestCheckLooksAtTheDeadLetters(t *testing.T) {
	kafka, err := NewEmbeddedKafka("letters", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	f := func(name string, to job.DeadLetter, want string) {
		t.Run(name, func(t *testing.T) {
			j := localJob(t, kafka, "letters")
			j.Errors = job.Errors{Policy: "dead_letter", DeadLetter: to}
			var got string
			for _, finding := range Check(t.Context(), j, slog.New(slog.DiscardHandler)) {
				if finding.Err != nil {
					got += finding.Part + ": " + finding.Err.Error()
				}
			}
			if !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("faults %q, want %q", got, want)
			}
		})
	}
	f("missing topic", job.DeadLetter{Topic: "nothere"}, "letters: opening dead letter topic nothere")
	f("missing folder", job.DeadLetter{File: filepath.Join(t.TempDir(), "no", "letters.jsonl")}, "letters: stat")
	f("folder", job.DeadLetter{File: filepath.Join(t.TempDir(), "letters.jsonl")}, "")
}
