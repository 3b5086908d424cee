package bigquery

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// incoming is an append as it came over the wire. free must be called.
type incoming struct{ buffer mem.Buffer }

func (i *incoming) bytes() []byte { return i.buffer.ReadOnlyData() }

func (i *incoming) free() {
	i.buffer.Free()
	i.buffer = nil
}

// codec leaves appends as they are, and takes other messages apart as usual.
type codec struct{}

// Name is the usual codec's: what goes over the wire is the same.
func (codec) Name() string { return "proto" }

// Marshal writes an answer.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("answering with a %T, which is no message", v)
	}
	data, err := proto.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("writing a %T: %w", v, err)
	}
	return mem.BufferSlice{mem.SliceBuffer(data)}, nil
}

// Unmarshal reads a request.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	if i, ok := v.(*incoming); ok {
		i.buffer = whole
		return nil
	}
	defer whole.Free()
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("receiving a %T, which is no message", v)
	}
	return proto.Unmarshal(whole.ReadOnlyData(), m)
}
