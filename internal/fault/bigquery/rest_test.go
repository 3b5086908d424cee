package bigquery

import (
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"testing"
	"time"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
)

// officialREST is Google's client of REST.
func (d *double) officialREST() *bigquery.Client {
	d.t.Helper()
	c, err := bigquery.NewClient(d.t.Context(), "p", option.WithEndpoint(d.RESTEndpoint()), option.WithHTTPClient(d.http))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			d.t.Error(err)
		}
	})
	return c
}

// restFails asserts what Google's client finds in an error.
func restFails(t *testing.T, err error, code int, reason string) {
	t.Helper()
	var api *googleapi.Error
	if !errors.As(err, &api) || api.Code != code || len(api.Errors) != 1 || api.Errors[0].Reason != reason {
		t.Errorf("got %v, want %d %s", err, code, reason)
	}
}

var nestedSchema = bigquery.Schema{
	{Name: "id", Type: bigquery.IntegerFieldType, Required: true},
	{Name: "tags", Type: bigquery.StringFieldType, Repeated: true},
	{Name: "where", Type: bigquery.RecordFieldType, Schema: bigquery.Schema{
		{Name: "lat", Type: bigquery.FloatFieldType}, {Name: "codes", Type: bigquery.IntegerFieldType, Repeated: true},
	}},
	{Name: "day", Type: bigquery.DateFieldType},
	{Name: "at", Type: bigquery.TimestampFieldType},
	{Name: "sum", Type: bigquery.NumericFieldType},
	{Name: "raw", Type: bigquery.BytesFieldType},
	{Name: "level", Type: bigquery.StringFieldType, DefaultValueExpression: "'low'"},
}

func TestOfficialRESTClient(t *testing.T) {
	d := start(t, Options{})
	c, ctx := d.officialREST(), t.Context()
	dataset := c.Dataset("d")
	restFails(t, dataset.Table("t").Create(ctx, &bigquery.TableMetadata{Schema: nestedSchema}), 404, "notFound")
	if err := dataset.Create(ctx, &bigquery.DatasetMetadata{Location: "EU"}); err != nil {
		t.Fatal(err)
	}
	restFails(t, dataset.Create(ctx, nil), 409, "duplicate")
	if got, err := dataset.Metadata(ctx); err != nil || got.Location != "EU" {
		t.Errorf("dataset %+v, %v", got, err)
	}
	table := dataset.Table("t")
	_, err := table.Metadata(ctx)
	restFails(t, err, 404, "notFound")
	if err := table.Create(ctx, &bigquery.TableMetadata{
		Schema:           nestedSchema,
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}},
		BigLakeConfiguration: &bigquery.BigLakeConfiguration{
			ConnectionID: "p.eu.c", StorageURI: "gs://b/t", FileFormat: "PARQUET", TableFormat: "ICEBERG",
		},
	}); err != nil {
		t.Fatal(err)
	}
	restFails(t, table.Create(ctx, &bigquery.TableMetadata{Schema: nestedSchema}), 409, "duplicate")
	got, err := table.Metadata(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(nestedSchema, got.Schema); diff != "" {
		t.Error(diff)
	}
	if got.Location != "EU" || got.TableConstraints.PrimaryKey.Columns[0] != "id" ||
		got.BigLakeConfiguration.StorageURI != "gs://b/t" {
		t.Errorf("got %+v", got)
	}
	if n := len(all(t, dataset.Tables(ctx).Next)); n != 1 {
		t.Errorf("%d tables are listed, want 1", n)
	}
	restFails(t, dataset.Delete(ctx), 400, "resourceInUse")
	if err := table.Delete(ctx); err != nil {
		t.Error(err)
	}
	restFails(t, table.Delete(ctx), 404, "notFound")
	if err := dataset.Delete(ctx); err != nil {
		t.Error(err)
	}
}

func all[T any](t *testing.T, next func() (T, error)) (list []T) {
	t.Helper()
	for {
		one, err := next()
		if errors.Is(err, iterator.Done) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
}

func TestOfficialRESTClientUpdates(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	table, ctx := d.officialREST().Dataset("d").Table("t"), t.Context()
	before, err := table.Metadata(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wider := append(append(bigquery.Schema{}, before.Schema...),
		&bigquery.FieldSchema{Name: "more", Type: bigquery.JSONFieldType})
	after, err := table.Update(ctx, bigquery.TableMetadataToUpdate{Schema: wider, Description: "more of it"}, before.ETag)
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Schema) != 3 || after.Description != "more of it" || after.ETag == before.ETag {
		t.Errorf("got %+v", after)
	}
	_, err = table.Update(ctx, bigquery.TableMetadataToUpdate{Description: "again"}, before.ETag)
	restFails(t, err, 412, "conditionNotMet")
	_, err = table.Update(ctx, bigquery.TableMetadataToUpdate{Schema: before.Schema}, "")
	restFails(t, err, 400, "invalid")
	relaxed := bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType}, wider[1], wider[2]}
	if _, err = table.Update(ctx, bigquery.TableMetadataToUpdate{Schema: relaxed}, ""); err != nil {
		t.Error(err)
	}
}

func TestOfficialRESTClientReadsRows(t *testing.T) {
	d := start(t, Options{})
	c, ctx := d.officialREST(), t.Context()
	if err := c.Dataset("d").Create(ctx, nil); err != nil {
		t.Fatal(err)
	}
	table := c.Dataset("d").Table("t")
	if err := table.Create(ctx, &bigquery.TableMetadata{Schema: nestedSchema}); err != nil {
		t.Fatal(err)
	}
	message, normal := adapted(t, nestedSchema)
	s, err := d.official().NewManagedStream(ctx, managedwriter.WithDestinationTable(tableT),
		managedwriter.WithSchemaDescriptor(normal), managedwriter.WithType(managedwriter.DefaultStream))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := appended(t, s, encoded(t, message,
		`{"id":"1","tags":["a","b"],"where":{"lat":1.5,"codes":["7","8"]},"day":20454,"at":"1767323045000006",
			"sum":"AMqaOw==","raw":"AQI=","level":"high"}`,
		`{"id":"2"}`)); err != nil {
		t.Fatal(err)
	}
	read := table.Read(ctx)
	rows := all(t, func() (row []bigquery.Value, err error) {
		if err = read.Next(&row); err == nil && row[3] != nil {
			row[3] = fmt.Sprint(row[3]) // a civil.Date
		}
		return row, err
	})
	want := [][]bigquery.Value{
		{
			int64(1), []bigquery.Value{"a", "b"}, []bigquery.Value{1.5, []bigquery.Value{int64(7), int64(8)}},
			"2026-01-01", time.UnixMicro(1767323045000006).UTC(), big.NewRat(1, 1),
			[]byte{1, 2}, "high",
		},
		{int64(2), []bigquery.Value(nil), nil, nil, nil, nil, nil, nil},
	}
	if diff := cmp.Diff(want, rows, cmp.Comparer(func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })); diff != "" {
		t.Error(diff)
	}
}

func TestRESTErrorBody(t *testing.T) {
	d := start(t, Options{})
	code, answer := d.rest("GET", "projects/p/datasets/x/tables/t", "")
	want := map[string]any{"error": map[string]any{
		"code": 404.0, "message": "Not found: Dataset p:x", "status": "NOT_FOUND",
		"errors": []any{map[string]any{"message": "Not found: Dataset p:x", "domain": "global", "reason": "notFound"}},
	}}
	if diff := cmp.Diff(want, answer); diff != "" || code != http.StatusNotFound {
		t.Errorf("status %d\n%s", code, diff)
	}
	if code, _ := d.rest("POST", "projects/p/jobs", "{}"); code != http.StatusNotImplemented {
		t.Errorf("a call that is not there: status %d", code)
	}
	if code, _ := d.rest("POST", "projects/p/datasets", "{"); code != http.StatusBadRequest {
		t.Errorf("a body that is no JSON: status %d", code)
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	for _, id := range []string{"", "a/b", "a.b", "a`b"} {
		if code, _ := d.rest("POST", "projects/p/datasets", `{"datasetReference":{"datasetId":"`+id+`"}}`); code != 400 {
			t.Errorf("dataset %q: status %d", id, code)
		}
		code, _ := d.rest("POST", "projects/p/datasets/d/tables", `{"tableReference":{"tableId":"`+id+`"}}`)
		if code != http.StatusBadRequest {
			t.Errorf("table %q: status %d", id, code)
		}
	}
}

func TestTablesThatAreRefused(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	for name, schema := range map[string]string{
		"type":      `{"fields":[{"name":"a","type":"NUMBER"}]}`,
		"mode":      `{"fields":[{"name":"a","type":"STRING","mode":"MANY"}]}`,
		"no name":   `{"fields":[{"type":"STRING"}]}`,
		"reserved":  `{"fields":[{"name":"_CHANGE_TYPE","type":"STRING"}]}`,
		"duplicate": `{"fields":[{"name":"a","type":"STRING"},{"name":"A","type":"STRING"}]}`,
		"empty":     `{"fields":[{"name":"a","type":"RECORD"}]}`,
		"no list":   `{"fields":{}}`,
		"key":       plain + `,"tableConstraints":{"primaryKey":{"columns":["x"]}}`,
		"range":     `{"fields":[{"name":"a","type":"RANGE"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			code, answer := d.rest("POST", "projects/p/datasets/d/tables",
				`{"tableReference":{"tableId":"bad"},"schema":`+schema+`}`)
			if code != http.StatusBadRequest {
				t.Errorf("status %d: %v", code, answer)
			}
		})
	}
}
