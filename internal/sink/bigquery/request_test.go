package bigquery

import (
	"bytes"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The bytes of a request are those of the message that it stands for.
func TestRequestsAreMessages(t *testing.T) {
	table := tableWith(columnOf("s", storagepb.TableFieldSchema_STRING))
	schema := &storagepb.ProtoSchema{ProtoDescriptor: encoderOf(t, recordSchemaOf(t, table), table).Descriptor()}
	text, err := proto.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf("a", "b")
	read := &storagepb.ProtoRows{}
	if err := proto.Unmarshal(rows, read); err != nil {
		t.Fatal(err)
	}
	data := func(s *storagepb.ProtoSchema) *storagepb.AppendRowsRequest_ProtoRows {
		return &storagepb.AppendRowsRequest_ProtoRows{
			ProtoRows: &storagepb.AppendRowsRequest_ProtoData{WriterSchema: s, Rows: read},
		}
	}
	for _, c := range []struct {
		name   string
		header header
		offset int64
		want   *storagepb.AppendRowsRequest
	}{
		{
			"first", header{stream: testStream, schema: text, trace: "x", missing: 2}, 0,
			&storagepb.AppendRowsRequest{
				WriteStream: testStream, Offset: wrapperspb.Int64(0), TraceId: "x", Rows: data(schema),
				DefaultMissingValueInterpretation: storagepb.AppendRowsRequest_DEFAULT_VALUE,
			},
		},
		{
			"later", header{stream: testStream}, 1 << 40,
			&storagepb.AppendRowsRequest{WriteStream: testStream, Offset: wrapperspb.Int64(1 << 40), Rows: data(nil)},
		},
		{
			"without an offset", header{stream: testStream}, NoOffset,
			&storagepb.AppendRowsRequest{WriteStream: testStream, Rows: data(nil)},
		},
	} {
		got := &storagepb.AppendRowsRequest{}
		if err := proto.Unmarshal(append(c.header.append(nil, c.offset, len(rows)), rows...), got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Rows go to gRPC as they are, with a reference more, and come back when the last one lets go.
func TestRowsAreNotCopied(t *testing.T) {
	freed := 0
	content := bytes.Repeat([]byte{'x'}, 1<<16)
	buffer := rowsBuffer(content, func() { freed++ })
	slices, err := (codec{}).Marshal(&outgoing{header: []byte("head"), rows: buffer})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Len() != 4+len(content) || &slices[1].ReadOnlyData()[0] != &content[0] {
		t.Errorf("%d bytes in %d parts", slices.Len(), len(slices))
	}
	buffer.Free()
	if freed != 0 {
		t.Error("rows are given back while gRPC has them")
	}
	if slices.Free(); freed != 1 {
		t.Errorf("rows are given back %d times", freed)
	}
}

// gRPC does not count who refers to a small buffer.
func TestSmallRowsAreCopied(t *testing.T) {
	freed := 0
	content := []byte("small")
	buffer := rowsBuffer(content, func() { freed++ })
	copy(content, "other")
	if got := string(buffer.ReadOnlyData()); got != "small" || freed != 1 {
		t.Errorf("%q, given back %d times", got, freed)
	}
	if b := rowsBuffer(content, nil); &b.ReadOnlyData()[0] != &content[0] {
		t.Error("rows that nobody wants back are copied")
	}
}

func TestCodecRefusesOtherMessages(t *testing.T) {
	if _, err := (codec{}).Marshal(&storagepb.AppendRowsRequest{}); err == nil {
		t.Error("it sends any message")
	}
	if err := (codec{}).Unmarshal(mem.BufferSlice{}, "text"); err == nil {
		t.Error("it reads into anything")
	}
	if err := (codec{}).Unmarshal(mem.BufferSlice{mem.SliceBuffer{0xff}}, &storagepb.AppendRowsResponse{}); err == nil {
		t.Error("it reads anything")
	}
}
