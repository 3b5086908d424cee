package bigquery

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
)

// dataset is a dataset, as REST shows it. It is never changed.
type dataset struct {
	name     string // projects/p/datasets/d
	resource map[string]any
}

var (
	datasetID = regexp.MustCompile(`^\w{1,1000}$`)
	tableID   = regexp.MustCompile(`^[\pL\pM\pN\p{Pc}\p{Pd}\p{Zs}]{1,1000}$`)
)

func datasetPath(project, id string) string { return "projects/" + project + "/datasets/" + id }

// location is where a table's dataset is.
func (s *Server) location(t *table) string {
	path, _, _ := strings.Cut(t.name, "/tables/")
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.datasets[path]; d != nil {
		return text(d.resource, "location")
	}
	return s.options.Location
}

func reference(resource map[string]any, of, key string) string {
	r, _ := resource[of].(map[string]any)
	return text(r, key)
}

func (s *Server) insertDataset(r *http.Request, body map[string]any) (any, *restError) {
	project, id := r.PathValue("project"), reference(body, "datasetReference", "datasetId")
	if !datasetID.MatchString(id) {
		return nil, badRequest("Invalid dataset ID %q. Dataset IDs must be alphanumeric (plus underscores) and must be at"+
			" most 1000 characters long.", id)
	}
	if text(body, "location") == "" {
		body["location"] = s.options.Location
	}
	body["kind"], body["id"] = "bigquery#dataset", project+":"+id
	body["datasetReference"] = map[string]any{"projectId": project, "datasetId": id}
	body["creationTime"], body["etag"] = millis(time.Now()), etag(1, id)
	d := &dataset{name: datasetPath(project, id), resource: body}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.datasets[d.name] != nil {
		return nil, duplicate("Dataset", project+":"+id)
	}
	s.datasets[d.name] = d
	return body, nil
}

func (s *Server) findDataset(r *http.Request) (*dataset, *restError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.datasets[datasetPath(r.PathValue("project"), r.PathValue("dataset"))]
	if d == nil {
		return nil, notFound("Dataset", r.PathValue("project")+":"+r.PathValue("dataset"))
	}
	return d, nil
}

func (s *Server) getDataset(r *http.Request, _ map[string]any) (any, *restError) {
	d, wrong := s.findDataset(r)
	if wrong != nil {
		return nil, wrong
	}
	return d.resource, nil
}

func (s *Server) listDatasets(r *http.Request, _ map[string]any) (any, *restError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(s.datasets)) {
		if strings.HasPrefix(name, datasetPath(r.PathValue("project"), "")) {
			list = append(list, s.datasets[name].resource)
		}
	}
	return map[string]any{"kind": "bigquery#datasetList", "datasets": list}, nil
}

func (s *Server) deleteDataset(r *http.Request, _ map[string]any) (any, *restError) {
	d, wrong := s.findDataset(r)
	if wrong != nil {
		return nil, wrong
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, t := range s.tables {
		if !strings.HasPrefix(name, d.name+"/") {
			continue
		}
		if r.URL.Query().Get("deleteContents") != "true" {
			return nil, &restError{http.StatusBadRequest, "resourceInUse",
				fmt.Sprintf("Dataset %s:%s is still in use", r.PathValue("project"), r.PathValue("dataset"))}
		}
		s.forget(t)
	}
	delete(s.datasets, d.name)
	return nil, nil
}

// forget takes a table away with its streams. The caller holds the server.
func (s *Server) forget(t *table) {
	t.mu.Lock()
	t.deleted = true
	t.mu.Unlock()
	delete(s.tables, t.name)
	for name, one := range s.streams {
		if one.table == t {
			delete(s.streams, name)
		}
	}
}

func (s *Server) insertTable(r *http.Request, body map[string]any) (any, *restError) {
	if _, wrong := s.findDataset(r); wrong != nil {
		return nil, wrong
	}
	project, dataset, id := r.PathValue("project"), r.PathValue("dataset"), reference(body, "tableReference", "tableId")
	if !tableID.MatchString(id) {
		return nil, badRequest("Invalid table ID %q. Table IDs must be letters, marks, numbers, connectors, dashes or"+
			" spaces, and must be at most 1000 characters long.", id)
	}
	now := time.Now().UTC()
	t := &table{name: datasetPath(project, dataset) + "/tables/" + id, made: now, modified: now}
	if body["view"] != nil || body["materializedView"] != nil {
		return nil, &restError{http.StatusNotImplemented, "notImplemented", "This server has no views."}
	}
	body["kind"], body["type"], body["id"] = "bigquery#table", "TABLE", project+":"+dataset+"."+id
	body["tableReference"] = map[string]any{"projectId": project, "datasetId": dataset, "tableId": id}
	body["creationTime"], body["location"] = millis(now), s.location(t)
	if wrong := t.describe(body); wrong != nil {
		return nil, wrong
	}
	s.faults.mu.Lock()
	t.hidden = s.faults.hiddenCalls
	s.faults.mu.Unlock()
	s.mu.Lock()
	known := s.tables[t.name] != nil
	if !known {
		s.tables[t.name] = t
	}
	s.mu.Unlock()
	if known {
		return nil, duplicate("Table", project+":"+dataset+"."+id)
	}
	return t.shown(true), nil
}

// describe makes a table what a resource says. The caller holds it, or nobody else has it.
func (t *table) describe(resource map[string]any) *restError {
	schema, _ := resource["schema"].(map[string]any)
	columns, wrong := parseSchema(schema)
	if wrong != nil {
		return wrong
	}
	keys, wrong := primaryKey(resource, columns)
	if wrong != nil {
		return wrong
	}
	if reason := evolve(t.columns, columns, ""); reason != "" && len(t.columns) > 0 {
		project, rest, _ := strings.Cut(strings.TrimPrefix(t.name, "projects/"), "/datasets/")
		return badRequest("Provided Schema does not match Table %s:%s. %s.",
			project, strings.Replace(rest, "/tables/", ".", 1), reason)
	}
	t.changes++
	if t.version == 0 || !proto.Equal(tableSchema(t.columns), tableSchema(columns)) {
		t.version++
	}
	resource["etag"] = etag(t.changes, t.name)
	resource["lastModifiedTime"] = strconv.FormatInt(t.modified.UnixMilli(), 10)
	t.resource, t.columns, t.keys = resource, columns, keys
	return nil
}

// shown is the table as REST shows it, with counts if asked for.
func (t *table) shown(counts bool) map[string]any {
	t.mu.Lock()
	defer t.mu.Unlock()
	resource := maps.Clone(t.resource)
	if counts {
		resource["numRows"] = strconv.Itoa(len(latest(t.visible, t.keys)))
		resource["numBytes"] = strconv.FormatInt(t.count.Bytes, 10)
	}
	return resource
}

func (s *Server) findTable(r *http.Request) (*table, *restError) {
	project, dataset, id := r.PathValue("project"), r.PathValue("dataset"), r.PathValue("table")
	if _, wrong := s.findDataset(r); wrong != nil {
		return nil, wrong
	}
	if t := s.lookUp(datasetPath(project, dataset) + "/tables/" + id); t != nil {
		return t, nil
	}
	return nil, notFound("Table", project+":"+dataset+"."+id)
}

// getTable shows a table; view BASIC and TABLE_METADATA_VIEW_UNSPECIFIED leave its size out of what STORAGE_STATS has.
func (s *Server) getTable(r *http.Request, _ map[string]any) (any, *restError) {
	t, wrong := s.findTable(r)
	if wrong != nil {
		return nil, wrong
	}
	return t.shown(r.URL.Query().Get("view") != "BASIC"), nil
}

func (s *Server) listTables(r *http.Request, _ map[string]any) (any, *restError) {
	d, wrong := s.findDataset(r)
	if wrong != nil {
		return nil, wrong
	}
	s.mu.Lock()
	var all []*table
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		if strings.HasPrefix(name, d.name+"/tables/") {
			all = append(all, s.tables[name])
		}
	}
	s.mu.Unlock()
	list := []any{}
	for _, t := range all {
		full, short := t.shown(false), map[string]any{}
		for _, key := range []string{
			"kind", "id", "tableReference", "type", "creationTime", "labels", "timePartitioning", "clustering", "friendlyName",
		} {
			if v, ok := full[key]; ok {
				short[key] = v
			}
		}
		list = append(list, short)
	}
	return map[string]any{"kind": "bigquery#tableList", "tables": list, "totalItems": len(list)}, nil
}

func (s *Server) patchTable(r *http.Request, body map[string]any) (any, *restError) {
	return s.change(r, body, merge)
}

func (s *Server) updateTable(r *http.Request, body map[string]any) (any, *restError) {
	return s.change(r, body, func(before, after map[string]any) map[string]any {
		for _, key := range []string{"kind", "type", "id", "tableReference", "creationTime", "location"} {
			after[key] = before[key]
		}
		return after
	})
}

// change makes a table another one.
func (s *Server) change(
	r *http.Request, body map[string]any, of func(before, body map[string]any) map[string]any,
) (any, *restError) {
	t, wrong := s.findTable(r)
	if wrong != nil {
		return nil, wrong
	}
	t.mu.Lock()
	if match := r.Header.Get("If-Match"); match != "" && match != "*" && match != t.resource["etag"] {
		t.mu.Unlock()
		return nil, &restError{http.StatusPreconditionFailed, "conditionNotMet", "Precondition Failed"}
	}
	t.modified = time.Now().UTC()
	wrong = t.describe(of(clone(t.resource), body))
	t.mu.Unlock()
	if wrong != nil {
		return nil, wrong
	}
	return t.shown(true), nil
}

// clone copies an object with the objects and lists in it: who got the old one may still read it.
func clone(resource map[string]any) map[string]any {
	c := make(map[string]any, len(resource))
	for key, v := range resource {
		c[key] = cloneValue(v)
	}
	return c
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return clone(v)
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = cloneValue(one)
		}
		return list
	default:
		return v
	}
}

// merge patches as REST does: null takes a key away, objects are merged, all else is replaced.
func merge(before, patch map[string]any) map[string]any {
	after := maps.Clone(before)
	for key, v := range patch {
		inner, isObject := v.(map[string]any)
		old, wasObject := after[key].(map[string]any)
		switch {
		case v == nil:
			delete(after, key)
		case isObject && wasObject:
			after[key] = merge(old, inner)
		default:
			after[key] = v
		}
	}
	return after
}

func (s *Server) deleteTable(r *http.Request, _ map[string]any) (any, *restError) {
	t, wrong := s.findTable(r)
	if wrong != nil {
		return nil, wrong
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(t)
	return nil, nil
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// etag changes with each version.
func etag(version int64, name string) string {
	text, _ := json.Marshal(name) // a string is always JSON
	return strconv.FormatUint(Checksum(fmt.Appendf(text, "/%d", version)), 16)
}
