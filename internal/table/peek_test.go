package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
)

// typesSchema has a column of every type of table format 2.
func typesSchema() *record.Schema {
	kind := func(k record.Kind) record.Type { return record.Type{Kind: k} }
	text := record.Field{Name: "element", Type: kind(record.KindString)}
	fields := []record.Field{
		{Name: "id", Required: true, Type: kind(record.KindInt)},
		{Name: "boolean", Type: kind(record.KindBoolean)},
		{Name: "long", Type: kind(record.KindLong)},
		{Name: "float", Type: kind(record.KindFloat)},
		{Name: "double", Type: kind(record.KindDouble)},
		{Name: "decimal", Type: record.Type{Kind: record.KindDecimal, Precision: 9, Scale: 2}},
		{Name: "big", Type: record.Type{Kind: record.KindDecimal, Precision: 38, Scale: 10}},
		{Name: "date", Type: kind(record.KindDate)},
		{Name: "time", Type: kind(record.KindTime)},
		{Name: "ts", Type: kind(record.KindTimestamp)},
		{Name: "tstz", Type: kind(record.KindTimestampTZ)},
		{Name: "string", Type: kind(record.KindString)},
		{Name: "uuid", Type: kind(record.KindUUID)},
		{Name: "fixed", Type: record.Type{Kind: record.KindFixed, Length: 2}},
		{Name: "binary", Type: kind(record.KindBinary)},
		{Name: "device", Type: record.Type{Kind: record.KindStruct, Fields: []record.Field{
			{Name: "os", Type: kind(record.KindString)}, {Name: "cores", Type: kind(record.KindInt)},
		}}},
		{Name: "tags", Type: record.Type{Kind: record.KindList, Fields: []record.Field{text}}},
		{Name: "attributes", Type: record.Type{Kind: record.KindMap, Fields: []record.Field{
			{Name: "key", Required: true, Type: kind(record.KindString)}, {Name: "value", Type: kind(record.KindLong)},
		}}},
	}
	return &record.Schema{Fields: fields}
}

// Rows of every type: 1 and 2 have values, 3 has only nulls, 4 has the odd ones.
const typesRows = `[
{"id": 1, "boolean": true, "long": 9007199254740993, "float": 1.5, "double": -1e300, "decimal": "12.50",
 "big": "1234567890123456789012345678.0000000001", "date": "1969-12-31", "time": "23:59:59.999999",
 "ts": "2026-01-31 10:00:00.000001", "tstz": "2026-01-31 10:00:00Z", "string": "a <b> & ü", "uuid":
 "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "fixed": "AP8=", "binary": "yv4=", "device": {"os": "linux", "cores": 8},
 "tags": ["x", null], "attributes": [{"key": "k", "value": 7}]},
{"id": 2, "boolean": false, "long": -1, "float": 2, "double": 2.5, "decimal": "-0.05", "big": "-0.0000000001",
 "date": "2026-01-31", "time": "00:00:00", "ts": "1969-12-31 23:59:59", "tstz": "1900-01-01 00:00:00.5Z", "string": "",
 "uuid": "00000000-0000-0000-0000-000000000000", "fixed": "AAA=", "binary": "", "device": {"os": null, "cores": null},
 "tags": [], "attributes": []},
{"id": 3}
]`

func typesTable(t *testing.T) *Table {
	t.Helper()
	c := openCatalog(t, sqlConfig(t))
	if _, err := c.Create(t.Context(), "db.types", CreateConfig{Schema: typesSchema()}); err != nil {
		t.Fatal(err)
	}
	appendJSON(t, c, "db.types", typesRows)
	return reload(t, c, "db.types")
}

func TestPeekPrintsEveryType(t *testing.T) {
	rows, err := typesTable(t).Peek(t.Context(), PeekOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`1 true 9007199254740993 1.5 -1e+300 "12.50" "1234567890123456789012345678.0000000001" "1969-12-31" ` +
			`"23:59:59.999999" "2026-01-31T10:00:00.000001" "2026-01-31T10:00:00Z" "a <b> & ü" ` +
			`"6ba7b810-9dad-11d1-80b4-00c04fd430c8" "00ff" "cafe" {"os":"linux","cores":8} ["x",null] ` +
			`[{"key":"k","value":7}]`,
		`2 false -1 2 2.5 "-0.05" "-0.0000000001" "2026-01-31" "00:00:00" "1969-12-31T23:59:59" ` +
			`"1900-01-01T00:00:00.5Z" "" "00000000-0000-0000-0000-000000000000" "0000" "" {"os":null,"cores":null} [] []`,
		`3` + strings.Repeat(" null", 17),
	}
	var got []string
	for _, row := range rows.Values {
		var parts []string
		for _, v := range row {
			parts = append(parts, string(v))
		}
		got = append(got, strings.Join(parts, " "))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if c := rows.Columns[5]; c != (RowColumn{"decimal", "decimal(9, 2)"}) {
		t.Errorf("column 5 is %+v", c)
	}
}

// peekIDs is the ids of the rows that match, in order.
func peekIDs(t *testing.T, table *Table, where string) []string {
	t.Helper()
	rows, err := table.Peek(t.Context(), PeekOptions{Where: where, Columns: []string{"id"}, Limit: 1000})
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	ids := []string{}
	for _, row := range rows.Values {
		ids = append(ids, string(row[0]))
	}
	slices.Sort(ids)
	return ids
}

// Each comparison is evaluated on real rows: nulls as in SQL, every type against its literal.
func TestPeekWhere(t *testing.T) {
	table := typesTable(t)
	appendJSON(t, table.catalog, "db.types", `[{"id": 4, "double": "NaN", "float": "NaN", "string": "ab%c"}]`)
	table = reload(t, table.catalog, "db.types")
	tests := []struct{ where, want string }{
		{"", "1 2 3 4"},
		{"boolean = true", "1"}, {"boolean != true", "2"}, {"NOT boolean = true", "2"}, {"boolean IS NULL", "3 4"},
		{"id IN (1, 3, 9)", "1 3"}, {"id NOT IN (1, 3)", "2 4"}, {"id BETWEEN 2 AND 3", "2 3"},
		{"long = 9007199254740993", "1"}, {"long > -2", "1 2"}, {"NOT long > -1", "2"}, {"long NOT IN (5)", "1 2"},
		{"float >= 2", "2"}, {"float < 2", "1"}, {"float IS NAN", "4"}, {"float IS NOT NAN", "1 2"}, {"NOT float < 2", "2 4"},
		{"double = -1e300", "1"}, {"double > 0", "2"}, {"double IS NAN", "4"}, {"NOT double > 0", "1 4"},
		{"decimal = 12.5", "1"}, {"decimal < 0", "2"}, {"decimal IN (12.50, 1)", "1"}, {"decimal != 12.5", "2"},
		{"big > 1234567890123456789012345678", "1"}, {"big = -0.0000000001", "2"},
		{"date = '1969-12-31'", "1"}, {"date > '1970-01-01'", "2"},
		{"time = '23:59:59.999999'", "1"}, {"time < '12:00'", "2"},
		{"ts = '2026-01-31T10:00:00.000001'", "1"}, {"ts < '1970-01-01T00:00'", "2"},
		{"tstz = '2026-01-31T11:00:00+01:00'", "1"}, {"tstz < '1900-01-01T00:00:01Z'", "2"},
		{"string LIKE 'a%'", "1 4"}, {`string LIKE 'ab\%%'`, "4"}, {"string NOT LIKE 'a%'", "2"}, {"string = ''", "2"},
		{"string LIKE '%'", "1 2 4"}, {"string > 'a ' AND string < 'aa'", "1"},
		{"uuid = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'", "1"}, {"uuid != '6ba7b810-9dad-11d1-80b4-00c04fd430c8'", "2"},
		{"fixed = X'00ff'", "1"}, {"fixed < X'0001'", "2"}, {"binary = X'cafe'", "1"}, {"binary = X''", "2"},
		{"device.os = 'linux'", "1"}, {"device.cores > 4", "1"}, {"device.os IS NULL", "2 3 4"},
		{"device.cores IS NOT NULL", "1"}, {"id IS NULL", ""}, {"id != 1", "2 3 4"},
		{"id = 1 OR id = 2 AND long = 0", "1"}, {"(id = 1 OR id = 2) AND NOT long = 0", "1 2"},
		{"id > 100", ""}, {"NOT (id < 3 AND boolean = true)", "2 3 4"},
	}
	for _, tt := range tests {
		t.Run(tt.where, func(t *testing.T) {
			if got := strings.Join(peekIDs(t, table, tt.where), " "); got != tt.want {
				t.Errorf("got rows %s, want %s", got, tt.want)
			}
		})
	}
}

// Pruning by partition and by bounds never changes what matches.
func TestPeekWherePartitioned(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	config := CreateConfig{Schema: eventSchema(), Partition: []string{"name", "day(at)"}}
	if _, err := c.Create(t.Context(), "db.events", config); err != nil {
		t.Fatal(err)
	}
	appendJSON(t, c, "db.events", `[{"id": 1, "name": "a", "at": "2026-01-01 10:00:00Z"},
		{"id": 2, "name": null, "at": "2026-01-02 10:00:00Z"}, {"id": 3, "name": "b", "at": null}]`)
	table := reload(t, c, "db.events")
	for where, want := range map[string]string{
		"name != 'a'": "3", "NOT name = 'a'": "3", "name IS NULL": "2", "name NOT LIKE 'a%'": "3", "name NOT IN ('b')": "1",
		"at >= '2026-01-02T00:00:00Z'": "2", "at < '2026-01-02T00:00:00Z' OR name = 'b'": "1 3", "at IS NULL": "3",
	} {
		if got := strings.Join(peekIDs(t, table, where), " "); got != want {
			t.Errorf("%s: got rows %s, want %s", where, got, want)
		}
	}
}

func TestPeekLimitAndColumns(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	commit(t, committer(t, c, "db.events"), written(t, table, 0, 3000), written(t, table, 3000, 3010))
	table = reload(t, c, "db.events")
	for limit, want := range map[int]int{0: PeekLimit, 1: 1, 2500: 2500, 5000: 3010} {
		rows, err := table.Peek(t.Context(), PeekOptions{Limit: limit, Columns: []string{"at", "id"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(rows.Values) != want || rows.Cut {
			t.Errorf("limit %d: %d rows, cut %v, want %d", limit, len(rows.Values), rows.Cut, want)
		}
		want := []RowColumn{{"at", "timestamptz"}, {"id", "long"}}
		if d := cmp.Diff(want, rows.Columns); d != "" {
			t.Errorf("columns (-want +got):\n%s", d)
		}
		if at := rows.Values[0][0]; string(at) != `"1970-01-01T00:00:00Z"` {
			t.Errorf("first value %s", at)
		}
	}
}

func TestPeekSnapshot(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	k := committer(t, c, "db.events")
	first := commit(t, k, written(t, table, 0, 3))
	commit(t, k, written(t, table, 3, 5))
	rows, err := reload(t, c, "db.events").Peek(t.Context(), PeekOptions{SnapshotID: first.SnapshotID})
	if err != nil || len(rows.Values) != 3 {
		t.Errorf("%d rows, %v, want the 3 of the first commit", len(rows.Values), err)
	}
}

func TestPeekEmptyTable(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	rows, err := createTable(t, c, "db.events").Peek(t.Context(), PeekOptions{Where: "id = 1"})
	if err != nil || len(rows.Values) != 0 || len(rows.Columns) != 3 {
		t.Errorf("got %+v, %v", rows, err)
	}
}

func TestPeekErrors(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	tests := []struct {
		name    string
		options PeekOptions
		want    string
	}{
		{"limit", PeekOptions{Limit: -1}, "want at least 1"},
		{"column", PeekOptions{Columns: []string{"nope"}}, "no column nope; columns: id, name, at"},
		{"column twice", PeekOptions{Columns: []string{"id", "id"}}, "column id is asked for twice"},
		{"snapshot", PeekOptions{SnapshotID: 5}, "no snapshot 5"},
		{"condition", PeekOptions{Where: "id = 'x'"}, "character 6: id is long: want a whole number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := table.Peek(t.Context(), tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	var fault *WhereError
	if _, err := table.Peek(t.Context(), PeekOptions{Where: "("}); !errors.As(err, &fault) {
		t.Errorf("got %v, want a WhereError", err)
	}
}

func TestPeekFileMissing(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := startTable(t, c, "db.events")
	commit(t, committer(t, c, "db.events"), flush(table, 0, 3)) // describes a file that nobody wrote
	_, err := reload(t, c, "db.events").Peek(t.Context(), PeekOptions{})
	if err == nil || !strings.Contains(err.Error(), "reading rows of db.events") {
		t.Errorf("got %v", err)
	}
}

func TestRowsText(t *testing.T) {
	for value, want := range map[string]string{
		`null`: "null", `"null"`: `"null"`, `""`: `""`, `"a b"`: "a b", `1.5`: "1.5", `{"a":"b"}`: `{"a":"b"}`,
		`"a\tb"`: `"a\tb"`, `"\u001b[31m"`: `"\x1b[31m"`, `"ü"`: "ü",
	} {
		if got := (Rows{}).Text(json.RawMessage(value)); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}

// Rows too large to hold are left out, and that is said.
func TestPeekHoldsLittle(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	createTable(t, c, "db.events")
	row := fmt.Sprintf(`{"id": 1, "name": %q}`, strings.Repeat("x", peekBytesMax/4))
	for range 2 {
		appendJSON(t, c, "db.events", "["+row+","+row+","+row+"]")
	}
	rows, err := reload(t, c, "db.events").Peek(t.Context(), PeekOptions{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Cut || len(rows.Values) != 3 {
		t.Errorf("%d rows of a quarter of the bound each, cut %v, want 3", len(rows.Values), rows.Cut)
	}
}
