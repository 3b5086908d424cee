package kafka

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// absentMax is how many answers in a row may say that a partition does not exist before it is believed: brokers also
// say so for a moment after a topic was made. With faultPause this is at least half a second.
const absentMax = 5

// fault judges what went wrong with a partition: it passes, or the partition's offset has to be looked at, or it is
// final and for Next to return.
func (r *reader) fault(tp record.TopicPartition, err error) {
	var loss *kgo.ErrDataLoss
	switch {
	case errors.Is(err, kerr.OffsetOutOfRange):
		r.recheck(tp, time.Now())
	case isAbsent(err):
		r.absent(tp)
	case errors.As(err, &loss):
		r.fail(tp, beyondEnd(tp, loss.ConsumedTo, loss.ResetTo, fmt.Errorf("%w: %w", ErrOffsetBeyondEnd, err)))
	case passes(err):
		r.source.warnings.warn("kafka fetch failed, trying on", "topic", tp.Topic, "partition", tp.Partition, "error", err)
	case errors.Is(err, kgo.ErrClientClosed):
		r.failures = append(r.failures, failure{err: err})
	default:
		r.fail(tp, r.final(tp, err))
	}
}

// isAbsent says whether a broker does not know the partition.
func isAbsent(err error) bool {
	return errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, kerr.UnknownTopicID) ||
		errors.Is(err, kerr.InconsistentTopicID)
}

// passes says whether waiting may mend the fault. UNKNOWN_SERVER_ERROR is what brokers answer while they come up or
// lose a disk.
func passes(err error) bool {
	var network net.Error
	return kerr.IsRetriable(err) || errors.Is(err, kerr.UnknownServerError) || kgo.IsRetryableBrokerErr(err) ||
		errors.As(err, &network)
}

// final describes a fault that no waiting mends.
func (r *reader) final(tp record.TopicPartition, err error) error {
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		return denied(tp.Topic, "Read", err)
	}
	if tp.Topic == "" {
		return clientError("reading failed", "see the cause", err)
	}
	e := &Error{
		TopicPartition: tp, Offset: -1, What: "the records cannot be read", Err: err,
		Do: "see the cause; firn offsets set moves the job past a batch that stays unreadable",
	}
	if at := r.reading[tp]; at != nil {
		e.Offset = at.position
	}
	return e
}

// absent counts an answer that the partition does not exist.
func (r *reader) absent(tp record.TopicPartition) {
	at := r.reading[tp]
	if at == nil {
		return
	}
	if at.absent++; at.absent >= absentMax {
		r.recheck(tp, time.Now())
	}
}

// recheck takes a partition from the client until its offset was looked at again.
func (r *reader) recheck(tp record.TopicPartition, due time.Time) {
	at := r.reading[tp]
	if at == nil {
		return
	}
	r.waiting[tp] = waiter{offset: at.position, id: r.topics[tp.Topic].id, due: due}
	r.stop(tp)
}

// fail ends the reading of a partition with an error for Next.
func (r *reader) fail(tp record.TopicPartition, err error) {
	delete(r.waiting, tp)
	r.stop(tp)
	r.failures = append(r.failures, failure{tp, err})
	r.source.log.Debug("kafka partition is read no more", "topic", tp.Topic, "partition", tp.Partition,
		"error", fmt.Sprint(err))
}
