package upkeep

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"firn/internal/pipeline"
	"firn/internal/record"
)

var _ pipeline.Rollup = (*Rollup)(nil)

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, f func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newWorld(t)) })
}

// mustSizes checks the rows of the files of a partition.
func (w *world) mustSizes(partition byte, want ...int64) {
	w.t.Helper()
	if d := cmp.Diff(want, w.sizes(partition)); d != "" {
		w.t.Errorf("rows of the files of partition %d (-want +got):\n%s", partition, d)
	}
}

// mustBeTidy checks that every row is there once, and that nothing is left behind.
func (w *world) mustBeTidy() {
	w.t.Helper()
	w.mustHoldAll()
	if left := w.orphans(); len(left) > 0 {
		w.t.Errorf("files left behind: %v", left)
	}
}

func TestJoinsAtTheTarget(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(nil))
		defer r.stop(t)
		for range 14 {
			w.commit(r.Rollup, w.store(1, 100), w.store(2, 50))
			pass(time.Second)
		}
		if len(w.joined()) > 0 {
			t.Errorf("joined %v before the target", w.joined())
		}
		w.commit(r.Rollup, w.store(1, 100), w.store(2, 50))
		pass(time.Second)
		w.commit(r.Rollup)
		w.mustSizes(1, 100, 100, 100, 100, 100, 1000)
		if n := len(w.sizes(2)); n != 15 {
			t.Errorf("partition 2 has %d files", n)
		}
		w.mustBeTidy()
		s := w.metrics.Summary().Rollups
		if s.Count != 1 || s.FilesIn != 10 || s.CopiedBytes != 8000 || s.CopiedPages != 10 || s.Failures != 0 {
			t.Errorf("metrics %+v", s)
		}
	})
}

func TestJoinsForAge(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(nil))
		defer r.stop(t)
		for range 3 {
			w.commit(r.Rollup, w.store(1, 5))
			pass(time.Minute)
		}
		pass(7*time.Minute - time.Second)
		if s := w.metrics.Summary().Rollups; len(w.joined()) > 0 || s.PendingFiles != 3 || s.PendingBytes != 120 {
			t.Errorf("joined %v before their time, pending %+v", w.joined(), s)
		}
		pass(time.Second)
		w.commit(r.Rollup)
		w.mustSizes(1, 15)
		w.mustBeTidy()
		synctest.Wait()
		if s := w.metrics.Summary().Rollups; s.PendingFiles != 0 || s.OldestPendingSeconds != 0 {
			t.Errorf("pending %+v", s)
		}
		pass(24 * time.Hour) // one file alone
		if len(w.joined()) != 1 {
			t.Errorf("joined %v", w.joined())
		}
	})
}

func TestNeverForAge(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(func(c *Config) { c.AgeMax = 0 }))
		defer r.stop(t)
		w.commit(r.Rollup, w.store(1, 5), w.store(1, 5))
		pass(1000 * time.Hour)
		w.commit(r.Rollup)
		w.mustSizes(1, 5, 5)
	})
}

func TestFilesOfOtherLayoutsStayApart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(nil))
		defer r.stop(t)
		var files []record.DataFile
		for i := range 8 {
			f := w.store(1, 10+i)
			switch i / 2 {
			case 1:
				f.SchemaID = 1
			case 2:
				f.SchemaID = 2 // not known
			case 3:
				f.SpecID, f.SortOrderID = 3, i
			}
			files = append(files, f)
		}
		w.commit(r.Rollup, files...)
		pass(10 * time.Minute)
		w.commit(r.Rollup)
		w.mustSizes(1, 14, 15, 21, 25, 33)
		for path, f := range w.live {
			if f.File.Rows == 25 && f.File.SchemaID != 1 {
				t.Errorf("schema %d", f.File.SchemaID)
			}
			if f.File.Rows == 33 && (f.File.SpecID != 3 || f.File.SortOrderID != 0 || !strings.HasPrefix(path, "mem://1/id-")) {
				t.Errorf("%s has spec %d and order %d", path, f.File.SpecID, f.File.SortOrderID)
			}
		}
		w.mustBeTidy()
	})
}

// A replacement is made from what was live. Then another writer rewrites some of it.
func TestStale(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(nil))
		defer r.stop(t)
		w.commit(r.Rollup, w.store(1, 5), w.store(1, 6), w.store(1, 7), w.store(1, 8))
		pass(10 * time.Minute)
		w.rewrite("mem://1/file-1.parquet", "mem://1/file-2.parquet")
		w.commit(r.Rollup)
		pass(time.Minute)
		w.commit(r.Rollup)
		w.mustSizes(1, 26)
		w.mustBeTidy()
		if w.looked() != 2 {
			t.Errorf("looked %d times at the table", w.looked())
		}
		if s := w.metrics.Summary().Rollups; s.Stale != 1 || s.Count != 1 {
			t.Errorf("metrics %+v", s)
		}
	})
}

// Files with deletes on them are left alone for a while, and those that come after them are not.
func TestStaleTwice(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(nil))
		defer r.stop(t)
		w.commit(r.Rollup, w.store(1, 5), w.store(1, 6))
		pass(9 * time.Minute)
		w.deleted["mem://1/file-1.parquet"] = true
		for range 4 { // stale, and stale once more
			pass(time.Minute)
			w.commit(r.Rollup)
		}
		if len(w.joined()) != staleMax {
			t.Errorf("joined %v", w.joined())
		}
		w.commit(r.Rollup, w.store(1, 7), w.store(1, 8))
		pass(6 * time.Minute)
		w.commit(r.Rollup)
		if len(w.joined()) != staleMax {
			t.Errorf("joined %v", w.joined())
		}
		w.deleted = map[string]bool{}
		for range 6 {
			pass(time.Minute)
			w.commit(r.Rollup)
		}
		w.mustSizes(1, 26)
		w.mustBeTidy()
		if w.looked() > 4 {
			t.Errorf("looked %d times at the table", w.looked())
		}
	})
}

// A session ends after replacements were handed over, and before it is known what became of them.
func TestUnknownOutcome(t *testing.T) {
	for _, landed := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			rollup := w.rollup(bySize)
			r := w.run(rollup)
			w.commit(rollup, w.three(1)...)
			pass(time.Second)
			handed := rollup.Ready()
			if len(handed) != 1 || len(rollup.Ready()) != 0 {
				t.Fatalf("handed over %+v", handed)
			}
			r.stop(t)
			if landed {
				w.replace(handed[0])
			}
			r = w.run(rollup)
			defer r.stop(t)
			if _, ok := w.objects[handed[0].Add[0].Path]; !ok {
				t.Errorf("landed %t: a file of unknown outcome was removed", landed)
			}
			if !landed { // it lands later than the look: what is made meanwhile is stale
				w.replace(handed[0])
			}
			w.commit(rollup)
			pass(10 * time.Minute)
			w.commit(rollup)
			w.mustSizes(1, 1200)
			w.mustBeTidy()
		})
	}
}

// What was not handed over when a session ended is in no commit.
func TestNotHandedOver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		rollup := w.rollup(bySize)
		r := w.run(rollup)
		w.commit(rollup, w.three(1)...)
		pass(time.Second)
		r.stop(t)
		if len(w.orphans()) != 1 {
			t.Fatalf("stored %v", w.orphans())
		}
		r = w.run(rollup)
		pass(time.Second)
		if left := w.orphans(); len(left) != 1 || len(w.joined()) != 2 { // that of the second join
			t.Errorf("left %v after joins %v", left, w.joined())
		}
		r.stop(t)
		if err := rollup.Close(t.Context()); err != nil {
			t.Error(err)
		}
		w.mustSizes(1, 400, 400, 400)
		w.mustBeTidy()
	})
}

// The last commit of a session comes after Run ended.
func TestLastCommit(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		rollup := w.rollup(bySize)
		r := w.run(rollup)
		w.commit(rollup, w.three(1)...)
		w.commit(rollup, w.three(2)...)
		pass(time.Second)
		r.stop(t)
		w.rewrite("mem://2/file-4.parquet")
		w.commit(rollup, w.store(1, 3))
		w.mustSizes(1, 3, 1200)
		if err := rollup.Close(t.Context()); err != nil {
			t.Error(err)
		}
		w.mustBeTidy()
	})
}

// A new process knows nothing: it finds the small files of the table.
func TestRestart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for range 20 {
			w.show(w.store(1, 30), w.store(2, 1))
		}
		pass(10 * time.Minute)
		first := w.rollup(nil)
		r := w.run(first)
		pass(time.Second)
		handed := first.Ready() // and the process is killed
		r.stop(t)
		if len(handed) != 2 {
			t.Fatalf("handed over %d; log:\n%s", len(handed), w.log)
		}
		second := w.rollup(nil)
		r = w.run(second)
		defer r.stop(t)
		w.commit(second)
		w.mustSizes(1, 600)
		w.mustSizes(2, 20)
		w.mustHoldAll()
		for _, x := range handed {
			if w.objects[x.Add[0].Path] == nil {
				t.Errorf("%s, which another process handed over, is gone", x.Add[0].Path)
			}
		}
	})
}

// More small files than may be known: they are joined before their time, and the others follow.
func TestMoreFilesThanAreKept(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for i := range 400 {
			w.show(w.store(byte(i%2), 1))
		}
		r := w.run(w.rollup(func(c *Config) { c.KnownBytesMax, c.AgeMax = 100*300, 0 }))
		defer r.stop(t)
		for range 10 {
			w.commit(r.Rollup)
			pass(time.Minute)
		}
		for p := range byte(2) {
			if n := len(w.sizes(p)); n > 20 {
				t.Errorf("partition %d has %d files", p, n)
			}
		}
		w.mustBeTidy()
		if !strings.Contains(w.log.String(), "more small files") || w.looked() > 8 {
			t.Errorf("%d looks; log:\n%s", w.looked(), w.log)
		}
	})
}

// While the committer takes nothing, no more is made than it may take at once.
func TestCommitterThatIsAway(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(bySize))
		defer r.stop(t)
		for p := range unsettledMax + 20 {
			files := w.three(byte(p))
			w.show(files...)
			r.Committed(files)
		}
		pass(time.Hour)
		if len(w.joined()) != unsettledMax {
			t.Errorf("%d joins", len(w.joined()))
		}
		w.commit(r.Rollup)
		synctest.Wait()
		w.commit(r.Rollup)
		if len(w.joined()) != unsettledMax+20 {
			t.Errorf("%d joins", len(w.joined()))
		}
		w.mustBeTidy()
	})
}

// Commits, answers and new sessions at once, for the race detector and the rows.
func TestConcurrently(t *testing.T) {
	w := newWorld(t)
	rollup := w.rollup(func(c *Config) {
		c.Parallel, c.Local, c.MemoryBytesMax, c.SpoolBytesMax = 4, false, 20000, 1<<20
		c.SpoolFolder = t.TempDir()
	})
	for range 3 {
		x := &running{rollup, nil, make(chan error, 1)}
		ctx, cancel := w.cancelled()
		x.cancel = cancel
		go func() { x.done <- rollup.Run(ctx) }()
		var keepers sync.WaitGroup
		for i := range 300 {
			var files []record.DataFile
			for p := range byte(4) {
				f := w.store(p, 20+int(p)*50)
				keepers.Go(func() { w.keep(rollup, f) })
				files = append(files, f)
			}
			if i%50 == 49 {
				keepers.Wait()
			}
			w.commit(rollup, files...)
		}
		keepers.Wait()
		x.stop(t)
		w.commit(rollup)
	}
	if err := rollup.Close(t.Context()); err != nil {
		t.Error(err)
	}
	w.mustBeTidy()
	if s := w.metrics.Summary().Rollups; s.Count == 0 || s.Failures > 0 || s.KeptMemoryBytes+s.KeptDiskBytes != 0 {
		t.Errorf("metrics %+v", s)
	}
}

func TestNewRefuses(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"the target size is 0 bytes":  func(c *Config) { c.TargetBytes = 0 },
		"the age limit is -1s":        func(c *Config) { c.AgeMax = -time.Second },
		"9 bytes may be kept on disk": func(c *Config) { c.Local, c.SpoolBytesMax = false, 9 },
	} {
		_, err := New(newWorld(t).config(change))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
