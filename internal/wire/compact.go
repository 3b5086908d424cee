package wire

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"firn/internal/metric"
	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/table"
	"firn/internal/upkeep"
)

// compactMemory is for small files of a remote store while they are joined, which a request each reads whole.
const compactMemory = 256 << 20

// Compaction is a compaction of a table by hand into files of a size: it writes files by the table's properties, and
// commits by k. The caller sets Progress.
func Compaction(
	t *table.Table, k *table.Committer, fileBytes int64, parallel int, log *slog.Logger,
) (upkeep.Compaction, error) {
	options, err := tableParquetOptions(t)
	if err != nil {
		return upkeep.Compaction{}, err
	}
	columns, err := parquet.ColumnNames(t.Schema())
	if err != nil {
		return upkeep.Compaction{}, err
	}
	store := t.Store()
	return upkeep.Compaction{
		Config: upkeep.Config{
			Open:   func(ctx context.Context, path string) (upkeep.Content, error) { return store.Open(ctx, path) },
			Create: store.Create, Remove: store.Remove, DataPath: t.DataPath, SpecID: t.SpecID(), Join: parquet.Join,
			Schema: func(id int) *record.Schema {
				if id == t.SchemaID() {
					return t.Schema()
				}
				return nil
			},
			Parquet: options, RowLineage: t.FormatVersion() >= 3, NewID: newID, Metrics: metric.NewJob("upkeep", nil),
			Log: log, TargetBytes: 1, Parallel: parallel, MemoryBytesMax: compactMemory, Local: isLocal(t),
		},
		Columns: len(columns), FileBytes: fileBytes,
		Head: func(ctx context.Context, paths map[string]bool) (upkeep.Head, error) { return headOf(ctx, t, paths) },
		Commit: func(ctx context.Context, all []record.Replacement) (upkeep.Committed, error) {
			out, err := k.Commit(ctx, nil, all...)
			return upkeep.Committed{
				Replaced: out.Replaced, Stale: out.Stale, DeletesDropped: out.DeletesDropped,
			}, err
		},
	}, nil
}

// headOf is files as they are in the newest snapshot.
func headOf(ctx context.Context, t *table.Table, paths map[string]bool) (upkeep.Head, error) {
	now, err := t.Refresh(ctx)
	if err != nil {
		return upkeep.Head{}, err
	}
	live, err := now.Rewritable(ctx, paths)
	if err != nil {
		return upkeep.Head{}, err
	}
	return upkeep.Head{SnapshotID: live.SnapshotID, Files: live.Files, Field: now.EqualityField}, nil
}

func isLocal(t *table.Table) bool {
	return !strings.Contains(t.Location(), "://") || strings.HasPrefix(t.Location(), "file:")
}

// tableParquetOptions is how data files are encoded that no job writes.
func tableParquetOptions(t *table.Table) (parquet.Options, error) {
	compression := t.Property("write.parquet.compression-codec")
	if compression == "" {
		compression = "zstd" // Iceberg's default
	}
	codec, err := parquet.ParseCodec(compression)
	if err != nil {
		return parquet.Options{}, fmt.Errorf("table property write.parquet.compression-codec: %w", err)
	}
	return parquetOptions(t.Property, t.Schema(), codec)
}
