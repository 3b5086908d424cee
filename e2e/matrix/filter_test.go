package matrix

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"firn/internal/record"
)

// filter is a predicate on one column of a file: a row is counted where the column has the relation op to the value.
type filter struct {
	File   string          `json:"file"`
	Column string          `json:"column"`
	Op     string          `json:"op"`
	Value  json.RawMessage `json:"value"` // as rows have it in text; null for "is null" and "is not null"
	Type   typeTree        `json:"type"`

	typ   *record.Type
	index int // of the column
	value any
}

// counts is what a reader says of a filter: how many rows it counts when it reads all of them and looks at each, and
// when it may skip what statistics, page index, dictionaries and bloom filters rule out.
type counts struct {
	Full     int    `json:"full"`
	Filtered int    `json:"filtered"`
	Fault    string `json:"fault"`
}

const (
	orderedRows    = 450
	orderedNullsIn = 13 // every so many rows there is a null
	probesAtRandom = 3
)

// ordered has a column a type, in ascending order, so that pages and row groups can be ruled out. NaN, which has no
// place in the order of statistics, comes last.
func ordered() *dataset {
	r := rand.New(rand.NewPCG(5, 6))
	var fields []record.Field
	rows := make([][]any, orderedRows)
	for _, l := range leaves() {
		values := slices.Clone(l.edges)
		for len(values) < orderedRows {
			v := l.random(r)
			values = append(values, v, v)
		}
		slices.SortStableFunc(values, compareValues)
		fields = append(fields, record.Field{Name: l.name, Type: l.typ})
		for i := range rows {
			v := values[i*len(values)/orderedRows]
			if i%orderedNullsIn == 7 {
				v = nil
			}
			rows[i] = append(rows[i], v)
		}
	}
	return newDataset("ordered", fields, rows)
}

// compareValues is the order of a type, with NaN greater than all and -0 equal to +0.
func compareValues(a, b any) int {
	switch a := a.(type) {
	case bool:
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
	case int32:
		return cmp.Compare(a, b.(int32))
	case int64:
		return cmp.Compare(a, b.(int64))
	case float32:
		return -cmp.Compare(-a, -b.(float32)) // cmp has NaN first
	case float64:
		return -cmp.Compare(-a, -b.(float64))
	default:
		return bytes.Compare(a.([]byte), b.([]byte))
	}
}

// compareSigns has -0 before +0 among equal values.
func compareSigns(a, b any) int {
	sign := func(v any) int {
		switch v := v.(type) {
		case float32:
			return int(math.Float32bits(v) >> 31)
		case float64:
			return int(math.Float64bits(v) >> 63)
		}
		return 0
	}
	if isNaN(a) {
		return 0
	}
	return sign(b) - sign(a)
}

// addFilters writes the ordered dataset in enough cells that each two layouts meet, and asks in each for the ends of
// every type and for values at random, with all relations, and for the ends of row groups, which bounds must not leave
// out.
func (m *manifest) addFilters(t *testing.T, folder string) {
	t.Helper()
	d := ordered()
	r := rand.New(rand.NewPCG(7, 8))
	for n, c := range pairs(cross(append([][]variant{codecs()[:1]}, layouts()...))) {
		groups := groupsOf(t, m.add(t, folder, d, &c))
		file := m.Files[len(m.Files)-1].Name
		for i, l := range leaves() {
			probes := slices.Clone(l.edges)
			for range probesAtRandom {
				probes = append(probes, l.random(r))
			}
			for k := n % 3; k < len(probes); k += 3 { // each of them in every third file
				ops := []string{"=", "<", "<=", ">", ">=", "<>"}
				if l.typ.Kind == record.KindBoolean {
					ops = []string{"=", "<>"}
				}
				m.addFilter(d, file, i, ops[(n+k)%len(ops)], probes[k])
			}
			for k := range groups {
				cut := l.typ.Kind == record.KindString || l.typ.Kind == record.KindBinary // its bounds are
				if low, high := d.ends(i, groups, k); cut || k == n%len(groups) {
					m.addFilter(d, file, i, "=", low)
					m.addFilter(d, file, i, "=", high)
				}
			}
			m.addFilter(d, file, i, []string{"is null", "is not null"}[n%2], nil)
		}
	}
}

// groupsOf is the number of rows of each row group.
func groupsOf(t *testing.T, data []byte) []int {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, g := range f.RowGroups() {
		out = append(out, int(g.NumRows()))
	}
	return out
}

// ends is the first and the last value of a column in row group k. The rows are in order.
func (d *dataset) ends(column int, groups []int, k int) (low, high any) {
	from := 0
	for _, n := range groups[:k] {
		from += n
	}
	for _, row := range d.rows[from : from+groups[k]] {
		if v := row[column]; v != nil {
			if low == nil {
				low = v
			}
			high = v
		}
	}
	return low, high
}

func (m *manifest) addFilter(d *dataset, file string, column int, op string, value any) {
	f := &d.schema.Fields[column]
	text := rowText(columnsOf(&record.Schema{Fields: []record.Field{*f}}, [][]any{{value}}), 0, all)
	m.Filters = append(m.Filters, filter{
		File: file, Column: f.Name, Op: op, Value: text[1 : len(text)-1], Type: treeOf(f), typ: &f.Type, index: column,
		value: value,
	})
}

// checkFilters compares what a reader counted, in the order of the filters, with and without skipping, and with the
// count of the rows that were written.
func (m *manifest) checkFilters(t *testing.T, reader string, counted []counts) {
	t.Helper()
	if len(counted) != len(m.Filters) {
		t.Fatalf("%s: %d filters counted of %d", reader, len(counted), len(m.Filters))
	}
	skipped := map[string]bool{}
	for i, got := range counted {
		f := &m.Filters[i]
		want := m.of[f.File].count(f, reader)
		if why := m.unfiltered(reader, f); why != "" {
			skipped[why] = true
			continue
		}
		if got.Fault != "" || got.Full != got.Filtered || got.Full != want {
			t.Errorf("%s: %s: %s %s %s: %d rows, skipping what is ruled out %d, want %d %.3000s", reader, f.File, f.Column,
				f.Op, f.Value, got.Full, got.Filtered, want, got.Fault)
		}
	}
	for why := range skipped {
		t.Logf("skipped: filters of %s (%s)", reader, why)
	}
}

// unfiltered says why a filter of a reader is not compared; else it is empty.
func (m *manifest) unfiltered(reader string, f *filter) string {
	file := m.Files[slices.IndexFunc(m.Files, func(e fileEntry) bool { return e.Name == f.File })]
	blob := f.typ.Kind == record.KindBinary || f.typ.Kind == record.KindFixed
	switch {
	case reader == "pyarrow" && f.typ.Kind == record.KindUUID:
		return "PyArrow 26 has no comparison of UUIDs"
	case reader == "duckdb" && blob && file.Bloom && f.Op == "=":
		return "DuckDB 1.5.5 looks for a BLOB by another hash than the format's, in files of its own too, and finds no rows"
	default:
		return ""
	}
}

// count is the number of rows that a filter lets through.
func (d *dataset) count(f *filter, reader string) int {
	n := 0
	for _, row := range d.rows {
		if f.holds(row[f.index], reader) {
			n++
		}
	}
	return n
}

func (f *filter) holds(v any, reader string) bool {
	switch {
	case f.Op == "is null":
		return v == nil
	case f.Op == "is not null":
		return v != nil
	case v == nil:
		return f.Op == "<>" && reader == "parquet-java" // which has no third truth value
	case reader == "pyarrow" && (isNaN(v) || isNaN(f.value)):
		return f.Op == "<>" // IEEE 754; for the others NaN is equal to itself and greater than all
	}
	order := compareValues(f.exact(v, reader), f.exact(f.value, reader))
	if order == 0 && reader == "parquet-java" {
		order = compareSigns(v, f.value)
	}
	if f.typ.Kind == record.KindDecimal {
		order = bigOfDecimal(v).Cmp(bigOfDecimal(f.value))
	}
	return map[string]bool{
		"=": order == 0, "<>": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0,
	}[f.Op]
}

// exact is the value as a reader has it.
func (f *filter) exact(v any, reader string) any {
	if reader == "duckdb" && f.typ.Kind == record.KindTimestampTZNs {
		return v.(int64) / 1000
	}
	return v
}
