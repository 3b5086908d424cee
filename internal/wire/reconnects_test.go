package wire

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"firn/internal/job"
	"firn/internal/metric"
)

func TestConnectionsThatBreakAreCounted(t *testing.T) {
	cluster := kafkaCluster(t)
	options, err := KafkaOptions(job.Kafka{Brokers: cluster.ListenAddrs()})
	if err != nil {
		t.Fatal(err)
	}
	m := metric.NewJob("j", nil)
	client, err := kgo.NewClient(append(options, kgo.WithHooks(newReconnects(m.Reconnected)))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ask := func(want int64) {
		t.Helper()
		if _, err := kmsg.NewPtrMetadataRequest().RequestWith(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		if n := m.Summary().Reconnects; n != want {
			t.Errorf("%d connections were made again, want %d", n, want)
		}
	}
	ask(0) // of the address given
	ask(0) // of the broker that it named
	var broken atomic.Bool
	cluster.ControlKey(int16(kmsg.Metadata), func(kmsg.Request) (kmsg.Response, error, bool) {
		broken.Store(true)
		return nil, errors.New("the broker closes the connection"), true
	})
	ask(0) // of the address again
	if !broken.Load() {
		t.Error("no connection was broken")
	}
	ask(1) // of the broker again
	ask(1)
}

func TestConnectionsThatTheClientEndsAreNotCounted(t *testing.T) {
	n := 0
	r := newReconnects(func() { n++ })
	broker, other := kgo.BrokerMetadata{NodeID: 1}, kgo.BrokerMetadata{NodeID: 2}
	r.OnBrokerRead(broker, 1, 0, 0, 0, context.Canceled)
	r.OnBrokerRead(broker, 1, 0, 0, 0, kgo.ErrClientClosed)
	r.OnBrokerConnect(broker, 0, nil, nil)
	r.OnBrokerWrite(broker, 1, 0, 0, 0, errors.New("broken pipe"))
	r.OnBrokerConnect(other, 0, nil, nil)
	r.OnBrokerConnect(broker, 0, nil, errors.New("refused"))
	if n != 0 {
		t.Errorf("%d are counted", n)
	}
	r.OnBrokerConnect(broker, 0, nil, nil)
	r.OnBrokerConnect(broker, 0, nil, nil) // another connection to it
	if n != 1 {
		t.Errorf("%d are counted, want 1", n)
	}
}
