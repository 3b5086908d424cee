package bigquery

import (
	"encoding/base64"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// rowsPageMax is how many rows a page has, unless fewer are asked for.
const rowsPageMax = 10_000

// listRows is tabledata.list: rows from startIndex or a page token on.
func (s *Server) listRows(r *http.Request, _ map[string]any) (any, *restError) {
	t, wrong := s.findTable(r)
	if wrong != nil {
		return nil, wrong
	}
	query := r.URL.Query()
	from, most := int64(0), int64(rowsPageMax)
	for key, n := range map[string]*int64{"startIndex": &from, "maxResults": &most} {
		if text := query.Get(key); text != "" {
			v, err := strconv.ParseUint(text, 10, 62)
			if err != nil {
				return nil, badRequest("Invalid value for %s: %s", key, text)
			}
			*n = int64(v)
		}
	}
	if token := query.Get("pageToken"); token != "" {
		v, err := strconv.ParseUint(token, 10, 62)
		if err != nil {
			return nil, badRequest("Invalid page token: %s", token)
		}
		from = int64(v)
	}
	if most == 0 {
		most = rowsPageMax
	}
	rows := t.rows()
	columns, _, _ := t.schema()
	total := int64(len(rows))
	from = min(from, total)
	to := min(from+min(most, rowsPageMax), total)
	answer := map[string]any{
		"kind": "bigquery#tableDataList", "totalRows": strconv.FormatInt(total, 10),
	}
	micros := query.Get("formatOptions.useInt64Timestamp") == "true"
	list := []any{}
	for _, row := range rows[from:to] {
		list = append(list, cells(columns, row, micros))
	}
	answer["rows"] = list
	if to < total {
		answer["pageToken"] = strconv.FormatInt(to, 10)
	}
	return answer, nil
}

// cells is a row of REST: a list of values in the order of the columns.
func cells(columns []*column, row Row, micros bool) map[string]any {
	list := []any{}
	for _, c := range columns {
		list = append(list, map[string]any{"v": cell(c, row[c.name], micros)})
	}
	return map[string]any{"f": list}
}

func cell(c *column, v any, micros bool) any {
	if values, ok := v.([]any); ok && c.repeated() {
		list := []any{}
		for _, one := range values {
			list = append(list, map[string]any{"v": scalarCell(c, one, micros)})
		}
		return list
	}
	if v == nil && c.repeated() {
		return []any{} // a column that is younger than the row
	}
	return scalarCell(c, v, micros)
}

// scalarCell is a value; all plain ones are texts.
func scalarCell(c *column, v any, micros bool) any {
	switch v := v.(type) {
	case nil:
		return nil
	case Row:
		if c.kind == storagepb.TableFieldSchema_RANGE {
			return rangeText(c, v, micros)
		}
		return cells(c.fields, v, micros)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return floatText(v)
	case bool:
		return strconv.FormatBool(v)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case time.Time:
		if micros {
			return strconv.FormatInt(v.UnixMicro(), 10)
		}
		return strconv.FormatFloat(float64(v.UnixMicro())/1e6, 'E', -1, 64)
	case string:
		return civilText(c.kind, v)
	default:
		return v
	}
}

func floatText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	default:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
}

// civilText leaves out microseconds that are zero, as REST does.
func civilText(k kind, text string) string {
	if k == storagepb.TableFieldSchema_TIME || k == storagepb.TableFieldSchema_DATETIME {
		return strings.TrimSuffix(text, ".000000")
	}
	return text
}

func rangeText(c *column, v Row, micros bool) string {
	ends := make([]string, 2)
	for i, f := range c.fields {
		ends[i] = "UNBOUNDED"
		if text, ok := scalarCell(f, v[f.name], micros).(string); ok {
			ends[i] = text
		}
	}
	return "[" + ends[0] + ", " + ends[1] + ")"
}
