package bigquery

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"firn/internal/decode"
	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// referenceTable is for messages of an integer and 962 alphanumerics, together 1,002 bytes.
func referenceTable() *storagepb.TableSchema {
	return tableWith(columnOf("logStreamId", storagepb.TableFieldSchema_INT64),
		columnOf("message", storagepb.TableFieldSchema_STRING))
}

func referenceBlock(n int) *record.Block {
	const alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	r := rand.New(rand.NewPCG(1, 2))
	block := &record.Block{}
	text := make([]byte, 962)
	for range n {
		for j := range text {
			text[j] = alphanumerics[r.IntN(len(alphanumerics))]
		}
		v := fmt.Appendf(nil, `{"logStreamId": %d, "message": "%s"}`, 1_000_001+r.IntN(1_000_000), text)
		block.Records = append(block.Records, record.Record{Value: v})
		block.Bytes += len(v)
	}
	return block
}

// benchmarkRows measures from the bytes of messages, or from decoded columns, to the rows of requests.
func benchmarkRows(b *testing.B, table *storagepb.TableSchema, block *record.Block, decoding bool) {
	rows := recordSchemaOf(b, table)
	d, err := decode.NewJSON(rows, decode.DefaultJSONOptions())
	if err != nil {
		b.Fatal(err)
	}
	e, batch := encoderOf(b, rows, table), record.NewBatch(rows)
	d.Decode(block, batch)
	if batch.Rows != len(block.Records) {
		b.Fatalf("%d of %d records are rows: %+v", batch.Rows, len(block.Records), batch.Rejected)
	}
	buf := make([]byte, 0, RequestBytes+1<<16)
	b.SetBytes(int64(block.Bytes))
	b.ReportAllocs()
	for b.Loop() {
		if decoding {
			batch.Reset()
			d.Decode(block, batch)
		}
		for next := 0; next < batch.Rows; {
			var cut Cut
			buf, cut = e.Append(buf, batch, next, batch.Rows)
			if next = cut.Next; cut.Full {
				buf = buf[:0]
			}
		}
	}
}

// The messages are more than caches hold.
func BenchmarkReferenceFromJSON(b *testing.B) {
	benchmarkRows(b, referenceTable(), referenceBlock(64_000), true)
}

func BenchmarkReferenceFromColumns(b *testing.B) {
	benchmarkRows(b, referenceTable(), referenceBlock(64_000), false)
}

// wideMessage has a value of each of twenty columns, in about 500 bytes.
const wideMessage = `{"id":%d,"user_id":901234,"session":"0123456789abcdef","event":"page_view","ok":true,` +
	`"score":0.1234,` +
	`"lat":12.345678,"lon":-98.765432,"ts":"2026-11-29T12:00:00.123Z","recv":"2026-11-29T12:00:00.123456Z",` +
	`"price":1234.56,"qty":7,"country":"DE","device":{"os":"linux","ver":"1.2.3","w":1920,"retina":false},` +
	`"referrer":"https://example.com/p/77?q=123456","ip":"10.20.30.40",` +
	`"ua":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120.0.0.0","is_new":false,` +
	`"tags":["a","b"],"bytes":512}`

func BenchmarkWideFromJSON(b *testing.B) {
	text, number := storagepb.TableFieldSchema_STRING, storagepb.TableFieldSchema_INT64
	table := tableWith(columnOf("id", number), columnOf("user_id", number), columnOf("session", text),
		columnOf("event", text), columnOf("ok", storagepb.TableFieldSchema_BOOL),
		columnOf("score", storagepb.TableFieldSchema_DOUBLE), columnOf("lat", storagepb.TableFieldSchema_DOUBLE),
		columnOf("lon", storagepb.TableFieldSchema_DOUBLE), columnOf("ts", storagepb.TableFieldSchema_TIMESTAMP),
		columnOf("recv", storagepb.TableFieldSchema_TIMESTAMP), columnOf("price", storagepb.TableFieldSchema_NUMERIC),
		columnOf("qty", number), columnOf("country", text), structColumn("device", columnOf("os", text),
			columnOf("ver", text), columnOf("w", number), columnOf("retina", storagepb.TableFieldSchema_BOOL)),
		columnOf("referrer", text), columnOf("ip", text), columnOf("ua", text),
		columnOf("is_new", storagepb.TableFieldSchema_BOOL), repeated(columnOf("tags", text)), columnOf("bytes", number))
	block := &record.Block{}
	for i := range 1000 {
		v := fmt.Appendf(nil, wideMessage, i)
		block.Records = append(block.Records, record.Record{Value: v})
		block.Bytes += len(v)
	}
	benchmarkRows(b, table, block, true)
}

// BenchmarkAppends measures the way of encoded rows through gRPC to a server that looks at nothing, both ends together.
func BenchmarkAppends(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	g := grpc.NewServer(grpc.ForceServerCodecV2(blindCodec{}), grpc.MaxRecvMsgSize(RequestBytesMax),
		grpc.UnknownServiceHandler(answerAll))
	done := make(chan error, 1)
	go func() { done <- g.Serve(listener) }()
	o := DefaultOptions()
	o.Endpoint, o.Insecure = listener.Addr().String(), true
	c, err := Dial(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	connection, err := c.Connect(b.Context(), testTable.DefaultStream(), nil, ConnectionOptions{})
	if err != nil {
		b.Fatal(err)
	}
	rows := appendField(nil, rowsTag, make([]byte, RequestBytes))
	b.SetBytes(int64(len(rows)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := connection.Append(b.Context(), Request{Rows: rows, Offset: NoOffset}); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(connection.Close(b.Context()), c.Close()); err != nil {
		b.Error(err)
	}
	g.Stop()
	if err := <-done; err != nil {
		b.Error(err)
	}
}

// blindCodec forgets requests, and sends answers that are bytes.
type blindCodec struct{}

func (blindCodec) Name() string                         { return "proto" }
func (blindCodec) Unmarshal(mem.BufferSlice, any) error { return nil }

func (blindCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func answerAll(_ any, stream grpc.ServerStream) error {
	// An append_result without an offset.
	answer := []byte{1<<3 | wireBytes, 0}
	for {
		if err := stream.RecvMsg(nil); err != nil {
			return nil
		}
		if err := stream.SendMsg(answer); err != nil {
			return err
		}
	}
}

// Steady work allocates nothing.
func TestEncodingAllocatesNothing(t *testing.T) {
	table := referenceTable()
	rows := recordSchemaOf(t, table)
	d, err := decode.NewJSON(rows, decode.DefaultJSONOptions())
	if err != nil {
		t.Fatal(err)
	}
	e, batch := encoderOf(t, rows, table), record.NewBatch(rows)
	d.Decode(referenceBlock(100), batch)
	buf := make([]byte, 0, RequestBytes)
	if n := testing.AllocsPerRun(10, func() { buf, _ = e.Append(buf[:0], batch, 0, batch.Rows) }); n != 0 {
		t.Errorf("%v allocations for 100 rows", n)
	}
}
