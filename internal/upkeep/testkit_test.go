package upkeep

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"firn/internal/fault"
	"firn/internal/metric"
	"firn/internal/parquet"
	"firn/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	kB = 1000
	mB = 1000 * kB
	// rowBytes is the size of a row in a world's files: its number.
	rowBytes = 8
)

// world is a table and its store in memory. Its files hold numbers, one a row, so that it can be told whether a row is
// there once. Every operation asks the plan. It is safe for concurrent use.
type world struct {
	t       *testing.T
	plan    *fault.Plan
	metrics *metric.Job
	log     *lockedBuffer

	mu      sync.Mutex // guards what follows
	objects map[string][]byte
	live    map[string]LiveFile
	shown   map[string]bool // paths that were live once
	deleted map[string]bool // live files that have deletes on them
	rows    int64           // committed so far
	files   int
	ids     int
	reads   map[string]int // opens, by path
	joins   []int          // parts of each join
	looks   int
	during  map[string]func() error // called when an operation of the name begins; its error is the operation's
	// unremoved is paths of which the removal failed.
	unremoved map[string]bool
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, metrics: metric.NewJob("orders", nil), log: &lockedBuffer{}, objects: map[string][]byte{},
		live: map[string]LiveFile{}, shown: map[string]bool{}, deleted: map[string]bool{}, reads: map[string]int{},
		during: map[string]func() error{}, unremoved: map[string]bool{},
	}
}

// config has a target of 1000 rows, and an age limit of 10 minutes.
func (w *world) config(change func(*Config)) Config {
	c := Config{
		Live: w.list, Open: w.open, Create: w.create, Remove: w.remove, Join: w.join,
		DataPath: func(p []record.PartitionValue, file string) (string, error) {
			return fmt.Sprintf("mem://%x/%s", p[0].Value, file), nil
		},
		Schema: func(id int) *record.Schema {
			if id > 1 {
				return nil
			}
			return &record.Schema{ID: id}
		},
		NewID: func() string {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ids++
			return fmt.Sprintf("id-%d", w.ids)
		},
		Metrics: w.metrics, Log: slog.New(slog.NewTextHandler(w.log, nil)),
		TargetBytes: 1000 * rowBytes, AgeMax: 10 * time.Minute, Local: true,
	}
	if change != nil {
		change(&c)
	}
	return c
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// joined is the number of files of each join so far.
func (w *world) joined() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.joins)
}

// looked is how often the live files were listed.
func (w *world) looked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks
}

// do is an operation.
func (w *world) do(name string, operation func() error) error {
	w.mu.Lock()
	during := w.during[name]
	w.mu.Unlock()
	if during != nil {
		if err := during(); err != nil {
			return err
		}
	}
	return w.plan.Do(name, operation)
}

// meanwhile has a function called when an operation of a name begins.
func (w *world) meanwhile(name string, f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.during[name] = func() error {
		f()
		return nil
	}
}

func (w *world) list(_ context.Context, found func(LiveFile)) error {
	w.mu.Lock()
	w.looks++
	files := slices.Collect(maps.Values(w.live))
	w.mu.Unlock()
	return w.do("list", func() error {
		for _, f := range files {
			found(f)
		}
		return nil
	})
}

func (w *world) create(ctx context.Context, path string) (io.WriteCloser, error) {
	o := &object{world: w, ctx: ctx, path: path}
	return o, w.do("create", ctx.Err)
}

// object is one that is being written.
type object struct {
	world *world
	ctx   context.Context //nolint:containedctx // of the call that made it
	path  string
	bytes.Buffer
}

func (o *object) Write(b []byte) (n int, err error) {
	err = o.world.do("write", func() error {
		n, err = o.Buffer.Write(b)
		return err
	})
	return n, err
}

// Close makes the object, half or whole.
func (o *object) Close() error {
	if o.ctx.Err() != nil {
		return o.ctx.Err()
	}
	return o.world.do("close", func() error {
		o.world.mu.Lock()
		defer o.world.mu.Unlock()
		o.world.objects[o.path] = o.Bytes()
		return nil
	})
}

func (w *world) open(_ context.Context, path string) (c Content, err error) {
	err = w.do("open", func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reads[path]++
		b, ok := w.objects[path]
		if !ok {
			return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		c = &content{w, bytes.NewReader(b)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

type content struct {
	world *world
	*bytes.Reader
}

func (c *content) ReadAt(b []byte, at int64) (n int, err error) {
	err = c.world.do("read", func() error {
		n, err = c.Reader.ReadAt(b, at)
		return err
	})
	return n, err
}

func (c *content) Close() error { return nil }

func (w *world) remove(_ context.Context, path string) error {
	w.mu.Lock()
	w.unremoved[path] = true
	w.mu.Unlock()
	return w.do("remove", func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, ok := w.live[path]; ok {
			w.t.Errorf("a live file is removed: %s", path)
		}
		delete(w.objects, path)
		delete(w.unremoved, path)
		return nil
	})
}

// join writes the bytes of the parts one after the other.
func (w *world) join(
	ctx context.Context, to io.Writer, parts []parquet.Part, o parquet.JoinOptions,
) (j parquet.Joined, err error) {
	if o.Schema == nil {
		return j, errors.New("no schema")
	}
	err = w.do("join", ctx.Err)
	for _, p := range parts {
		if err != nil {
			return j, err
		}
		b := make([]byte, p.SizeBytes)
		if _, err = p.Bytes.ReadAt(b, 0); err != nil {
			return j, err
		}
		if p.File.SizeBytes != p.SizeBytes || p.File.Rows != p.SizeBytes/rowBytes || p.File.ColumnSizes[1] != p.SizeBytes {
			w.t.Errorf("part %s of %d bytes is described as %+v", p.File.Path, p.SizeBytes, p.File)
		}
		_, err = to.Write(b)
		j.PagesCopied++
		j.BytesCopied += p.SizeBytes
	}
	j.File = record.DataFile{
		Rows: j.BytesCopied / rowBytes, SizeBytes: j.BytesCopied, ColumnSizes: map[int]int64{1: j.BytesCopied},
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.joins = append(w.joins, len(parts))
	return j, err
}

// inPartition is the partition value of a number.
func inPartition(n byte) []record.PartitionValue {
	return []record.PartitionValue{{FieldID: 1000, Value: []byte{n}, Type: record.Type{Kind: record.KindInt}}}
}

// store makes a file of so many new rows, which is not live yet.
func (w *world) store(partition byte, rows int) record.DataFile {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files++
	f := record.DataFile{
		Path: fmt.Sprintf("mem://%x/file-%d.parquet", partition, w.files), Partition: inPartition(partition),
		Rows: int64(rows), SizeBytes: int64(rows) * rowBytes, ColumnSizes: map[int]int64{1: int64(rows) * rowBytes},
	}
	var b []byte
	for range rows {
		b = binary.BigEndian.AppendUint64(b, uint64(w.rows))
		w.rows++
	}
	w.objects[f.Path] = b
	return f
}

// three makes files that are enough for a join by size, where there is no age limit.
func (w *world) three(partition byte) []record.DataFile {
	return []record.DataFile{w.store(partition, 400), w.store(partition, 400), w.store(partition, 400)}
}

// bySize has files joined for their size only.
func bySize(c *Config) { c.AgeMax = 0 }

// commit makes files visible, and replacements that fit, and tells the roll-up.
func (w *world) commit(r *Rollup, files ...record.DataFile) {
	w.settle(r, r.Ready())
	w.show(files...)
	r.Committed(files)
}

func (w *world) show(files ...record.DataFile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range files {
		w.live[f.Path], w.shown[f.Path] = LiveFile{File: f, Since: time.Now()}, true
	}
}

func (w *world) settle(r *Rollup, all []record.Replacement) {
	var replaced, stale []string
	for _, x := range all {
		if w.replace(x) {
			replaced = append(replaced, x.ID)
		} else {
			stale = append(stale, x.ID)
		}
	}
	r.Settled(replaced, stale)
}

// replace makes a replacement visible, if it fits.
func (w *world) replace(x record.Replacement) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	var goes, comes int64
	since := time.Now()
	for _, path := range x.Remove {
		f, ok := w.live[path]
		if !ok || w.deleted[path] {
			return false
		}
		goes += f.File.Rows
		since = f.Since
	}
	for _, f := range x.Add {
		comes += f.Rows
		if w.objects[f.Path] == nil {
			w.t.Errorf("replacement %s has a file that is not there: %s", x.ID, f.Path)
		}
	}
	if goes != comes {
		w.t.Errorf("replacement %s: %d rows go, %d come", x.ID, goes, comes)
	}
	for _, path := range x.Remove {
		delete(w.live, path)
	}
	for _, f := range x.Add {
		w.live[f.Path], w.shown[f.Path] = LiveFile{File: f, Since: since}, true
	}
	return true
}

// rewrite has another writer replace live files by one of its own.
func (w *world) rewrite(paths ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files++
	to := LiveFile{Since: time.Now()}
	var b []byte
	for _, path := range paths {
		f := w.live[path].File
		b = append(b, w.objects[path]...)
		f.Rows, f.SizeBytes = f.Rows+to.File.Rows, f.SizeBytes+to.File.SizeBytes
		to.File = f
		delete(w.live, path)
		delete(w.objects, path)
	}
	to.File.Path = fmt.Sprintf("mem://foreign-%d.parquet", w.files)
	to.File.ColumnSizes = map[int]int64{1: to.File.SizeBytes}
	w.live[to.File.Path], w.objects[to.File.Path] = to, b
}

// mustHoldAll checks that every row that was committed is there once.
func (w *world) mustHoldAll() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := make([]int, w.rows)
	for path, f := range w.live {
		b, ok := w.objects[path]
		if !ok || int64(len(b)) != f.File.SizeBytes {
			w.t.Fatalf("live file %s has %d bytes of %d", path, len(b), f.File.SizeBytes)
		}
		for ; len(b) > 0; b = b[rowBytes:] {
			seen[binary.BigEndian.Uint64(b)]++
		}
	}
	for i, n := range seen {
		if n != 1 {
			w.t.Fatalf("row %d of %d is there %d times", i, w.rows, n)
		}
	}
}

// orphans is objects that no snapshot ever referred to.
func (w *world) orphans() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path := range w.objects {
		if !w.shown[path] && strings.HasSuffix(path, suffix) {
			out = append(out, path)
		}
	}
	return out
}

// sizes is the rows of the live files of a partition, the fewest first.
func (w *world) sizes(partition byte) (out []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.live {
		if f.File.Partition[0].Value[0] == partition {
			out = append(out, f.File.Rows)
		}
	}
	slices.Sort(out)
	return out
}

// running is a Rollup that runs in a bubble of synctest.
type running struct {
	*Rollup
	cancel context.CancelFunc
	done   chan error
}

func (w *world) rollup(change func(*Config)) *Rollup {
	w.t.Helper()
	r, err := New(w.config(change))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) run(r *Rollup) *running {
	ctx, cancel := context.WithCancel(w.t.Context())
	x := &running{r, cancel, make(chan error, 1)}
	go func() { x.done <- r.Run(ctx) }()
	synctest.Wait()
	return x
}

func (x *running) stop(t *testing.T) {
	t.Helper()
	x.cancel()
	if err := <-x.done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func (w *world) cancelled() (context.Context, context.CancelFunc) {
	return context.WithCancel(w.t.Context())
}

// keep offers the bytes of a file, as the sink does when it was stored.
func (w *world) keep(r *Rollup, f record.DataFile) {
	w.mu.Lock()
	b := w.objects[f.Path]
	w.mu.Unlock()
	r.Keep(f.Path, f.SizeBytes, func(to io.Writer) error {
		_, err := to.Write(b)
		return err
	})
}

// pass lets time pass, and all that is due happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
