package deadletter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := OpenFile(path, "j", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func write(t *testing.T, f *File, offsets ...int64) {
	t.Helper()
	var all []record.Rejected
	for _, o := range offsets {
		all = append(all, rejected(o, "v"))
	}
	if err := f.Write(context.Background(), all); err != nil {
		t.Fatal(err)
	}
	if err := f.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// offsets reads a file back.
func offsets(t *testing.T, path string) []int64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []int64
	for line := range bytes.Lines(text) {
		l, err := ParseLine(line)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		found = append(found, l.Record.Offset)
	}
	return found
}

// C66: a rejected record is kept with its reason and place.
func TestFileKeepsLetters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dead.jsonl")
	f := openFile(t, path)
	write(t, f, 1, 2)
	write(t, f, 3)
	if diff := cmp.Diff([]int64{1, 2, 3}, offsets(t, path)); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	l, err := ParseLine(first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rejected(1, "v"), l.Rejected); diff != "" {
		t.Error(diff)
	}
	if l.Job != "j" || l.Time.IsZero() {
		t.Errorf("the letter is of job %q at %s", l.Job, l.Time)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %o, want 600", info.Mode().Perm())
	}
	if err := f.Write(context.Background(), nil); err != nil {
		t.Errorf("writing nothing gave %v", err)
	}
}

func TestFileAfterACrash(t *testing.T) {
	whole, err := appendLine(nil, Letter{Rejected: rejected(1, "v"), Job: "j"})
	if err != nil {
		t.Fatal(err)
	}
	long, err := appendLine(nil, Letter{Rejected: rejected(2, strings.Repeat("x", 200<<10)), Job: "j"})
	if err != nil {
		t.Fatal(err)
	}
	f := func(name, before, want string) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dead.jsonl")
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			openFile(t, path)
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("%d bytes became %d, want %d", len(before), len(got), len(want))
			}
		})
	}
	f("nothing yet", "", "")
	f("no crash", string(whole), string(whole))
	f("nothing but a torn line", string(whole[:20]), "")
	f("one byte of a line", string(whole)+"{", string(whole))
	f("all but the line break", string(whole)+string(whole[:len(whole)-1]), string(whole))
	f("a torn line longer than a chunk", string(whole)+string(long[:len(long)-1]), string(whole))
	f("a long line before", string(long)+string(whole[:9]), string(long))
	f("another's file", "note to self", "note to self\n")
	f("zeros after a power cut", string(whole)+"\x00\x00", string(whole)+"\x00\x00\n")
}

// Every length that a crash may leave, and what is written after the restart, is whole.
func TestFileAfterEveryCrash(t *testing.T) {
	dir := t.TempDir()
	whole, err := appendLine(nil, Letter{Rejected: rejected(1, "v"), Job: "j"})
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, append(bytes.Clone(whole), whole[:n]...), 0o600); err != nil {
			t.Fatal(err)
		}
		f := openFile(t, path)
		write(t, f, 1) // C67: rejected again after the restart
		want := []int64{1, 1}
		if n == len(whole) { // it was written whole: the double is told by its offset
			want = []int64{1, 1, 1}
		}
		if diff := cmp.Diff(want, offsets(t, path)); diff != "" {
			t.Errorf("%d bytes of %d: %s", n, len(whole), diff)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFileIsOfOneProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dead.jsonl")
	f := openFile(t, path)
	if _, err := OpenFile(path, "j", nil); !errors.Is(err, ErrFileInUse) {
		t.Errorf("a second one gave %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	openFile(t, path)
}

func TestFileFollowsItsPath(t *testing.T) {
	f := func(name string, away func(path string) error) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dead.jsonl")
			f := openFile(t, path)
			write(t, f, 1)
			if err := away(path); err != nil {
				t.Fatal(err)
			}
			write(t, f, 2)
			if diff := cmp.Diff([]int64{2}, offsets(t, path)); diff != "" {
				t.Error(diff)
			}
		})
	}
	f("renamed", func(path string) error { return os.Rename(path, path+".1") })
	f("removed", os.Remove)
}

func TestFileAfterAFailedSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dead.jsonl")
	f := openFile(t, path)
	f.broken = errors.New("input/output error")
	if err := f.Flush(context.Background()); err == nil {
		t.Error("Flush gave no error")
	}
	if err := f.Write(context.Background(), []record.Rejected{rejected(1, "v")}); err == nil {
		t.Error("Write gave no error")
	}
}

func TestFileClosed(t *testing.T) {
	f := openFile(t, filepath.Join(t.TempDir(), "dead.jsonl"))
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Write(context.Background(), []record.Rejected{rejected(1, "v")}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write gave %v", err)
	}
	if err := f.Flush(context.Background()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Flush gave %v", err)
	}
}

func TestFileCannotBeOpened(t *testing.T) {
	if _, err := OpenFile(filepath.Join(t.TempDir(), "none", "dead.jsonl"), "j", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is missing gave %v", err)
	}
	if _, err := OpenFile(t.TempDir(), "j", nil); err == nil {
		t.Error("a folder was opened")
	}
}

func TestFileFromManyWorkers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dead.jsonl")
	f := openFile(t, path)
	var workers sync.WaitGroup
	for w := range int64(4) {
		workers.Go(func() {
			for i := range int64(50) {
				if err := f.Write(context.Background(), []record.Rejected{rejected(w*50+i, "v")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	seen := make(map[int64]bool)
	for _, o := range offsets(t, path) {
		seen[o] = true
	}
	if len(seen) != 200 {
		t.Errorf("%d letters, want 200", len(seen))
	}
}
