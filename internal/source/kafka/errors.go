package kafka

import (
	"errors"
	"fmt"

	"firn/internal/record"
)

// Sentinels that a caller branches on.
var (
	// ErrUnreachable is that no broker answered in time.
	ErrUnreachable = errors.New("no kafka broker can be reached")
	// ErrOffsetBeyondEnd is that a position lies after the end of its log: the log was truncated, or it is another
	// topic of the same name. An *Error in the chain names the partition. The reader has stopped reading it.
	ErrOffsetBeyondEnd = errors.New("the offset is beyond the end of the log")
	// ErrGap is that retention removed records before they were read and the job stops at that. An *Error in the
	// chain names the partition. The reader has stopped reading it.
	ErrGap = errors.New("records were removed before they were read")
	// ErrDenied is that the brokers refuse something for lack of a right.
	ErrDenied = errors.New("denied by the brokers")
)

// Error is a fault that someone must act on: what is wrong, where, and what to do.
type Error struct {
	record.TopicPartition        // Topic is empty when no topic is at fault; Partition is -1 when no partition is
	Offset                int64  // the position; -1 when no partition is at fault
	What                  string // what is wrong
	Do                    string // what the reader of the text can do
	Err                   error  // the cause
}

// Where names the topic, the partition and the offset, as far as they are known.
func (e *Error) Where() string {
	switch {
	case e.Topic == "":
		return "kafka source"
	case e.Partition < 0:
		return fmt.Sprintf("kafka source, topic %s", e.Topic)
	default:
		return fmt.Sprintf("kafka source, topic %s, partition %d, offset %d", e.Topic, e.Partition, e.Offset)
	}
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s: %v; %s", e.Where(), e.What, e.Err, e.Do)
}

func (e *Error) Unwrap() error { return e.Err }

// topicError is a fault of a whole topic.
func topicError(topic, what, do string, err error) *Error {
	return &Error{
		TopicPartition: record.TopicPartition{Topic: topic, Partition: -1}, Offset: -1, What: what, Do: do, Err: err,
	}
}

// clientError is a fault of no topic.
func clientError(what, do string, err error) *Error { return topicError("", what, do, err) }

// denied is a missing right on a topic.
func denied(topic, right string, err error) *Error {
	return topicError(topic, "no right to "+right+" the topic",
		"allow the job's user the operation "+right+" on topic "+topic, fmt.Errorf("%w: %w", ErrDenied, err))
}
