package wire

import (
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/job"
)

// filesBelow lists all files and folders.
func filesBelow(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func newKafka(t *testing.T, topic string) *EmbeddedKafka {
	t.Helper()
	kafka, err := NewEmbeddedKafka(topic, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	return kafka
}

// A dry check leaves no trace: neither a catalog nor a table, nor a floor in one.
func TestCheckChangesNothing(t *testing.T) {
	j := localJob(t, newKafka(t, "dry"), "dry")
	dir := filepath.Dir(j.Sink.Iceberg.Catalog.URI)
	j.Errors = job.Errors{Policy: "dead_letter", DeadLetter: job.DeadLetter{File: filepath.Join(dir, "letters.jsonl")}}
	mustCheck := func(want string) {
		t.Helper()
		before := filesBelow(t, dir)
		for _, f := range Check(t.Context(), j, slog.New(slog.DiscardHandler)) {
			if f.Err != nil {
				t.Errorf("%s: %v", f.Part, f.Err)
			}
			if f.Part == "table" && !strings.Contains(f.Detail, want) {
				t.Errorf("table: %s, want %q in it", f.Detail, want)
			}
		}
		if d := cmp.Diff(before, filesBelow(t, dir)); d != "" {
			t.Errorf("files: %s", d)
		}
	}
	mustCheck("db.numbers does not exist yet; the job will make it")
	runToEnd(t, j)
	before := mustLoad(t, j).MetadataLocation()
	mustCheck("db.numbers at file://")
	if after := mustLoad(t, j).MetadataLocation(); after != before {
		t.Errorf("the table went from %s to %s", before, after)
	}
}

func TestCheckOfATableThatNobodyMakes(t *testing.T) {
	f := func(name string, change func(*job.Job), want string) {
		t.Run(name, func(t *testing.T) {
			j := localJob(t, newKafka(t, "dry"), "dry")
			change(j)
			findings := Check(t.Context(), j, slog.New(slog.DiscardHandler))
			if last := findings[len(findings)-1]; last.Err == nil || !strings.Contains(last.Err.Error(), want) {
				t.Errorf("%s: error %v, want %q in it", last.Part, last.Err, want)
			}
		})
	}
	f("the job may not", func(j *job.Job) { j.Sink.Iceberg.Create = false }, "catalog.db does not exist: no such table")
	f("there is no schema", func(j *job.Job) { j.Decode.Schema.Fields = nil },
		"the job has no decode.schema to make it from")
}
