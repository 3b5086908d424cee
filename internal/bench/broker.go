package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
	"firn/internal/wire"
)

// topicPartitions is what the rivals were measured with.
const topicPartitions = 16

// brokerAddress is what a broker process says first.
type brokerAddress struct {
	Address string `json:"address"`
}

// RunBroker answers RoleBroker: it serves an in-memory Kafka with one topic until in ends. The address is written to
// out. Its memory is that of all messages.
func RunBroker(ctx context.Context, topic string, partitions int, in io.Reader, out io.Writer) error {
	kafka, err := wire.NewEmbeddedKafka(topic, partitions)
	if err != nil {
		return err
	}
	defer kafka.Close()
	if err := json.NewEncoder(out).Encode(brokerAddress{kafka.Address()}); err != nil {
		return fmt.Errorf("writing the address: %w", err)
	}
	untilClosed(ctx, in)
	return nil
}

// broker is a Kafka with an empty topic of its own.
type broker struct {
	addresses []string
	topic     string
	kind      string
	close     func(ctx context.Context) error
}

// openBroker starts an in-memory Kafka in a process of its own, or makes a topic at the brokers given, which keeps so
// many bytes a topic partition, or all with 0.
func (s *session) openBroker(ctx context.Context, retentionBytes int) (*broker, error) {
	topic := "firn-bench-" + uuid.NewString()[:8]
	if len(s.Brokers) > 0 {
		return openTopic(ctx, s.Brokers, topic, retentionBytes)
	}
	c, err := startChild(s.Child(ctx, RoleBroker, topic, strconv.Itoa(topicPartitions)))
	if err != nil {
		return nil, err
	}
	var said brokerAddress
	if err := c.hear(&said); err != nil {
		return nil, err
	}
	return &broker{
		addresses: []string{said.Address}, topic: topic, kind: "an in-memory stand-in for Kafka in a process of its own",
		close: func(context.Context) error { return c.end() },
	}, nil
}

// openTopic makes a topic, which closing deletes.
func openTopic(ctx context.Context, addresses []string, topic string, retentionBytes int) (*broker, error) {
	options, err := wire.KafkaOptions(job.Kafka{Brokers: addresses})
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("making a Kafka client: %w", err)
	}
	if err := reach(ctx, client, addresses); err != nil {
		client.Close()
		return nil, err
	}
	admin := kadm.NewClient(client)
	if err := createTopic(ctx, admin, topic, retentionBytes); err != nil {
		client.Close()
		return nil, fmt.Errorf("making topic %s: %w", topic, err)
	}
	return &broker{
		addresses: addresses, topic: topic, kind: "a Kafka broker",
		close: func(ctx context.Context) error {
			defer client.Close()
			deleted, err := admin.DeleteTopics(ctx, topic)
			if err = errors.Join(err, deleted.Error()); err != nil {
				return fmt.Errorf("deleting topic %s: %w", topic, err)
			}
			return nil
		},
	}, nil
}

// reachMax is how long brokers are waited for.
const reachMax = 10 * time.Second

func reach(ctx context.Context, client *kgo.Client, addresses []string) error {
	ctx, stop := context.WithTimeout(ctx, reachMax)
	defer stop()
	if err := client.Ping(ctx); err != nil {
		return fmt.Errorf("brokers %s %w: %w", strings.Join(addresses, ","), wire.ErrUnreachable, err)
	}
	return nil
}

// createTopic makes a topic and waits until every partition answers. A job that starts before finds the others only
// with its next look for partitions, seconds later, and that would be what is measured.
func createTopic(ctx context.Context, admin *kadm.Client, topic string, retentionBytes int) error {
	var config map[string]*string
	if retentionBytes > 0 {
		config = map[string]*string{
			"retention.bytes": kadm.StringPtr(strconv.Itoa(retentionBytes)),
			"segment.bytes":   kadm.StringPtr(strconv.Itoa(retentionBytes / 8)),
		}
	}
	if _, err := admin.CreateTopic(ctx, topicPartitions, 1, config, topic); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, childGrace)
	defer stop()
	ready := func() bool {
		ends, err := admin.ListEndOffsets(ctx, topic)
		return err == nil && ends.Error() == nil && len(ends[topic]) == topicPartitions
	}
	if !await(ctx, ready) {
		return fmt.Errorf("not all of its %d partitions answer: %w", topicPartitions, context.Cause(ctx))
	}
	return nil
}
