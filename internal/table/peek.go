package table

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

const (
	// PeekLimit is how many rows Peek returns when it is not told.
	PeekLimit = 10
	// peekBytesMax bounds the printed rows that are held, whatever the limit and the size of a value.
	peekBytesMax = 64 << 20
	// peekBatch bounds the decoded rows that are held while reading.
	peekBatch = 1024
)

// Rows is some rows of a table, ready to be printed.
type Rows struct {
	Columns []RowColumn         `json:"columns"`
	Values  [][]json.RawMessage `json:"rows"` // one a column
	// Cut says that rows were left out because they were too large to hold, not because of the limit.
	Cut bool `json:"cut,omitempty"`
}

// RowColumn is a column of Rows.
type RowColumn struct {
	Name string `json:"name"`
	Type string `json:"type"` // as Iceberg writes it
}

// PeekOptions says which rows to show.
type PeekOptions struct {
	Limit      int      // 0 is PeekLimit
	Where      string   // a condition, see parseWhere; a fault in it is a *WhereError
	Columns    []string // in this order; empty is all
	SnapshotID int64    // 0 is the current one
}

// Peek returns rows of the table, in no particular order. It reads one file at a time, and no more of it than it needs;
// a condition chooses files by their partitions and bounds first.
func (t *Table) Peek(ctx context.Context, o PeekOptions) (Rows, error) {
	if o.Limit < 0 {
		return Rows{}, fmt.Errorf("limit %d: want at least 1", o.Limit)
	}
	o.Limit = cmp.Or(o.Limit, PeekLimit)
	schema, err := t.schemaAt(o.SnapshotID)
	if err != nil {
		return Rows{}, err
	}
	fields, err := t.chosen(schema, o.Columns)
	if err != nil {
		return Rows{}, err
	}
	where, err := parseWhere(o.Where, schema)
	if err != nil {
		return Rows{}, err
	}
	rows, err := t.peek(ctx, o, fields, where)
	if err != nil {
		return Rows{}, fmt.Errorf("reading rows of %s: %w", t.ident, err)
	}
	return rows, nil
}

// chosen is the fields that were asked for, in that order.
func (t *Table) chosen(schema *iceberg.Schema, names []string) ([]iceberg.NestedField, error) {
	if len(names) == 0 {
		return schema.Fields(), nil
	}
	var fields []iceberg.NestedField
	for i, name := range names {
		at := slices.IndexFunc(schema.Fields(), func(f iceberg.NestedField) bool { return f.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("table %s has no column %s; columns: %s", t.ident, name, columnNames(schema))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("column %s is asked for twice", name)
		}
		fields = append(fields, schema.Fields()[at])
	}
	return fields, nil
}

// schemaAt is the schema that a snapshot was written with; 0 is the table's current one.
func (t *Table) schemaAt(snapshotID int64) (*iceberg.Schema, error) {
	if snapshotID == 0 {
		return t.inner.Schema(), nil
	}
	s := t.inner.SnapshotByID(snapshotID)
	if s == nil {
		return nil, fmt.Errorf("table %s has no snapshot %d: it never had or it has expired", t.ident, snapshotID)
	}
	if s.SchemaID != nil {
		if schema, ok := t.inner.Schemas()[*s.SchemaID]; ok {
			return schema, nil
		}
	}
	return t.inner.Schema(), nil
}

// peek plans with the condition and reads without it, see matching.
func (t *Table) peek(ctx context.Context, o PeekOptions, fields []iceberg.NestedField, w where) (Rows, error) {
	plan := t.inner.Scan(icebergtable.WithSnapshotID(o.SnapshotID), icebergtable.WithRowFilter(w.condition))
	defer func() { _ = plan.Close() }()
	tasks, err := plan.PlanFiles(ctx)
	if err != nil {
		return Rows{}, err
	}
	for i := range tasks {
		tasks[i].Residual = nil
	}
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.Name)
	}
	for _, name := range w.columns {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	read := t.inner.Scan(icebergtable.WithSnapshotID(o.SnapshotID), icebergtable.WithSelectedFields(names...),
		icebergtable.WithMaxConcurrency(1), icebergtable.WithArrowBatchSize(w.batchSize(o.Limit)))
	defer func() { _ = read.Close() }()
	projected, err := read.Projection()
	if err != nil {
		return Rows{}, err
	}
	// The library's projection lacks the index that binding IS NULL needs.
	schema := iceberg.NewSchema(projected.ID, projected.Fields()...)
	p := peeker{fields: fields, schema: schema, left: o.Limit}
	if p.bound, err = iceberg.BindExpr(schema, w.condition, true); err != nil {
		return Rows{}, err
	}
	return p.read(ctx, read, tasks)
}

// batchSize is small when the first rows are the ones to show.
func (w where) batchSize(limit int) int {
	if w.condition.Equals(iceberg.AlwaysTrue{}) {
		return min(limit, peekBatch)
	}
	return peekBatch
}

// peeker gathers rows.
type peeker struct {
	rows   Rows
	fields []iceberg.NestedField // to show
	schema *iceberg.Schema       // of what is read
	bound  iceberg.BooleanExpression
	left   int // rows to come
	held   int // bytes of the rows
}

func (p *peeker) read(ctx context.Context, scan *icebergtable.Scan, tasks []icebergtable.FileScanTask) (Rows, error) {
	p.rows.Values = [][]json.RawMessage{}
	for _, f := range p.fields {
		p.rows.Columns = append(p.rows.Columns, RowColumn{Name: f.Name, Type: f.Type.String()})
	}
	_, batches, err := scan.ReadTasks(ctx, tasks)
	if err != nil {
		return Rows{}, err
	}
	for batch, err := range batches {
		if err != nil {
			return Rows{}, err
		}
		err := p.add(batch)
		batch.Release()
		if err != nil {
			return Rows{}, err
		}
		if p.left == 0 || p.rows.Cut {
			break
		}
	}
	return p.rows, nil
}

// add takes the rows of a batch that match, until there are enough or they are too large.
func (p *peeker) add(batch arrow.RecordBatch) error {
	mask, err := matching(batch, p.schema, p.bound)
	if err != nil {
		return err
	}
	columns := make([]arrow.Array, len(p.fields))
	for k, f := range p.fields {
		at := batch.Schema().FieldIndices(f.Name)
		if len(at) != 1 {
			return fmt.Errorf("column %s is %d times in what was read", f.Name, len(at))
		}
		columns[k] = batch.Column(at[0])
	}
	for i, match := range mask {
		if !match || p.left == 0 {
			continue
		}
		row, err := p.row(columns, i)
		if err != nil {
			return err
		}
		if p.held > peekBytesMax && len(p.rows.Values) > 0 {
			p.rows.Cut = true
			return nil
		}
		p.rows.Values = append(p.rows.Values, row)
		p.left--
	}
	return nil
}

func (p *peeker) row(columns []arrow.Array, i int) ([]json.RawMessage, error) {
	row := make([]json.RawMessage, len(columns))
	for k, f := range p.fields {
		value, err := appendValue(nil, f.Type, columns[k], i)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		row[k] = value
		p.held += len(value)
	}
	return row, nil
}

// Text is a value for people: a string without its quotes, unless a character would disturb a terminal or it could be
// taken for a null.
func (Rows) Text(value json.RawMessage) string {
	var text string
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if text == "" || text == "null" || strings.ContainsFunc(text, odd) {
		return strconv.Quote(text)
	}
	return text
}
