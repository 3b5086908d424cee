package bigquery

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"firn/internal/record"
)

// RefusedRow is a row that the table does not take.
type RefusedRow struct {
	// Row is the row as a JSON object by column, for a person to read: a value may look other than in the message that
	// the row was made of. It is the receiver's.
	Row   []byte
	Field string // dotted path of the column at fault; empty when it is not known or the whole row is
	// Reason is what is wrong.
	Reason string
}

// RowSink is where refused rows go: the dead letters. It is safe for concurrent use. A row may come twice, when what
// it was refused from is sent again.
type RowSink interface {
	// Write takes rows. They may still be in memory when it returns.
	Write(ctx context.Context, rows []RefusedRow) error
	// Flush returns nil when all that was written is durable.
	Flush(ctx context.Context) error
}

// refusals makes RefusedRows of the messages of one descriptor. It is safe for concurrent use.
type refusals struct {
	message protoreflect.MessageDescriptor
}

func newRefusals(d *descriptorpb.DescriptorProto) (refusals, error) {
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("rows.proto"), Syntax: proto.String("proto2"), MessageType: []*descriptorpb.DescriptorProto{d},
	}
	made, err := protodesc.NewFile(file, nil)
	if err != nil {
		return refusals{}, fmt.Errorf("reading the descriptor of rows: %w", err)
	}
	return refusals{made.Messages().Get(0)}, nil
}

// named takes the rows that the server names out of those of a request: indexes are in order and without repetition.
func (f refusals) named(rows []byte, faults []RowError) ([]RefusedRow, error) {
	var out []RefusedRow
	for i := 0; len(faults) > 0; i++ {
		if len(rows) == 0 {
			return nil, fmt.Errorf("the server refuses row %d of a request of %d", faults[0].Index, i)
		}
		row, _, rest, err := nextRow(rows)
		if err != nil {
			return nil, fmt.Errorf("reading row %d: %w", i, err)
		}
		rows = rest
		if faults[0].Index != i {
			continue
		}
		out = append(out, RefusedRow{Row: f.text(row), Reason: faults[0].Message})
		faults = faults[1:]
	}
	return out, nil
}

// text is a message as JSON; nil when it cannot be read, which is for the reason to say.
func (f refusals) text(row []byte) []byte {
	m := dynamicpb.NewMessage(f.message)
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(row, m); err != nil {
		return nil
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true, AllowPartial: true}.Marshal(m)
	if err != nil {
		return nil
	}
	return text
}

// ofBatch makes RefusedRows of those that an encoder refused.
func ofBatch(b *record.Batch, refused []Refused) ([]RefusedRow, error) {
	out := make([]RefusedRow, len(refused))
	for i, r := range refused {
		text, err := json.Marshal(members(b.Columns, r.Row))
		if err != nil {
			return nil, fmt.Errorf("writing a refused row: %w", err)
		}
		out[i] = RefusedRow{Row: text, Field: r.Field, Reason: r.Reason}
	}
	return out, nil
}

// members is the values of a row or struct by name.
func members(columns []record.Column, i int) map[string]any {
	out := make(map[string]any, len(columns))
	for c := range columns {
		out[columns[c].Field.Name] = value(&columns[c], i)
	}
	return out
}

// value is one value as JSON has it; numbers of times and decimals stay as the column holds them.
func value(c *record.Column, i int) any {
	if !c.Valid[i] {
		return nil
	}
	switch {
	case c.Bools != nil:
		return c.Bools[i]
	case c.Ints32 != nil:
		if c.Field.Type.Kind == record.KindDate {
			return time.Unix(int64(c.Ints32[i])*86400, 0).UTC().Format(time.DateOnly)
		}
		return c.Ints32[i]
	case c.Ints64 != nil:
		return c.Ints64[i]
	case c.Floats32 != nil: // as text: JSON has no NaN
		return fmt.Sprint(c.Floats32[i])
	case c.Floats64 != nil:
		return fmt.Sprint(c.Floats64[i])
	case c.Bytes != nil && c.Field.Type.Kind == record.KindString:
		return string(c.Bytes[i])
	case c.Bytes != nil:
		return c.Bytes[i] // base64
	case c.Fixed != nil:
		return hex.EncodeToString(c.FixedAt(i))
	case c.Offsets != nil:
		return elements(c, i)
	default:
		return members(c.Children, i)
	}
}

// elements is a list, or a map as a list of pairs.
func elements(c *record.Column, i int) []any {
	out := []any{}
	for j := int(c.Offsets[i]); j < int(c.Offsets[i+1]); j++ {
		if len(c.Children) == 1 {
			out = append(out, value(&c.Children[0], j))
			continue
		}
		out = append(out, []any{value(&c.Children[0], j), value(&c.Children[1], j)})
	}
	return out
}
