package bigquery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"firn/internal/decode"
	double "firn/internal/fault/bigquery"
	"firn/internal/record"

	bq "cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// doubleOf starts the double with a dataset p.d, and a client of it over TLS.
func doubleOf(t *testing.T) (*double.Server, *Client) {
	t.Helper()
	s, err := double.Start(double.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, s.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Endpoint, o.RESTEndpoint, o.CAFile, o.Credentials.None = s.Endpoint(), s.RESTEndpoint(), ca, true
	o.Project, o.CreatesPerSecond, o.AnswerTimeout = "p", 1000, 2*time.Second
	o.Retry = Retry{
		Pause: time.Millisecond, PauseMax: 5 * time.Millisecond, QuotaPause: time.Millisecond,
		Budget: 20 * time.Second, NotFoundBudget: 20 * time.Second,
	}
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.rest.DatasetInProject("p", "d").Create(t.Context(), &bq.DatasetMetadata{}); err != nil {
		t.Fatal(err)
	}
	return s, c
}

// Messages become the rows that a query sees: of a table that is made, through the default stream.
func TestMessagesBecomeRows(t *testing.T) {
	s, c := doubleOf(t)
	s.Faults().HideNewTables(3)
	table, err := c.CreateTable(t.Context(), testTable, TableSpec{Schema: tableWith(everyType()...)})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := c.Stream(t.Context(), testTable.DefaultStream())
	if err != nil {
		t.Fatal(err)
	}
	for name, schema := range map[string]*storagepb.TableSchema{"REST": table.Schema, "the write API": stream.Schema} {
		if diff := cmp.Diff(recordSchemaOf(t, tableWith(everyType()...)), recordSchemaOf(t, schema)); diff != "" {
			t.Errorf("the schema by %s:\n%s", name, diff)
		}
	}
	rows := recordSchemaOf(t, stream.Schema)
	d, err := decode.NewJSON(rows, decode.DefaultJSONOptions())
	if err != nil {
		t.Fatal(err)
	}
	batch := record.NewBatch(rows)
	d.Decode(&record.Block{Records: []record.Record{{Value: []byte(`{
		"string":"ö","short":"abc","bytes":"AAE=","few":"AQ==","int64":-5,
		"float64":1.5,"bool":true,"numeric":-12.5,"money":0.01,"big":"123456789012345678901234567890.5",
		"precise":-0.000000000000000000000000000001,"date":"2026-11-29","time":"23:59:59.000001",
		"datetime":"1969-12-31T23:59:59.999999","timestamp":"2026-11-29T12:00:00.5+01:00","json":{"a":[1]},
		"geography":"POINT(1 2)"}`)}}}, batch)
	if batch.Rows != 1 {
		t.Fatalf("rejected %+v", batch.Rejected)
	}
	e := encoderOf(t, rows, stream.Schema)
	connection, err := c.Connect(t.Context(), stream.Name, e.Descriptor(), ConnectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	buf, _ := e.Append(nil, batch, 0, 1)
	if r := resultOf(t, appendTo(t, connection, Request{Rows: buf, Offset: NoOffset})); r.Err != nil {
		t.Error(r.Err)
	}
	if err := connection.Close(t.Context()); err != nil {
		t.Error(err)
	}
	want := []double.Row{{
		"string": "ö", "short": "abc", "bytes": []byte{0, 1}, "few": []byte{1}, "int64": int64(-5), "float64": 1.5,
		"bool": true, "numeric": "-12.5", "money": "0.01", "big": "123456789012345678901234567890.5",
		"precise": "-0.000000000000000000000000000001", "date": "2026-11-29", "time": "23:59:59.000001",
		"datetime": "1969-12-31T23:59:59.999999", "timestamp": time.Date(2026, 11, 29, 11, 0, 0, 5e8, time.UTC),
		"json": `{"a":[1]}`, "geography": "POINT(1 2)",
	}}
	if diff := cmp.Diff(want, s.Rows(testTable.String())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Whatever becomes of whichever append, and whatever else happens then: the rows are there once, in order.
func TestEveryFateOfEveryAppend(t *testing.T) {
	s, c := doubleOf(t)
	gone := status.Error(codes.Unavailable, "by the test")
	fates := map[string]func() double.Fate{
		"refuse":              func() double.Fate { return double.Refuse(status.Error(codes.Aborted, "by the test")) },
		"quota":               func() double.Fate { return double.Refuse(double.ThroughputQuota(0)) },
		"refuse and end":      func() double.Fate { return double.RefuseAndEnd(gone) },
		"land":                func() double.Fate { return double.Land(status.Error(codes.Internal, "by the test")) },
		"land and end":        func() double.Fate { return double.LandAndEnd(gone) },
		"cut":                 double.Cut,
		"land and cut":        double.LandAndCut,
		"drain":               func() double.Fate { s.Faults().Drain(); return double.Pass() },
		"end all connections": func() double.Fate { s.Faults().EndConnections(gone); return double.Pass() },
		"close idle":          func() double.Fate { s.Faults().CloseIdle(); return double.Pass() },
	}
	const appends = 6
	for name, fate := range fates {
		for at := range appends {
			t.Run(fmt.Sprintf("%s at %d", name, at), func(t *testing.T) {
				table := TableName{"p", "d", fmt.Sprintf("t%d_%s", at, name)}
				appendUnder(t, s, c, table, func(n int) double.Fate {
					if n == at {
						return fate()
					}
					return double.Pass()
				}, appends)
			})
		}
	}
}

// appendUnder appends requests of two rows to a stream of a new table, and checks that the rows are there.
func appendUnder(
	t *testing.T, s *double.Server, c *Client, table TableName, fate func(n int) double.Fate, appends int,
) {
	t.Helper()
	schema := tableWith(columnOf("s", storagepb.TableFieldSchema_STRING))
	if _, err := c.CreateTable(t.Context(), table, TableSpec{Schema: schema}); err != nil {
		t.Fatal(err)
	}
	stream, err := c.Create(t.Context(), table, storagepb.WriteStream_COMMITTED)
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int32
	s.Faults().OnAppend(func(double.AppendCall) double.Fate { return fate(int(n.Add(1)) - 1) })
	connection := connect(t, c, stream.Name)
	var want []double.Row
	var pending []*Pending
	for i := range appends {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		want = append(want, double.Row{"s": a}, double.Row{"s": b})
		pending = append(pending, appendTo(t, connection, Request{Rows: rowsOf(a, b), Offset: int64(2 * i)}))
	}
	for i, p := range pending {
		if r := resultOf(t, p); r.Err != nil {
			t.Errorf("append %d: %v", i, r.Err)
		}
	}
	if err := connection.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, s.Rows(table.String())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := s.Log(table.String()).Check(); err != nil {
		t.Error(err)
	}
	if rows, err := c.Finalize(t.Context(), stream.Name); err != nil || int(rows) != 2*appends {
		t.Errorf("finalized with %d rows, %v", rows, err)
	}
}

// Rows with a change replace and delete those of their key, in the order that their sequence numbers say.
func TestChangesByKey(t *testing.T) {
	s, c := doubleOf(t)
	schema := tableWith(
		must(columnOf("k", storagepb.TableFieldSchema_INT64)), columnOf("v", storagepb.TableFieldSchema_STRING))
	table, err := c.CreateTable(t.Context(), testTable, TableSpec{
		Schema: schema, PrimaryKey: []string{"k"}, Cluster: []string{"k"}, MaxStaleness: time.Minute,
	})
	if err != nil || len(table.PrimaryKey) != 1 {
		t.Fatalf("%+v, %v", table, err)
	}
	rows := WithChanges(recordSchemaOf(t, table.Schema))
	d, err := decode.NewJSON(rows, decode.DefaultJSONOptions())
	if err != nil {
		t.Fatal(err)
	}
	batch, block := record.NewBatch(rows), &record.Block{}
	for _, message := range []string{
		`{"k":1,"v":"late","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"B/1"}`,
		`{"k":2,"v":"gone","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"1"}`,
		`{"k":1,"v":"early","_CHANGE_TYPE":"UPSERT","_CHANGE_SEQUENCE_NUMBER":"A/2"}`,
		`{"k":2,"_CHANGE_TYPE":"DELETE","_CHANGE_SEQUENCE_NUMBER":"2"}`,
	} {
		block.Records = append(block.Records, record.Record{Value: []byte(message)})
	}
	d.Decode(block, batch)
	e := encoderOf(t, rows, table.Schema)
	connection, err := c.Connect(t.Context(), testTable.DefaultStream(), e.Descriptor(), ConnectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	buf, cut := e.Append(nil, batch, 0, batch.Rows)
	if r := resultOf(t, appendTo(t, connection, Request{Rows: buf, Offset: NoOffset})); r.Err != nil || cut.Rows != 4 {
		t.Errorf("%+v, %v", cut, r.Err)
	}
	if err := connection.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]double.Row{{"k": int64(1), "v": "late"}}, s.Rows(testTable.String())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The server names rows that the types forbid, and what is left of the request is taken.
func TestServerRefusesRows(t *testing.T) {
	s, c := doubleOf(t)
	schema := tableWith(sized(columnOf("s", storagepb.TableFieldSchema_STRING), 0, 0, 3))
	if _, err := c.CreateTable(t.Context(), testTable, TableSpec{Schema: schema}); err != nil {
		t.Fatal(err)
	}
	stream, err := c.Create(t.Context(), testTable, storagepb.WriteStream_COMMITTED)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf("a", "much", "b", "more")
	connection := connect(t, c, stream.Name)
	first := appendTo(t, connection, Request{Rows: rows, Offset: 0})
	e := (*Error)(nil)
	if r := resultOf(t, first); !errors.As(r.Err, &e) || !errors.Is(e, ErrRowsRefused) || len(e.Rows) != 2 {
		t.Fatalf("%+v", r)
	}
	if err := connection.Close(t.Context()); err != nil {
		t.Error(err)
	}
	good, err := WithoutRows(nil, rows, []int{e.Rows[0].Index, e.Rows[1].Index})
	if err != nil {
		t.Fatal(err)
	}
	if r := resultOf(t, appendTo(t, connect(t, c, stream.Name), Request{Rows: good, Offset: 0})); r.Err != nil {
		t.Error(r.Err)
	}
	if diff := cmp.Diff([]double.Row{{"s": "a"}, {"s": "b"}}, s.Rows(testTable.String())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
