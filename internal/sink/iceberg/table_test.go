package iceberg

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"firn/internal/cluster"
	"firn/internal/decode"
	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/table"
)

// everySchema has a column of every kind, required and optional, nested both ways.
func everySchema(t *testing.T) *record.Schema {
	t.Helper()
	var fields []record.Field
	for _, f := range []struct {
		name, typ string
		required  bool
	}{
		{"id", "long", true}, {"b", "boolean", false}, {"i", "int", false}, {"f", "float", false}, {"d", "double", false},
		{"dec", "decimal(9, 2)", false}, {"wide", "decimal(38, 4)", false}, {"day", "date", false}, {"t", "time", false},
		{"ts", "timestamp", false}, {"tz", "timestamptz", false}, {"u", "uuid", false}, {"s", "string", true},
		{"place", "struct<lat: required double, name: string, deep: struct<k: required int>>", false},
		{"spot", "struct<x: required int, y: int>", true},
		{"tags", "list<string>", false}, {"counts", "map<string, required long>", false},
		{"legs", "list<struct<n: required int, why: string>>", true},
	} {
		typ, err := decode.ParseType(f.typ)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, record.Field{Name: f.name, Required: f.required, Type: typ})
	}
	return decode.AssignIDs(fields)
}

// everyRow is row n of everySchema as JSON, in the form in which rows are read back. Every third has nulls.
func everyRow(n int) string {
	if n%3 == 0 {
		return fmt.Sprintf(`{"id":%d,"b":null,"i":null,"f":null,"d":null,"dec":null,"wide":null,"day":null,"t":null,`+
			`"ts":null,"tz":null,"u":null,"s":"","place":null,"spot":{"x":%d,"y":null},"tags":null,"counts":null,"legs":[]}`,
			n, -n)
	}
	return fmt.Sprintf(`{"id":%d,"b":%t,"i":%d,"f":%d.5,"d":-%d.25,"dec":"%d.07","wide":"-%d.0001",`+
		`"day":"19%02d-11-%02d","t":"03:%02d:00","ts":"2026-0%d-03T04:05:%02d","tz":"1969-12-31T%02d:59:59.123456Z",`+
		`"u":"%08d-0000-4000-8000-000000000000","s":"word %d \u00e9","place":{"lat":%d.125,"name":null,"deep":{"k":%d}},`+
		`"spot":{"x":%d,"y":%d},"tags":["a",null,"t%d"],"counts":{"k%d":%d},"legs":[{"n":%d,"why":null},{"n":2,"why":"w"}]}`,
		n, n%2 == 0, -n, n, n, n, n, 60+n%20, 1+n%28, n%60, 1+n%9, n%60, n%24, n, n, n, n, n, n, n, n, n, n)
}

func everyMessages(from, to int) (messages []string) {
	for n := from; n < to; n++ {
		messages = append(messages, everyRow(n))
	}
	return messages
}

// lake is a table of a local catalog.
type lake struct {
	catalog *table.Catalog
	table   *table.Table
}

func newLake(t *testing.T, s *record.Schema, partition ...string) *lake {
	t.Helper()
	dir := t.TempDir()
	c, err := table.OpenCatalog(t.Context(), table.CatalogConfig{
		Type: "sql", URI: filepath.Join(dir, "catalog.db"), Warehouse: filepath.Join(dir, "warehouse"),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	l := &lake{catalog: c}
	if l.table, err = c.Create(t.Context(), "db.t", table.CreateConfig{Schema: s, Partition: partition}); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lake) target() Target {
	return Target{
		Schema: l.table.Schema(), Partition: l.table.Partition(), SpecID: l.table.SpecID(),
		Create: l.table.Store().Create, DataPath: l.table.DataPath,
	}
}

func (l *lake) committer(t *testing.T) *Committer {
	t.Helper()
	o := table.CommitterOptions{Fold: cluster.Fold, Timeout: 10 * time.Second}
	c, err := table.NewCommitter(l.catalog, "db.t", "job", o)
	if err != nil {
		t.Fatal(err)
	}
	return NewCommitter(c, func(context.Context) {})
}

// rows reads the whole table back: each row as JSON, by the number in its column id.
func (l *lake) rows(t *testing.T) map[int]string {
	t.Helper()
	now, err := l.table.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.table = now
	read, err := now.Peek(t.Context(), table.PeekOptions{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]string{}
	for _, row := range read.Values {
		var text []string
		for i, v := range row {
			text = append(text, fmt.Sprintf("%q:%s", read.Columns[i].Name, v))
		}
		var id int
		if err := json.Unmarshal(row[0], &id); err != nil {
			t.Fatal(err)
		}
		if _, twice := out[id]; twice {
			t.Errorf("row %d twice", id)
		}
		out[id] = "{" + strings.Join(text, ",") + "}"
	}
	return out
}

func (l *lake) mustHold(t *testing.T, rows int) {
	t.Helper()
	want := map[int]string{}
	for n := range rows {
		message := fmt.Sprintf(`"counts":{"k%d":%d}`, n, n)
		printed := fmt.Sprintf(`"counts":[{"key":"k%d","value":%d}]`, n, n)
		want[n] = strings.NewReplacer(`\u00e9`, "\u00e9", message, printed).Replace(everyRow(n))
	}
	if d := cmp.Diff(want, l.rows(t)); d != "" {
		t.Errorf("rows: %s", d)
	}
	report, err := l.table.Audit(t.Context(), "job", table.AuditOptions{})
	if err != nil || !report.OK() {
		t.Errorf("audit: %v %+v", err, report.Faults)
	}
}

// Rows in are rows out, whatever the table is partitioned by, over several flushes.
func TestRowsThroughEveryPartitioning(t *testing.T) {
	for _, partition := range [][]string{
		nil,
		{"i"}, {"b"}, {"d"}, {"s"}, {"dec"}, {"wide"}, {"day"}, {"t"}, {"ts"}, {"u"},
		{"bucket(id, 5)"}, {"bucket(s, 5)"}, {"bucket(dec, 3)"}, {"bucket(wide, 3)"}, {"bucket(u, 3)"}, {"bucket(day, 3)"},
		{"bucket(tz, 3)"}, {"bucket(t, 3)"}, {"bucket(i, 3)"},
		{"truncate(id, 7)"}, {"truncate(i, 7)"}, {"truncate(s, 6)"}, {"truncate(dec, 150)"}, {"truncate(wide, 30000)"},
		{"year(day)"}, {"month(day)"}, {"day(day)"}, {"year(ts)"}, {"month(ts)"}, {"day(tz)"}, {"hour(tz)"}, {"hour(ts)"},
		{"void(s)"}, {"spot.x"}, {"truncate(place.deep.k, 4)"}, {"place.name"},
		{"bucket(id, 2)", "day(tz)", "truncate(s, 3)", "void(i)", "b"},
	} {
		t.Run(plainName(strings.Join(partition, " ")), func(t *testing.T) {
			t.Parallel()
			l := newLake(t, everySchema(t), partition...)
			w, err := NewWriter(l.target(), Options{
				Parquet: parquet.DefaultOptions(), FileBytesMax: 1 << 20, SealersMax: 2, StoreTriesMax: 1, NewID: counter("flush"),
			})
			if err != nil {
				t.Fatal(err)
			}
			c := l.committer(t)
			const flushes, rows = 3, 12
			start(t, c)
			for n := range flushes {
				mustWrite(t, w, batchOf(t, l.table.Schema(), everyMessages(n*rows, n*rows+5)...))
				mustWrite(t, w, batchOf(t, l.table.Schema(), everyMessages(n*rows+5, (n+1)*rows)...))
				l.commit(t, c, mustSeal(t, w.Rotate()), int64(n*rows), int64((n+1)*rows))
				mustHoldNothing(t, w)
			}
			l.mustHold(t, flushes*rows)
		})
	}
}

// plainName has only what the path of a warehouse may have.
func plainName(text string) string {
	if text == "" {
		return "unpartitioned"
	}
	return strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune("(), ", r) {
			return '-'
		}
		return r
	}, text), "-")
}

var source = record.TopicPartition{Topic: "topic"}

// start records that the topic begins at 0.
func start(t *testing.T, c *Committer) {
	t.Helper()
	if err := c.Init(t.Context(), record.Floor{}, record.Floor{source.Topic: {Next: map[int32]int64{0: 0}}}); err != nil {
		t.Fatal(err)
	}
}

func (l *lake) commit(t *testing.T, c *Committer, files []record.DataFile, from, to int64) {
	t.Helper()
	x := record.Sealed{
		ID: fmt.Sprintf("flush-%d", from), Files: files, Ranges: []record.Range{{TopicPartition: source, From: from, To: to}},
		Topics: []record.TopicMark{{Topic: source.Topic}}, Counts: record.Counts{Rows: to - from},
	}
	o, err := c.Commit(t.Context(), []record.Sealed{x}, nil)
	if err != nil || !slices.Equal(o.Committed, []string{x.ID}) {
		t.Fatalf("%+v, %v", o, err)
	}
}
