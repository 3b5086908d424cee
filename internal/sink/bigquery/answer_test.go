package bigquery

import (
	"errors"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A success that says something else than was asked for is none.
func TestAnswersThatMakeNoSense(t *testing.T) {
	at := func(offset int64) *storagepb.AppendRowsResponse {
		result := &storagepb.AppendRowsResponse_AppendResult{Offset: wrapperspb.Int64(offset)}
		return &storagepb.AppendRowsResponse{
			Response: &storagepb.AppendRowsResponse_AppendResult_{AppendResult: result},
		}
	}
	for name, c := range map[string]struct {
		answer *storagepb.AppendRowsResponse
		fine   bool
	}{
		"its offset": {at(5), true}, "another offset": {at(4), false}, "nothing": {&storagepb.AppendRowsResponse{}, false},
	} {
		connection := &Connection{exact: true, stream: testStream}
		passing, err := connection.judge(&Pending{request: Request{Offset: 5}}, c.answer)
		if passing != nil || (err == nil) != c.fine || errors.Is(err, ErrUnsettled) == c.fine ||
			connection.unsettled == c.fine {
			t.Errorf("%s: %v, %v, unsettled %t", name, passing, err, connection.unsettled)
		}
	}
}

// What a refusal means depends on what happened before.
func TestRefusalsAreJudged(t *testing.T) {
	taken := storageStatus(codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS)
	beyond := storageStatus(codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	fenced := storageStatus(codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED)
	internal := status.New(codes.Internal, "").Proto()
	earlier, drained := &Connection{exact: true, failure: ErrRowsRefused}, &Connection{exact: true, drain: ErrQuota}
	for _, c := range []struct {
		name       string
		connection *Connection
		pending    Pending
		answer     *storagepb.AppendRowsResponse_Error
		passes     bool
		want       []error // none and not passing is a success
	}{
		{"taken at once", &Connection{exact: true}, Pending{sends: 1}, refusal(taken), false, []error{ErrOffsetTaken}},
		{"taken when sent again", &Connection{exact: true}, Pending{sends: 2}, refusal(taken), false, nil},
		{"taken, said to be sent before", &Connection{exact: true}, Pending{sends: 1, request: Request{Resend: true}},
			refusal(taken), false, nil},
		{"beyond the end once", &Connection{exact: true}, Pending{sends: 1}, refusal(beyond), true, nil},
		{"beyond the end again", &Connection{exact: true}, Pending{sends: 2, strays: 1}, refusal(beyond), false,
			[]error{ErrOutOfRange}},
		{"fenced", &Connection{exact: true}, Pending{sends: 1}, refusal(fenced), false, []error{ErrFinalized}},
		{"fenced after a lost answer", &Connection{exact: true}, Pending{sends: 2, lost: true}, refusal(fenced), false,
			[]error{ErrFinalized, ErrUnsettled}},
		{"behind a failure", earlier, Pending{sends: 1}, refusal(internal), false, []error{ErrBehind, ErrRowsRefused}},
		{"behind one that passes", drained, Pending{sends: 1}, refusal(fenced), true, nil},
		{"passing", &Connection{exact: true}, Pending{sends: 1}, refusal(internal), true, nil},
		{"taken on a default stream", &Connection{}, Pending{sends: 2}, refusal(taken), false, []error{ErrOffsetTaken}},
	} {
		passing, err := c.connection.judge(&c.pending, &storagepb.AppendRowsResponse{Response: c.answer})
		if (passing != nil) != c.passes || (err == nil) != (len(c.want) == 0) {
			t.Errorf("%s: %v, %v", c.name, passing, err)
		}
		for _, want := range c.want {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v in it", c.name, err, want)
			}
		}
		if unsettled := errors.Is(err, ErrUnsettled); unsettled != c.connection.unsettled || unsettled && !c.pending.lost {
			t.Errorf("%s: unsettled %t", c.name, unsettled)
		}
	}
}

func refusal(s *spb.Status) *storagepb.AppendRowsResponse_Error {
	return &storagepb.AppendRowsResponse_Error{Error: s}
}
