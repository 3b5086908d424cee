package bigquery

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// seen tells whether the write API finds a table.
func (s *Server) seen(t *table) *status.Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hidden > 0 {
		t.hidden--
		return tableNotFound(t.name)
	}
	if t.deleted {
		return tableNotFound(t.name)
	}
	return nil
}

const presetID = "_default"

// stream finds a stream by its name. A table's default stream is there as soon as the table is.
func (s *Server) stream(name string) (*stream, *status.Status) {
	tableName, id, ok := strings.Cut(name, "/streams/")
	if parts := strings.Split(tableName, "/"); !ok || id == "" || len(parts) != 6 || parts[0] != "projects" ||
		parts[2] != "datasets" || parts[4] != "tables" {
		return nil, invalid(name, "Invalid stream name: it must be"+
			" projects/{project}/datasets/{dataset}/tables/{table}/streams/{stream}.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[tableName]
	if t == nil {
		return nil, tableNotFound(tableName)
	}
	found := s.streams[name]
	if found == nil && id == presetID {
		found = &stream{name: name, table: t, kind: storagepb.WriteStream_COMMITTED, created: t.made, preset: true}
		s.streams[name] = found
	}
	if found == nil {
		return nil, streamNotFound(name)
	}
	return found, nil
}

// live finds a stream that is not expired, of a table that is seen, and locks it.
func (s *Server) live(name string) (*stream, *status.Status) {
	found, wrong := s.stream(name)
	if wrong == nil {
		wrong = s.seen(found.table)
	}
	if wrong != nil {
		return nil, wrong
	}
	found.mu.Lock()
	if found.expired {
		found.mu.Unlock()
		return nil, streamNotFound(name)
	}
	return found, nil
}

func (s *Server) expire(name string) bool {
	found, wrong := s.stream(name)
	if wrong != nil {
		return false
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	found.expired = true
	return true
}

// CreateWriteStream makes a stream.
func (s *Server) CreateWriteStream(
	_ context.Context, r *storagepb.CreateWriteStreamRequest,
) (*storagepb.WriteStream, error) {
	kind := r.GetWriteStream().GetType()
	switch kind {
	case storagepb.WriteStream_COMMITTED, storagepb.WriteStream_PENDING, storagepb.WriteStream_BUFFERED:
	default:
		return nil, invalid(r.GetParent(), "Invalid request: write_stream.type must be specified.").Err()
	}
	t := s.lookUp(r.GetParent())
	if t == nil {
		return nil, tableNotFound(r.GetParent()).Err()
	}
	if wrong := s.seen(t); wrong != nil {
		return nil, wrong.Err()
	}
	now := time.Now().UTC()
	if err := s.faults.create(now); err != nil {
		return nil, err
	}
	made := &stream{name: t.name + "/streams/Ci" + rand.Text(), table: t, kind: kind, created: now}
	s.mu.Lock()
	s.streams[made.name] = made
	s.mu.Unlock()
	made.mu.Lock()
	defer made.mu.Unlock()
	return s.describe(made, true), nil
}

// describe is a stream as the API shows it. The caller holds it.
func (s *Server) describe(found *stream, full bool) *storagepb.WriteStream {
	d := &storagepb.WriteStream{
		Name: found.name, Type: found.kind, CreateTime: timestamppb.New(found.created),
		WriteMode: storagepb.WriteStream_INSERT, Location: s.location(found.table),
	}
	if !found.committed.IsZero() {
		d.CommitTime = timestamppb.New(found.committed)
	}
	if full {
		columns, _, _ := found.table.schema()
		d.TableSchema = tableSchema(columns)
	}
	return d
}

// GetWriteStream describes a stream.
func (s *Server) GetWriteStream(
	_ context.Context, r *storagepb.GetWriteStreamRequest,
) (*storagepb.WriteStream, error) {
	found, wrong := s.live(r.GetName())
	if wrong != nil {
		return nil, wrong.Err()
	}
	defer found.mu.Unlock()
	return s.describe(found, r.GetView() == storagepb.WriteStreamView_FULL), nil
}

// FinalizeWriteStream ends a stream: an append that is looked at is stored before, all others never are.
func (s *Server) FinalizeWriteStream(
	_ context.Context, r *storagepb.FinalizeWriteStreamRequest,
) (*storagepb.FinalizeWriteStreamResponse, error) {
	found, wrong := s.live(r.GetName())
	if wrong != nil {
		return nil, wrong.Err()
	}
	defer found.mu.Unlock()
	if found.preset {
		return nil, failure(codes.InvalidArgument, storagepb.StorageError_INVALID_STREAM_TYPE, found.name,
			"The _default stream cannot be finalized.").Err()
	}
	found.finalized = true
	return &storagepb.FinalizeWriteStreamResponse{RowCount: found.end}, nil
}

// FlushRows shows the rows of a BUFFERED stream up to an offset, the one at it included.
func (s *Server) FlushRows(
	_ context.Context, r *storagepb.FlushRowsRequest,
) (*storagepb.FlushRowsResponse, error) {
	found, wrong := s.live(r.GetWriteStream())
	if wrong != nil {
		return nil, wrong.Err()
	}
	defer found.mu.Unlock()
	at := r.GetOffset().GetValue()
	switch {
	case found.kind != storagepb.WriteStream_BUFFERED:
		return nil, failure(codes.InvalidArgument, storagepb.StorageError_INVALID_STREAM_TYPE, found.name,
			"FlushRows is only for BUFFERED streams, the stream is %s.", found.kind).Err()
	case r.GetOffset() == nil || at < 0:
		return nil, invalid(found.name, "Invalid request: offset must be specified, and not be negative.").Err()
	case at >= found.end:
		return nil, failure(codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE, found.name,
			"The offset is beyond stream, the stream has %d rows, received %d.", found.end, at).Err()
	case at < found.flushed:
		return nil, failure(codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS, found.name,
			"The rows are flushed before, flushed rows %d, received %d.", found.flushed, at).Err()
	}
	if s.options.Keep == KeepRows {
		count := at + 1 - found.flushed
		found.table.show(found.rows[:count])
		found.rows = found.rows[count:]
	}
	found.flushed = at + 1
	return &storagepb.FlushRowsResponse{Offset: at}, nil
}

// BatchCommitWriteStreams shows the rows of PENDING streams, of all or of none.
func (s *Server) BatchCommitWriteStreams(
	_ context.Context, r *storagepb.BatchCommitWriteStreamsRequest,
) (*storagepb.BatchCommitWriteStreamsResponse, error) {
	t := s.lookUp(r.GetParent())
	if t == nil {
		return nil, tableNotFound(r.GetParent()).Err()
	}
	if len(r.GetWriteStreams()) == 0 {
		return nil, invalid(t.name, "Invalid request: write_streams must be specified.").Err()
	}
	s.commits.Lock()
	defer s.commits.Unlock()
	answer := &storagepb.BatchCommitWriteStreamsResponse{}
	var all []*stream
	defer func() {
		for _, one := range all {
			one.mu.Unlock()
		}
	}()
	named := make(map[string]bool)
	for _, name := range r.GetWriteStreams() {
		if named[name] || !strings.HasPrefix(name, t.name+"/streams/") {
			return nil, invalid(name, "Invalid request: it is named twice, or is not of the parent table.").Err()
		}
		named[name] = true
		one, wrong := s.live(name)
		if wrong != nil {
			answer.StreamErrors = append(answer.StreamErrors, &storagepb.StorageError{
				Code: storagepb.StorageError_STREAM_NOT_FOUND, Entity: name, ErrorMessage: wrong.Message(),
			})
			continue
		}
		all = append(all, one)
		if e := one.uncommittable(); e != nil {
			answer.StreamErrors = append(answer.StreamErrors, e)
		}
	}
	if len(answer.StreamErrors) == 0 {
		answer.CommitTime = commit(t, all)
	}
	return answer, nil
}

// uncommittable tells why a stream cannot be committed. The caller holds it.
func (s *stream) uncommittable() *storagepb.StorageError {
	wrong := func(code storagepb.StorageError_StorageErrorCode, text string) *storagepb.StorageError {
		return &storagepb.StorageError{Code: code, Entity: s.name, ErrorMessage: text}
	}
	switch {
	case s.kind != storagepb.WriteStream_PENDING:
		return wrong(storagepb.StorageError_INVALID_STREAM_TYPE, "Only PENDING streams can be committed.")
	case !s.committed.IsZero():
		return wrong(storagepb.StorageError_STREAM_ALREADY_COMMITTED, "The stream is already committed.")
	case !s.finalized:
		return wrong(storagepb.StorageError_INVALID_STREAM_STATE, "The stream is not finalized.")
	}
	return nil
}

// commit shows the rows of streams at once. The caller holds them.
func commit(t *table, all []*stream) *timestamppb.Timestamp {
	now := time.Now().UTC().Truncate(time.Microsecond)
	var rows []stored
	for _, one := range all {
		rows = append(rows, one.rows...)
		one.rows, one.committed = nil, now
	}
	t.show(rows)
	return timestamppb.New(now)
}
