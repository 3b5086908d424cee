package bigquery

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// Fields of AppendRowsRequest and of its parts, as tags.
const (
	tagWriteStream  = 1<<3 | wireBytes  // AppendRowsRequest.write_stream
	tagOffset       = 2<<3 | wireBytes  // .offset, an Int64Value
	tagProtoRows    = 4<<3 | wireBytes  // .proto_rows, a ProtoData
	tagTraceID      = 6<<3 | wireBytes  // .trace_id
	tagMissing      = 8<<3 | wireVarint // .default_missing_value_interpretation
	tagInt64Value   = 1<<3 | wireVarint
	tagWriterSchema = 1<<3 | wireBytes // ProtoData.writer_schema, a ProtoSchema
	tagRows         = 2<<3 | wireBytes // ProtoData.rows, a ProtoRows
)

// header is what comes before the rows in an AppendRowsRequest; schema, trace and missing are for the first one of a
// gRPC stream, where schema is a ProtoSchema.
type header struct {
	stream  string
	schema  []byte
	trace   string
	missing storagepb.AppendRowsRequest_MissingValueInterpretation
}

// append appends the request up to its rows, which take rowsBytes. The default stream takes no offset.
func (h *header) append(buf []byte, offset int64, rowsBytes int) []byte {
	buf = appendField(buf, tagWriteStream, h.stream)
	if offset != NoOffset {
		value := appendVarint([]byte{tagInt64Value}, uint64(offset))
		if offset == 0 {
			value = nil // as proto3 leaves zeros out
		}
		buf = appendField(buf, tagOffset, value)
	}
	if h.trace != "" {
		buf = appendField(buf, tagTraceID, h.trace)
	}
	if h.missing != 0 {
		buf = append(buf, tagMissing, byte(h.missing))
	}
	rest := 1 + varintBytes(uint64(rowsBytes)) + rowsBytes
	if h.schema != nil {
		rest += 1 + varintBytes(uint64(len(h.schema))) + len(h.schema)
	}
	buf = append(buf, tagProtoRows)
	buf = appendVarint(buf, uint64(rest))
	if h.schema != nil {
		buf = appendField(buf, tagWriterSchema, h.schema)
	}
	buf = append(buf, tagRows)
	return appendVarint(buf, uint64(rowsBytes))
}

func appendField[T string | []byte](buf []byte, tag byte, value T) []byte {
	buf = append(buf, tag)
	buf = binary.AppendUvarint(buf, uint64(len(value)))
	return append(buf, value...)
}

// outgoing is a request for codec: a header and the rows, which are not copied.
type outgoing struct {
	header []byte
	rows   mem.Buffer
}

// codec passes requests through as they are.
type codec struct{}

// Name is the name of the usual codec: what goes over the wire is the same.
func (codec) Name() string { return "proto" }

// Marshal gives gRPC a reference of its own to the rows.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	o, ok := v.(*outgoing)
	if !ok {
		return nil, fmt.Errorf("sending a %T, which is no append", v)
	}
	o.rows.Ref()
	return mem.BufferSlice{mem.SliceBuffer(o.header), o.rows}, nil
}

// Unmarshal reads an answer.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("receiving a %T, which is no message", v)
	}
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	return proto.Unmarshal(whole.ReadOnlyData(), m)
}

// freer calls a function when neither the connection nor gRPC refers to a request's rows any more.
type freer struct{ free func() }

// Get is not called: rows are not gRPC's to allocate.
func (f freer) Get(n int) *[]byte { b := make([]byte, n); return &b }

// Put is called once.
func (f freer) Put(*[]byte) { f.free() }

// rowsBuffer wraps rows. gRPC does not count who refers to a small buffer, so that small ones are copied.
func rowsBuffer(rows []byte, free func()) mem.Buffer {
	switch {
	case free == nil:
		return mem.SliceBuffer(rows)
	case mem.IsBelowBufferPoolingThreshold(cap(rows)):
		small := mem.SliceBuffer(bytes.Clone(rows))
		free()
		return small
	default:
		return mem.NewBuffer(&rows, freer{free})
	}
}
