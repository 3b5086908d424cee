package bigquery

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
)

// restServer is a BigQuery API that keeps the bodies of tables, with one dataset, p.d.
type restServer struct {
	mu     sync.Mutex
	tables map[string]map[string]any
	refuse int // the status of every answer, if any
	reason string
}

func (s *restServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, path, _ := strings.Cut(r.URL.Path, "projects/")
	name := strings.TrimPrefix(path, "p/datasets/d/tables/")
	switch {
	case s.refuse != 0:
		refuse(w, s.refuse, s.reason)
	case path == "p/datasets/d":
		answerWith(w, map[string]any{"id": "p:d"})
	case !strings.HasPrefix(path, "p/datasets/d/tables"):
		refuse(w, http.StatusNotFound, "Not found: Dataset")
	case r.Method == http.MethodPost:
		s.insert(w, r)
	case s.tables[name] == nil:
		refuse(w, http.StatusNotFound, "Not found: Table")
	default:
		answerWith(w, s.tables[name])
	}
}

func (s *restServer) insert(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	name := body["tableReference"].(map[string]any)["tableId"].(string)
	if s.tables[name] != nil {
		refuse(w, http.StatusConflict, "Already Exists: Table")
		return
	}
	body["type"], body["location"] = "TABLE", "EU"
	s.tables[name] = body
	answerWith(w, body)
}

func answerWith(w http.ResponseWriter, body any) {
	_ = json.NewEncoder(w).Encode(body) // a client that is gone finds no answer
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	answerWith(w, map[string]any{"error": map[string]any{"code": status, "message": message,
		"errors": []any{map[string]any{"reason": message, "message": message}}}})
}

// serveREST starts the server and a client of it. Both end with the test.
func serveREST(t *testing.T) (*restServer, *Client) {
	t.Helper()
	s := &restServer{tables: map[string]map[string]any{}}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	o := DefaultOptions()
	o.Endpoint, o.RESTEndpoint, o.Insecure = "127.0.0.1:1", listening.URL+"/bigquery/v2/", true
	o.HTTPClient, o.Retry.Budget = listening.Client(), 300*time.Millisecond
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

var orders = TableName{Project: "p", Dataset: "d", Table: "orders"}

func TestTablesAreMadeAndFound(t *testing.T) {
	s, c := serveREST(t)
	columns := append(everyType(), structColumn("in", must(columnOf("s", storagepb.TableFieldSchema_STRING))),
		repeated(columnOf("many", storagepb.TableFieldSchema_INT64)))
	spec := TableSpec{
		Schema: tableWith(columns...), Description: "text", Labels: map[string]string{"a": "b"},
		Partition:              &Partition{Unit: "HOUR", Column: "timestamp", Expiration: 48 * time.Hour},
		RequirePartitionFilter: true, Cluster: []string{"string", "int64"}, Expiration: time.Hour,
		PrimaryKey: []string{"string"}, MaxStaleness: 90 * time.Minute,
		Iceberg: &IcebergStorage{Connection: "p.eu.c", URI: "gs://b/f/"},
	}
	made, err := c.CreateTable(t.Context(), orders, spec)
	if err != nil {
		t.Fatal(err)
	}
	want := &Table{Name: orders, Schema: spec.Schema, Location: "EU", PrimaryKey: []string{"string"}, Iceberg: true}
	if diff := cmp.Diff(want, made, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	body := s.tables["orders"]
	delete(body, "schema")
	if body["expirationTime"] == nil {
		t.Error("the table does not expire")
	}
	delete(body, "expirationTime")
	if diff := cmp.Diff(map[string]any{
		"description": "text", "labels": map[string]any{"a": "b"}, "type": "TABLE", "location": "EU",
		"tableReference":         map[string]any{"projectId": "p", "datasetId": "d", "tableId": "orders"},
		"timePartitioning":       map[string]any{"type": "HOUR", "field": "timestamp", "expirationMs": "172800000"},
		"requirePartitionFilter": true, "clustering": map[string]any{"fields": []any{"string", "int64"}},
		"tableConstraints": map[string]any{"primaryKey": map[string]any{"columns": []any{"string"}}},
		"maxStaleness":     "0-0 0 1:30:0",
		"biglakeConfiguration": map[string]any{"connectionId": "p.eu.c", "storageUri": "gs://b/f/",
			"fileFormat": "PARQUET", "tableFormat": "ICEBERG"},
	}, body); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// Two processes may make the table at once: the second finds the first one's.
func TestTablesThatAreThereStay(t *testing.T) {
	_, c := serveREST(t)
	one := TableSpec{Schema: tableWith(columnOf("a", storagepb.TableFieldSchema_STRING))}
	two := TableSpec{Schema: tableWith(columnOf("b", storagepb.TableFieldSchema_STRING))}
	for _, spec := range []TableSpec{one, two} {
		made, err := c.CreateTable(t.Context(), orders, spec)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(one.Schema, made.Schema, protocmp.Transform()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestTablesThatAreMissing(t *testing.T) {
	_, c := serveREST(t)
	spec := TableSpec{Schema: tableWith(columnOf("a", storagepb.TableFieldSchema_STRING))}
	elsewhere := TableName{Project: "p", Dataset: "other", Table: "t"}
	_, err := c.Table(t.Context(), orders)
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "there is no table p.d.orders") {
		t.Errorf("a table: %v", err)
	}
	_, err = c.Table(t.Context(), elsewhere)
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "there is no dataset p.other") {
		t.Errorf("a dataset: %v", err)
	}
	_, err = c.CreateTable(t.Context(), elsewhere, spec)
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "there is no dataset p.other") {
		t.Errorf("a dataset to make a table in: %v", err)
	}
}

func TestTablesThatAreRefused(t *testing.T) {
	s, c := serveREST(t)
	s.tables["view"] = map[string]any{"type": "VIEW"}
	_, err := c.Table(t.Context(), TableName{Project: "p", Dataset: "d", Table: "view"})
	if err == nil || !strings.Contains(err.Error(), "p.d.view is of type VIEW") {
		t.Errorf("a view: %v", err)
	}
	column := columnOf("a", storagepb.TableFieldSchema_STRING)
	for _, c := range []struct {
		name string
		spec TableSpec
		want string
	}{
		{"partition", TableSpec{Schema: tableWith(column), Partition: &Partition{Unit: "WEEK"}}, "WEEK"},
		{"iceberg", TableSpec{Schema: tableWith(column), Iceberg: &IcebergStorage{URI: "gs://b/"}}, "needs a connection"},
		{"type", TableSpec{Schema: tableWith(columnOf("r", storagepb.TableFieldSchema_RANGE))}, "column r"},
		{"inner type", TableSpec{Schema: tableWith(structColumn("s", columnOf("r", 0)))}, "column s.r"},
	} {
		if _, err := c.spec.metadata(time.Now()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
	for _, r := range []struct {
		status int
		reason string
		want   error
	}{
		{http.StatusForbidden, "accessDenied", ErrDenied}, {http.StatusUnauthorized, "", ErrDenied},
		{http.StatusForbidden, "quotaExceeded", ErrQuota}, {http.StatusForbidden, "rateLimitExceeded", ErrQuota},
		{http.StatusTooManyRequests, "", ErrQuota}, {http.StatusServiceUnavailable, "", ErrUnreachable},
	} {
		s.mu.Lock()
		s.refuse, s.reason = r.status, r.reason
		s.mu.Unlock()
		_, err := c.Table(t.Context(), orders)
		_, errMaking := c.CreateTable(t.Context(), orders, TableSpec{Schema: tableWith(column)})
		if !errors.Is(err, r.want) || !errors.Is(errMaking, r.want) {
			t.Errorf("%d %s: %v; %v", r.status, r.reason, err, errMaking)
		}
	}
}

// Google's client would try for ever.
func TestTablesOfNobody(t *testing.T) {
	o := DefaultOptions()
	o.RESTEndpoint, o.Insecure, o.Retry.Budget = "http://127.0.0.1:1/", true, 50*time.Millisecond
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Table(t.Context(), orders); !errors.Is(err, ErrUnreachable) {
		t.Errorf("%v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
