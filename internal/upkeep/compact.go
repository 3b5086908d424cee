package upkeep

import (
	"context"
	"errors"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"firn/internal/parquet"
	"firn/internal/record"
)

// Candidate is a small file that may be joined with others of its group.
type Candidate struct {
	Path  string
	Bytes int64
}

// CompactionSmall is the size in bytes from which a file is not small, for a target size.
func CompactionSmall(targetBytes int64) int64 { return policy{target: targetBytes}.smallMax() }

// PlanCompaction says which files are joined with which: those of a group in their order, into files of about the
// target size. A file beside which none is left stays. The more columns of values there are, the fewer files are joined
// at once, which bounds the memory for their descriptions and footers.
func PlanCompaction(groups [][]Candidate, targetBytes int64, columns int) (joins [][]Candidate) {
	return planFiles(groups, targetBytes, columns, 2)
}

// PlanRewrites says which files are written anew together, as PlanCompaction does. None stays.
func PlanRewrites(groups [][]Candidate, targetBytes int64, columns int) (rewrites [][]Candidate) {
	return planFiles(groups, targetBytes, columns, 1)
}

// planFiles leaves out what would be of fewer files than least.
func planFiles(groups [][]Candidate, targetBytes int64, columns, least int) (plan [][]Candidate) {
	most := joinFilesMax(columns)
	for _, group := range groups {
		var bytes, done int64
		for _, f := range group {
			bytes += f.Bytes
		}
		each := max(1, bytes/max(1, (bytes+targetBytes/2)/targetBytes))
		begin := 0
		for i, f := range group {
			done += f.Bytes
			if i < len(group)-1 && done < each && i+1-begin < most {
				continue
			}
			if i+1-begin >= least {
				plan = append(plan, group[begin:i+1])
			}
			begin, done = i+1, 0
		}
	}
	return plan
}

// Compaction makes fewer and plainer files of a table's by hand: it joins small ones, and writes those anew that cannot
// be joined. All fields are required unless said otherwise.
type Compaction struct {
	// Config says how files are read, made and written. Live, AgeMax and TargetBytes of it are not asked.
	Config  Config
	Columns int // of values, in the table's schema
	// FileBytes is the size of files that are written anew, 512 MiB at most.
	FileBytes int64
	// Head is those of the files that are live now, with what is needed to read their rows.
	Head func(ctx context.Context, paths map[string]bool) (Head, error)
	// Commit makes replacements visible. Those that are neither replaced nor stale, and all where it fails, are of unknown
	// outcome: their files stay.
	Commit func(ctx context.Context, all []record.Replacement) (Committed, error)
	// Progress is told of files that were joined or written anew, and committed, or given up. It is called by one
	// goroutine at a time.
	Progress func(files int)
}

// Committed is what became of replacements, by id.
type Committed struct {
	Replaced, Stale []string
	DeletesDropped  int // delete files that went with them
}

// Work is what a compaction does.
type Work struct {
	Joins    [][]Candidate // files to be joined with each other as they are
	Rewrites [][]Candidate // files of one partition whose rows are read and written anew
	// DropDeletes commits even if there is nothing to write anew, to have delete files dropped that no data file needs.
	DropDeletes bool
}

// Compacted is what became of a compaction.
type Compacted struct {
	FilesIn  int   `json:"files_in"`  // that were replaced
	FilesOut int   `json:"files_out"` // in their place
	Bytes    int64 `json:"bytes"`     // of those that came
	Commits  int   `json:"commits"`
	// Stale counts files that were joined or written anew in vain, since another writer replaced them or deleted rows of
	// them meanwhile.
	Stale int `json:"stale"`
	// Gone counts files that were not live any more when their turn came, or were of another schema by then, and those
	// that were to be joined with them.
	Gone int `json:"gone"`
	// Rewritten is the part of FilesIn whose rows were read and written anew, and Deleted the rows that delete files had
	// taken away of them. DeletesDropped is the delete files that went since nothing needs them any more.
	Rewritten      int   `json:"rewritten"`
	Deleted        int64 `json:"deleted_rows"`
	DeletesDropped int   `json:"deletes_dropped"`
	// Failed says why files could not be joined or written anew. They stay as they are.
	Failed []FailedJoin `json:"failed,omitempty"`
}

// Plus is the sum.
func (c Compacted) Plus(o Compacted) Compacted {
	return Compacted{
		c.FilesIn + o.FilesIn, c.FilesOut + o.FilesOut, c.Bytes + o.Bytes, c.Commits + o.Commits, c.Stale + o.Stale,
		c.Gone + o.Gone, c.Rewritten + o.Rewritten, c.Deleted + o.Deleted, c.DeletesDropped + o.DeletesDropped,
		slices.Concat(c.Failed, o.Failed),
	}
}

// FailedJoin is files that could not be joined with each other, or not be written anew.
type FailedJoin struct {
	Files int    `json:"files"`
	Error string `json:"error"`
}

// joinFilesMax is how many files of so many columns are joined at once; packed they take some 40 bytes a column.
func joinFilesMax(columns int) int { return max(2, min(partsMax, packedBytesMax/(40*max(1, columns)))) }

// CompactionBatchFiles is how many files of so many columns are described, joined and committed at a time.
func CompactionBatchFiles(columns int) int { return 2 * joinFilesMax(columns) }

// Run joins, writes anew and commits, a bounded number of files at a time: whenever it ends, what was committed stays,
// and another run has the rest to do. Files that turn out to be of other types than the schema's, or of too many row
// groups, are written anew instead of joined. What it made and did not hand over to Commit, or what was stale, it
// removes; where it is killed, such files are orphans.
func (c Compaction) Run(ctx context.Context, work Work) (Compacted, error) {
	var out Compacted
	r, err := New(c.Config)
	if err != nil {
		return out, err
	}
	c.FileBytes = max(1, min(c.FileBytes, rewriteFileBytesMax))
	run := compacting{
		Compaction: c, rollup: r, out: &out, rewrites: work.Rewrites, deletes: newDeleteCache(c.Config.Open),
	}
	err = run.all(ctx, work)
	return out, errors.Join(err, r.kept.close())
}

// compacting is one run of a compaction.
type compacting struct {
	Compaction
	rollup   *Rollup
	out      *Compacted
	deletes  *deleteCache
	rewrites [][]Candidate // to come
	// rewriting says that the joins are over.
	rewriting bool
}

func (c *compacting) all(ctx context.Context, work Work) error {
	if err := c.batches(ctx, work.Joins, math.MaxInt64, c.joinBatch); err != nil {
		return err
	}
	c.rewriting = true
	if len(c.rewrites) == 0 && work.DropDeletes {
		return c.dropDeletes(ctx)
	}
	return c.batches(ctx, c.rewrites, rewriteBatchFiles*c.FileBytes, c.rewriteBatch)
}

// batches does some at a time, of a bounded number of files and, beyond one, of bytes.
func (c *compacting) batches(
	ctx context.Context, all [][]Candidate, bytesMax int64, do func(context.Context, [][]Candidate) error,
) error {
	for len(all) > 0 {
		n, files, bytes := 0, 0, int64(0)
		for _, some := range all {
			for _, f := range some {
				bytes += f.Bytes
			}
			if n > 0 && (files+len(some) > CompactionBatchFiles(c.Columns) || bytes > bytesMax) {
				break
			}
			n, files = n+1, files+len(some)
		}
		before := len(c.rewrites)
		err := do(ctx, all[:n])
		c.rollup.removeUnneeded(context.WithoutCancel(ctx))
		for _, later := range c.rewrites[before:] { // their turn comes again
			files -= len(later)
		}
		c.Progress(files)
		if err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// joinBatch joins some and commits them at once.
func (c *compacting) joinBatch(ctx context.Context, joins [][]Candidate) error {
	head, err := c.Head(ctx, pathsOf(joins))
	if err != nil {
		return err
	}
	made, err := c.join(ctx, joins, &head)
	return c.finish(ctx, made, err)
}

func pathsOf(all [][]Candidate) map[string]bool {
	paths := make(map[string]bool)
	for _, some := range all {
		for _, f := range some {
			paths[f.Path] = true
		}
	}
	return paths
}

// finish commits what was made, or gives it up after an error.
func (c *compacting) finish(ctx context.Context, made []record.Replacement, err error) error {
	if err == nil && len(made) > 0 {
		return c.commit(ctx, made)
	}
	for _, r := range made {
		c.giveUp(r)
	}
	return err
}

func (c *compacting) giveUp(r record.Replacement) {
	for _, f := range r.Add {
		c.rollup.unneed(f.Path)
	}
}

// join makes the files, several at once.
func (c *compacting) join(
	ctx context.Context, joins [][]Candidate, head *Head,
) ([]record.Replacement, error) {
	r := c.rollup
	one := func(ctx context.Context, join []Candidate) (record.Replacement, error) {
		parts := r.asParts(join, head.Files)
		if parts == nil {
			return record.Replacement{}, errGone
		}
		opened := r.open(ctx, parts)
		x, _, err := r.join(ctx, parts, opened)
		opened.close()
		r.kept.release(paths(parts)...)
		if err != nil {
			return record.Replacement{}, err
		}
		return record.Replacement{ID: x.id, Remove: paths(x.parts), Add: []record.DataFile{x.file}}, nil
	}
	return c.several(ctx, joins, c.Config.Parallel, one)
}

// isOfMakeup tells whether files cannot be joined, and their rows can be read and written all the same.
func isOfMakeup(err error) bool {
	return errors.Is(err, parquet.ErrSchemaDiffers) || errors.Is(err, parquet.ErrRowGroups)
}

var (
	// errGone says that files are not live any more, or of another schema by now.
	errGone = errors.New("the files are gone")
	// errStopped says that all ends, and it is said elsewhere why.
	errStopped = errors.New("stopped")
)

// several makes replacements, some at once. An error of the store, and the end of ctx, end all; another one is of those
// files.
func (c *compacting) several(
	ctx context.Context, all [][]Candidate, atOnce int,
	do func(context.Context, []Candidate) (record.Replacement, error),
) (made []record.Replacement, err error) {
	results, failed := make([]record.Replacement, len(all)), make([]error, len(all))
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(max(1, atOnce))
	for i, files := range all {
		group.Go(func() error {
			result, err := do(working, files)
			results[i], failed[i] = result, err
			var storing *storeError
			if err != nil && (working.Err() != nil || errors.As(err, &storing)) {
				failed[i] = errStopped
				return err
			}
			return nil
		})
	}
	err = group.Wait()
	for i, fault := range failed {
		switch {
		case fault == nil:
			made = append(made, results[i])
		case errors.Is(fault, errStopped):
		case errors.Is(fault, errGone):
			c.out.Gone += len(all[i])
		case err == nil && !c.rewriting && isOfMakeup(fault):
			c.rewrites = append(c.rewrites, all[i])
		default:
			c.out.Failed = append(c.out.Failed, FailedJoin{len(all[i]), fault.Error()})
		}
	}
	return made, err
}

// asParts is nil where a file is not live any more, or the schema is another one by now.
func (r *Rollup) asParts(join []Candidate, found map[string]record.DeletableFile) []*part {
	var parts []*part
	var g *group
	for _, c := range join {
		f, live := found[c.Path]
		if !live || r.config.Schema(f.SchemaID) == nil {
			return nil
		}
		if g == nil {
			g = &group{like: record.DataFile{SpecID: f.SpecID, SchemaID: f.SchemaID, Partition: f.Partition}}
		}
		parts = append(parts, &part{group: g, path: f.Path, bytes: f.SizeBytes, rows: f.Rows, said: pack(&f.DataFile)})
	}
	return parts
}

// commit makes files visible, and has those removed that do not fit.
func (c *compacting) commit(ctx context.Context, all []record.Replacement) error {
	byID := make(map[string]record.Replacement, len(all))
	for _, r := range all {
		byID[r.ID] = r
	}
	done, err := c.Commit(ctx, all)
	if err != nil {
		return err
	}
	if len(done.Replaced) > 0 {
		c.out.Commits++
	}
	c.out.DeletesDropped += done.DeletesDropped
	for _, id := range done.Replaced {
		r := byID[id]
		c.out.FilesIn += len(r.Remove)
		c.out.FilesOut += len(r.Add)
		for _, f := range r.Add {
			c.out.Bytes += f.SizeBytes
		}
		if r.Rewrite != nil {
			c.out.Rewritten += len(r.Remove)
			c.out.Deleted += r.Rewrite.Deleted
		}
	}
	for _, id := range done.Stale {
		c.out.Stale += len(byID[id].Remove)
		c.giveUp(byID[id])
	}
	return nil
}
