package wire

import (
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"firn/internal/job"
)

func newTestGenerator(t *testing.T, broker, topic string) *Generator {
	t.Helper()
	g, err := NewGenerator(GeneratorConfig{
		Kafka: job.Kafka{Brokers: []string{broker}}, Topic: topic, TemplateText: "{}", Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func TestGeneratorWaitsForBrokers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	g := newTestGenerator(t, "127.0.0.1:"+strconv.Itoa(port), "a")
	started := make(chan *kfake.Cluster, 1)
	time.AfterFunc(300*time.Millisecond, func() {
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.SeedTopics(1, "a"))
		if err != nil {
			t.Error(err)
		}
		started <- c
	})
	err = g.Reach(t.Context(), time.Minute, slog.New(slog.DiscardHandler))
	if c := <-started; c != nil {
		c.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

func TestGeneratorWithoutItsTopic(t *testing.T) {
	kafka, err := NewEmbeddedKafka("a", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	err = newTestGenerator(t, kafka.Address(), "nothere").Reach(t.Context(), time.Minute, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "topic nothere does not exist") {
		t.Errorf("error %v", err)
	}
}
