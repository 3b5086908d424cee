package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// newTopic makes a topic with a name of its own on the broker and removes it at the end of the test.
func newTopic(t *testing.T, broker string, partitions int32) string {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		t.Fatal(err)
	}
	admin := kadm.NewClient(client)
	name := fmt.Sprintf("e2e-%d-%d", time.Now().UnixNano(), rand.IntN(1000))
	if _, err := admin.CreateTopic(t.Context(), partitions, 1, nil, name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if _, err := admin.DeleteTopics(ctx, name); err != nil {
			t.Log(err)
		}
		client.Close()
	})
	return name
}

// numbered is the message with sequence number n. Its text makes messages of different length.
func numbered(n int) []byte {
	return fmt.Appendf(nil, `{"seq": %d, "text": "%0*d"}`, n, 20+n%300, n)
}

// produce sends the numbered messages [from, to) and waits until the broker has them.
func produce(t *testing.T, broker, topic string, from, to int, options ...kgo.Opt) {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic), kgo.MaxBufferedRecords(100_000),
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner()),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	failed := make(chan error, 1)
	for n := from; n < to; n++ {
		client.Produce(t.Context(), &kgo.Record{Value: numbered(n)}, func(_ *kgo.Record, err error) {
			if err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	if err := client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
}
