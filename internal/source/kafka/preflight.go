package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Preflight connects and checks every right that the job needs, so that none is missed by a job that seems to run
// (C25). It keeps trying to connect until the context ends; then the error wraps ErrUnreachable. A topic that does not
// exist is logged and no error: it may appear later. All faults are in one error.
func (s *Source) Preflight(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	m, err := s.describe(ctx, s.Topics)
	if err != nil {
		return err
	}
	for _, name := range m.missing {
		s.log.Warn("kafka topic does not exist, waiting for it", "topic", name)
	}
	var faults []error
	for _, t := range m.topics {
		faults = append(faults, readable(t))
	}
	return errors.Join(append(faults, s.checkGroup(ctx, m))...)
}

func (s *Source) connect(ctx context.Context) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 100*time.Millisecond, 2*time.Second
	last := context.DeadlineExceeded
	for {
		err := s.admin.Ping(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		if advice := hopeless(err); advice != "" {
			return clientError("cannot connect", advice, err)
		}
		select {
		case <-ctx.Done():
			return unreachable(ctx, last)
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// unreachable is the error of a context that ended before a broker answered.
func unreachable(ctx context.Context, last error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return clientError("none of the brokers answers", "check source.kafka.brokers, tls and sasl, and the network",
		fmt.Errorf("%w: %w", ErrUnreachable, last))
}

// hopeless says what to do about a connection that no waiting mends; empty when it may come about.
func hopeless(err error) string {
	var unverified *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var name x509.HostnameError
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return "check source.kafka.sasl: the brokers do not accept the user or the secret"
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return "check source.kafka.sasl.mechanism: the brokers do not offer it"
	case errors.As(err, &name):
		return "check source.kafka.tls.server_name: the broker's certificate is for another name"
	case errors.As(err, &unverified):
		return "check source.kafka.tls.ca_file: the broker's certificate is not signed by it"
	case errors.As(err, &noTLS):
		return "check source.kafka.tls: the broker's port does not speak TLS"
	default:
		return ""
	}
}

// readable checks the right to fetch from a topic, where the broker tells it (KIP-430).
func readable(t topic) error {
	if t.operations == operationsUnknown || t.operations&(1<<kmsg.ACLOperationRead) != 0 {
		return nil
	}
	return denied(t.name, "Read", kerr.TopicAuthorizationFailed)
}

// checkGroup tries to move the offset of a partition that cannot exist: a broker looks at the rights on the group and
// the topics first, and then has nothing to move. It works for a group that does not exist yet as well.
func (s *Source) checkGroup(ctx context.Context, m metadata) error {
	if s.Group == "" {
		return nil
	}
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group = s.Group
	request.Generation = -1
	for _, name := range s.Topics {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic = name
		t.TopicID = m.id(name)
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition = math.MaxInt32
		t.Partitions = append(t.Partitions, p)
		request.Topics = append(request.Topics, t)
	}
	response, err := request.RequestWith(ctx, s.admin)
	if err != nil {
		return s.groupError(fmt.Errorf("checking the rights on group %s: %w", s.Group, err))
	}
	return s.groupFault(response, m)
}

// groupFault finds a missing right in the answer; any other fault of a partition that cannot exist is expected.
func (s *Source) groupFault(response *kmsg.OffsetCommitResponse, m metadata) error {
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			err := kerr.ErrorForCode(p.ErrorCode)
			switch {
			case errors.Is(err, kerr.GroupAuthorizationFailed):
				return s.groupError(err)
			case errors.Is(err, kerr.TopicAuthorizationFailed):
				return denied(m.name(t), "Read", err)
			}
		}
	}
	return nil
}

// id is the topic's id as the protocol has it; zero when it is not known.
func (m *metadata) id(name string) [16]byte {
	i := slices.IndexFunc(m.topics, func(t topic) bool { return t.name == name })
	if i < 0 {
		return [16]byte{}
	}
	return m.topics[i].raw
}

// name is the name of a topic in an answer that may hold only its id (OffsetCommit version 10).
func (m *metadata) name(t kmsg.OffsetCommitResponseTopic) string {
	if t.Topic != "" {
		return t.Topic
	}
	id := uuid.UUID(t.TopicID).String()
	i := slices.IndexFunc(m.topics, func(t topic) bool { return t.id == id })
	if i < 0 {
		return id
	}
	return m.topics[i].name
}
