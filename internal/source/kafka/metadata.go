package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"firn/internal/record"
)

// metadataAgeMin is the least age at which the client asks for metadata again when something is amiss. Its default of
// 5 s makes a new partition or a moved leader wait that long.
const metadataAgeMin = 250 * time.Millisecond

// metadata is what the brokers know of some topics.
type metadata struct {
	clusterID string
	topics    []topic
	missing   []string // asked for and not there
}

// topic is one topic that exists.
type topic struct {
	name       string
	id         string // a UUID; empty before Kafka 2.8
	raw        [16]byte
	partitions []int32
	operations int32 // bits of the operations allowed, or operationsUnknown
}

// operationsUnknown is what a broker sends that does not tell what is allowed (KIP-430).
const operationsUnknown = -1 << 31

// describe asks for the topics. It is never answered from the client's cache, which would hide a re-created topic.
func (s *Source) describe(ctx context.Context, names []string) (metadata, error) {
	request := kmsg.NewPtrMetadataRequest()
	request.IncludeTopicAuthorizedOperations = true
	for _, name := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		request.Topics = append(request.Topics, t)
	}
	response, err := request.RequestWith(ctx, s.admin)
	if err != nil {
		return metadata{}, fmt.Errorf("asking for kafka metadata: %w", err)
	}
	var m metadata
	if response.ClusterID != nil {
		m.clusterID = *response.ClusterID
	}
	var faults []error
	for i := range response.Topics {
		faults = append(faults, m.add(&response.Topics[i]))
	}
	return m, errors.Join(faults...)
}

// add takes one topic of a response. It fails for a topic that no waiting can bring.
func (m *metadata) add(r *kmsg.MetadataResponseTopic) error {
	name := ""
	if r.Topic != nil {
		name = *r.Topic
	}
	err := kerr.ErrorForCode(r.ErrorCode)
	switch {
	case err == nil:
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return denied(name, "Describe", err)
	case kerr.IsRetriable(err): // does not exist, or is being made and has no leader yet
		m.missing = append(m.missing, name)
		return nil
	default:
		return topicError(name, "the topic cannot be read", "check the topic's name in the job file", err)
	}
	t := topic{name: name, raw: r.TopicID, operations: r.AuthorizedOperations}
	if r.TopicID != [16]byte{} {
		t.id = uuid.UUID(r.TopicID).String()
	}
	for _, p := range r.Partitions {
		t.partitions = append(t.partitions, p.Partition)
	}
	m.topics = append(m.topics, t)
	return nil
}

// partitions lists every topic partition.
func (m *metadata) partitions() []record.TopicPartition {
	var tps []record.TopicPartition
	for _, t := range m.topics {
		for _, p := range t.partitions {
			tps = append(tps, record.TopicPartition{Topic: t.name, Partition: p})
		}
	}
	return tps
}

func portText(port int32) string { return strconv.Itoa(int(port)) }
