package bigquery

import (
	"bytes"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// append does the request at hand. The response may hold an error; an error that is returned ends the gRPC stream.
func (c *connection) append() (*storagepb.AppendRowsResponse, error) {
	if s := c.route(); s != nil {
		return nil, s.Err()
	}
	r := &c.request
	table := c.stream.table
	columns, keys, version := table.schema()
	if c.bound == nil || c.version != version {
		if refused, ended := c.bind(columns, keys, version); refused != nil || ended != nil {
			return refused, ended
		}
	}
	if s := c.checkRequest(); s != nil {
		return nil, s.Err()
	}
	c.stream.mu.Lock()
	defer c.stream.mu.Unlock()
	if err := c.own(); err != nil {
		return nil, err
	}
	at, s := c.stream.place(r)
	if s != nil {
		return refusal(s), nil
	}
	if bad := c.checkRows(); len(bad) > 0 {
		refused := refusal(invalid(c.stream.name, "Errors found while processing rows. Please refer to the row_errors"+
			" field for details. The list may not be complete because of the size limitations."))
		refused.RowErrors = bad
		return refused, nil
	}
	c.store(at, columns)
	return c.success(at, columns, version), nil
}

// checkRequest is for what holds for any rows.
func (c *connection) checkRequest() *status.Status {
	r := &c.request
	switch {
	case len(r.rows) == 0:
		return invalid(c.stream.name, "Invalid request: rows must be specified, and be one at least.")
	case c.stream.preset && r.hasOffset:
		return invalid(c.stream.name, "Invalid request: offset must not be specified on a _default stream.")
	case r.hasOffset && r.offset < 0:
		return invalid(c.stream.name, "Invalid request: offset %d is negative.", r.offset)
	}
	return nil
}

// own makes the connection the stream's only one. The caller holds the stream.
func (c *connection) own() error {
	s := c.stream
	if s.expired {
		return streamNotFound(s.name).Err()
	}
	if s.preset || s.owner == c {
		return nil
	}
	if s.owner != nil {
		if c.server.faults.keepsFirst() {
			return errTaken
		}
		s.owner.finish(errTaken)
	}
	s.owner = c
	return nil
}

// place is where the rows of a request go. The caller holds the stream.
func (s *stream) place(r *request) (at int64, wrong *status.Status) {
	switch {
	case s.finalized:
		return 0, streamFinalized(s.name)
	case s.preset:
		return -1, nil
	case !r.hasOffset || r.offset == s.end:
		return s.end, nil
	case r.offset < s.end:
		return 0, failure(codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS, s.name,
			"The offset is within stream, expected offset %d, received %d.", s.end, r.offset)
	default:
		return 0, failure(codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE, s.name,
			"The offset is beyond stream, expected offset %d, received %d.", s.end, r.offset)
	}
}

// checkRows walks all rows, and names the bad ones.
func (c *connection) checkRows() (bad []*storagepb.RowError) {
	c.walker.fill = c.fills
	for i, row := range c.request.rows {
		reason := ""
		if len(row) > c.server.options.RowBytesMax {
			reason = "Row size is too large, the limit is 10 MB"
		} else if !c.walker.row(c.bound, row) {
			reason = c.walker.reason
		}
		if reason != "" {
			bad = append(bad, &storagepb.RowError{
				Index: int64(i), Code: storagepb.RowError_FIELDS_ERROR, Message: reason,
			})
		}
	}
	return bad
}

// fills tells whether a field that is missing in a row takes its column's default value.
func (c *connection) fills(f *field) bool {
	if f.col.expression == "" {
		return false
	}
	how, ok := c.request.missing[f.name]
	if !ok {
		how = c.otherwise
	}
	return how == storagepb.AppendRowsRequest_DEFAULT_VALUE
}

// store keeps or counts the rows. The caller holds the stream.
func (c *connection) store(at int64, columns []*column) {
	s, rows := c.stream, c.request.rows
	count := Count{Rows: int64(len(rows))}
	for _, row := range rows {
		count.Bytes += int64(len(row))
		count.Sum += Checksum(row)
	}
	if !s.preset {
		s.end += int64(len(rows))
	}
	var kept []stored
	entry := Append{Stream: s.name, Offset: at, TraceID: c.trace}
	if c.server.options.Keep == KeepRows {
		d := decoder{columns: columns, fill: c.fills, now: time.Now().UTC().Truncate(time.Microsecond)}
		for _, row := range rows {
			one := d.row(c.bound, row)
			kept = append(kept, one)
			entry.Rows = append(entry.Rows, one.row)
		}
	}
	visible := s.kind == storagepb.WriteStream_COMMITTED
	if !visible {
		s.rows = append(s.rows, kept...)
	}
	s.table.store(entry, kept, visible, count)
}

// success is the answer to rows that are stored.
func (c *connection) success(at int64, columns []*column, version int64) *storagepb.AppendRowsResponse {
	result := &storagepb.AppendRowsResponse_AppendResult{}
	if at >= 0 {
		result.Offset = wrapperspb.Int64(at)
	}
	response := &storagepb.AppendRowsResponse{
		Response: &storagepb.AppendRowsResponse_AppendResult_{AppendResult: result},
	}
	if version != c.told {
		c.told = version
		response.UpdatedSchema = tableSchema(columns)
	}
	return response
}

// route finds the stream of the request at hand, and takes over what is sticky.
func (c *connection) route() *status.Status {
	r := &c.request
	if r.arrow {
		return invalid(r.stream, "arrow_rows are not supported by this server.")
	}
	if s := c.switchStream(); s != nil {
		return s
	}
	if s := c.server.seen(c.stream.table); s != nil {
		return s
	}
	if r.hasSchema && !bytes.Equal(r.schema, c.schema) {
		if c.schema != nil && !c.stream.preset {
			return invalid(c.stream.name, "Invalid request: writer_schema may only change on a _default stream.")
		}
		c.schema, c.bound = bytes.Clone(r.schema), nil
	}
	if c.schema == nil {
		return invalid(c.stream.name, "Invalid request: writer_schema must be specified in the first request.")
	}
	if c.trace == "" {
		c.trace = r.trace
	}
	if r.otherwise != storagepb.AppendRowsRequest_MISSING_VALUE_INTERPRETATION_UNSPECIFIED {
		c.otherwise = r.otherwise
	}
	return nil
}

// switchStream finds the stream where it is another one than before. Only between default streams may it be, and the
// writer's schema must come again.
func (c *connection) switchStream() *status.Status {
	r := &c.request
	switch {
	case r.stream == "" && c.stream == nil:
		return invalid("", "Invalid request: write_stream must be specified in the first request.")
	case r.stream == "" && c.switched:
		return invalid(c.stream.name, "Invalid request: write_stream must be specified in each request of a connection that"+
			" writes to several streams.")
	case r.stream == "" || c.stream != nil && r.stream == c.stream.name:
		return nil
	}
	s, wrong := c.server.stream(r.stream)
	if wrong != nil {
		return wrong
	}
	if c.stream != nil {
		if !c.stream.preset || !s.preset {
			return invalid(r.stream, "Invalid request: a connection may only switch between _default streams, not from %s.",
				c.stream.name)
		}
		if !r.hasSchema {
			return invalid(r.stream, "Invalid request: writer_schema must be specified when write_stream changes.")
		}
		c.switched = true
	}
	c.stream, c.bound = s, nil
	_, _, c.told = s.table.schema()
	return nil
}

// bind binds the writer's schema to the table's. A schema that has more than the table is refused and may fit later;
// one that can never fit ends the gRPC stream.
func (c *connection) bind(
	columns []*column, keys []string, version int64,
) (refused *storagepb.AppendRowsResponse, ended error) {
	m, wrong := bind(c.schema, columns)
	switch {
	case wrong != nil && wrong.extra:
		return refusal(failure(codes.InvalidArgument, storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS, c.stream.name,
			"%s", wrong.text)), nil
	case wrong != nil:
		return nil, invalid(c.stream.name, "%s", wrong.text).Err()
	case m.change && !c.stream.preset:
		return nil, invalid(c.stream.name, "%s is only supported on the _default stream.", changeTypeName).Err()
	case m.change && len(keys) == 0:
		return nil, invalid(c.stream.name, "%s needs a table with a primary key.", changeTypeName).Err()
	case m.sequence && !m.change:
		return nil, invalid(c.stream.name, "%s needs %s.", changeSequenceName, changeTypeName).Err()
	}
	for _, column := range columns {
		if column.expression == "" {
			continue
		}
		if _, err := evaluate(column, time.Now()); err != nil {
			return nil, failure(codes.Unimplemented, 0, c.stream.name, "%v.", err).Err()
		}
	}
	c.bound, c.version = m, version
	return nil, nil
}
