package upkeep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"firn/internal/metric"
	"firn/internal/record"
)

// larder is a kept with a folder, and what it told.
type larder struct {
	*kept
	folder string
	notes  []string
}

func newLarder(t *testing.T, memoryMax, spoolMax int64) *larder {
	t.Helper()
	l := &larder{folder: filepath.Join(t.TempDir(), "spool")}
	c := &Config{
		MemoryBytesMax: memoryMax, SpoolBytesMax: spoolMax, SpoolFolder: l.folder, Metrics: metric.NewJob("orders", nil),
	}
	l.kept = newKept(c, func(kind string, err error) { l.notes = append(l.notes, fmt.Sprintf("%s: %s", kind, err)) })
	return l
}

func text(path string, size int) []byte { return bytes.Repeat([]byte(path), size)[:size] }

func (l *larder) give(path string, size int) {
	l.keep(path, int64(size), func(w io.Writer) error {
		_, err := w.Write(text(path, size))
		return err
	})
}

// where tells where files are: m memory, d disk, - nowhere; and checks their bytes.
func (l *larder) where(t *testing.T, size int, files ...string) string {
	t.Helper()
	var out strings.Builder
	for _, path := range files {
		content, release, onDisk := l.open(path)
		if content == nil {
			out.WriteString("-")
			continue
		}
		b := make([]byte, size)
		if _, err := content.ReadAt(b, 0); err != nil || !bytes.Equal(b, text(path, size)) {
			t.Errorf("%s: %q, %v", path, b, err)
		}
		release()
		out.WriteString(map[bool]string{false: "m", true: "d"}[onDisk])
	}
	return out.String()
}

func (l *larder) must(t *testing.T, want string, size int, files ...string) {
	t.Helper()
	if got := l.where(t, size, files...); got != want {
		t.Errorf("files %v are in %s, want %s", files, got, want)
	}
}

func TestKeptInMemoryThenOnDiskThenNot(t *testing.T) {
	l := newLarder(t, 100, 120)
	names := strings.Fields("a b c d e f g h")
	for _, name := range names[:4] {
		l.give(name, 25)
	}
	l.give("e", 25) // no room: nothing was moved yet
	l.must(t, "mmmm-", 25, names[:5]...)
	l.relieve(t.Context())
	l.must(t, "ddmm-", 25, names[:5]...)
	for _, name := range names[4:6] {
		l.give(name, 25)
	}
	l.relieve(t.Context())
	l.must(t, "ddddmm--", 25, names...)
	for _, name := range names[6:] {
		l.give(name, 25)
	}
	l.relieve(t.Context()) // the disk has its share
	l.must(t, "ddddmmmm", 25, names...)
	l.give("i", 25)
	l.must(t, "-", 25, "i")
	if len(l.notes) > 0 {
		t.Errorf("told of %v", l.notes)
	}
	l.release(names[:3]...)
	l.must(t, "---dmmmm", 25, names...)
	l.release(names...)
	l.tidy()
	if l.kept.bytes != 0 || l.spool.size() != 0 || l.inMemory.Len() != 0 {
		t.Errorf("%d bytes in memory, %d on disk", l.kept.bytes, l.spool.size())
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}

func TestKeepOnce(t *testing.T) {
	l := newLarder(t, 100, 0)
	l.give("a", 10)
	l.give("a", 10)
	l.keep("b", 10, func(io.Writer) error { return errors.New("no") })
	l.keep("c", 10, func(w io.Writer) error { return func() error { _, err := io.WriteString(w, "short"); return err }() })
	l.give("d", 101)
	l.must(t, "m---", 10, "a", "b", "c", "d")
	if l.kept.bytes != 10 {
		t.Errorf("%d bytes", l.kept.bytes)
	}
	l.release("a", "a", "b")
	if l.kept.bytes != 0 {
		t.Errorf("%d bytes after all was let go", l.kept.bytes)
	}
}

// Bytes that are being read stay readable when they are let go, or moved.
func TestReadWhileLetGo(t *testing.T) {
	l := newLarder(t, 40, 1000)
	l.give("a", 30)
	inMemory, releaseMemory, _ := l.open("a")
	l.relieve(t.Context())
	onDisk, releaseDisk, disk := l.open("a")
	if !disk {
		t.Fatal("it was not moved")
	}
	l.release("a")
	l.tidy()
	for _, content := range []io.ReaderAt{inMemory, onDisk} {
		b := make([]byte, 30)
		if _, err := content.ReadAt(b, 0); err != nil || !bytes.Equal(b, text("a", 30)) {
			t.Errorf("%q, %v", b, err)
		}
	}
	releaseMemory()
	releaseDisk()
	l.tidy()
	if l.spool.size() != 0 || len(l.spool.segments) != 0 {
		t.Errorf("%d bytes stay on disk", l.spool.size())
	}
}

// A file that is let go while it is moved to the disk is let go there too.
func TestLetGoWhileItIsMoved(t *testing.T) {
	l := newLarder(t, 40, 1000)
	l.give("a", 30)
	f := l.oldest()
	e, _, err := l.spool.write(30, func(w io.Writer) error {
		l.release("a")
		l.give("a", 30) // and kept once more
		_, err := w.Write(f.bytes)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.move(f, e)
	l.tidy()
	l.must(t, "m", 30, "a")
	if l.kept.bytes != 30 || l.spool.size() != 0 {
		t.Errorf("%d bytes in memory, %d on disk", l.kept.bytes, l.spool.size())
	}
}

func TestFetch(t *testing.T) {
	l := newLarder(t, 50, 60)
	fetch := func(path string) error {
		return l.fetch(path, 40, func(w io.Writer) error {
			_, err := w.Write(text(path, 40))
			return err
		})
	}
	for _, path := range []string{"a", "b", "c"} {
		if err := fetch(path); err != nil {
			t.Error(err)
		}
	}
	l.must(t, "md-", 40, "a", "b", "c")
	l.release("b")
	want := errors.New("the store is away")
	if err := l.fetch("d", 40, func(io.Writer) error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	if err := l.fetch("d", 40, func(io.Writer) error { return nil }); err == nil {
		t.Error("a file of too few bytes is kept")
	}
	l.must(t, "m-", 40, "a", "d")
	if err := l.close(); err != nil || l.spool.size() != 0 {
		t.Errorf("%d bytes stay on disk, %v", l.spool.size(), err)
	}
}

// A disk that takes nothing is no error: files are not kept.
func TestDiskThatIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLarder(t, 100, 1000)
		if err := os.WriteFile(l.folder, nil, 0o600); err != nil { // no folder can be there
			t.Fatal(err)
		}
		for range 3 {
			l.give("a", 60)
			l.give("b", 40)
			l.relieve(t.Context())
			l.must(t, "mm", 40, "a", "b")
			if err := l.fetch("c", 40, func(io.Writer) error { return errors.New("not asked") }); err != nil {
				t.Error(err)
			}
		}
		if len(l.notes) != 1 || !strings.HasPrefix(l.notes[0], "spooling: keeping small files on the local disk: ") {
			t.Errorf("told of %q", l.notes)
		}
		if err := os.Remove(l.folder); err != nil {
			t.Fatal(err)
		}
		<-time.After(fullFor)
		l.relieve(t.Context())
		l.must(t, "dm", 40, "a", "b")
	})
}

// A write that fails in the middle leaves nothing, and the disk alone for a while.
func TestWriteThatFails(t *testing.T) {
	l := newLarder(t, 100, 1000)
	l.give("a", 60)
	e, _, err := l.spool.write(1, func(w io.Writer) error {
		_, err := w.Write([]byte("x"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.segment.file.Close(); err != nil { // as good as a disk that is full
		t.Fatal(err)
	}
	l.relieve(t.Context())
	l.relieve(t.Context())
	l.must(t, "m", 60, "a")
	if len(l.notes) != 1 || !strings.Contains(l.notes[0], l.folder) {
		t.Errorf("told of %q", l.notes)
	}
}

func TestSpoolIsForOneUserAndGoes(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "deep", "spool")
	left := filepath.Join(folder, "rollup-1.spool")
	other := filepath.Join(folder, "other")
	for _, name := range []string{left, other} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSpool(folder, 1000)
	e, _, err := s.write(3, func(w io.Writer) error {
		_, err := w.Write([]byte("abc"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed process left is there: %v", err)
	}
	info, err := e.segment.file.Stat()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a file of another was removed: %v", err)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	s = newSpool(folder, 1000)
	if _, _, err := s.write(3, func(w io.Writer) error { _, err := w.Write([]byte("abc")); return err }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info, err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
}

// A segment that is full is followed by another, and goes when the last file in it does.
func TestSegments(t *testing.T) {
	s := newSpool(t.TempDir(), 1<<40)
	big := make([]byte, segmentBytes/4)
	var all []extent
	for range 10 {
		e, writeErr, err := s.write(int64(len(big)), func(w io.Writer) error { _, err := w.Write(big); return err })
		if err := errors.Join(writeErr, err); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	if len(s.segments) != 3 {
		t.Fatalf("%d segments", len(s.segments))
	}
	for i, e := range all {
		s.free(e)
		if err := s.discard(); err != nil {
			t.Error(err)
		}
		if want := []int{3, 3, 3, 2, 2, 2, 2, 1, 1, 0}[i]; len(s.segments) != want {
			t.Errorf("%d segments after %d frees, want %d", len(s.segments), i+1, want)
		}
	}
	if s.size() != 0 {
		t.Errorf("%d bytes", s.size())
	}
}

func TestOldOnesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLarder(t, 100, 1000)
		l.give("a", 60)
		<-time.After(keptMax - time.Minute)
		l.relieve(t.Context())
		l.give("b", 30)
		<-time.After(2 * time.Minute)
		l.expire(time.Now().Add(-keptMax))
		l.must(t, "-m", 30, "a", "b")
		if l.kept.bytes != 30 {
			t.Errorf("%d bytes", l.kept.bytes)
		}
	})
}

// Bytes come from memory, then from the local disk, then from the store; and each of the store's once, while there is
// room for them.
func TestBytesOfAJoin(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		rollup := w.rollup(func(c *Config) {
			bySize(c)
			c.Local, c.MemoryBytesMax, c.SpoolBytesMax, c.SpoolFolder = false, 3000, 6000, t.TempDir()
		})
		r := w.run(rollup)
		files := make([]record.DataFile, 10)
		for i := range files {
			files[i] = w.store(1, 100) // 800 bytes
			if i < 6 {
				w.keep(rollup, files[i])
			}
			synctest.Wait()
		}
		w.commit(rollup, files...)
		pass(time.Second)
		w.commit(rollup)
		w.mustSizes(1, 1000)
		for i, f := range files {
			if n := w.reads[f.Path]; n != map[bool]int{false: 0, true: 1}[i >= 6] {
				t.Errorf("file %d was read from the store %d times", i, n)
			}
		}
		s := w.metrics.Summary().Rollups
		if s.MemoryReadBytes == 0 || s.DiskReadBytes == 0 || s.MemoryReadBytes+s.DiskReadBytes != 4800 ||
			s.StoreReadBytes != 3200 {
			t.Errorf("metrics %+v", s)
		}
		synctest.Wait()
		if kept := rollup.kept.paths(); len(kept) > 0 {
			t.Errorf("still kept: %v", kept)
		}
		r.stop(t)
		if err := rollup.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Where there is no room at all, the store is asked for each piece; and no more files are open than may be.
func TestBytesFromTheStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(func(c *Config) { c.Local, c.AgeMax = false, 0 }))
		defer r.stop(t)
		var files []record.DataFile
		for range openFilesMax + 10 {
			files = append(files, w.store(1, 1))
		}
		files = append(files, w.store(1, 499))
		w.commit(r.Rollup, files...)
		pass(time.Second)
		w.commit(r.Rollup)
		w.mustSizes(1, openFilesMax+10+499)
		w.mustBeTidy()
	})
}

// A join reads its files in turn, a column at a time: those that were closed for others are opened again.
func TestOpenFiles(t *testing.T) {
	w := newWorld(t)
	r := w.rollup(nil)
	var parts []*part
	for i := range 3 {
		f := w.store(1, 2)
		parts = append(parts, put(r.backlog, 1, f.Path, f.SizeBytes, at(time.Duration(i))))
	}
	c := r.open(t.Context(), parts)
	c.files.max = 2
	for range 2 {
		for i, p := range c.parts {
			b := make([]byte, rowBytes)
			if _, err := p.Bytes.ReadAt(b, rowBytes); err != nil || b[rowBytes-1] != byte(2*i+1) {
				t.Errorf("file %d: %v, %v", i, b, err)
			}
			if len(c.files.open) > 2 {
				t.Errorf("%d files are open", len(c.files.open))
			}
		}
	}
	if _, err := c.parts[0].Bytes.ReadAt(make([]byte, 9), 2*rowBytes-8); err != io.EOF || c.err() != nil {
		t.Errorf("at the end: %v, %v", err, c.err())
	}
	c.close()
	var opens []int
	for _, p := range parts {
		opens = append(opens, w.reads[p.path])
	}
	if !slices.Equal(opens, []int{1, 2, 2}) {
		t.Errorf("files were opened %v times", opens)
	}
}

// What was kept for files that never became visible goes when a session begins.
func TestKeptForNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		rollup := w.rollup(func(c *Config) { c.Local, c.MemoryBytesMax = false, 1<<20 })
		r := w.run(rollup)
		f, lost := w.store(1, 5), w.store(1, 6)
		w.keep(rollup, f)
		w.keep(rollup, lost)
		large := w.store(1, 800)
		w.keep(rollup, large)
		w.commit(rollup, f)
		r.stop(t)
		r = w.run(rollup)
		defer r.stop(t)
		if kept := rollup.kept.paths(); !slices.Equal(kept, []string{f.Path}) {
			t.Errorf("kept %v", kept)
		}
	})
}
