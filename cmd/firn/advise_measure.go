package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"firn/internal/advise"
	"firn/internal/record"
	"firn/internal/table"
)

// adviseSampleRows are read of a table to see how rows spread over the values of a column.
const adviseSampleRows = 5000

// measure takes the load from the history of a table and its files.
func (o *adviseOptions) measure(ctx context.Context, t *table.Table) (measured, error) {
	m := measured{load: o.load(t.Location()), now: t.PartitionTexts()}
	if err := o.measureRate(t, &m); err != nil {
		return m, err
	}
	filters := o.Filters
	if len(filters) == 0 {
		filters = bucketColumns(m.now)
		if len(filters) > 0 {
			m.notes = append(m.notes, "queries are taken to filter by what the table has buckets of; --filter says otherwise")
		}
	}
	files, err := t.Files(ctx, table.FilesOptions{Bounds: len(filters) > 0})
	if err != nil {
		return m, err
	}
	m.load.Fields = leaves(t.Schema().Fields)
	m.load.Others = advise.OthersOf(files, t.SpecID(), advise.BucketFields(t))
	for _, column := range filters {
		f, err := measureFilter(ctx, t, files, column)
		if err != nil {
			return m, err
		}
		m.load.Filters = append(m.load.Filters, f)
	}
	return m, nil
}

// measureRate measures how fast rows came, unless --rate says it.
func (o *adviseOptions) measureRate(t *table.Table, m *measured) error {
	snapshots, err := t.Snapshots()
	if err != nil {
		return err
	}
	m.rate, err = advise.RateOf(snapshots)
	if errors.Is(err, advise.ErrNoRate) && o.Rate == "" {
		return fmt.Errorf("table %s: %w: let the job run for some minutes, or give --rate", t.Ident(), err)
	}
	m.from = fmt.Sprintf("%d snapshots that added rows in %s", m.rate.Commits, m.rate.Window.Round(time.Second))
	return o.setRate(m)
}

// measureFilter looks how rows spread over the values of a column, and whether the bounds of files help to find one.
func measureFilter(
	ctx context.Context, t *table.Table, files []table.FileInfo, column string,
) (advise.Filter, error) {
	field, ok := t.Schema().Find(column)
	if !ok {
		return advise.Filter{}, usageError{fmt.Errorf("--filter %s: table %s has no such column", column, t.Ident())}
	}
	f := advise.Filter{
		Column: column, Bucket: advise.Bucketable(field.Type.Kind), HeldShare: advise.HeldShare(files, column),
	}
	if keys, ok := advise.KeysOfTable(t, files, column); ok {
		f.Keys = keys
		return f, nil
	}
	rows, err := t.Peek(ctx, table.PeekOptions{Columns: []string{column}, Limit: adviseSampleRows})
	if err != nil {
		return f, err
	}
	values := make([]string, len(rows.Values))
	for i, row := range rows.Values {
		values[i] = string(row[0])
	}
	f.Keys = advise.KeysOfSample(values)
	return f, nil
}

// leaves counts the columns that hold values.
func leaves(fields []record.Field) (n int) {
	for _, f := range fields {
		n += max(1, leaves(f.Type.Fields))
	}
	return n
}
