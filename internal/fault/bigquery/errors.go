package bigquery

import (
	"fmt"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

// failure is an error as the Storage Write API gives it: the entity is the table or stream, in the text and, where
// there is a code of its own, in a StorageError among the details.
func failure(
	code codes.Code, storage storagepb.StorageError_StorageErrorCode, entity, format string, args ...any,
) *status.Status {
	text := fmt.Sprintf(format, args...)
	s := status.New(code, text+" Entity: "+entity)
	if storage == 0 {
		return s
	}
	return detailed(s, &storagepb.StorageError{Code: storage, Entity: entity, ErrorMessage: text})
}

// detailed adds a detail. Only a status of OK refuses one.
func detailed(s *status.Status, detail protoadapt.MessageV1) *status.Status {
	with, err := s.WithDetails(detail)
	if err != nil {
		return s
	}
	return with
}

func invalid(entity, format string, args ...any) *status.Status {
	return failure(codes.InvalidArgument, 0, entity, format, args...)
}

func tableNotFound(table string) *status.Status {
	return failure(codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND, table,
		"Requested entity was not found: table is deleted or does not exist.")
}

func streamNotFound(stream string) *status.Status {
	return failure(codes.NotFound, storagepb.StorageError_STREAM_NOT_FOUND, stream,
		"Requested entity was not found: stream does not exist or has expired.")
}

func streamFinalized(stream string) *status.Status {
	return failure(codes.InvalidArgument, storagepb.StorageError_STREAM_FINALIZED, stream,
		"Stream has been finalized and cannot be appended to.")
}

// Unavailable is what a server that restarts says.
func Unavailable() error {
	return status.Error(codes.Unavailable, "The service is currently unavailable.")
}

// Restarted is what ends AppendRows streams when a server restarts.
func Restarted() error {
	return status.Error(codes.Aborted, "Closing the stream because server is restarted. This is expected and client is"+
		" advised to reconnect.")
}

// ThroughputQuota is what appends get beyond a project's throughput. retryAfter is in a google.rpc.RetryInfo; zero
// leaves that out.
func ThroughputQuota(retryAfter time.Duration) error {
	s := status.New(codes.ResourceExhausted,
		"Exceeds 'AppendRows throughput' quota, user_id: project0000000000000000, reason: QUOTA_EXCEEDED")
	if retryAfter > 0 {
		s = detailed(s, &errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)})
	}
	return s.Err()
}

// CreateQuota is what CreateWriteStream gets beyond its rate.
func CreateQuota() error {
	return status.Error(codes.ResourceExhausted,
		"Exceeds quota limit CreateWriteStream requests, reason: RATE_LIMIT_EXCEEDED")
}
