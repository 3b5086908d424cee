package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"firn/internal/fault"
	"firn/internal/parquet"
	"firn/internal/record"
)

type (
	options = parquet.JoinOptions
	joined  = parquet.Joined
)

// life is some minutes of a job: commits, a session that ends in between, and time to get over what went wrong.
func (w *world) life(t *testing.T) {
	t.Helper()
	rollup := w.rollup(func(c *Config) {
		c.Local, c.MemoryBytesMax, c.SpoolBytesMax, c.SpoolFolder = false, 2000, 1<<20, t.TempDir()
	})
	for range 2 {
		r := w.run(rollup)
		for range 10 {
			f, g := w.store(1, 40), w.store(2, 1)
			w.keep(rollup, f)
			w.commit(rollup, f, g)
			pass(time.Second)
		}
		pass(11 * time.Minute)
		w.commit(rollup)
		pass(2 * time.Minute)
		w.commit(rollup)
		r.stop(t)
	}
	if err := rollup.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Every operation fails once, before it took effect or after: nothing is lost, nothing is removed that is live, nothing
// is left behind but what could not be removed, and the files are joined all the same.
func TestFaults(t *testing.T) {
	total := 0
	bubble(t, func(t *testing.T, w *world) {
		w.plan = &fault.Plan{}
		w.life(t)
		total = w.plan.Count()
		w.mustSizes(1, 800)
		w.mustSizes(2, 20)
		w.mustBeTidy()
	})
	if total < 20 {
		t.Fatalf("only %d operations", total)
	}
	for n := 1; n <= total; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%t", n, after), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					w.plan = &fault.Plan{At: n, After: after}
					w.life(t)
					w.mustHoldAll()
					w.mustSizes(1, 800)
					w.mustSizes(2, 20)
					if left := w.orphans(); len(left) > 0 {
						t.Errorf("left behind: %v", left)
					}
					if s := w.metrics.Summary().Rollups; s.Failures > 1 {
						t.Errorf("%d failures", s.Failures)
					}
				})
			})
		}
	}
}

// A store that is away is asked again after pauses, and told of once.
func TestStoreThatIsAway(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var away atomic.Bool
		var tries atomic.Int64
		away.Store(true)
		r := w.run(w.rollup(func(c *Config) {
			bySize(c)
			create := c.Create
			c.Create = func(ctx context.Context, path string) (io.WriteCloser, error) {
				if tries.Add(1); away.Load() {
					return nil, errors.New("the store does not answer")
				}
				return create(ctx, path)
			}
		}))
		defer r.stop(t)
		for p := range byte(5) {
			w.commit(r.Rollup, w.three(p)...)
		}
		pass(30 * time.Minute)
		if n := tries.Load(); n < 30 || n > 40 {
			t.Errorf("%d tries in 30 minutes", n)
		}
		if n := strings.Count(w.log.String(), "the store does not answer"); n != 1 {
			t.Errorf("told of it %d times:\n%s", n, w.log)
		}
		away.Store(false)
		pass(time.Minute)
		w.commit(r.Rollup)
		for p := range byte(5) {
			w.mustSizes(p, 1200)
		}
		w.mustBeTidy()
	})
}

// A file that cannot be joined with others does not keep them small.
func TestFileThatCannotBeJoined(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var bad string
		r := w.run(w.rollup(func(c *Config) {
			join := c.Join
			c.Join = func(ctx context.Context, to io.Writer, parts []parquet.Part, o options) (joined, error) {
				for _, p := range parts {
					if p.File.Path == bad {
						return joined{}, errors.New("a page is torn")
					}
				}
				return join(ctx, to, parts, o)
			}
		}))
		defer r.stop(t)
		var files []record.DataFile
		for range 30 {
			files = append(files, w.store(1, 10))
		}
		bad = files[7].Path
		w.commit(r.Rollup, files...)
		for range 180 {
			pass(time.Minute)
			w.commit(r.Rollup)
		}
		if n := len(w.sizes(1)); n > 8 {
			t.Errorf("%d files are left: %v", n, w.sizes(1))
		}
		if n := strings.Count(w.log.String(), "a page is torn"); n < 1 || n > 4 {
			t.Errorf("told of it %d times in 3 hours", n)
		}
		w.mustBeTidy()
	})
}

// Files that are gone when they are read are forgotten, the others are joined.
func TestFilesThatAreGone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(nil))
		defer r.stop(t)
		w.commit(r.Rollup, w.store(1, 5), w.store(1, 6), w.store(1, 7), w.store(1, 8))
		w.rewrite("mem://1/file-1.parquet", "mem://1/file-3.parquet")
		pass(11 * time.Minute)
		w.commit(r.Rollup)
		w.mustSizes(1, 12, 14)
		w.mustBeTidy()
	})
}

// A join that does not give the rows of its parts is not used.
func TestJoinThatLosesRows(t *testing.T) {
	for name, change := range map[string]func(*joined){
		"rows":  func(j *joined) { j.File.Rows-- },
		"bytes": func(j *joined) { j.File.SizeBytes++ },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				r := w.run(w.rollup(func(c *Config) {
					bySize(c)
					join := c.Join
					c.Join = func(ctx context.Context, to io.Writer, parts []parquet.Part, o options) (joined, error) {
						j, err := join(ctx, to, parts, o)
						change(&j)
						return j, err
					}
				}))
				defer r.stop(t)
				w.commit(r.Rollup, w.three(1)...)
				pass(time.Minute)
				w.commit(r.Rollup)
				w.mustSizes(1, 400, 400, 400)
				w.mustBeTidy()
				if !strings.Contains(w.log.String(), "the file is not used") {
					t.Errorf("log:\n%s", w.log)
				}
			})
		})
	}
}

// The table is looked at while files are joined and replaced.
func TestLookDuringAReplacement(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		r := w.run(w.rollup(bySize))
		defer r.stop(t)
		w.commit(r.Rollup, append(w.three(1), w.three(2)...)...)
		pass(time.Second)
		handed := r.Ready()
		if len(handed) != 2 {
			t.Fatalf("handed over %d", len(handed))
		}
		w.rewrite(handed[1].Remove...)
		w.settle(r.Rollup, handed[1:]) // stale: a look is due
		var once sync.Once
		w.meanwhile("list", func() { // when the list is read already
			once.Do(func() { w.settle(r.Rollup, handed[:1]) })
		})
		pass(2 * time.Minute)
		w.commit(r.Rollup)
		w.mustHoldAll()
		if n := len(r.backlog.parts); n != 0 {
			t.Errorf("%d parts are known, of no live file", n)
		}
	})
}

// lookSoon has Run look at the table as soon as it may.
func (x *running) lookSoon() {
	x.mu.Lock()
	x.look = true
	x.mu.Unlock()
	x.wake()
}

// A look finds that files are gone which are being joined, or were: what was made of them is not handed over.
func TestLookFindsPartsGone(t *testing.T) {
	for name, joinFor := range map[string]time.Duration{"while they are joined": 5 * time.Minute, "after": 0} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				r := w.run(w.rollup(bySize))
				defer r.stop(t)
				if joinFor > 0 {
					w.meanwhile("close", func() { <-time.After(joinFor) })
				}
				w.commit(r.Rollup, w.three(1)...)
				pass(time.Second)
				w.rewrite("mem://1/file-2.parquet")
				r.lookSoon()
				pass(10 * time.Minute)
				ready := r.Ready() // of what is there now
				if len(ready) != 1 || slices.Contains(ready[0].Remove, "mem://1/file-2.parquet") {
					t.Fatalf("handed over %+v", ready)
				}
				w.settle(r.Rollup, ready)
				w.mustSizes(1, 1200)
				w.mustBeTidy()
				if s := w.metrics.Summary().Rollups; s.Stale != 0 || w.looked() != 2 {
					t.Errorf("%d looks, metrics %+v", w.looked(), s)
				}
			})
		})
	}
}

func TestDoubled(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 7: time.Minute, 1000: time.Minute,
	} {
		if d := doubled(time.Second, time.Minute, failures); d != want {
			t.Errorf("after %d failures: %s, want %s", failures, d, want)
		}
	}
}
