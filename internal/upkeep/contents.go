package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"golang.org/x/sync/errgroup"

	"firn/internal/parquet"
)

// contents is the opened parts of a join. Bytes that were kept are read where they are. Others are read from the store
// into where bytes are kept, since a join reads a file column by column, which would be a request each; where there is
// no room for that, the store is asked for each piece. One goroutine reads it.
type contents struct {
	parts []parquet.Part
	files openFiles

	mu       sync.Mutex // guards what follows
	missing  []*part    // of which there is no file
	unread   []*part    // that could not be read
	faults   []error
	releases []func()
}

const (
	// fetchesMax files are read from the store at once, fetchBytes at a time.
	fetchesMax = 4
	fetchBytes = 4 << 20
	// openFilesMax is how many files of the store a join has open at once: half of what the least systems allow.
	openFilesMax = 512
)

// open opens the parts, and notes those that cannot be.
func (r *Rollup) open(ctx context.Context, parts []*part) *contents {
	c := &contents{parts: make([]parquet.Part, len(parts))}
	c.files.max = openFilesMax
	var group errgroup.Group
	group.SetLimit(fetchesMax)
	described := describe(parts)
	for i, p := range parts {
		c.parts[i] = parquet.Part{
			SizeBytes: p.bytes, File: described[i],
			FirstRowID: described[i].Lineage.FirstRowID, SequenceNumber: described[i].Lineage.SequenceNumber,
		}
		group.Go(func() error {
			c.parts[i].Bytes = r.openPart(ctx, c, p)
			return nil
		})
	}
	_ = group.Wait() // the faults are in c
	return c
}

// openPart finds the bytes of a part: in memory, on the local disk, in the store.
func (r *Rollup) openPart(ctx context.Context, c *contents, p *part) io.ReaderAt {
	if ctx.Err() != nil {
		c.fail(p, ctx.Err())
		return nil
	}
	if bytes := r.openKept(c, p); bytes != nil {
		return bytes
	}
	r.config.Metrics.RollupRead(0, 0, p.bytes)
	if !r.config.Local {
		err := r.kept.fetch(p.path, p.bytes, func(w io.Writer) error { return r.copyOut(ctx, p, w) })
		if err != nil {
			c.fail(p, err)
			return nil
		}
		if bytes, release, _ := r.kept.open(p.path); bytes != nil {
			c.hold(release)
			return bytes
		}
	}
	return &storeFile{contents: c, part: p, open: func() (Content, error) { return r.config.Open(ctx, p.path) }}
}

func (r *Rollup) openKept(c *contents, p *part) io.ReaderAt {
	bytes, release, onDisk := r.kept.open(p.path)
	if bytes == nil {
		return nil
	}
	c.hold(release)
	if onDisk {
		r.config.Metrics.RollupRead(0, p.bytes, 0)
	} else {
		r.config.Metrics.RollupRead(p.bytes, 0, 0)
	}
	return bytes
}

// copyOut reads a whole file from the store.
func (r *Rollup) copyOut(ctx context.Context, p *part, to io.Writer) error {
	f, err := r.config.Open(ctx, p.path)
	if err != nil {
		return fmt.Errorf("opening %s: %w", p.path, err)
	}
	piece := make([]byte, min(p.bytes, fetchBytes))
	for at := int64(0); at < p.bytes && err == nil; {
		piece = piece[:min(int64(len(piece)), p.bytes-at)]
		if err = ctx.Err(); err != nil {
			break
		}
		n, readErr := f.ReadAt(piece, at)
		if n < len(piece) {
			err = fmt.Errorf("reading %s at byte %d of %d: %w", p.path, at, p.bytes, readErr)
			break
		}
		_, err = to.Write(piece)
		at += int64(n)
	}
	return errors.Join(err, f.Close())
}

func (c *contents) hold(release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.releases = append(c.releases, release)
}

// fail notes that a part could not be read.
func (c *contents) fail(p *part, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, err)
	if errors.Is(err, fs.ErrNotExist) {
		c.missing = append(c.missing, p)
	} else {
		c.unread = append(c.unread, p)
	}
}

// err is why parts could not be read.
func (c *contents) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch len(c.faults) {
	case 0:
		return nil
	case 1:
		return c.faults[0]
	default:
		return fmt.Errorf("%w, and %d more", c.faults[0], len(c.faults)-1)
	}
}

func (c *contents) close() {
	c.files.close()
	for _, release := range c.releases {
		release()
	}
}

// storeFile reads a part from the store, and opens it for that.
type storeFile struct {
	contents *contents
	part     *part
	open     func() (Content, error)
	opened   Content // nil: it is not open
}

// ReadAt implements io.ReaderAt.
func (f *storeFile) ReadAt(b []byte, at int64) (int, error) {
	if f.opened == nil {
		opened, err := f.open()
		if err != nil {
			err = fmt.Errorf("opening %s: %w", f.part.path, err)
			f.contents.fail(f.part, err)
			return 0, err
		}
		f.opened = opened
		f.contents.files.add(f)
	}
	n, err := f.opened.ReadAt(b, at)
	if n == len(b) {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		err = fmt.Errorf("reading %s at byte %d: %w", f.part.path, at, err)
		f.contents.fail(f.part, err)
	}
	return n, err
}

// openFiles bounds the files that a join has open. The one opened last is closed for another: files are read in turn
// once a column, so that the others are wanted sooner.
type openFiles struct {
	max  int
	open []*storeFile
}

func (o *openFiles) add(f *storeFile) {
	if last := len(o.open) - 1; last+1 >= o.max {
		o.open[last].shut()
		o.open = o.open[:last]
	}
	o.open = append(o.open, f)
}

// shut closes a file that was read from, of which the error says nothing.
func (f *storeFile) shut() {
	_ = f.opened.Close()
	f.opened = nil
}

func (o *openFiles) close() {
	for _, f := range o.open {
		f.shut()
	}
}
