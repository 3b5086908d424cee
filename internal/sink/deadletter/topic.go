package deadletter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"firn/internal/record"
)

const (
	// messageBytesDefault is what a topic takes when its settings cannot be read: Kafka's default max.message.bytes
	// less the overhead of a batch, as clients have it.
	messageBytesDefault = 1000012
	// messageBytesMax keeps a request below a broker's default socket.request.max.bytes of 100 MiB.
	messageBytesMax = 96 << 20
	// bufferBytesMax bounds the letters that are on their way; Write waits beyond it.
	bufferBytesMax = 32 << 20
)

// Topic keeps dead letters in a Kafka topic: each is the rejected record as it was, with headers that say why and
// where from. It is safe for concurrent use.
type Topic struct {
	topic  string
	job    string
	client *kgo.Client

	mu     sync.Mutex // guards the fields below
	failed []failedMessage
	close  sync.Once
}

type failedMessage struct {
	message *kgo.Record
	err     error
}

// OpenTopic connects and checks that the topic is there and may be written. It does not make the topic: how many
// replicas keep the letters is the owner's choice. client says how to connect.
func OpenTopic(ctx context.Context, client []kgo.Opt, topic, job string) (*Topic, error) {
	limit, err := checkTopic(ctx, client, topic)
	if err != nil {
		return nil, fmt.Errorf("opening dead letter topic %s: %w", topic, err)
	}
	t := &Topic{topic: topic, job: job}
	t.client, err = kgo.NewClient(append([]kgo.Opt{
		kgo.ProducerBatchMaxBytes(limit),
		kgo.MaxBufferedBytes(max(bufferBytesMax, 2*int(limit))),
	}, client...)...)
	if err != nil {
		return nil, fmt.Errorf("making a kafka client: %w", err)
	}
	return t, nil
}

// checkTopic finds out how large a message the topic takes.
func checkTopic(ctx context.Context, options []kgo.Opt, topic string) (limit int32, err error) {
	client, err := kgo.NewClient(options...)
	if err != nil {
		return 0, fmt.Errorf("making a kafka client: %w", err)
	}
	defer client.Close()
	request := kmsg.NewPtrMetadataRequest()
	request.IncludeTopicAuthorizedOperations = true
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	request.Topics = append(request.Topics, t)
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	if err := writable(response); err != nil {
		return 0, err
	}
	return messageLimit(ctx, client, topic), nil
}

func writable(response *kmsg.MetadataResponse) error {
	if len(response.Topics) != 1 {
		return fmt.Errorf("the brokers told of %d topics, asked for one", len(response.Topics))
	}
	t := &response.Topics[0]
	const operationsUnknown = -1 << 31 // KIP-430: the broker does not tell
	err := kerr.ErrorForCode(t.ErrorCode)
	denied := errors.Is(err, kerr.TopicAuthorizationFailed)
	if t.AuthorizedOperations != operationsUnknown && t.AuthorizedOperations&(1<<kmsg.ACLOperationWrite) == 0 {
		denied = denied || err == nil
	}
	switch {
	case denied:
		return fmt.Errorf("no right to write it: %w; allow the job's user the operations Describe and Write on it",
			kerr.TopicAuthorizationFailed)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("it does not exist: %w; create it, or set errors.dead_letter to another topic or a file", err)
	default:
		return err
	}
}

// messageLimit is the topic's max.message.bytes, or the default when it may not be read.
func messageLimit(ctx context.Context, client *kgo.Client, topic string) int32 {
	configs, err := kadm.NewClient(client).DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return messageBytesDefault
	}
	for _, resource := range configs {
		for _, c := range resource.Configs {
			if c.Key != "max.message.bytes" {
				continue
			}
			if n, err := strconv.ParseInt(c.MaybeValue(), 10, 32); err == nil {
				return int32(min(n, messageBytesMax))
			}
		}
	}
	return messageBytesDefault
}

// Write sends the rejected records, and waits only while too many are on their way. They are durable after Flush.
func (t *Topic) Write(ctx context.Context, rejected []record.Rejected) error {
	for _, r := range rejected {
		t.send(ctx, message(t.topic, Letter{Rejected: r, Job: t.job}))
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("writing to dead letter topic %s: %w", t.topic, err)
	}
	return nil
}

func (t *Topic) send(ctx context.Context, m *kgo.Record) {
	t.client.Produce(ctx, m, func(m *kgo.Record, err error) {
		if err == nil {
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.failed = append(t.failed, failedMessage{m, err})
	})
}

// Flush returns nil when all that was written is on all in-sync replicas. After an error it may be called again: it
// sends what failed once more.
func (t *Topic) Flush(ctx context.Context) error {
	for _, f := range t.takeFailed() {
		t.send(ctx, again(f.message))
	}
	if err := t.client.Flush(ctx); err != nil {
		return fmt.Errorf("flushing dead letter topic %s: %w", t.topic, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.failed) == 0 {
		return nil
	}
	return fmt.Errorf("writing to dead letter topic %s: %d letters failed, the first with: %w",
		t.topic, len(t.failed), t.explain(t.failed[0].err))
}

func (t *Topic) takeFailed() []failedMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	failed := t.failed
	t.failed = nil
	return failed
}

// again is a message to be sent once more, without what the client noted in it.
func again(m *kgo.Record) *kgo.Record {
	return &kgo.Record{Topic: m.Topic, Key: m.Key, Value: m.Value, Headers: m.Headers}
}

// explain says what to do about a failure that comes back.
func (t *Topic) explain(err error) error {
	switch {
	case errors.Is(err, kerr.MessageTooLarge):
		return fmt.Errorf("%w; a letter is the rejected record and some headers: raise max.message.bytes of topic %s "+
			"above that of the source topic, and start the job again", err, t.topic)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("%w; topic %s was deleted: create it again", err, t.topic)
	default:
		return err
	}
}

// Close ends the connections. Letters that were not flushed are dropped. It may be called twice.
func (t *Topic) Close() error {
	t.close.Do(t.client.Close)
	return nil
}
