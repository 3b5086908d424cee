//go:build unix

package deadletter

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

// A write that the system cuts short leaves no half line, and Write says so.
func TestFileWithoutRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dead.jsonl")
	f := openFile(t, path)
	write(t, f, 1)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	before := limitFiles(t, uint64(info.Size())+10)
	err = f.Write(context.Background(), []record.Rejected{rejected(2, "v")})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("Write gave %v", err)
	}
	if diff := cmp.Diff([]int64{1}, offsets(t, path)); diff != "" {
		t.Error(diff)
	}
	write(t, f, 2)
	if diff := cmp.Diff([]int64{1, 2}, offsets(t, path)); diff != "" {
		t.Error(diff)
	}
}

// limitFiles bounds the size of files of this process and returns the limit that was.
func limitFiles(t *testing.T, bytes uint64) syscall.Rlimit {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limited := before
	limited.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		t.Fatal(err)
	}
	return before
}
