package bigquery

import (
	"context"
	"testing"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// official is Google's client of the write API.
func (d *double) official() *managedwriter.Client {
	d.t.Helper()
	o := []option.ClientOption{option.WithEndpoint(d.Endpoint()), option.WithoutAuthentication()}
	for _, dial := range dialing(d.t, d.Server) {
		o = append(o, option.WithGRPCDialOption(dial))
	}
	// The client ends with its context only: Close leaves the goroutines of its connections.
	ctx, cancel := context.WithCancel(context.Background())
	c, err := managedwriter.NewClient(ctx, "p", append(o, managedwriter.WithMultiplexing())...)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			d.t.Error(err)
		}
		cancel()
	})
	return c
}

// adapted is the descriptor of a table as Google's client makes it.
func adapted(t testing.TB, schema bigquery.Schema) (protoreflect.MessageDescriptor, *descriptorpb.DescriptorProto) {
	t.Helper()
	table, err := adapt.BQSchemaToStorageTableSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	made, err := adapt.StorageSchemaToProto2Descriptor(table, "root")
	if err != nil {
		t.Fatal(err)
	}
	message, ok := made.(protoreflect.MessageDescriptor)
	if !ok {
		t.Fatalf("a %T is no message", made)
	}
	normal, err := adapt.NormalizeDescriptor(message)
	if err != nil {
		t.Fatal(err)
	}
	return message, normal
}

func encoded(t *testing.T, d protoreflect.MessageDescriptor, rows ...string) (list [][]byte) {
	t.Helper()
	for _, text := range rows {
		m := dynamicpb.NewMessage(d)
		if err := protojson.Unmarshal([]byte(text), m); err != nil {
			t.Fatal(err)
		}
		row, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	return list
}

var plainSchema = bigquery.Schema{
	{Name: "id", Type: bigquery.IntegerFieldType, Required: true}, {Name: "name", Type: bigquery.StringFieldType},
}

// writing is a managed stream of the plain table.
func (d *double) writing(o ...managedwriter.WriterOption) *managedwriter.ManagedStream {
	d.t.Helper()
	_, normal := adapted(d.t, plainSchema)
	s, err := d.official().NewManagedStream(d.t.Context(), append([]managedwriter.WriterOption{
		managedwriter.WithDestinationTable(tableT), managedwriter.WithSchemaDescriptor(normal),
	}, o...)...)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func appended(
	t *testing.T, s *managedwriter.ManagedStream, rows [][]byte, o ...managedwriter.AppendOption,
) (int64, error) {
	t.Helper()
	result, err := s.AppendRows(t.Context(), rows, o...)
	if err != nil {
		t.Fatal(err)
	}
	return result.GetResult(t.Context())
}

func TestOfficialClientOnDefaultStream(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	s := d.writing(managedwriter.WithType(managedwriter.DefaultStream))
	for i := range int64(5) {
		if _, err := appended(t, s, [][]byte{plainRow(i, "a")}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(d.Rows("p.d.t")); n != 5 {
		t.Errorf("%d rows are visible, want 5", n)
	}
}

func TestOfficialClientOnCommittedStream(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	s := d.writing(managedwriter.WithType(managedwriter.CommittedStream))
	for i := range int64(3) {
		if at, err := appended(t, s, [][]byte{plainRow(i, "a")}, managedwriter.WithOffset(i)); err != nil || at != i {
			t.Fatalf("stored at %d, %v; want %d", at, err, i)
		}
	}
	_, err := appended(t, s, [][]byte{plainRow(1, "a")}, managedwriter.WithOffset(1))
	fails(t, err, codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS)
	_, err = appended(t, s, [][]byte{plainRow(1, "a")}, managedwriter.WithOffset(9))
	fails(t, err, codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	if n, err := s.Finalize(t.Context()); err != nil || n != 3 {
		t.Errorf("finalized with %d rows, %v; want 3", n, err)
	}
	_, err = appended(t, s, [][]byte{plainRow(1, "a")}, managedwriter.WithOffset(3))
	fails(t, err, codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED)
}

func TestOfficialClientGetsRowErrors(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	s := d.writing(managedwriter.WithType(managedwriter.CommittedStream))
	result, err := s.AppendRows(t.Context(), [][]byte{plainRow(1, "a"), plainRow(2, "\xff")}, managedwriter.WithOffset(0))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := result.FullResponse(t.Context())
	if err == nil || len(answer.GetRowErrors()) != 1 || answer.GetRowErrors()[0].GetIndex() != 1 {
		t.Errorf("got %v, %v", answer, err)
	}
	if _, err := appended(t, s, [][]byte{plainRow(1, "a")}, managedwriter.WithOffset(0)); err != nil {
		t.Error(err)
	}
}

func TestOfficialClientFlushes(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	s := d.writing(managedwriter.WithType(managedwriter.BufferedStream))
	if _, err := appended(t, s, [][]byte{plainRow(1, "a"), plainRow(2, "b")}, managedwriter.WithOffset(0)); err != nil {
		t.Fatal(err)
	}
	if at, err := s.FlushRows(t.Context(), 0); err != nil || at != 0 {
		t.Errorf("flushed to %d, %v; want 0", at, err)
	}
	if n := len(d.Rows("p.d.t")); n != 1 {
		t.Errorf("%d rows are visible, want 1", n)
	}
}

func TestOfficialClientCommits(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	c := d.official()
	_, normal := adapted(t, plainSchema)
	s, err := c.NewManagedStream(t.Context(), managedwriter.WithDestinationTable(tableT),
		managedwriter.WithSchemaDescriptor(normal), managedwriter.WithType(managedwriter.PendingStream))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := appended(t, s, [][]byte{plainRow(1, "a")}, managedwriter.WithOffset(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finalize(t.Context()); err != nil {
		t.Fatal(err)
	}
	answer, err := c.BatchCommitWriteStreams(t.Context(), &storagepb.BatchCommitWriteStreamsRequest{
		Parent: tableT, WriteStreams: []string{s.StreamName()},
	})
	if err != nil || answer.GetCommitTime() == nil {
		t.Errorf("got %v, %v", answer, err)
	}
	if n := len(d.Rows("p.d.t")); n != 1 {
		t.Errorf("%d rows are visible, want 1", n)
	}
}

func TestOfficialClientSeesAChangedSchema(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	s := d.writing(managedwriter.WithType(managedwriter.CommittedStream))
	if _, err := appended(t, s, [][]byte{plainRow(1, "a")}, managedwriter.WithOffset(0)); err != nil {
		t.Fatal(err)
	}
	d.must("PATCH", "projects/p/datasets/d/tables/t", `{"schema":{"fields":[
		{"name":"id","type":"INTEGER","mode":"REQUIRED"},{"name":"name","type":"STRING"},{"name":"more","type":"FLOAT"}]}}`)
	result, err := s.AppendRows(t.Context(), [][]byte{plainRow(2, "b")}, managedwriter.WithOffset(1))
	if err != nil {
		t.Fatal(err)
	}
	updated, err := result.UpdatedSchema(t.Context())
	if err != nil || len(updated.GetFields()) != 3 {
		t.Fatalf("updated schema %v, %v", updated, err)
	}
	wider := append(bigquery.Schema{}, plainSchema...)
	message, normal := adapted(t, append(wider, &bigquery.FieldSchema{Name: "more", Type: bigquery.FloatFieldType}))
	if _, err := appended(t, s, encoded(t, message, `{"id":"3","name":"c","more":1.5}`), managedwriter.WithOffset(2),
		managedwriter.UpdateSchemaDescriptor(normal)); err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{"id": int64(1), "name": "a"}, {"id": int64(2), "name": "b", "more": nil},
		{"id": int64(3), "name": "c", "more": 1.5},
	}
	if diff := cmp.Diff(want, d.Rows("p.d.t")); diff != "" {
		t.Error(diff)
	}
}

// TestOfficialClientResends has the answer to the second append lost with its connection.
func TestOfficialClientResends(t *testing.T) {
	d := start(t, Options{})
	d.table("t", plain, "")
	d.Faults().OnAppend(func(c AppendCall) Fate {
		if c.N == 2 {
			return LandAndEnd(Unavailable())
		}
		return Pass()
	})
	s := d.writing(managedwriter.WithType(managedwriter.CommittedStream), managedwriter.EnableWriteRetries(true))
	if _, err := appended(t, s, [][]byte{plainRow(1, "a")}, managedwriter.WithOffset(0)); err != nil {
		t.Fatal(err)
	}
	_, err := appended(t, s, [][]byte{plainRow(2, "b")}, managedwriter.WithOffset(1))
	fails(t, err, codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS)
	if err := d.Log("p.d.t").Check(); err != nil {
		t.Error(err)
	}
}
