package bigquery

import (
	"strings"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	none      = storagepb.StorageError_STORAGE_ERROR_CODE_UNSPECIFIED
	committed = storagepb.WriteStream_COMMITTED
	pending   = storagepb.WriteStream_PENDING
	buffered  = storagepb.WriteStream_BUFFERED
)

func TestAppendAtOffsets(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	stream := d.create(table, committed)
	a := d.open()
	accepted(t, a.append(appendRequest(stream, 0, plainWriter(), plainRow(1, "a"), plainRow(2, "b"))), 0)
	accepted(t, a.append(appendRequest("", 2, nil, plainRow(3, "c"))), 2)
	refused(t, a.append(appendRequest("", 2, nil, plainRow(3, "c"))), codes.AlreadyExists,
		storagepb.StorageError_OFFSET_ALREADY_EXISTS)
	refused(t, a.append(appendRequest("", 5, nil, plainRow(4, "d"))), codes.OutOfRange,
		storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	accepted(t, a.append(appendRequest("", -1, nil, plainRow(4, "d"))), 3)
	want := []Row{
		{"id": int64(1), "name": "a"}, {"id": int64(2), "name": "b"}, {"id": int64(3), "name": "c"},
		{"id": int64(4), "name": "d"},
	}
	if diff := cmp.Diff(want, d.Rows("p.d.t")); diff != "" {
		t.Error(diff)
	}
	log := d.Log(table)
	if err := log.Check(); err != nil || len(log) != 3 {
		t.Errorf("%d appends, %v", len(log), err)
	}
}

func TestOffsetText(t *testing.T) {
	d := start(t, Options{})
	stream := d.create(d.table("t", plain, ""), committed)
	got := d.open().append(appendRequest(stream, 7, plainWriter(), plainRow(1, "a"))).GetError().GetMessage()
	want := "The offset is beyond stream, expected offset 0, received 7. Entity: " + stream
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBadRowsAreNamedAndTheRequestRefused(t *testing.T) {
	d := start(t, Options{RowBytesMax: 100})
	stream := d.create(d.table("t", plain, ""), committed)
	a := d.open()
	notUTF8 := plainRow(2, "\xff")
	noID := plainRow(1, "x")[2:]
	long := plainRow(4, strings.Repeat("x", 100))
	answer := a.append(appendRequest(stream, 0, plainWriter(), plainRow(1, "a"), notUTF8, noID, plainRow(3, "c"), long))
	refused(t, answer, codes.InvalidArgument, none)
	var indexes []int64
	for _, e := range answer.GetRowErrors() {
		indexes = append(indexes, e.GetIndex())
		if e.GetCode() != storagepb.RowError_FIELDS_ERROR || e.GetMessage() == "" {
			t.Errorf("got %v", e)
		}
	}
	if diff := cmp.Diff([]int64{1, 2, 4}, indexes); diff != "" {
		t.Error(diff)
	}
	if n := d.Count("p.d.t").Rows; n != 0 {
		t.Errorf("%d rows were stored", n)
	}
	accepted(t, a.append(appendRequest("", 0, nil, plainRow(1, "a"), plainRow(3, "c"))), 0)
}

func TestLaterPipelinedOffsetsFail(t *testing.T) {
	d := start(t, Options{})
	stream := d.create(d.table("t", plain, ""), committed)
	a := d.open()
	a.send(appendRequest(stream, 0, plainWriter(), plainRow(1, "a")))
	a.send(appendRequest("", 1, nil, plainRow(2, "\xff")))
	a.send(appendRequest("", 2, nil, plainRow(3, "c")))
	a.send(appendRequest("", 3, nil, plainRow(4, "d")))
	accepted(t, a.receive(), 0)
	refused(t, a.receive(), codes.InvalidArgument, none)
	for range 2 {
		refused(t, a.receive(), codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	}
	if n := len(d.Rows("p.d.t")); n != 1 {
		t.Errorf("%d rows are visible, want 1", n)
	}
}

func TestDefaultStream(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	a := d.open()
	accepted(t, a.append(appendRequest(table+"/streams/_default", -1, plainWriter(), plainRow(1, "a"))), -1)
	a.send(appendRequest("", 1, nil, plainRow(2, "b")))
	a.ended(codes.InvalidArgument, none)
	if n := len(d.Rows(table)); n != 1 {
		t.Errorf("%d rows are visible, want 1", n)
	}
}

func TestExtraFieldsAreRefusedUntilTheTableHasThem(t *testing.T) {
	d := start(t, Options{})
	stream := d.create(d.table("t", plain, ""), committed)
	wide := plainWriter()
	wide.Field = append(wide.Field, descriptor(typed{name: "more", number: 3, typ: int64Type}).Field...)
	a := d.open()
	refused(t, a.append(appendRequest(stream, 0, wide, plainRow(1, "a"))), codes.InvalidArgument,
		storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS)
	d.must("PATCH", "projects/p/datasets/d/tables/t", `{"schema":{"fields":[
		{"name":"id","type":"INTEGER","mode":"REQUIRED"},{"name":"name","type":"STRING"},{"name":"more","type":"INTEGER"}]}}`)
	answer := a.append(appendRequest("", 0, nil, append(plainRow(1, "a"), 3<<3, 5)))
	accepted(t, answer, 0)
	if got := len(answer.GetUpdatedSchema().GetFields()); got != 3 {
		t.Errorf("updated_schema has %d columns, want 3", got)
	}
	answer = a.append(appendRequest("", 1, nil, plainRow(2, "b")))
	if accepted(t, answer, 1); answer.GetUpdatedSchema() != nil {
		t.Error("updated_schema came twice")
	}
	want := []Row{{"id": int64(1), "name": "a", "more": int64(5)}, {"id": int64(2), "name": "b", "more": nil}}
	if diff := cmp.Diff(want, d.Rows("p.d.t")); diff != "" {
		t.Error(diff)
	}
}

func TestMissingValues(t *testing.T) {
	d := start(t, Options{})
	stream := d.create(d.table("t", `{"fields":[{"name":"id","type":"INTEGER"},
		{"name":"a","type":"STRING","defaultValueExpression":"'x'"},
		{"name":"b","type":"INTEGER","mode":"REQUIRED","defaultValueExpression":"7"},
		{"name":"c","type":"BOOLEAN","defaultValueExpression":"TRUE"}]}`, ""), committed)
	writer := descriptor(typed{name: "id", typ: int64Type}, typed{name: "a", typ: stringType},
		typed{name: "b", typ: int64Type})
	row := []byte{1 << 3, 1}
	a := d.open()
	r := appendRequest(stream, 0, writer, row)
	refused(t, a.append(r), codes.InvalidArgument, none) // b is required, and not filled in by itself
	r = appendRequest("", 0, nil, row)
	r.DefaultMissingValueInterpretation = storagepb.AppendRowsRequest_DEFAULT_VALUE
	accepted(t, a.append(r), 0)
	r = appendRequest("", 1, nil, row) // what was said before still holds
	r.MissingValueInterpretations = map[string]storagepb.AppendRowsRequest_MissingValueInterpretation{
		"a": storagepb.AppendRowsRequest_NULL_VALUE,
	}
	accepted(t, a.append(r), 1)
	want := []Row{
		{"id": int64(1), "a": "x", "b": int64(7), "c": true}, {"id": int64(1), "a": nil, "b": int64(7), "c": true},
	}
	if diff := cmp.Diff(want, d.Rows("p.d.t")); diff != "" {
		t.Error(diff)
	}
}

func TestChanges(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, `,"tableConstraints":{"primaryKey":{"columns":["id"]}}`)
	writer := plainWriter()
	writer.Field = append(writer.Field, descriptor(typed{name: changeTypeName, number: 3, typ: stringType},
		typed{name: changeSequenceName, number: 4, typ: stringType}).Field...)
	change := func(id int64, name, kind, sequence string) []byte {
		row := protowire.AppendString(protowire.AppendTag(plainRow(id, name), 3, protowire.BytesType), kind)
		return protowire.AppendString(protowire.AppendTag(row, 4, protowire.BytesType), sequence)
	}
	a := d.open()
	accepted(t, a.append(appendRequest(table+"/streams/_default", -1, writer,
		change(1, "old", "UPSERT", "FFF/B"), change(2, "gone", "UPSERT", "1"), change(3, "c", "UPSERT", "2"))), -1)
	accepted(t, a.append(appendRequest("", -1, nil, change(1, "new", "UPSERT", "FFF/ABC"), change(2, "", "DELETE", "3"),
		change(3, "late", "UPSERT", "1"))), -1)
	accepted(t, a.append(appendRequest("", -1, nil, change(2, "late", "UPSERT", "2"))), -1)
	want := []Row{{"id": int64(1), "name": "new"}, {"id": int64(3), "name": "c"}}
	if diff := cmp.Diff(want, d.Rows(table)); diff != "" {
		t.Error(diff)
	}
	answer := a.append(appendRequest("", -1, nil, change(1, "", "INSERT", "1"), change(1, "", "UPSERT", "x"),
		plainRow(1, "no change")))
	if refused(t, answer, codes.InvalidArgument, none); len(answer.GetRowErrors()) != 3 {
		t.Errorf("bad rows: %v, want 3", answer.GetRowErrors())
	}
}

func TestChangesNeedADefaultStreamAndAKey(t *testing.T) {
	d := start(t, Options{})
	keyed := d.table("keyed", plain, `,"tableConstraints":{"primaryKey":{"columns":["id"]}}`)
	loose := d.table("loose", plain, "")
	writer := plainWriter()
	writer.Field = append(writer.Field, descriptor(typed{name: changeTypeName, number: 3, typ: stringType}).Field...)
	for _, stream := range []string{d.create(keyed, committed), loose + "/streams/_default"} {
		a := d.open()
		a.send(appendRequest(stream, -1, writer, plainRow(1, "a")))
		a.ended(codes.InvalidArgument, none)
	}
}
