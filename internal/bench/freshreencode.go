package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/google/uuid"

	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/table"
	"firn/internal/upkeep"
	"firn/internal/wire"
)

const (
	// reencodeFileMB of messages are in each of the files that are written anew, and reencodeFiles of them in the table.
	reencodeFileMB = 64
	reencodeFiles  = 8
	// reencodeTargetBytes is the size of the files that come.
	reencodeTargetBytes = 128 << 20
	reencodeGoal        = 80
)

// reencoding is a table whose files are written anew.
type reencoding struct {
	ownTable
	rows  *rows
	paths []upkeep.Candidate
}

// reencode makes a table and has all of its files written anew by a compaction: read from the disk, decoded, encoded,
// stored and committed. It gives the million bytes of JSON for each second of CPU time.
func reencode(ctx context.Context, mb int) (rate float64, err error) {
	x := &reencoding{}
	if x.rows, err = newRows(narrow(), mb); err != nil {
		return 0, err
	}
	x.ownTable, err = makeTable(ctx, table.CreateConfig{Schema: x.rows.schema})
	defer func() { err = errors.Join(err, x.close()) }()
	if err != nil {
		return 0, err
	}
	if err := x.fill(ctx); err != nil {
		return 0, fmt.Errorf("filling the table: %w", err)
	}
	before, err := cpuTime()
	if err != nil {
		return 0, err
	}
	if err := x.compact(ctx); err != nil {
		return 0, err
	}
	after, err := cpuTime()
	return float64(x.rows.bytes) * reencodeFiles / 1e6 / (after - before).Seconds(), err
}

// fill commits the files.
func (x *reencoding) fill(ctx context.Context) error {
	sealed := x.flush(int64(reencodeFiles * x.rows.count))
	for range reencodeFiles {
		f, err := x.store(ctx)
		if err != nil {
			return err
		}
		sealed.Files = append(sealed.Files, f)
		x.paths = append(x.paths, upkeep.Candidate{Path: f.Path, Bytes: f.SizeBytes})
	}
	_, err := x.committer.Commit(ctx, []record.Sealed{sealed})
	return err
}

// store writes a file of all rows.
func (x *reencoding) store(ctx context.Context) (record.DataFile, error) {
	to, err := x.table.DataPath(nil, uuid.NewString()+".parquet")
	if err != nil {
		return record.DataFile{}, err
	}
	w, err := x.table.Store().Create(ctx, to)
	if err != nil {
		return record.DataFile{}, err
	}
	d, err := x.write(w)
	d.Path, d.SpecID, d.SchemaID = to, x.table.SpecID(), x.table.SchemaID()
	return d, errors.Join(err, w.Close())
}

func (x *reencoding) write(w io.Writer) (record.DataFile, error) {
	f, err := parquet.NewFile(x.table.Schema(), parquet.DefaultOptions())
	if err != nil {
		return record.DataFile{}, err
	}
	for _, batch := range x.rows.batches {
		if err := f.Append(batch.Columns, nil); err != nil {
			return record.DataFile{}, err
		}
	}
	return f.Finish(w)
}

func (x *reencoding) compact(ctx context.Context) error {
	k, err := x.table.Upkeep(table.CommitterOptions{})
	if err != nil {
		return err
	}
	c, err := wire.Compaction(x.table, k, reencodeTargetBytes, 1, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	c.Progress = func(int) {}
	plan := upkeep.PlanRewrites([][]upkeep.Candidate{x.paths}, reencodeTargetBytes, c.Columns)
	out, err := c.Run(ctx, upkeep.Work{Rewrites: plan})
	if err == nil && out.Rewritten != reencodeFiles {
		err = fmt.Errorf("the outcome is %+v", out)
	}
	return err
}
