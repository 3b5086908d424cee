package bench

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	"firn/internal/cluster"
	"firn/internal/record"
	"firn/internal/table"
)

// ownTable is a table in a folder of its own, for rows that no job writes: those of one topic partition from offset 0.
type ownTable struct {
	table     *table.Table
	committer *table.Committer
	next      int64 // offset

	folder  string
	catalog *table.Catalog
}

// ownTopic is where the rows are said to come from.
const ownTopic = "t"

// makeTable makes the table. Close must be called, after an error too.
func makeTable(ctx context.Context, config table.CreateConfig) (x ownTable, err error) {
	if x.folder, err = os.MkdirTemp("", "firn-bench-"); err != nil {
		return x, fmt.Errorf("making a folder for the table: %w", err)
	}
	x.catalog, err = table.OpenCatalog(ctx, table.CatalogConfig{Type: "hadoop", Warehouse: x.folder}, nil)
	if err != nil {
		return x, err
	}
	const ident = "bench.own"
	if x.table, err = x.catalog.Create(ctx, ident, config); err != nil {
		return x, err
	}
	x.committer, err = table.NewCommitter(x.catalog, ident, "bench", table.CommitterOptions{Fold: cluster.Fold})
	if err != nil {
		return x, err
	}
	_, err = x.committer.SetFloor(ctx, func(record.Floor) (record.Floor, error) {
		return record.Floor{ownTopic: {Next: map[int32]int64{0: 0}}}, nil
	})
	return x, err
}

// flush is one of the next rows, without files.
func (x *ownTable) flush(rows int64) record.Sealed {
	from := x.next
	x.next += rows
	return record.Sealed{
		ID: uuid.NewString(), Topics: []record.TopicMark{{Topic: ownTopic}}, Counts: record.Counts{Rows: rows},
		Ranges: []record.Range{{TopicPartition: record.TopicPartition{Topic: ownTopic}, From: from, To: x.next}},
	}
}

// close removes the table.
func (x *ownTable) close() error {
	var err error
	if x.catalog != nil {
		err = x.catalog.Close()
	}
	if x.folder != "" {
		err = errors.Join(err, os.RemoveAll(x.folder))
	}
	return err
}
