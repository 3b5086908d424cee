package upkeep

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"firn/internal/record"
)

// TestSimulation has random things happen for hours: commits, answers that get lost, sessions and processes that end,
// other writers that rewrite and delete, and operations that fail. At every moment each row is there once, and no live
// file was removed. In the end, when all is quiet, few small files are left, and none that nobody knows but those of
// unknown outcome.
func TestSimulation(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) { newSimulation(w, seed).run(t) })
		})
	}
}

type simulation struct {
	*world
	random  *rand.Rand
	rollup  *Rollup
	running *running
	settled atomic.Bool     // no more faults
	unknown map[string]bool // paths of files of unknown outcome
	late    []record.Replacement
}

func newSimulation(w *world, seed uint64) *simulation {
	s := &simulation{world: w, random: rand.New(rand.NewPCG(seed, 7)), unknown: map[string]bool{}}
	var mu sync.Mutex
	chance := rand.New(rand.NewPCG(seed, 8))
	for _, name := range []string{"list", "create", "write", "close", "open", "read", "join", "remove"} {
		w.during[name] = func() error {
			mu.Lock()
			defer mu.Unlock()
			if !s.settled.Load() && chance.IntN(30) == 0 {
				return errors.New("by chance")
			}
			return nil
		}
	}
	return s
}

// start begins a process, or another session of it.
func (s *simulation) start(t *testing.T, process bool) {
	if s.running != nil {
		s.running.stop(t)
		for _, x := range s.rollup.Ready() { // handed over, and nobody knows
			s.lose(x)
		}
	}
	if process || s.rollup == nil {
		if s.rollup != nil {
			for _, path := range s.rollup.unneeded {
				s.unknown[path] = true // a process that is killed removes nothing
			}
			if err := s.rollup.kept.close(); err != nil {
				t.Error(err)
			}
		}
		s.rollup = s.world.rollup(func(c *Config) {
			c.Local, c.Parallel = s.random.IntN(2) == 0, 1+s.random.IntN(2)
			c.MemoryBytesMax, c.SpoolBytesMax, c.SpoolFolder = 3000, 10000, t.TempDir()
		})
	}
	s.running = s.world.run(s.rollup)
}

// lose has nobody know what became of a replacement: it lands now, later, or never.
func (s *simulation) lose(x record.Replacement) {
	s.unknown[x.Add[0].Path] = true
	switch s.random.IntN(3) {
	case 0:
		s.replace(x)
	case 1:
		s.late = append(s.late, x)
	}
}

func (s *simulation) run(t *testing.T) {
	s.start(t, true)
	for range 600 {
		switch n := s.random.IntN(100); {
		case n < 60:
			s.commitSome()
		case n < 62:
			s.start(t, s.random.IntN(3) == 0)
		case n < 66:
			s.rewriteSome()
		case n < 68:
			s.deleteSome()
		case n < 70 && len(s.late) > 0:
			s.replace(s.late[0])
			s.late = s.late[1:]
		default:
			pass(time.Duration(s.random.IntN(60)) * time.Second)
		}
		s.mustHoldAll()
	}
	s.calm(t)
}

func (s *simulation) commitSome() {
	var files []record.DataFile
	for p := range byte(3) {
		if n := s.random.IntN(20) * s.random.IntN(5*int(p)+2); n > 0 {
			f := s.store(p, n)
			s.keep(s.rollup, f)
			files = append(files, f)
		}
	}
	s.world.commit(s.rollup, files...)
	pass(time.Second)
}

// liveOf is the live files of one partition, in order.
func (s *simulation) liveOf(partition byte) (out []string) {
	for path, f := range s.live {
		if f.File.Partition[0].Value[0] == partition {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

func (s *simulation) rewriteSome() {
	files := s.liveOf(byte(s.random.IntN(3)))
	if len(files) < 2 {
		return
	}
	from := s.random.IntN(len(files) - 1)
	s.rewrite(files[from:min(len(files), from+2+s.random.IntN(3))]...)
}

// deleteSome puts deletes on a file, or applies all there are.
func (s *simulation) deleteSome() {
	files := s.liveOf(byte(s.random.IntN(3)))
	if len(files) == 0 || s.random.IntN(2) == 0 {
		s.deleted = map[string]bool{}
		return
	}
	s.deleted[files[s.random.IntN(len(files))]] = true
}

// calm has all come to rest, and checks what is left.
func (s *simulation) calm(t *testing.T) {
	s.settled.Store(true)
	s.late, s.deleted = nil, map[string]bool{}
	for range 9 * 60 { // longer than any rest
		s.world.commit(s.rollup)
		pass(time.Minute)
	}
	for p := range byte(3) {
		s.commitOne(p)
	}
	for range 30 {
		s.world.commit(s.rollup)
		pass(time.Minute)
	}
	s.mustHoldAll()
	for p := range byte(3) {
		small := 0
		for _, rows := range s.sizes(p) {
			if rows < 500 {
				small++
			}
		}
		if small > 7 {
			t.Errorf("partition %d has %d small files: %v", p, small, s.sizes(p))
		}
	}
	s.running.stop(t)
	if err := s.rollup.Close(t.Context()); err != nil {
		t.Error(err)
	}
	m := s.metrics.Summary().Rollups
	t.Logf("%d roll-ups of %d files, %d stale, %d failures, %d looks", m.Count, m.FilesIn, m.Stale, m.Failures, s.looked())
	for _, path := range s.orphans() {
		if !s.unknown[path] && !s.unremoved[path] {
			t.Errorf("%s is left behind", path)
		}
	}
	synctest.Wait()
}

// commitOne gives those that were joined before an occasion to be joined once more.
func (s *simulation) commitOne(partition byte) {
	s.world.commit(s.rollup, s.store(partition, 1), s.store(partition, 1))
}
