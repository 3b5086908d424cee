package upkeep

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

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
			if i > begin {
				joins = append(joins, group[begin:i+1])
			}
			begin, done = i+1, 0
		}
	}
	return joins
}

// Compaction joins small files of a table by hand. All fields are required unless said otherwise.
type Compaction struct {
	// Config says how files are read, made and written. Live, AgeMax and TargetBytes of it are not asked.
	Config  Config
	Columns int // of values, in the table's schema
	// Describe is the descriptions of those of the files that are live now, by path.
	Describe func(ctx context.Context, paths map[string]bool) (map[string]record.DataFile, error)
	// Commit makes replacements visible. Those that are neither replaced nor stale, and all where it fails, are of unknown
	// outcome: their files stay.
	Commit func(ctx context.Context, all []record.Replacement) (replaced, stale []string, err error)
	// Progress is told of files that were joined and committed, or given up. It is called by one goroutine at a time.
	Progress func(files int)
}

// Compacted is what became of a compaction.
type Compacted struct {
	FilesIn  int   `json:"files_in"`  // that were replaced
	FilesOut int   `json:"files_out"` // in their place
	Bytes    int64 `json:"bytes"`     // of those that came
	Commits  int   `json:"commits"`
	// Stale counts files that were joined in vain, since another writer replaced them or deleted rows of them meanwhile.
	Stale int `json:"stale"`
	// Gone counts files that were not live any more when their turn came, or were of another schema by then, and those
	// that were to be joined with them.
	Gone int `json:"gone"`
	// Failed says why files could not be joined. They stay as they are.
	Failed []FailedJoin `json:"failed,omitempty"`
}

// Plus is the sum.
func (c Compacted) Plus(o Compacted) Compacted {
	return Compacted{
		c.FilesIn + o.FilesIn, c.FilesOut + o.FilesOut, c.Bytes + o.Bytes, c.Commits + o.Commits, c.Stale + o.Stale,
		c.Gone + o.Gone, slices.Concat(c.Failed, o.Failed),
	}
}

// FailedJoin is files that could not be joined with each other.
type FailedJoin struct {
	Files int    `json:"files"`
	Error string `json:"error"`
}

// joinFilesMax is how many files of so many columns are joined at once; packed they take some 40 bytes a column.
func joinFilesMax(columns int) int { return max(2, min(partsMax, packedBytesMax/(40*max(1, columns)))) }

// CompactionBatchFiles is how many files of so many columns are described, joined and committed at a time.
func CompactionBatchFiles(columns int) int { return 2 * joinFilesMax(columns) }

// Run joins and commits, a bounded number of files at a time: whenever it ends, what was committed stays, and another
// run has the rest to do. What it made and did not hand over to Commit, or what was stale, it removes; where it is
// killed, such files are orphans.
func (c Compaction) Run(ctx context.Context, joins [][]Candidate) (Compacted, error) {
	var out Compacted
	r, err := New(c.Config)
	if err != nil {
		return out, err
	}
	for len(joins) > 0 && err == nil {
		n, files := 1, len(joins[0])
		for n < len(joins) && files+len(joins[n]) <= CompactionBatchFiles(c.Columns) {
			files += len(joins[n])
			n++
		}
		err = c.batch(ctx, r, joins[:n], &out)
		r.removeUnneeded(context.WithoutCancel(ctx))
		c.Progress(files)
		joins = joins[n:]
	}
	return out, errors.Join(err, r.kept.close())
}

// batch joins some and commits them at once.
func (c Compaction) batch(ctx context.Context, r *Rollup, joins [][]Candidate, out *Compacted) error {
	wanted := make(map[string]bool)
	for _, join := range joins {
		for _, f := range join {
			wanted[f.Path] = true
		}
	}
	described, err := c.Describe(ctx, wanted)
	if err != nil {
		return err
	}
	made, err := c.join(ctx, r, joins, described, out)
	if err == nil && len(made) > 0 {
		return c.commit(ctx, r, made, out)
	}
	for _, x := range made {
		r.unneed(x.file.Path)
	}
	return err
}

// join makes the files, several at once.
func (c Compaction) join(
	ctx context.Context, r *Rollup, joins [][]Candidate, described map[string]record.DataFile, out *Compacted,
) (made []*replacement, err error) {
	all := make([]*replacement, len(joins))
	failed := make([]error, len(joins))
	group, joining := errgroup.WithContext(ctx)
	group.SetLimit(max(1, c.Config.Parallel))
	for i, join := range joins {
		parts := r.asParts(join, described)
		if parts == nil {
			out.Gone += len(join)
			continue
		}
		group.Go(func() error {
			opened := r.open(joining, parts)
			x, _, err := r.join(joining, parts, opened)
			opened.close()
			r.kept.release(paths(parts)...)
			all[i] = x
			var storing *storeError
			if joining.Err() != nil || errors.As(err, &storing) {
				return err
			}
			failed[i] = err
			return nil
		})
	}
	err = group.Wait()
	for i, fault := range failed {
		if fault != nil {
			out.Failed = append(out.Failed, FailedJoin{len(joins[i]), fault.Error()})
		}
	}
	return slices.DeleteFunc(all, func(x *replacement) bool { return x == nil }), err
}

// asParts is nil where a file is not live any more, or the schema is another one by now.
func (r *Rollup) asParts(join []Candidate, described map[string]record.DataFile) []*part {
	var parts []*part
	var g *group
	for _, c := range join {
		f, live := described[c.Path]
		if !live || r.config.Schema(f.SchemaID) == nil {
			return nil
		}
		if g == nil {
			g = &group{like: record.DataFile{SpecID: f.SpecID, SchemaID: f.SchemaID, Partition: f.Partition}}
		}
		parts = append(parts, &part{group: g, path: f.Path, bytes: f.SizeBytes, rows: f.Rows, said: pack(&f)})
	}
	return parts
}

// commit makes files visible, and has those removed that do not fit.
func (c Compaction) commit(ctx context.Context, r *Rollup, made []*replacement, out *Compacted) error {
	byID := make(map[string]*replacement, len(made))
	all := make([]record.Replacement, len(made))
	for i, x := range made {
		byID[x.id] = x
		all[i] = record.Replacement{ID: x.id, Remove: paths(x.parts), Add: []record.DataFile{x.file}}
	}
	replaced, stale, err := c.Commit(ctx, all)
	if err != nil {
		return err
	}
	if len(replaced) > 0 {
		out.Commits++
	}
	for _, id := range replaced {
		out.FilesIn += len(byID[id].parts)
		out.FilesOut++
		out.Bytes += byID[id].file.SizeBytes
	}
	for _, id := range stale {
		out.Stale += len(byID[id].parts)
		r.unneed(byID[id].file.Path)
	}
	return nil
}
