package bigquery

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// Shape of the load: the client of the benchmark is a process of its own, so that its cost is not the server's.
const (
	loadRows     = 1000
	loadWindow   = 8 // requests on their way in a stream
	loadEndpoint = "BIGQUERY_LOAD_ENDPOINT"
	loadRequests = "BIGQUERY_LOAD_REQUESTS"
	loadCA       = "BIGQUERY_LOAD_CA"
)

// loadRequest is about 1 MB of rows of two columns.
func loadRequest(stream string, schema bool) []byte {
	var rows [][]byte
	for i := range int64(loadRows) {
		rows = append(rows, plainRow(i, strings.Repeat("the quick brown fox jumps", 40)))
	}
	r := appendRequest(stream, -1, nil, rows...)
	if schema {
		r = appendRequest(stream, -1, plainWriter(), rows...)
	}
	data, err := proto.Marshal(r)
	if err != nil {
		panic(err) // a message of constants
	}
	return data
}

// passing sends bytes as they are.
type passing struct{ codec }

func (passing) Marshal(v any) (mem.BufferSlice, error) {
	data, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("sending a %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(data)}, nil
}

// TestLoad is the client, when the benchmark starts it.
func TestLoad(t *testing.T) {
	endpoint := os.Getenv(loadEndpoint)
	if endpoint == "" {
		t.Skip("BenchmarkAppend starts this")
	}
	requests, err := strconv.Atoi(os.Getenv(loadRequests))
	if err != nil {
		t.Fatal(err)
	}
	secure := insecure.NewCredentials()
	if roots := x509.NewCertPool(); roots.AppendCertsFromPEM([]byte(os.Getenv(loadCA))) {
		secure = credentials.NewClientTLSFromCert(roots, "")
	}
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(secure), grpc.WithWriteBufferSize(1<<17))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	desc := &storagepb.BigQueryWrite_ServiceDesc.Streams[0]
	rpc, err := conn.NewStream(t.Context(), desc, storagepb.BigQueryWrite_AppendRows_FullMethodName,
		grpc.ForceCodecV2(passing{}))
	if err != nil {
		t.Fatal(err)
	}
	first, later := loadRequest(tableT+"/streams/_default", true), loadRequest("", false)
	answer := func() {
		var r storagepb.AppendRowsResponse
		if err := rpc.RecvMsg(&r); err != nil || r.GetError() != nil {
			t.Fatal(err, r.GetError())
		}
	}
	for i := range requests {
		data := later
		if i == 0 {
			data = first
		}
		if err := rpc.SendMsg(data); err != nil {
			t.Fatal(err)
		}
		if i >= loadWindow {
			answer()
		}
	}
	for range min(requests, loadWindow) {
		answer()
	}
}

func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkAppend is the server's cost of requests of 1 MB that it checks, counts and forgets.
func BenchmarkAppend(b *testing.B) {
	b.Run("plain", func(b *testing.B) { benchmarkAppend(b, Options{Insecure: true, Keep: KeepNone}) })
	b.Run("tls", func(b *testing.B) { benchmarkAppend(b, Options{Keep: KeepNone}) })
}

func benchmarkAppend(b *testing.B, o Options) {
	s, err := Start(o)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	s.mu.Lock()
	s.tables[tableT] = &table{name: tableT, columns: plainColumns(), version: 1}
	s.mu.Unlock()
	b.SetBytes(int64(len(loadRequest("", false))))
	before := cpu(b)
	b.ResetTimer()
	client := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestLoad$")
	client.Env = append(os.Environ(), loadEndpoint+"="+s.Endpoint(), loadRequests+"="+strconv.Itoa(b.N),
		loadCA+"="+string(s.CA()))
	if out, err := client.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, bytes.TrimSpace(out))
	}
	b.StopTimer()
	used := cpu(b) - before
	count := s.Count(tableT)
	if count.Rows != int64(b.N)*loadRows {
		b.Fatalf("%d rows were stored, want %d", count.Rows, b.N*loadRows)
	}
	b.ReportMetric(used.Seconds()/float64(count.Bytes)*1e9, "CPU-s/GB")
}

// plainColumns is the columns of the table plain.
func plainColumns() []*column {
	return []*column{
		{name: "id", kind: storagepb.TableFieldSchema_INT64, mode: storagepb.TableFieldSchema_REQUIRED},
		{name: "name", kind: storagepb.TableFieldSchema_STRING, mode: storagepb.TableFieldSchema_NULLABLE},
	}
}

// BenchmarkCheck is the part of it that looks at the bytes.
func BenchmarkCheck(b *testing.B) {
	c := &connection{server: &Server{options: Options{}.withDefaults()}}
	if err := c.request.parse(loadRequest(tableT+"/streams/_default", true)); err != nil {
		b.Fatal(err)
	}
	columns := plainColumns()
	m, wrong := bind(c.request.schema, columns)
	if wrong != nil {
		b.Fatal(wrong.text)
	}
	c.bound = m
	c.stream = &stream{table: &table{}, preset: true}
	c.server.options.Keep = KeepNone
	data := loadRequest("", false)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := c.request.parse(data); err != nil {
			b.Fatal(err)
		}
		if bad := c.checkRows(); len(bad) > 0 {
			b.Fatal(bad)
		}
		c.store(-1, columns)
	}
}
