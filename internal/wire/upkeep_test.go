package wire

import (
	"context"
	"fmt"
	"log/slog"
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
