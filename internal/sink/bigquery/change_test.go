package bigquery

import (
	"strings"
	"testing"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

func TestSequenceNumbers(t *testing.T) {
	for in, want := range map[string]bool{
		"0": true, "FFFFFFFFFFFFFFFF": true, "a1/0/0/fF": true, "00": true,
		"": false, "/": false, "1/": false, "/1": false, "1//2": false, "0/0/0/0/0": false, "10000000000000000": false,
		"g": false, "-1": false, " 1": false, "@": false, "`": false, "1/2/3/10000000000000000": false,
	} {
		if got := isSequenceNumber([]byte(in)); got != want {
			t.Errorf("%q: %t", in, got)
		}
	}
}

func TestRowsThatChangeOthers(t *testing.T) {
	table := tableWith(columnOf("k", storagepb.TableFieldSchema_STRING))
	rows := WithChanges(recordSchemaOf(t, table))
	e, b := encoderOf(t, rows, table), record.NewBatch(rows)
	for i, row := range [][3]string{
		{"a", "UPSERT", "1/2"}, {"b", "DELETE", ""}, {"c", "upsert", "1"}, {"d", "UPSERT", "x"}, {"e", "", "1"},
	} {
		for j := range b.Columns {
			b.Columns[j].Grow()
			b.Columns[j].Bytes[i], b.Columns[j].Valid[i] = []byte(row[j]), row[j] != ""
		}
		b.Rows++
	}
	buf, cut := e.Append(nil, b, 0, b.Rows)
	var refused []string
	for _, r := range cut.Refused {
		refused = append(refused, r.Field+": "+r.Reason)
	}
	want := []string{
		"_CHANGE_TYPE: it is neither UPSERT nor DELETE", "_CHANGE_SEQUENCE_NUMBER: it is not one to four sections",
		"_CHANGE_TYPE: null, but the column is REQUIRED",
	}
	for i := range want {
		if i >= len(refused) || !strings.HasPrefix(refused[i], want[i]) {
			t.Fatalf("refused %q, want %q", refused, want)
		}
	}
	columns := append(table.GetFields(), columnOf(ChangeType, storagepb.TableFieldSchema_STRING),
		columnOf(ChangeSequenceNumber, storagepb.TableFieldSchema_STRING))
	var got []string
	for _, m := range messagesOf(t, buf, messageOf(t, e.Descriptor())) {
		got = append(got, showMessage(m, columns))
	}
	const both = `{k="a" _CHANGE_TYPE="UPSERT" _CHANGE_SEQUENCE_NUMBER="1/2"} {k="b" _CHANGE_TYPE="DELETE"}`
	if s := strings.Join(got, " "); s != both {
		t.Errorf("rows %s", s)
	}
}
