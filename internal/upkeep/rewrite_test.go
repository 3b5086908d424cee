package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"firn/internal/parquet"
	"firn/internal/record"
)

// compaction is one of the live files, into files of a size.
func (w *world) compaction(fileBytes int64) (Compaction, *int) {
	done := 0
	return Compaction{
		Config: w.config(func(c *Config) {
			c.Join, c.Parquet, c.Parallel = parquet.Join, parquet.DefaultOptions(), 2
			c.Schema = func(int) *record.Schema { return numbersSchema() }
		}),
		Columns: 2, FileBytes: fileBytes, Progress: func(n int) { done += n },
		Head: func(_ context.Context, paths map[string]bool) (Head, error) {
			h := Head{SnapshotID: 7, Files: make(map[string]record.DeletableFile)}
			for path := range paths {
				if f, ok := w.live[path]; ok {
					h.Files[path] = record.DeletableFile{DataFile: f.File}
				}
			}
			return h, nil
		},
		Commit: func(_ context.Context, all []record.Replacement) (out Committed, err error) {
			for _, r := range all {
				if r.Rewrite == nil || r.Rewrite.SnapshotID != 7 {
					return out, fmt.Errorf("replacement %+v", r)
				}
				for _, path := range r.Remove {
					delete(w.live, path)
				}
				w.show(r.Add...)
				out.Replaced = append(out.Replaced, r.ID)
			}
			return out, nil
		},
	}, &done
}

// liveFiles are candidates, in the order of their paths.
func (w *world) liveFiles() (out []Candidate) {
	for _, path := range slices.Sorted(maps.Keys(w.live)) {
		out = append(out, Candidate{path, w.live[path].File.SizeBytes})
	}
	return out
}

// numbers is what all live files hold.
func (w *world) numbers() (out []int) {
	for path := range w.live {
		out = append(out, w.read(path)...)
	}
	slices.Sort(out)
	return out
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// A large file becomes several of the size that was asked for, and several small ones become one.
func TestRewriteSizes(t *testing.T) {
	const rows = 60_000
	w := newWorld(t)
	w.show(w.write(1, 0, rows-20), w.write(2, rows-20, rows-10), w.write(2, rows-10, rows))
	all := w.liveFiles()
	large := max(all[0].Bytes, all[1].Bytes, all[2].Bytes)
	c, done := w.compaction(large / 4)
	groups := [][]Candidate{all[:1], all[1:]}
	out, err := c.Run(t.Context(), Work{Rewrites: groups})
	if err != nil || out.FilesIn != 3 || out.Rewritten != 3 || out.FilesOut < 4 || out.FilesOut > 6 || *done != 3 {
		t.Fatalf("%+v, %d files done, error %v", out, *done, err)
	}
	if got := w.numbers(); !slices.Equal(got, upTo(rows)) {
		t.Errorf("%d rows, want %d", len(got), rows)
	}
	for _, f := range w.live {
		if f.File.SizeBytes > large/2 || f.File.SchemaID != 1 || len(f.File.Partition) != 1 {
			t.Errorf("file %+v of %d, when %d are asked for", f.File, large, large/4)
		}
	}
}

// Whatever goes wrong, the table is as it was, and nothing is left of what was begun.
func TestRewriteFaults(t *testing.T) {
	broken := errors.New("broken")
	for _, operation := range []string{"create", "write", "close", "read", "open"} {
		t.Run(operation, func(t *testing.T) {
			w := newWorld(t)
			w.show(w.write(1, 0, 30_000), w.write(1, 30_000, 40_000))
			before := w.liveFiles()
			w.during[operation] = func() error { return broken }
			c, _ := w.compaction(20_000)
			out, err := c.Run(t.Context(), Work{Rewrites: [][]Candidate{before}})
			storing := operation != "read" && operation != "open"
			if errors.Is(err, broken) != storing || (len(out.Failed) == 1) == storing || out.FilesIn > 0 {
				t.Errorf("%+v, error %v", out, err)
			}
			if !slices.Equal(before, w.liveFiles()) || len(w.objects) != len(before) {
				t.Errorf("%d live files, %d stored", len(w.live), len(w.objects))
			}
		})
	}
}

// A compaction that is stopped while it writes gives up what it began.
func TestRewriteStopped(t *testing.T) {
	w := newWorld(t)
	w.show(w.write(1, 0, 30_000))
	before := w.liveFiles()
	ctx, stop := context.WithCancel(t.Context())
	w.meanwhile("create", stop)
	c, _ := w.compaction(20_000)
	out, err := c.Run(ctx, Work{Rewrites: [][]Candidate{before}})
	if !errors.Is(err, context.Canceled) || out.FilesIn > 0 || len(w.objects) != 1 {
		t.Errorf("%+v, error %v, %d stored", out, err, len(w.objects))
	}
}

// Files that are not what they are described to be are said, and those that went meanwhile are counted.
func TestRewriteOfOtherFiles(t *testing.T) {
	w := newWorld(t)
	lying := w.write(1, 0, 10)
	lying.Rows++
	w.show(lying, w.write(2, 10, 20))
	gone := Candidate{"mem://3/gone.parquet", 100}
	c, done := w.compaction(1 << 20)
	groups := [][]Candidate{{{lying.Path, lying.SizeBytes}}, {gone}}
	out, err := c.Run(t.Context(), Work{Rewrites: groups})
	if err != nil || len(out.Failed) != 1 || out.Gone != 1 || out.FilesIn != 0 || *done != 2 {
		t.Errorf("%+v, error %v", out, err)
	}
}

func TestPlanRewrites(t *testing.T) {
	group := []Candidate{{"a", 700}, {"b", 10}, {"c", 20}}
	got := PlanRewrites([][]Candidate{group, {{"d", 5}}}, 100, 3)
	if len(got) != 3 || len(got[0]) != 1 || len(got[1]) != 2 || got[2][0].Path != "d" {
		t.Errorf("plan %+v", got)
	}
}

// What cannot be joined for its makeup is written anew by the same run.
func TestRewriteInsteadOfJoin(t *testing.T) {
	for _, fault := range []error{parquet.ErrSchemaDiffers, parquet.ErrRowGroups} {
		w := newWorld(t)
		w.show(w.write(1, 0, 10), w.write(1, 10, 20))
		all := w.liveFiles()
		c, done := w.compaction(1 << 20)
		c.Config.Join = func(
			context.Context, io.Writer, []parquet.Part, parquet.JoinOptions,
		) (parquet.Joined, error) {
			return parquet.Joined{}, fmt.Errorf("joining: %w", fault)
		}
		out, err := c.Run(t.Context(), Work{Joins: [][]Candidate{all}})
		if err != nil || out.FilesIn != 2 || out.FilesOut != 1 || out.Rewritten != 2 || len(out.Failed) > 0 || *done != 2 {
			t.Errorf("%v: %+v, error %v", fault, out, err)
		}
		if got := w.numbers(); !slices.Equal(got, upTo(20)) {
			t.Errorf("rows %d", got)
		}
	}
}
