package wire

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"firn/internal/job"
	"firn/internal/table"
)

// A job without a schema takes the table's own, and keep and drop narrow it: the other columns stay null.
func TestKeepAndDropOfTheTablesOwnColumns(t *testing.T) {
	kafka := newKafka(t, "own")
	first := localJob(t, kafka, "own")
	send(t, kafka, "own", `{"seq": 1, "text": "a", "tags": ["x"], "at": {"lat": 1, "lon": 2}}`)
	runToEnd(t, first)
	f := func(name string, seq int, change func(*job.Job), want string) {
		t.Run(name, func(t *testing.T) {
			j := *first
			j.Name, j.Decode.Schema.Fields = name, nil
			change(&j)
			send(t, kafka, "own", fmt.Sprintf(`{"seq": %d, "text": "a", "tags": ["x"], "at": {"lat": 1, "lon": 2}}`, seq))
			runToEnd(t, &j)
			rows, err := mustLoad(t, &j).Peek(t.Context(), table.PeekOptions{Where: fmt.Sprintf("seq = %d", seq)})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s", rows.Values); !strings.Contains(got, want) {
				t.Errorf("rows %s, want %s among them", got, want)
			}
		})
	}
	f("all", 2, func(*job.Job) {}, `[2 "a" ["x"] {"lat":1,"lon":2}]`)
	f("keep", 3, func(j *job.Job) { j.Decode.Keep = []string{"at", "seq"} }, `[3 null null {"lat":1,"lon":2}]`)
	f("drop", 4, func(j *job.Job) { j.Decode.Drop = []string{"tags"} }, `[4 "a" null {"lat":1,"lon":2}]`)

	bad := func(name string, change func(*job.Job), want string) {
		t.Run(name, func(t *testing.T) {
			j := *first
			j.Decode.Schema.Fields = nil
			change(&j)
			_, err := Open(t.Context(), &j, Options{}, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
			findings := Check(t.Context(), &j, slog.New(slog.DiscardHandler))
			if last := findings[len(findings)-1]; last.Err == nil || !strings.Contains(last.Err.Error(), want) {
				t.Errorf("check: error %v, want %q in it", last.Err, want)
			}
		})
	}
	bad("keep of what is not there", func(j *job.Job) { j.Decode.Keep = []string{"none"} },
		`the schema has no column "none"`)
	bad("drop of a required column", func(j *job.Job) { j.Decode.Drop = []string{"seq"} },
		"the table's column seq is required and the schema does not have it\nchange decode.keep and decode.drop or the table")
}

// Whatever step fails, what was opened before it is closed: TestMain looks for what is left running.
func TestOpenClosesWhatItOpened(t *testing.T) {
	f := func(name string, change func(*job.Job), want string) {
		t.Run(name, func(t *testing.T) {
			kafka := newKafka(t, "close")
			j := localJob(t, kafka, "close")
			runToEnd(t, j)
			change(j)
			a, err := Open(t.Context(), j, Options{}, slog.New(slog.DiscardHandler))
			if err == nil || a != nil || !strings.Contains(err.Error(), want) {
				t.Errorf("assembly %v, error %v, want %q in it", a, err, want)
			}
		})
	}
	f("a start that is no time", func(j *job.Job) { j.Source.Kafka.Start = "soon" }, "soon")
	f("a catalog of no kind", func(j *job.Job) { j.Sink.Iceberg.Catalog.Type = "none" }, `type "none" is not known`)
	f("a table that may not be made", func(j *job.Job) { j.Sink.Iceberg.Table, j.Sink.Iceberg.Create = "db.other", false },
		"no such table")
	f("a table without a schema", func(j *job.Job) { j.Sink.Iceberg.Table, j.Decode.Schema.Fields = "db.other", nil },
		"has no decode.schema")
	f("a schema that does not fit", func(j *job.Job) { j.Decode.Schema.Fields[0].Type = "string" }, "does not fit")
	f("a codec of no kind", func(j *job.Job) { j.Sink.Iceberg.Compression = "none of these" }, "none of these")
	f("a job name that cannot be one", func(j *job.Job) { j.Name = "a.b" }, "a.b")
	f("dead letters in no folder", func(j *job.Job) {
		file := filepath.Join(t.TempDir(), "no", "file")
		j.Errors = job.Errors{Policy: "dead_letter", DeadLetter: job.DeadLetter{File: file}}
	}, "opening dead letter file")
	f("a dead letter topic that is not there", func(j *job.Job) {
		j.Errors = job.Errors{Policy: "dead_letter", DeadLetter: job.DeadLetter{Topic: "none"}}
	}, "opening dead letter topic none")
}
