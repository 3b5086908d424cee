package bench

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/wire"
)

// TestTopicAtBrokersGiven: the topic is made, can be filled, and is gone in the end.
func TestTopicAtBrokersGiven(t *testing.T) {
	kafka, err := wire.NewEmbeddedKafka("another", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	s := &session{Options: Options{Brokers: []string{kafka.Address()}}}
	b, err := s.openBroker(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := b.fill(t.Context(), fillConfig{kind: narrow(), messages: 100})
	if err != nil || stats.Messages != 100 || stats.Bytes != 100*narrowBytes {
		t.Errorf("sent %+v, %v", stats, err)
	}
	if got := topics(t, kafka.Address()); len(got[b.topic].Partitions) != topicPartitions {
		t.Errorf("%d partitions", len(got[b.topic].Partitions))
	}
	if err := b.close(t.Context()); err != nil {
		t.Error(err)
	}
	if got := topics(t, kafka.Address()); len(got) != 1 || !got.Has("another") {
		t.Errorf("topics left: %v", got.Names())
	}
}

func topics(t *testing.T, address string) kadm.TopicDetails {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	list, err := kadm.NewClient(client).ListTopics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestBrokersThatCannotBeReached(t *testing.T) {
	s := &session{Options: Options{Brokers: []string{"127.0.0.1:1"}}}
	if _, err := s.openBroker(t.Context(), 0); !errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("error %v", err)
	}
}
