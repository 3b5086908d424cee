package bigquery

import (
	"strings"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
)

func TestFirstRequestNamesStreamAndSchema(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	for name, r := range map[string]*storagepb.AppendRowsRequest{
		"no stream":   appendRequest("", 0, plainWriter(), plainRow(1, "a")),
		"no schema":   appendRequest(table+"/streams/_default", -1, nil, plainRow(1, "a")),
		"no rows":     appendRequest(table+"/streams/_default", -1, plainWriter()),
		"no name":     appendRequest("t", -1, plainWriter(), plainRow(1, "a")),
		"bad schema":  appendRequest(table+"/streams/_default", -1, descriptor(typed{name: "id", typ: stringType})),
		"no required": appendRequest(table+"/streams/_default", -1, descriptor(typed{name: "name", typ: stringType})),
		"arrow": {WriteStream: table + "/streams/_default", Rows: &storagepb.AppendRowsRequest_ArrowRows{
			ArrowRows: &storagepb.AppendRowsRequest_ArrowData{},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := d.open()
			a.t = t
			a.send(r)
			a.ended(codes.InvalidArgument, none)
		})
	}
}

func TestNotFoundEndsTheStream(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	stream := d.create(table, committed)
	a := d.open()
	accepted(t, a.append(appendRequest(stream, 0, plainWriter(), plainRow(1, "a"))), 0)
	if !d.Faults().Expire(stream) {
		t.Error("there is no stream to expire")
	}
	a.send(appendRequest("", 1, nil, plainRow(2, "b")))
	a.ended(codes.NotFound, storagepb.StorageError_STREAM_NOT_FOUND)

	a = d.open()
	a.send(appendRequest(table+"/streams/other", 0, plainWriter(), plainRow(1, "a")))
	a.ended(codes.NotFound, storagepb.StorageError_STREAM_NOT_FOUND)

	a = d.open()
	accepted(t, a.append(appendRequest(table+"/streams/_default", -1, plainWriter(), plainRow(1, "a"))), -1)
	d.must("DELETE", "projects/p/datasets/d/tables/t", "")
	a.send(appendRequest("", -1, nil, plainRow(2, "b")))
	a.ended(codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND)
}

func TestMultiplexing(t *testing.T) {
	d := start(t, Options{})
	one, two := d.table("one", plain, "")+"/streams/_default", d.table("two", plain, "")+"/streams/_default"
	a := d.open()
	accepted(t, a.append(appendRequest(one, -1, plainWriter(), plainRow(1, "a"))), -1)
	accepted(t, a.append(appendRequest(two, -1, plainWriter(), plainRow(2, "b"))), -1)
	accepted(t, a.append(appendRequest(two, -1, nil, plainRow(3, "c"))), -1)
	answer := a.append(appendRequest(one, -1, plainWriter(), plainRow(4, "d")))
	if accepted(t, answer, -1); answer.GetWriteStream() != one {
		t.Errorf("the answer is for %s, want %s", answer.GetWriteStream(), one)
	}
	if a, b := len(d.Rows("p.d.one")), len(d.Rows("p.d.two")); a != 2 || b != 2 {
		t.Errorf("%d and %d rows, want 2 and 2", a, b)
	}
	for name, r := range map[string]*storagepb.AppendRowsRequest{
		"no stream any more": appendRequest("", -1, nil, plainRow(5, "e")),
		"no schema":          appendRequest(one, -1, nil, plainRow(5, "e")),
		"explicit stream":    appendRequest(d.create("projects/p/datasets/d/tables/one", committed), -1, plainWriter()),
	} {
		t.Run(name, func(t *testing.T) {
			a := d.open()
			a.t = t
			a.append(appendRequest(one, -1, plainWriter(), plainRow(1, "a")))
			a.append(appendRequest(two, -1, plainWriter(), plainRow(2, "b")))
			a.send(r)
			a.ended(codes.InvalidArgument, none)
		})
	}
}

func TestSecondConnectionTakesTheStream(t *testing.T) {
	d := start(t, Options{})
	stream := d.create(d.table("t", plain, ""), committed)
	first, second := d.open(), d.open()
	accepted(t, first.append(appendRequest(stream, 0, plainWriter(), plainRow(1, "a"))), 0)
	accepted(t, second.append(appendRequest(stream, 1, plainWriter(), plainRow(2, "b"))), 1)
	first.ended(codes.Aborted, none)
	accepted(t, second.append(appendRequest("", 2, nil, plainRow(3, "c"))), 2)

	d.Faults().KeepFirstConnection(true)
	third := d.open()
	third.send(appendRequest(stream, 3, plainWriter(), plainRow(4, "d")))
	third.ended(codes.Aborted, none)
	accepted(t, second.append(appendRequest("", 3, nil, plainRow(4, "d"))), 3)
}

func TestSchemaMayNotChangeOnAnExplicitStream(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	narrow := descriptor(typed{name: "id", typ: int64Type})
	a := d.open()
	accepted(t, a.append(appendRequest(table+"/streams/_default", -1, plainWriter(), plainRow(1, "a"))), -1)
	accepted(t, a.append(appendRequest("", -1, narrow, []byte{1 << 3, 2})), -1)

	a = d.open()
	accepted(t, a.append(appendRequest(d.create(table, committed), 0, plainWriter(), plainRow(1, "a"))), 0)
	accepted(t, a.append(appendRequest("", 1, plainWriter(), plainRow(2, "b"))), 1)
	a.send(appendRequest("", 2, narrow, []byte{1 << 3, 3}))
	a.ended(codes.InvalidArgument, none)
}

func TestRequestTooLarge(t *testing.T) {
	d := start(t, Options{RequestBytesMax: 1 << 10})
	stream := d.create(d.table("t", plain, ""), committed)
	a := d.open()
	a.send(appendRequest(stream, 0, plainWriter(), plainRow(1, strings.Repeat("x", 1<<10))))
	a.ended(codes.InvalidArgument, none)
}

func TestClientEnds(t *testing.T) {
	d := start(t, Options{})
	stream := d.create(d.table("t", plain, ""), committed)
	a := d.open()
	a.send(appendRequest(stream, 0, plainWriter(), plainRow(1, "a")))
	if err := a.rpc.CloseSend(); err != nil {
		t.Fatal(err)
	}
	accepted(t, a.receive(), 0)
	if _, err := a.rpc.Recv(); err == nil || err.Error() != "EOF" {
		t.Errorf("the stream ended with %v, want EOF", err)
	}
}

// TestStalledFailure has an append that fails and is not answered: there is no response to hold.
func TestStalledFailure(t *testing.T) {
	d := start(t, Options{})
	other := d.table("t", plain, "") + "/streams/other"
	d.Faults().OnAppend(func(c AppendCall) Fate {
		if c.N == 1 {
			return LandAndStall()
		}
		return RefuseAndEnd(Unavailable())
	})
	a := d.open()
	a.send(appendRequest(other, 0, plainWriter(), plainRow(1, "a")))
	a.send(appendRequest(other, 1, plainWriter(), plainRow(2, "b")))
	a.ended(codes.Unavailable, none)
}
