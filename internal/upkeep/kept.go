package upkeep

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"firn/internal/metric"
)

// kept is the bytes of small files until they are joined: in memory, and the oldest ones on the local disk when memory
// is short. It is safe for concurrent use.
type kept struct {
	bytesMax int64 // in memory
	spool    *spool
	metrics  *metric.Job
	note     func(kind string, err error)
	crowded  chan struct{} // of capacity 1: memory is short

	mu       sync.Mutex // guards what follows; never held over I/O
	files    map[string]*keptFile
	inMemory list.List // of *keptFile, the oldest first
	bytes    int64     // in memory, or about to be
}

// keptFile is one file. Its bytes are in memory or in the spool.
type keptFile struct {
	path   string
	at     time.Time
	bytes  []byte
	memory *list.Element // nil: it is in the spool
	extent extent
}

const (
	// keptMax is for how long a file is kept at most: one that was not joined by then belongs to a partition with few
	// rows, or to no commit, and makes room for others.
	keptMax = time.Hour
	// expireInterval is the time between two looks for those.
	expireInterval = 5 * time.Minute
)

func newKept(c *Config, note func(kind string, err error)) *kept {
	k := &kept{
		bytesMax: c.MemoryBytesMax, metrics: c.Metrics, note: note, crowded: make(chan struct{}, 1),
		files: map[string]*keptFile{}, spool: newSpool(c.SpoolFolder, c.SpoolBytesMax),
	}
	if c.Local {
		k.bytesMax = 0
	}
	return k
}

// run moves files to the disk whenever memory is short, until ctx ends.
func (k *kept) run(ctx context.Context) {
	tick := time.NewTicker(expireInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.crowded:
			k.relieve(ctx)
		case <-k.spool.idle:
			k.tidy()
		case <-tick.C:
			k.expire(time.Now().Add(-keptMax))
		}
	}
}

// tidy gives disk back that is not wanted.
func (k *kept) tidy() {
	if err := k.spool.discard(); err != nil {
		k.note("spooling", fmt.Errorf("removing bytes of small files below %s: %w", k.spool.folder, err))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.measure()
}

// keep keeps a file in memory, if there is room.
func (k *kept) keep(path string, size int64, write func(io.Writer) error) {
	if !k.reserve(path, size) {
		return
	}
	// What could not be written for keeping is in the store all the same.
	_ = k.fill(path, size, write)
}

// fetch keeps a file that is read from the store, in memory or on disk, if there is room. The error is of reading it.
func (k *kept) fetch(path string, size int64, read func(io.Writer) error) error {
	if k.reserve(path, size) {
		return k.fill(path, size, read)
	}
	e, readErr, err := k.spool.write(size, read)
	if readErr != nil {
		return readErr
	}
	if err != nil {
		k.note("spooling", err)
		return nil
	}
	if e.segment != nil {
		k.insert(&keptFile{path: path, at: time.Now(), extent: e})
	}
	return nil
}

// reserve takes room in memory, and has some made when it is short.
func (k *kept) reserve(path string, size int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files[path] != nil || size > k.bytesMax {
		return false
	}
	if k.bytes+size > k.bytesMax/4*3 {
		select {
		case k.crowded <- struct{}{}:
		default:
		}
	}
	if k.bytes+size > k.bytesMax {
		return false
	}
	k.bytes += size
	return true
}

// fill writes a file into the room that was reserved for it.
func (k *kept) fill(path string, size int64, write func(io.Writer) error) error {
	b := bytes.NewBuffer(make([]byte, 0, size))
	err := write(b)
	if err == nil && int64(b.Len()) != size {
		err = fmt.Errorf("file %s has %d bytes, not %d", path, b.Len(), size)
	}
	if err != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.bytes -= size
		return err
	}
	k.insert(&keptFile{path: path, at: time.Now(), bytes: b.Bytes()})
	return nil
}

// insert takes a file in, unless it is there already.
func (k *kept) insert(f *keptFile) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f.bytes != nil {
		f.memory = k.inMemory.PushBack(f)
	}
	if k.files[f.path] != nil {
		k.drop(f)
		return
	}
	k.files[f.path] = f
	k.measure()
}

// drop frees what a file takes. The caller holds the lock, and has taken it out of files.
func (k *kept) drop(f *keptFile) {
	if f.memory == nil {
		k.spool.free(f.extent)
		return
	}
	k.inMemory.Remove(f.memory)
	k.bytes -= int64(len(f.bytes))
}

func (k *kept) measure() { k.metrics.RollupKept(k.bytes, k.spool.size()) }

// open gives the bytes of a file, and whether they are on disk; nil when it is not kept. They may be read until release
// is called, whatever becomes of the file.
func (k *kept) open(path string) (content io.ReaderAt, release func(), onDisk bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.files[path]
	if f == nil {
		return nil, nil, false
	}
	if f.memory != nil {
		return bytes.NewReader(f.bytes), func() {}, false
	}
	e := f.extent
	k.spool.hold(e)
	return e.reader(), func() { k.spool.free(e) }, true
}

// release lets files go.
func (k *kept) release(paths ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, path := range paths {
		if f := k.files[path]; f != nil {
			delete(k.files, path)
			k.drop(f)
		}
	}
	k.measure()
}

// paths is what is kept now.
func (k *kept) paths() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]string, 0, len(k.files))
	for path := range k.files {
		out = append(out, path)
	}
	return out
}

// expire lets files go that are older than a time.
func (k *kept) expire(before time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for path, f := range k.files {
		if f.at.Before(before) {
			delete(k.files, path)
			k.drop(f)
		}
	}
	k.measure()
}

// relieve moves the oldest files to the disk until half of the memory is free, or the disk is full.
func (k *kept) relieve(ctx context.Context) {
	for ctx.Err() == nil {
		f := k.oldest()
		if f == nil {
			return
		}
		e, _, err := k.spool.write(int64(len(f.bytes)), func(w io.Writer) error {
			_, err := w.Write(f.bytes)
			return err
		})
		if err != nil {
			k.note("spooling", err)
		}
		if e.segment == nil {
			return
		}
		k.move(f, e)
	}
}

// oldest is the oldest file in memory, or nil when memory is not short.
func (k *kept) oldest() *keptFile {
	k.mu.Lock()
	defer k.mu.Unlock()
	if front := k.inMemory.Front(); front != nil && k.bytes > k.bytesMax/2 {
		return front.Value.(*keptFile)
	}
	return nil
}

// move says that the bytes of a file are on disk, unless it was let go meanwhile.
func (k *kept) move(f *keptFile, e extent) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files[f.path] != f {
		k.spool.free(e)
		return
	}
	k.drop(f)
	f.bytes, f.memory, f.extent = nil, nil, e
	k.measure()
}

// close lets all go.
func (k *kept) close() error {
	k.release(k.paths()...)
	err := k.spool.close()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.measure()
	return err
}
