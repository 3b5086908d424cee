package bigquery

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func TestMain(m *testing.M) {
	// OpenCensus, which Google's client brings, starts a worker for good, and the client lets 20 s pass before it closes
	// a connection that it has replaced.
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
			goleak.IgnoreAnyFunction("cloud.google.com/go/bigquery/storage/managedwriter.(*connection).getStream.func1"),
		); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// double is a server with a plain client of each of its APIs.
type double struct {
	*Server
	t    *testing.T
	api  storagepb.BigQueryWriteClient
	http *http.Client
	conn *grpc.ClientConn
}

func start(t *testing.T, o Options) *double {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	d := &double{Server: s, t: t}
	transport := &http.Transport{TLSClientConfig: secured(t, s)}
	t.Cleanup(transport.CloseIdleConnections)
	d.http = &http.Client{Transport: transport}
	d.conn, err = grpc.NewClient(s.Endpoint(), dialing(t, s)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.conn.Close() })
	d.api = storagepb.NewBigQueryWriteClient(d.conn)
	return d
}

func secured(t *testing.T, s *Server) *tls.Config {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.CA()) {
		t.Fatal("the CA is no certificate in PEM")
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func dialing(t *testing.T, s *Server) []grpc.DialOption {
	t.Helper()
	return []grpc.DialOption{
		grpc.WithTransportCredentials(credentials.NewTLS(secured(t, s))), grpc.WithDisableServiceConfig(),
	}
}

// rest makes a call of REST and returns the answer's status and body.
func (d *double) rest(method, path, body string) (code int, answer map[string]any) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), method, d.RESTEndpoint()+path, bytes.NewReader([]byte(body)))
	if err != nil {
		d.t.Fatal(err)
	}
	response, err := d.http.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &answer); err != nil {
			d.t.Fatalf("%s: %v", text, err)
		}
	}
	return response.StatusCode, answer
}

func (d *double) must(method, path, body string) map[string]any {
	d.t.Helper()
	code, answer := d.rest(method, path, body)
	if code/100 != 2 {
		d.t.Fatalf("%s %s: %d %v", method, path, code, answer)
	}
	return answer
}

const (
	tableT = "projects/p/datasets/d/tables/t"
	plain  = `{"fields":[{"name":"id","type":"INTEGER","mode":"REQUIRED"},{"name":"name","type":"STRING"}]}`
)

// table makes a table in dataset d of project p, and returns its full name.
func (d *double) table(name, schema, more string) string {
	d.t.Helper()
	code, answer := d.rest("POST", "projects/p/datasets", `{"datasetReference":{"datasetId":"d"}}`)
	if code != http.StatusOK && code != http.StatusConflict {
		d.t.Fatal(answer)
	}
	d.must("POST", "projects/p/datasets/d/tables", `{"tableReference":{"tableId":"`+name+`"},"schema":`+schema+more+`}`)
	return "projects/p/datasets/d/tables/" + name
}

func (d *double) create(table string, kind storagepb.WriteStream_Type) string {
	d.t.Helper()
	s, err := d.api.CreateWriteStream(d.t.Context(), &storagepb.CreateWriteStreamRequest{
		Parent: table, WriteStream: &storagepb.WriteStream{Type: kind},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return s.GetName()
}

// appending is an AppendRows stream.
type appending struct {
	t   *testing.T
	rpc storagepb.BigQueryWrite_AppendRowsClient
}

func (d *double) open() *appending {
	d.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	d.t.Cleanup(cancel)
	rpc, err := d.api.AppendRows(ctx)
	if err != nil {
		d.t.Fatal(err)
	}
	return &appending{d.t, rpc}
}

func (a *appending) send(r *storagepb.AppendRowsRequest) {
	a.t.Helper()
	if err := a.rpc.Send(r); err != nil && !errors.Is(err, io.EOF) {
		a.t.Fatal(err)
	}
}

func (a *appending) receive() *storagepb.AppendRowsResponse {
	a.t.Helper()
	response, err := a.rpc.Recv()
	if err != nil {
		a.t.Fatal(err)
	}
	return response
}

// append sends a request and returns its answer.
func (a *appending) append(r *storagepb.AppendRowsRequest) *storagepb.AppendRowsResponse {
	a.t.Helper()
	a.send(r)
	return a.receive()
}

// ended asserts that the gRPC stream ended with a code and perhaps a StorageError.
func (a *appending) ended(code codes.Code, storage storagepb.StorageError_StorageErrorCode) {
	a.t.Helper()
	response, err := a.rpc.Recv()
	if err == nil {
		a.t.Fatalf("got %v in place of the end of the stream", response)
	}
	checkStatus(a.t, status.Convert(err), code, storage)
}

func checkStatus(t *testing.T, s *status.Status, code codes.Code, storage storagepb.StorageError_StorageErrorCode) {
	t.Helper()
	var got storagepb.StorageError_StorageErrorCode
	for _, detail := range s.Details() {
		if e, ok := detail.(*storagepb.StorageError); ok {
			got = e.GetCode()
		}
	}
	if s.Code() != code || got != storage {
		t.Errorf("got %v %v (%s), want %v %v", s.Code(), got, s.Message(), code, storage)
	}
}

// refused asserts that an answer is an error.
func refused(
	t *testing.T, r *storagepb.AppendRowsResponse, code codes.Code, storage storagepb.StorageError_StorageErrorCode,
) {
	t.Helper()
	checkStatus(t, status.FromProto(r.GetError()), code, storage)
}

// accepted asserts that rows were stored at an offset; -1 on a default stream.
func accepted(t *testing.T, r *storagepb.AppendRowsResponse, offset int64) {
	t.Helper()
	if r.GetError() != nil {
		t.Fatalf("refused: %v %v", r.GetError(), r.GetRowErrors())
	}
	got := int64(-1)
	if o := r.GetAppendResult().GetOffset(); o != nil {
		got = o.GetValue()
	}
	if got != offset {
		t.Errorf("stored at %d, want %d", got, offset)
	}
}

// typed is a field of a writer's schema.
type typed struct {
	name   string
	number int32
	typ    descriptorpb.FieldDescriptorProto_Type
	label  descriptorpb.FieldDescriptorProto_Label
	of     string
}

func descriptor(fields ...typed) *descriptorpb.DescriptorProto {
	d := &descriptorpb.DescriptorProto{Name: proto.String("Row")}
	for i, f := range fields {
		if f.number == 0 {
			f.number = int32(i + 1)
		}
		if f.label == 0 {
			f.label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		}
		fd := &descriptorpb.FieldDescriptorProto{
			Name: proto.String(f.name), Number: proto.Int32(f.number), Type: f.typ.Enum(), Label: f.label.Enum(),
		}
		if f.of != "" {
			fd.TypeName = proto.String(f.of)
		}
		d.Field = append(d.Field, fd)
	}
	return d
}

const (
	int64Type   = descriptorpb.FieldDescriptorProto_TYPE_INT64
	int32Type   = descriptorpb.FieldDescriptorProto_TYPE_INT32
	bytesType   = descriptorpb.FieldDescriptorProto_TYPE_BYTES
	doubleType  = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE
	messageType = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	boolType    = descriptorpb.FieldDescriptorProto_TYPE_BOOL
	enumType    = descriptorpb.FieldDescriptorProto_TYPE_ENUM
	repeated    = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
)

// plainWriter is the writer's schema of the table plain.
func plainWriter() *descriptorpb.DescriptorProto {
	return descriptor(typed{name: "id", typ: int64Type}, typed{name: "name", typ: stringType})
}

// plainRow is a row of it.
func plainRow(id int64, name string) []byte {
	row := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(id))
	return protowire.AppendString(protowire.AppendTag(row, 2, protowire.BytesType), name)
}

// request is an append with everything in it; an offset of -1 is left out, as is a schema of nil.
func appendRequest(
	stream string, offset int64, writer *descriptorpb.DescriptorProto, rows ...[]byte,
) *storagepb.AppendRowsRequest {
	data := &storagepb.AppendRowsRequest_ProtoData{Rows: &storagepb.ProtoRows{SerializedRows: rows}}
	if writer != nil {
		data.WriterSchema = &storagepb.ProtoSchema{ProtoDescriptor: writer}
	}
	r := &storagepb.AppendRowsRequest{
		WriteStream: stream, Rows: &storagepb.AppendRowsRequest_ProtoRows{ProtoRows: data},
	}
	if offset >= 0 {
		r.Offset = wrapperspb.Int64(offset)
	}
	return r
}
