package kafka

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

func TestStart(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(2, "orders"))
	client := newClient(t, cluster.ListenAddrs(), kgo.TransactionalID("t"))
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for i := range 5 {
		at := noon.Add(time.Duration(i) * time.Minute)
		r := &kgo.Record{Topic: "orders", Value: []byte("v"), Timestamp: at}
		if err := client.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.EndTransaction(context.Background(), kgo.TryCommit); err != nil { // the marker is offset 5
		t.Fatal(err)
	}
	if err := client.BeginTransaction(); err != nil { // and one stays open from offset 6 on
		t.Fatal(err)
	}
	produce(t, client, "orders", 0, "open")
	if err := cluster.DeleteRecords("orders", 0, 1); err != nil {
		t.Fatal(err)
	}
	second := partitionOf("orders", 1)
	f := func(start, isolation string, first, empty int64) {
		t.Helper()
		s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.Start, c.Isolation = start, isolation })
		got, err := s.Start(patient(t), []record.TopicPartition{orders, second})
		if err != nil {
			t.Fatal(err)
		}
		want := map[record.TopicPartition]int64{orders: first, second: empty}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s: %s", start, isolation, diff)
		}
	}
	f("", "", 1, 0)
	f(StartEarliest, ReadCommitted, 1, 0)
	f(StartLatest, ReadCommitted, 6, 0) // C31: what is open now is read when it is committed
	f(StartLatest, ReadUncommitted, 7, 0)
	f("2026-01-31T12:02:00Z", ReadCommitted, 2, 0)
	f("2026-01-31T12:01:59.001Z", ReadCommitted, 2, 0)
	f("1960-01-01T00:00:00Z", ReadCommitted, 1, 0)
	f("2999-01-01T00:00:00Z", ReadCommitted, 6, 0)
}

func TestStartOfAPartitionThatIsNotThere(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	s := newSource(t, cluster.ListenAddrs(), nil)
	if got, err := s.Start(patient(t), []record.TopicPartition{partitionOf("orders", 7)}); err == nil {
		t.Errorf("Start gave %v", got)
	}
	got, err := s.Start(patient(t), nil)
	if err != nil || len(got) != 0 {
		t.Errorf("Start of nothing gave %v and %v", got, err)
	}
}
