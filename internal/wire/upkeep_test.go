package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"firn/internal/job"
	"firn/internal/table"
)

// While a job runs its small files become large ones and old snapshots go, and the table holds what it held.
func TestSmallFilesAreJoinedAndSnapshotsExpire(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		t.Run("format version "+version, func(t *testing.T) { smallFilesAreJoined(t, version) })
	}
}

func smallFilesAreJoined(t *testing.T, version string) {
	kafka, err := NewEmbeddedKafka("numbers", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	j := localJob(t, kafka, "numbers")
	i := &j.Sink.Iceberg
	i.Properties = map[string]string{"format-version": version}
	i.TargetFileSize, i.Rollup.MaxAge, i.Expire.Keep = 64<<10, 100*time.Millisecond, 5
	a, err := Open(t.Context(), j, Options{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	sent := 0
	deadline := time.Now().Add(time.Minute)
	for s := a.Metrics.Summary(); s.Rollups.Count < 8 || s.Commits.Count < 60; s = a.Metrics.Summary() {
		send(t, kafka, "numbers", fmt.Sprintf(`{"seq": %d, "text": "number %d"}`, sent, sent))
		sent++
		if time.Now().After(deadline) {
			t.Fatalf("after %d commits: %+v", s.Commits.Count, s.Rollups)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	runToEnd(t, j)
	mustAudit(t, j)
	files, err := mustLoad(t, j).Files(t.Context(), table.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var rows int64
	for _, f := range files {
		rows += f.Rows
	}
	if rows != int64(sent) || len(files) >= sent/2 {
		t.Errorf("%d rows in %d files, want %d in fewer", rows, len(files), sent)
	}
	if r := a.Metrics.Summary().Rollups; r.CopiedPages == 0 || r.Failures > 0 {
		t.Errorf("%+v", r)
	}
	snapshots, err := mustLoad(t, j).Snapshots()
	if err != nil || len(snapshots) > 5+30 {
		t.Errorf("%d snapshots, error %v", len(snapshots), err)
	}
}

// A job deletes what nobody refers to, and only what is old enough.
func TestOrphanFilesGo(t *testing.T) {
	kafka, err := NewEmbeddedKafka("numbers", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	j := localJob(t, kafka, "numbers")
	j.Sink.Iceberg.Orphans = job.Orphans{Enabled: true, OlderThan: time.Hour, Interval: time.Nanosecond}
	send(t, kafka, "numbers", `{"seq": 0, "text": "number 0"}`)
	runToEnd(t, j)
	data := filepath.Join(strings.TrimPrefix(mustLoad(t, j).Location(), "file://"), "data")
	old, young := filepath.Join(data, "old.parquet"), filepath.Join(data, "young.parquet")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, []byte("left by a writer that was killed"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, before, before); err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), j, Options{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	deadline, tick := time.After(time.Minute), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for err = nil; !errors.Is(err, fs.ErrNotExist); _, err = os.Stat(old) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the old file is still there")
		}
	}
	stop()
	if err := errors.Join(<-ended, a.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("the young file: %v", err)
	}
	runToEnd(t, j)
	mustAudit(t, j)
}

func TestReplaceInterval(t *testing.T) {
	for interval, want := range map[time.Duration]time.Duration{
		200 * time.Millisecond: 2 * time.Second, time.Second: 10 * time.Second, time.Minute: 10 * time.Second,
	} {
		j := job.Default()
		j.Sink.Iceberg.CommitInterval = interval
		if got := replaceInterval(&j); got != want {
			t.Errorf("%s after commits each %s, want %s", got, interval, want)
		}
	}
}
