package bigquery

import (
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
)

func TestDefaultValues(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		kind kind
		text string
		want any
		bad  bool
	}{
		{storagepb.TableFieldSchema_STRING, "'x'", "x", false},
		{storagepb.TableFieldSchema_STRING, `"x y"`, "x y", false},
		{storagepb.TableFieldSchema_STRING, "NULL", nil, false},
		{storagepb.TableFieldSchema_STRING, "CONCAT('a', 'b')", nil, true},
		{storagepb.TableFieldSchema_STRING, `'a\n'`, nil, true},
		{storagepb.TableFieldSchema_INT64, "7", int64(7), false},
		{storagepb.TableFieldSchema_INT64, "7 + 1", nil, true},
		{storagepb.TableFieldSchema_DOUBLE, "1.5", 1.5, false},
		{storagepb.TableFieldSchema_BOOL, "false", false, false},
		{storagepb.TableFieldSchema_BYTES, "b'x'", nil, true},
		{kindNumeric, "1.50", "1.5", false},
		{kindDate, "'2026-01-02'", "2026-01-02", false},
		{kindDate, "current_date()", "2026-01-02", false},
		{kindDate, "'no day'", nil, true},
		{kindTimestamp, "CURRENT_TIMESTAMP()", now, false},
		{kindDatetime, "CURRENT_DATETIME", "2026-01-02T03:04:05.000000", false},
	} {
		got, err := evaluate(&column{name: "c", kind: c.kind, expression: c.text}, now)
		if (err != nil) != c.bad || cmp.Diff(c.want, got) != "" {
			t.Errorf("%s of %s: got %v, %v", c.kind, c.text, got, err)
		}
	}
	one, err := evaluate(&column{kind: storagepb.TableFieldSchema_STRING, expression: "GENERATE_UUID()"}, now)
	if text, ok := one.(string); err != nil || !ok || len(text) != 36 {
		t.Errorf("got %v, %v", one, err)
	}
}
