package bigquery

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// restError is an error as REST answers with it.
type restError struct {
	code    int
	reason  string // Google's for programs, like notFound
	message string
}

func notFound(what, name string) *restError {
	return &restError{http.StatusNotFound, "notFound", "Not found: " + what + " " + name}
}

func duplicate(what, name string) *restError {
	return &restError{http.StatusConflict, "duplicate", "Already Exists: " + what + " " + name}
}

func badRequest(format string, args ...any) *restError {
	return &restError{http.StatusBadRequest, "invalid", fmt.Sprintf(format, args...)}
}

// statusNames has the names of statuses that Google's errors of REST bear beside the number.
var statusNames = map[int]string{
	http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusNotFound: "NOT_FOUND", http.StatusConflict: "ALREADY_EXISTS",
	http.StatusPreconditionFailed: "FAILED_PRECONDITION", http.StatusNotImplemented: "UNIMPLEMENTED",
}

func (e *restError) body() map[string]any {
	return map[string]any{"error": map[string]any{
		"code": e.code, "message": e.message, "status": statusNames[e.code],
		"errors": []any{map[string]any{"message": e.message, "domain": "global", "reason": e.reason}},
	}}
}

// restCall does a call; path values are project, dataset and table. An answer of nil is an empty one.
type restCall func(r *http.Request, body map[string]any) (answer any, wrong *restError)

// restHandler is the part of BigQuery's REST API that makes and shows tables. Clients differ in whether they repeat the
// prefix of its version behind the endpoint.
func (s *Server) restHandler() http.Handler {
	mux := http.NewServeMux()
	handle := func(method, path string, call restCall) {
		mux.Handle(method+" /projects/{project}/"+path, serveCall(call))
	}
	const datasets, tables = "datasets", "datasets/{dataset}/tables"
	handle("POST", datasets, s.insertDataset)
	handle("GET", datasets, s.listDatasets)
	handle("GET", datasets+"/{dataset}", s.getDataset)
	handle("DELETE", datasets+"/{dataset}", s.deleteDataset)
	handle("POST", tables, s.insertTable)
	handle("GET", tables, s.listTables)
	handle("GET", tables+"/{table}", s.getTable)
	handle("PATCH", tables+"/{table}", s.patchTable)
	handle("PUT", tables+"/{table}", s.updateTable)
	handle("DELETE", tables+"/{table}", s.deleteTable)
	handle("GET", tables+"/{table}/data", s.listRows)
	mux.Handle("/", serveCall(func(r *http.Request, _ map[string]any) (any, *restError) {
		return nil, &restError{http.StatusNotImplemented, "notImplemented",
			r.Method + " " + r.URL.Path + " is not a call that this server knows"}
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for strings.HasPrefix(r.URL.Path, "/bigquery/v2/") {
			r.URL.Path, r.URL.RawPath = strings.TrimPrefix(r.URL.Path, "/bigquery/v2"), ""
		}
		mux.ServeHTTP(w, r)
	})
}

func serveCall(call restCall) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, answer := http.StatusOK, any(nil)
		body, wrong := readBody(r)
		if wrong == nil {
			answer, wrong = call(r, body)
		}
		if wrong != nil {
			code, answer = wrong.code, wrong.body()
		}
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		text, err := json.Marshal(answer)
		if err != nil { // a NaN among rows, which no JSON has
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(code)
		_, _ = w.Write(text) // the client is gone when this fails
	})
}

// bodyBytesMax bounds a table's description.
const bodyBytesMax = 16 << 20

func readBody(r *http.Request) (body map[string]any, wrong *restError) {
	text, err := io.ReadAll(io.LimitReader(r.Body, bodyBytesMax))
	if err != nil {
		return nil, badRequest("Reading the body: %v", err)
	}
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, badRequest("Invalid JSON payload received. %v", err)
	}
	return body, nil
}
