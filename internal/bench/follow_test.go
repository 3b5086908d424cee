package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// writeMetadata writes a version of a table in a hadoop catalog, with so many rows.
func writeMetadata(t *testing.T, table string, version int, rows string) {
	t.Helper()
	folder := filepath.Join(table, "metadata")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"current-snapshot-id": 2, "snapshots": [{"snapshot-id": 1, "summary": {"total-records": "7"}},
		{"snapshot-id": 2, "summary": {"total-records": %q}}]}`, rows)
	path := filepath.Join(folder, fmt.Sprintf("v%d.metadata.json", version))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTableRows(t *testing.T) {
	table := t.TempDir()
	if rows, err := tableRows(filepath.Join(table, "missing")); rows != 0 || err != nil {
		t.Errorf("no table: %d rows, %v", rows, err)
	}
	writeMetadata(t, table, 9, "20")
	writeMetadata(t, table, 10, "30") // newer, though it sorts before 9
	if rows, err := tableRows(table); rows != 30 || err != nil {
		t.Errorf("%d rows, %v", rows, err)
	}
	writeMetadata(t, table, 11, "many")
	if _, err := tableRows(table); err == nil {
		t.Error("rows that are no number were read")
	}
	half := filepath.Join(table, "metadata", "v12.metadata.json")
	if err := os.WriteFile(half, []byte(`{"current-`), 0o644); err != nil {
		t.Fatal(err)
	}
	if rows, err := tableRows(table); rows != 0 || err != nil {
		t.Errorf("half a file: %d rows, %v", rows, err)
	}
}

func onlyLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc")
	}
}

// TestFollow watches this process until the table has its rows.
func TestFollow(t *testing.T) {
	onlyLinux(t)
	table := t.TempDir()
	writeMetadata(t, table, 1, "100")
	f, err := follow(t.Context(), os.Getpid(), table, 100, nil)
	if err != nil || len(f.commits) != 1 || f.commits[0].rows != 100 || f.peakMiB <= 0 {
		t.Errorf("%+v, %v", f, err)
	}
	ended := make(chan struct{})
	close(ended)
	if f, err = follow(t.Context(), os.Getpid(), table, 101, ended); err == nil || len(f.commits) != 1 {
		t.Errorf("a process that ended early: %+v, %v", f, err)
	}
	late, stop := context.WithTimeout(t.Context(), time.Nanosecond)
	defer stop()
	if _, err = follow(late, os.Getpid(), table, 101, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a process that is late: %v", err)
	}
}

func TestProcessCPU(t *testing.T) {
	onlyLinux(t)
	own, err := cpuTime()
	if err != nil {
		t.Fatal(err)
	}
	seen, err := processCPU(os.Getpid())
	if err != nil || seen > own+time.Second || seen < own/2-time.Second {
		t.Errorf("%s, %v; the process took %s", seen, err, own)
	}
	if _, err := processCPU(1 << 30); err == nil {
		t.Error("a process that is not there took time")
	}
}
