package bigquery

import (
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func fails(t *testing.T, err error, code codes.Code, storage storagepb.StorageError_StorageErrorCode) {
	t.Helper()
	checkStatus(t, status.Convert(err), code, storage)
}

func TestCreateAndGet(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	made, err := d.api.CreateWriteStream(t.Context(), &storagepb.CreateWriteStreamRequest{
		Parent: table, WriteStream: &storagepb.WriteStream{Type: pending},
	})
	if err != nil {
		t.Fatal(err)
	}
	if made.GetType() != pending || len(made.GetTableSchema().GetFields()) != 2 || made.GetLocation() != "US" {
		t.Errorf("made %v", made)
	}
	for _, name := range []string{made.GetName(), table + "/streams/_default"} {
		basic, err := d.api.GetWriteStream(t.Context(), &storagepb.GetWriteStreamRequest{Name: name})
		if err != nil || basic.GetTableSchema() != nil {
			t.Errorf("basic: %v, %v", basic, err)
		}
		full, err := d.api.GetWriteStream(t.Context(), &storagepb.GetWriteStreamRequest{
			Name: name, View: storagepb.WriteStreamView_FULL,
		})
		if err != nil || len(full.GetTableSchema().GetFields()) != 2 || full.GetName() != name {
			t.Errorf("full: %v, %v", full, err)
		}
	}
	_, err = d.api.CreateWriteStream(t.Context(), &storagepb.CreateWriteStreamRequest{
		Parent: table + "x", WriteStream: &storagepb.WriteStream{Type: pending},
	})
	fails(t, err, codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND)
	_, err = d.api.CreateWriteStream(t.Context(), &storagepb.CreateWriteStreamRequest{Parent: table})
	fails(t, err, codes.InvalidArgument, none)
	_, err = d.api.GetWriteStream(t.Context(), &storagepb.GetWriteStreamRequest{Name: table + "/streams/x"})
	fails(t, err, codes.NotFound, storagepb.StorageError_STREAM_NOT_FOUND)
}

func (d *double) finalize(stream string) int64 {
	d.t.Helper()
	done, err := d.api.FinalizeWriteStream(d.t.Context(), &storagepb.FinalizeWriteStreamRequest{Name: stream})
	if err != nil {
		d.t.Fatal(err)
	}
	return done.GetRowCount()
}

func TestFinalize(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	stream := d.create(table, committed)
	a := d.open()
	accepted(t, a.append(appendRequest(stream, 0, plainWriter(), plainRow(1, "a"), plainRow(2, "b"))), 0)
	for range 2 {
		if n := d.finalize(stream); n != 2 {
			t.Errorf("finalized with %d rows, want 2", n)
		}
	}
	refused(t, a.append(appendRequest("", 2, nil, plainRow(3, "c"))), codes.InvalidArgument,
		storagepb.StorageError_STREAM_FINALIZED)
	_, err := d.api.FinalizeWriteStream(t.Context(), &storagepb.FinalizeWriteStreamRequest{
		Name: table + "/streams/_default",
	})
	fails(t, err, codes.InvalidArgument, storagepb.StorageError_INVALID_STREAM_TYPE)
	_, err = d.api.FinalizeWriteStream(t.Context(), &storagepb.FinalizeWriteStreamRequest{Name: table + "/streams/x"})
	fails(t, err, codes.NotFound, storagepb.StorageError_STREAM_NOT_FOUND)
}

func (d *double) flush(stream string, offset int64) error {
	_, err := d.api.FlushRows(d.t.Context(), &storagepb.FlushRowsRequest{
		WriteStream: stream, Offset: wrapperspb.Int64(offset),
	})
	return err
}

func TestFlush(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	stream := d.create(table, buffered)
	fails(t, d.flush(stream, 0), codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	a := d.open()
	accepted(t, a.append(appendRequest(stream, 0, plainWriter(), plainRow(1, "a"), plainRow(2, "b"), plainRow(3, "c"))), 0)
	visible := func(want int) {
		t.Helper()
		if n := len(d.Rows(table)); n != want {
			t.Errorf("%d rows are visible, want %d", n, want)
		}
	}
	visible(0)
	if err := d.flush(stream, 0); err != nil {
		t.Error(err)
	}
	visible(1)
	fails(t, d.flush(stream, 0), codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS)
	fails(t, d.flush(stream, 3), codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	d.finalize(stream)
	if err := d.flush(stream, 2); err != nil {
		t.Error(err)
	}
	visible(3)
	fails(t, d.flush(d.create(table, committed), 0), codes.InvalidArgument, storagepb.StorageError_INVALID_STREAM_TYPE)
	_, err := d.api.FlushRows(t.Context(), &storagepb.FlushRowsRequest{WriteStream: stream})
	fails(t, err, codes.InvalidArgument, none)
}

func TestBatchCommit(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	one, two, open := d.create(table, pending), d.create(table, pending), d.create(table, pending)
	for i, stream := range []string{one, two} {
		accepted(t, d.open().append(appendRequest(stream, 0, plainWriter(), plainRow(int64(i), "a"))), 0)
		d.finalize(stream)
	}
	commit := func(streams ...string) *storagepb.BatchCommitWriteStreamsResponse {
		t.Helper()
		answer, err := d.api.BatchCommitWriteStreams(t.Context(), &storagepb.BatchCommitWriteStreamsRequest{
			Parent: table, WriteStreams: streams,
		})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	wrong := func(answer *storagepb.BatchCommitWriteStreamsResponse, want ...storagepb.StorageError_StorageErrorCode) {
		t.Helper()
		if answer.GetCommitTime() != nil || len(answer.GetStreamErrors()) != len(want) {
			t.Fatalf("got %v, want %v", answer, want)
		}
		for i, e := range answer.GetStreamErrors() {
			if e.GetCode() != want[i] {
				t.Errorf("got %v, want %v", e, want[i])
			}
		}
	}
	wrong(commit(one, open, table+"/streams/x", d.create(table, committed)), storagepb.StorageError_INVALID_STREAM_STATE,
		storagepb.StorageError_STREAM_NOT_FOUND, storagepb.StorageError_INVALID_STREAM_TYPE)
	if n := len(d.Rows(table)); n != 0 {
		t.Errorf("%d rows are visible before the commit", n)
	}
	if answer := commit(one, two); answer.GetCommitTime() == nil || len(answer.GetStreamErrors()) != 0 {
		t.Errorf("got %v", answer)
	}
	if n := len(d.Rows(table)); n != 2 {
		t.Errorf("%d rows are visible, want 2", n)
	}
	wrong(commit(one, two), storagepb.StorageError_STREAM_ALREADY_COMMITTED,
		storagepb.StorageError_STREAM_ALREADY_COMMITTED)
	_, err := d.api.BatchCommitWriteStreams(t.Context(), &storagepb.BatchCommitWriteStreamsRequest{
		Parent: table, WriteStreams: []string{one, one},
	})
	fails(t, err, codes.InvalidArgument, none)
}
