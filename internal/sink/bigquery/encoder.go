package bigquery

import (
	"fmt"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Sizes of requests. Larger requests than 1 MB made no difference in speed, and the server takes 10 MB with the
// writer's schema, which comes beside the rows in a connection's first request.
const (
	RequestBytes    = 1 << 20
	RequestBytesMax = 9 << 20
)

// Limits bounds the rows of a request.
type Limits struct {
	// Bytes is where a request is full. It has one row at least, and passes Bytes by the last one.
	Bytes int
	// BytesMax is what no request passes. A row that does by itself is refused.
	BytesMax int
}

// DefaultLimits is RequestBytes and RequestBytesMax.
func DefaultLimits() Limits { return Limits{Bytes: RequestBytes, BytesMax: RequestBytesMax} }

// Encoder makes the rows of AppendRowsRequests from batches of one schema. It is compiled once and then allocates
// nothing but for rows that it refuses. One goroutine uses it.
type Encoder struct {
	columns     []column
	limits      Limits
	lengthBytes int // of the last row's length: the guess for the next one
	refused     []Refused

	// Of the row at hand: why it is refused, and by which column.
	reason string
	fault  *column
}

// Refused is a row that no request can hold.
type Refused struct {
	Row   int    // in the batch
	Field string // dotted path of the column at fault; empty when the whole row is
	// Reason is what is wrong, without the data itself.
	Reason string
}

// Cut is what Append made.
type Cut struct {
	// Next is the first row that was not looked at.
	Next int
	// Rows is how many were appended.
	Rows int
	// Refused are those that were not, in order. It is good until the next Append.
	Refused []Refused
	// Full says that the request takes no further row, or has reached Limits.Bytes.
	Full bool
}

// NewEncoder compiles an encoder of rows for a table. The rows have the table's columns by name, in any case if need
// be, or some of them: a column that rows do not have is null, or its default value if the connection says so. The
// rows' schema is RecordSchema of the table, or one that fills the table's columns exactly: see TableSchema. It may
// have the columns of WithChanges beside those of the table. The error names every field and column that does not fit.
func NewEncoder(rows *record.Schema, table *storagepb.TableSchema, l Limits) (*Encoder, error) {
	if l.Bytes < 1 || l.BytesMax < l.Bytes {
		return nil, fmt.Errorf("requests of %d bytes, at most %d: the first must be at least 1 and the second no less",
			l.Bytes, l.BytesMax)
	}
	columns, err := compile(rows, table)
	if err != nil {
		return nil, err
	}
	return &Encoder{columns: columns, limits: l, lengthBytes: 2}, nil
}

// Descriptor is the message that the rows are, for the writer's schema of a connection. It is the caller's.
func (e *Encoder) Descriptor() *descriptorpb.DescriptorProto { return descriptor(e.columns) }

// Append appends rows [from, to) of the batch to buf, a request's rows so far, until it is full: then Cut.Full is set,
// and Cut.Next may be less than to. What it appends is the content of a ProtoRows message, a serialized_rows field a
// row. The rows copy the batch's bytes. The batch must be of the encoder's schema.
func (e *Encoder) Append(buf []byte, b *record.Batch, from, to int) ([]byte, Cut) {
	bind(e.columns, b.Columns)
	e.refused = e.refused[:0]
	c := Cut{Next: from}
	for ; c.Next < to && len(buf) < e.limits.Bytes; c.Next++ {
		at := len(buf)
		buf = e.row(buf, c.Next)
		switch size := len(buf) - at; {
		case e.reason != "":
			e.refuse(c.Next)
			buf = buf[:at]
		case len(buf) <= e.limits.BytesMax:
			c.Rows++
		case size > e.limits.BytesMax:
			e.reason = fmt.Sprintf("the row takes %d bytes, and a request holds %d", size, e.limits.BytesMax)
			e.refuse(c.Next)
			buf = buf[:at]
		default:
			c.Full, c.Refused = true, e.refused
			return buf[:at], c
		}
	}
	c.Full, c.Refused = len(buf) >= e.limits.Bytes, e.refused
	return buf, c
}

// refuse notes that a row is refused for the reason at hand.
func (e *Encoder) refuse(row int) {
	r := Refused{Row: row, Reason: e.reason}
	if e.fault != nil {
		r.Field = e.fault.path
	}
	e.refused = append(e.refused, r)
	e.reason, e.fault = "", nil
}

// bad notes why the row at hand is refused; the first reason counts.
func (e *Encoder) bad(c *column, reason string) {
	if e.reason == "" {
		e.reason, e.fault = reason, c
	}
}

// row appends one row as a serialized_rows field.
func (e *Encoder) row(buf []byte, row int) []byte {
	buf = append(buf, rowsTag)
	at := len(buf)
	buf = e.members(reserve(buf, e.lengthBytes), e.columns, row)
	buf, e.lengthBytes = setLength(buf, at, e.lengthBytes)
	return buf
}

// rowsTag is ProtoRows.serialized_rows: field 1, length-delimited.
const rowsTag = 1<<3 | wireBytes
