package wire

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"firn/internal/job"
	"firn/internal/parquet"
	"firn/internal/pipeline"
	"firn/internal/record"
	"firn/internal/table"
	"firn/internal/upkeep"
)

// care is what keeps the table in shape while the job runs: small files are joined, old snapshots expire, and files
// that nothing needs any more are deleted. It implements pipeline.Rollup.
type care struct {
	rollup  *upkeep.Rollup // nil: none
	expire  job.Expire
	orphans job.Orphans
	sweeps  *table.Committer
	log     *slog.Logger
}

var _ pipeline.Rollup = (*care)(nil)

const (
	// Commits with joined files are so many commit intervals apart, and at most so long; see pipeline.Config.
	replaceCommits     = 10
	replaceIntervalMax = 10 * time.Second
	// sweepInterval is how often it is looked whether files can be deleted, which costs nothing where none can.
	sweepInterval = time.Minute
	// orphansFirst is when a job first looks for orphan files.
	orphansFirst = time.Hour
	// closeTimeout bounds the removal of files that were joined and not committed.
	closeTimeout = 10 * time.Second
	// keptShare of DataBytes is for small files that wait to be joined, where reading them again costs a request.
	keptShare = 16
)

func replaceInterval(j *job.Job) time.Duration {
	return min(replaceCommits*j.Sink.Iceberg.CommitInterval, replaceIntervalMax)
}

func (a *Assembly) openUpkeep(
	j *job.Job, catalog *table.Catalog, t *table.Table, schema *record.Schema, options parquet.Options, log *slog.Logger,
) (*care, error) {
	sweeps, err := t.Upkeep(table.CommitterOptions{Log: log})
	if err != nil {
		return nil, err
	}
	c := &care{expire: j.Sink.Iceberg.Expire, orphans: j.Sink.Iceberg.Orphans, sweeps: sweeps, log: log}
	if j.Sink.Iceberg.Rollup.Enabled {
		c.rollup, err = upkeep.New(a.rollupConfig(j, catalog, t, schema, options, log))
	}
	return c, err
}

func (a *Assembly) rollupConfig(
	j *job.Job, catalog *table.Catalog, t *table.Table, schema *record.Schema, options parquet.Options, log *slog.Logger,
) upkeep.Config {
	i := &j.Sink.Iceberg
	store := t.Store()
	folder := i.Rollup.SpoolFolder
	if folder == "" {
		folder = os.TempDir()
	}
	return upkeep.Config{
		Live: func(ctx context.Context, found func(upkeep.LiveFile)) error {
			now, err := catalog.Load(ctx, i.Table)
			if err != nil {
				return err
			}
			return now.LiveData(ctx, schema, int64(i.TargetFileSize), func(f record.DataFile, since time.Time) {
				f.SchemaID = schema.ID
				found(upkeep.LiveFile{File: f, Since: since})
			})
		},
		Open:   func(ctx context.Context, path string) (upkeep.Content, error) { return store.Open(ctx, path) },
		Create: store.Create, Remove: store.Remove, DataPath: t.DataPath, SpecID: t.SpecID(), Join: parquet.Join,
		Schema: func(id int) *record.Schema {
			if id == schema.ID {
				return schema
			}
			return nil
		},
		Parquet: options, RowLineage: t.FormatVersion() > 2, NewID: newID, Metrics: a.Metrics, Log: log,
		TargetBytes: int64(i.TargetFileSize), AgeMax: i.Rollup.MaxAge,
		Local:          isLocal(t),
		MemoryBytesMax: DataBytes(j.Limits.Memory) / keptShare, SpoolBytesMax: int64(i.Rollup.SpoolSize),
		SpoolFolder: filepath.Join(folder, "firn-"+j.Name), KnownBytesMax: DataBytes(j.Limits.Memory) / keptShare,
	}
}

// Run implements pipeline.Rollup.
func (c *care) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	if c.expire.Enabled {
		parts.Go(func() { c.sweep(ctx) })
	}
	if c.orphans.Enabled {
		parts.Go(func() { c.clear(ctx) })
	}
	if c.rollup != nil {
		return c.rollup.Run(ctx)
	}
	<-ctx.Done()
	return nil
}

// sweep deletes files of expired snapshots, until ctx ends. What fails is tried again; it never ends the job.
func (c *care) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		_, err := c.sweeps.Sweep(ctx, table.SweepPolicy{DeleteAfter: c.expire.DeleteAfter})
		if err != nil && ctx.Err() == nil {
			c.log.Warn("deleting files of expired snapshots failed; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// clear deletes orphan files, first an hour after the start or after the interval if that is shorter, until ctx ends.
// What fails is tried again after the interval; it never ends the job.
func (c *care) clear(ctx context.Context) {
	next := time.NewTimer(min(orphansFirst, c.orphans.Interval))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		deleted, err := c.clearOnce(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			c.log.Warn("deleting orphan files failed; trying again", "deleted", deleted, "in", c.orphans.Interval, "error", err)
		case deleted > 0:
			c.log.Info("deleted files that nothing refers to", "files", deleted)
		}
		next.Reset(c.orphans.Interval)
	}
}

// clearOnce deletes the orphan files that there are, and says how many.
func (c *care) clearOnce(ctx context.Context) (deleted int, err error) {
	for {
		found, err := c.sweeps.Orphans(ctx, table.OrphanPolicy{OlderThan: c.orphans.OlderThan})
		if err != nil {
			return deleted, err
		}
		err = c.sweeps.DeleteOrphans(ctx, &found, nil)
		deleted += found.Deleted
		if err != nil || !found.More {
			return deleted, err
		}
	}
}

// Committed implements pipeline.Rollup.
func (c *care) Committed(files []record.DataFile) {
	if c.rollup != nil {
		c.rollup.Committed(files)
	}
}

// Ready implements pipeline.Rollup.
func (c *care) Ready() []record.Replacement {
	if c.rollup == nil {
		return nil
	}
	return c.rollup.Ready()
}

// Settled implements pipeline.Rollup.
func (c *care) Settled(replaced, stale []string) {
	if c.rollup != nil {
		c.rollup.Settled(replaced, stale)
	}
}

// keep is offered the bytes of each stored file; nil where they are of no use.
func (c *care) keep() func(path string, sizeBytes int64, write func(io.Writer) error) {
	if c.rollup == nil {
		return nil
	}
	return c.rollup.Keep
}

// expireBy takes old snapshots out of the table by the committer. That it fails leaves them to the next time.
func (c *care) expireBy(k *table.Committer) func(ctx context.Context) {
	return func(ctx context.Context) {
		if !c.expire.Enabled {
			return
		}
		if _, err := k.Expire(ctx, table.ExpirePolicy{SnapshotsMax: c.expire.Keep}); err != nil && ctx.Err() == nil {
			c.log.Warn("taking old snapshots out of the table failed; trying again after the next commit", "error", err)
		}
	}
}

func (c *care) close() error {
	if c.rollup == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return c.rollup.Close(ctx)
}
