package e2e

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
	"firn/internal/wire"
)

// ownBroker starts a broker that only this test uses, and returns its address and what restarts it on the same port.
func ownBroker(t *testing.T) (address string, restart func()) {
	t.Helper()
	Kafka(t) // skips where no broker can be had
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := func(args ...string) string {
		var log bytes.Buffer
		cmd := exec.Command("bash", append([]string{filepath.Join(root, "e2e", "components", "kafka.sh")}, args...)...)
		cmd.Stderr = &log
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("kafka.sh %v: %v\n%s", args, err, log.String())
		}
		return strings.TrimSpace(string(out))
	}
	address = script("start", "--dir", dir)
	_, port, _ := strings.Cut(address, ":")
	t.Cleanup(func() { script("stop", "--dir", dir) })
	return address, func() {
		script("stop", "--dir", dir)
		script("start", "--dir", dir, "--port", port)
	}
}

// localCatalog is a SQLite catalog with its warehouse in a temporary folder.
func localCatalog(t *testing.T) job.Catalog {
	t.Helper()
	dir := t.TempDir()
	return job.Catalog{Name: "firn", Type: "sql", URI: dir + "/catalog.db", Warehouse: dir + "/warehouse"}
}

// TestBrokerRestartedInTheMiddle restarts the broker while a job reads, which raises the leader epochs.
func TestBrokerRestartedInTheMiddle(t *testing.T) {
	broker, restart := ownBroker(t)
	topic := newTopic(t, broker, 4)
	produce(t, broker, topic, 0, 5000)
	before := leaderEpoch(t, broker, topic)
	j := numberedJob(broker, topic, "e2e.restart", localCatalog(t))
	a, err := wire.Open(t.Context(), j, wire.Options{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	rows := func(n int64) func() bool { return func() bool { return a.Metrics.Summary().Commits.Rows >= n } }
	eventually(t, "the first rows", rows(5000))
	restart()
	produce(t, broker, topic, 5000, 9000)
	eventually(t, "the rows after the restart", rows(9000))
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if after := leaderEpoch(t, broker, topic); after <= before {
		t.Errorf("leader epoch %d after %d: the restart did not change it", after, before)
	}
	mustHold(t, j, 9000)
}

// eventually polls a condition for up to two minutes.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("never came: %s", what)
		case <-tick.C:
		}
	}
}

func leaderEpoch(t *testing.T, broker, topic string) int32 {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	m, err := kadm.NewClient(client).Metadata(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	return m.Topics[topic].Partitions[0].LeaderEpoch
}

// TestTransactionsOnARealBroker reads a topic with committed and aborted transactions: aborted records are not rows,
// and at the end the lag is 0 although markers stand last in the log (C30).
func TestTransactionsOnARealBroker(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 1)
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	transact := func(from, to int, commit kgo.TransactionEndTry) {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for n := from; n < to; n++ {
			if err := client.ProduceSync(t.Context(), &kgo.Record{Value: numbered(n)}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		if err := client.EndTransaction(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	transact(0, 10, kgo.TryCommit)
	transact(900, 910, kgo.TryAbort)
	transact(10, 20, kgo.TryCommit)
	transact(910, 915, kgo.TryAbort)
	j := numberedJob(broker, topic, "e2e.transactions", localCatalog(t))
	a, err := wire.Open(t.Context(), j, wire.Options{UntilCaughtUp: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lag := a.Metrics.Summary().LagRecords; lag != 0 {
		t.Errorf("lag %d", lag)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	mustHold(t, j, 20)
}

// TestMessageOf20MB moves a message far above the usual limits, between small ones.
func TestMessageOf20MB(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 1)
	setTopic(t, broker, topic, "max.message.bytes", "25000000")
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic),
		kgo.ProducerBatchMaxBytes(24_000_000))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	large := fmt.Sprintf(`{"seq": 1, "text": %q}`, strings.Repeat("snow", 5_000_000))
	for _, v := range []string{`{"seq": 0}`, large, `{"seq": 2}`} {
		if err := client.ProduceSync(t.Context(), kgo.StringRecord(v)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	j := numberedJob(broker, topic, "e2e.large", localCatalog(t))
	j.Source.Kafka.FetchBytesMax = 1_000_000
	finish(t, j, 1)
	mustHold(t, j, 3)
}

func setTopic(t *testing.T, broker, topic, key, value string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	changes := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: key, Value: &value}}
	if _, err := kadm.NewClient(client).AlterTopicConfigs(t.Context(), changes, topic); err != nil {
		t.Fatal(err)
	}
}
