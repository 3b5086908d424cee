package upkeep

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// spool keeps bytes on the local disk, in segments of many files each, under a limit. A segment goes when none of its
// bytes are wanted. Where the system allows it, a segment has no name once it is open, so that nothing stays behind
// when the process is killed. It is safe for concurrent use.
type spool struct {
	folder   string
	bytesMax int64

	sweep sync.Once     // removes what an earlier process left
	idle  chan struct{} // of capacity 1: there are segments to discard

	mu       sync.Mutex // guards what follows; never held over I/O
	current  *segment   // that takes more; nil: the next write makes one
	segments map[*segment]bool
	dead     []*segment // of which nothing is wanted
	bytes    int64      // of all segments, dead ones included
	full     time.Time  // until then the disk is taken for full
}

type segment struct {
	file *os.File
	name string // empty: it has none any more
	end  int64
	live int // extents that are wanted
}

// extent is bytes in the spool. The zero one is none.
type extent struct {
	segment      *segment
	offset, size int64
}

func (e extent) reader() io.ReaderAt { return io.NewSectionReader(e.segment.file, e.offset, e.size) }

const (
	// segmentBytes is the size from which a segment takes no more.
	segmentBytes = 64 << 20
	// fullFor is for how long nothing is written after a write failed: the disk is full, most likely.
	fullFor = 5 * time.Minute
	// spoolPattern is the names of segments.
	spoolPattern = "rollup-*.spool"
)

// newSpool makes nothing on the disk before the first write.
func newSpool(folder string, bytesMax int64) *spool {
	s := &spool{bytesMax: bytesMax, idle: make(chan struct{}, 1), segments: map[*segment]bool{}}
	if s.folder = folder; folder == "" {
		s.bytesMax = 0
	}
	return s
}

// write has write store bytes of the size given. It gives no extent where there is no room for them. writeErr is an
// error of write itself, err one of the disk.
func (s *spool) write(size int64, write func(io.Writer) error) (e extent, writeErr, err error) {
	e, err = s.allocate(size)
	if e.segment == nil {
		return e, nil, err
	}
	disk := &noting{Writer: io.NewOffsetWriter(e.segment.file, e.offset)}
	writeErr = write(disk)
	if disk.err != nil {
		writeErr, err = nil, fmt.Errorf("keeping small files on the local disk, below %s: %w", s.folder, disk.err)
		s.rest()
	} else if writeErr == nil && disk.bytes != size {
		writeErr = fmt.Errorf("a file has %d bytes, not %d", disk.bytes, size)
	}
	if writeErr != nil || err != nil {
		s.free(e)
		return extent{}, writeErr, err
	}
	return e, nil, nil
}

// allocate takes room in a segment.
func (s *spool) allocate(size int64) (extent, error) {
	if err := s.discard(); err != nil {
		return extent{}, fmt.Errorf("removing bytes of small files below %s: %w", s.folder, err)
	}
	e, wanting := s.place(size)
	if !wanting {
		return e, nil
	}
	made, err := s.make()
	if err != nil {
		s.rest()
		return extent{}, fmt.Errorf("keeping small files on the local disk: %w", err)
	}
	s.mu.Lock()
	s.segments[made] = true
	if s.current == nil {
		s.current = made
	} else { // another writer was faster
		s.dead = append(s.dead, made)
	}
	s.mu.Unlock()
	e, _ = s.place(size)
	return e, nil
}

// place takes room in the segment that there is, or says that one is wanting. It gives none when there is no room.
func (s *spool) place(size int64) (e extent, wanting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+size > s.bytesMax || time.Now().Before(s.full) {
		return extent{}, false
	}
	g := s.current
	if g == nil {
		return extent{}, true
	}
	e = extent{g, g.end, size}
	g.end += size
	g.live++
	s.bytes += size
	if g.end >= segmentBytes {
		s.current = nil
	}
	return e, false
}

// make makes a segment that only this user can read.
func (s *spool) make() (*segment, error) {
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return nil, err
	}
	s.sweep.Do(s.removeLeft)
	f, err := os.CreateTemp(s.folder, spoolPattern) // of mode 0600
	if err != nil {
		return nil, err
	}
	g := &segment{file: f, name: f.Name()}
	if os.Remove(g.name) == nil {
		g.name = ""
	}
	return g, nil
}

// removeLeft removes segments that a process left behind that was killed. Those of a living one have no name, or cannot
// be removed.
func (s *spool) removeLeft() {
	left, err := filepath.Glob(filepath.Join(s.folder, spoolPattern))
	if err != nil { // of the pattern only
		return
	}
	for _, name := range left {
		_ = os.Remove(name)
	}
}

// rest has nothing written for a while.
func (s *spool) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = time.Now().Add(fullFor)
}

// hold has an extent stay for one more free.
func (s *spool) hold(e extent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.segment.live++
}

// free lets an extent go.
func (s *spool) free(e extent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := e.segment
	if g.live--; g.live > 0 {
		return
	}
	if s.current == g {
		s.current = nil
	}
	s.dead = append(s.dead, g)
	select {
	case s.idle <- struct{}{}:
	default:
	}
}

// discard gives back the disk of segments of which nothing is wanted.
func (s *spool) discard() error {
	s.mu.Lock()
	dead := s.dead
	s.dead = nil
	s.mu.Unlock()
	var faults []error
	for _, g := range dead {
		faults = append(faults, g.file.Close())
		if g.name != "" {
			faults = append(faults, os.Remove(g.name))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range dead {
		delete(s.segments, g)
		s.bytes -= g.end
	}
	return errors.Join(faults...)
}

// size is the bytes on disk.
func (s *spool) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// close removes all of it. No extent is read any more.
func (s *spool) close() error {
	s.mu.Lock()
	s.current = nil
	s.dead = nil
	for g := range s.segments {
		s.dead = append(s.dead, g)
	}
	s.mu.Unlock()
	err := s.discard()
	if s.folder != "" {
		// It stays where it is not empty: another process of the job may use it.
		_ = os.Remove(s.folder)
	}
	return err
}
