package bigquery

import (
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
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
