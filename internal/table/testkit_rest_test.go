package table

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	icebergtable "github.com/apache/iceberg-go/table"
)

// serveREST is an Iceberg REST catalog in this process, over one in SQLite, as far as a job needs it.
func serveREST(t *testing.T) string {
	t.Helper()
	s := restServer{openCatalog(t, sqlConfig(t)).inner()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/config", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"defaults": map[string]string{}, "overrides": map[string]string{}}, nil)
	})
	mux.HandleFunc("GET /v1/namespaces/{ns}", s.loadNamespace)
	mux.HandleFunc("POST /v1/namespaces", s.createNamespace)
	mux.HandleFunc("POST /v1/namespaces/{ns}/tables", s.createTable)
	mux.HandleFunc("GET /v1/namespaces/{ns}/tables/{table}", s.loadTable)
	mux.HandleFunc("POST /v1/namespaces/{ns}/tables/{table}", s.commitTable)
	mux.HandleFunc("DELETE /v1/namespaces/{ns}/tables/{table}", s.dropTable)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

type restServer struct{ catalog catalog.Catalog }

func namespaceOf(r *http.Request) icebergtable.Identifier {
	return strings.Split(r.PathValue("ns"), "\x1f")
}

func (s restServer) loadNamespace(w http.ResponseWriter, r *http.Request) {
	p, err := s.catalog.LoadNamespaceProperties(r.Context(), namespaceOf(r))
	answer(w, map[string]any{"namespace": namespaceOf(r), "properties": p}, err)
}

func (s restServer) createNamespace(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Namespace  icebergtable.Identifier
		Properties iceberg.Properties
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	if err == nil {
		err = s.catalog.CreateNamespace(r.Context(), body.Namespace, body.Properties)
	}
	answer(w, body, err)
}

func (s restServer) createTable(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Name       string
		Location   string
		Schema     *iceberg.Schema
		Spec       *iceberg.PartitionSpec `json:"partition-spec"`
		Properties iceberg.Properties
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		answer(w, nil, err)
		return
	}
	location := body.Location
	if location == "" {
		p, err := s.catalog.LoadNamespaceProperties(r.Context(), namespaceOf(r))
		if err != nil {
			answer(w, nil, err)
			return
		}
		location = p["location"]
	}
	options := []catalog.CreateTableOpt{
		catalog.WithPartitionSpec(body.Spec), catalog.WithProperties(body.Properties), catalog.WithLocation(location),
	}
	t, err := s.catalog.CreateTable(r.Context(), append(namespaceOf(r), body.Name), body.Schema, options...)
	answerTable(w, t, err)
}

func (s restServer) loadTable(w http.ResponseWriter, r *http.Request) {
	t, err := s.catalog.LoadTable(r.Context(), append(namespaceOf(r), r.PathValue("table")))
	answerTable(w, t, err)
}

func (s restServer) commitTable(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Requirements icebergtable.Requirements
		Updates      icebergtable.Updates
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		answer(w, nil, err)
		return
	}
	ident := append(namespaceOf(r), r.PathValue("table"))
	m, location, err := s.catalog.CommitTable(r.Context(), ident, body.Requirements, body.Updates)
	answer(w, map[string]any{"metadata-location": location, "metadata": m}, err)
}

func (s restServer) dropTable(w http.ResponseWriter, r *http.Request) {
	err := s.catalog.DropTable(r.Context(), append(namespaceOf(r), r.PathValue("table")))
	answer(w, nil, err)
}

func answerTable(w http.ResponseWriter, t *icebergtable.Table, err error) {
	if err != nil {
		answer(w, nil, err)
		return
	}
	answer(w, map[string]any{"metadata-location": t.MetadataLocation(), "metadata": t.Metadata()}, nil)
}

// answer follows the specification's statuses; an error that it does not know is the server's fault.
func answer(w http.ResponseWriter, v any, err error) {
	status := http.StatusOK
	switch {
	case err == nil:
	case errors.Is(err, icebergtable.ErrCommitFailed), requirementFailed(err),
		errors.Is(err, catalog.ErrTableAlreadyExists), errors.Is(err, catalog.ErrNamespaceAlreadyExists):
		status = http.StatusConflict
	case errors.Is(err, catalog.ErrNoSuchTable), errors.Is(err, catalog.ErrNoSuchNamespace):
		status = http.StatusNotFound
	default:
		status = http.StatusInternalServerError
	}
	if err != nil {
		v = map[string]any{"error": map[string]any{"message": err.Error(), "type": "Error", "code": status}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has gone needs no answer
}
