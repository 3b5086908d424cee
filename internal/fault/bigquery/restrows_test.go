package bigquery

import (
	"fmt"
	"math"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
)

func TestPagesOfRows(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	a := d.open()
	var rows [][]byte
	for i := range int64(5) {
		rows = append(rows, plainRow(i, "a"))
	}
	accepted(t, a.append(appendRequest(table+"/streams/_default", -1, plainWriter(), rows...)), -1)
	var got []string
	pages := 0
	for token := ""; ; pages++ {
		page := d.must("GET", table+"/data?maxResults=2&pageToken="+token, "")
		if page["totalRows"] != "5" {
			t.Errorf("totalRows is %v, want 5", page["totalRows"])
		}
		for _, row := range page["rows"].([]any) {
			cells := row.(map[string]any)["f"].([]any)
			got = append(got, fmt.Sprint(cells[0].(map[string]any)["v"]))
		}
		next, more := page["pageToken"].(string)
		if !more {
			break
		}
		token = next
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, got); diff != "" || pages != 2 {
		t.Errorf("%d more pages\n%s", pages, diff)
	}
	if n := len(d.must("GET", table+"/data?startIndex=3", "")["rows"].([]any)); n != 2 {
		t.Errorf("%d rows from the third on, want 2", n)
	}
	if n := len(d.must("GET", table+"/data?maxResults=0", "")["rows"].([]any)); n != 5 {
		t.Errorf("%d rows, want all 5", n)
	}
	if code, _ := d.rest("GET", table+"/data?startIndex=x", ""); code != 400 {
		t.Errorf("a start that is none: status %d", code)
	}
}

func TestCells(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, c := range []struct {
		kind   kind
		v      any
		micros bool
		want   any
	}{
		{storagepb.TableFieldSchema_INT64, int64(-1), false, "-1"},
		{storagepb.TableFieldSchema_DOUBLE, 1.5, false, "1.5"},
		{storagepb.TableFieldSchema_DOUBLE, math.NaN(), false, "NaN"},
		{storagepb.TableFieldSchema_DOUBLE, math.Inf(-1), false, "-Infinity"},
		{storagepb.TableFieldSchema_BOOL, true, false, "true"},
		{storagepb.TableFieldSchema_BYTES, []byte{1}, false, "AQ=="},
		{kindTimestamp, at, true, "1767323045000006"},
		{kindTimestamp, at, false, "1.767323045000006E+09"},
		{kindTime, "03:04:05.000000", false, "03:04:05"},
		{kindDatetime, "2026-01-02T03:04:05.000006", false, "2026-01-02T03:04:05.000006"},
		{kindDate, nil, false, nil},
	} {
		if got := cell(columnOf("c", c.kind), c.v, c.micros); got != c.want {
			t.Errorf("%s %v: got %v, want %v", c.kind, c.v, got, c.want)
		}
	}
}
