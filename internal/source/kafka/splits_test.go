package kafka

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"firn/internal/record"
)

func TestSplits(t *testing.T) {
	cluster := newCluster(t, kfake.NumBrokers(3), kfake.SeedTopics(2, "orders", "other"), kfake.ClusterID("c1"))
	client := newClient(t, cluster.ListenAddrs())
	produce(t, client, "orders", 1, numbers("v", 5)...)
	if err := cluster.DeleteRecords("orders", 1, 2); err != nil {
		t.Fatal(err)
	}
	s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.Topics = []string{"other", "missing", "orders"} })
	got, err := s.Splits(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	split := func(topic string, partition int32, earliest, end int64) record.Split {
		return record.Split{
			TopicPartition: partitionOf(topic, partition), Earliest: earliest, LastStable: end, HighWatermark: end,
			Identity: record.Identity{ClusterID: "c1", TopicID: uuidOf(cluster, topic)},
		}
	}
	want := []record.Split{
		split("orders", 0, 0, 0), split("orders", 1, 2, 5), split("other", 0, 0, 0), split("other", 1, 0, 0),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// C17: a topic that was made again has another id, and the list is never an old one.
func TestSplitsOfARecreatedTopic(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	s := newSource(t, cluster.ListenAddrs(), nil)
	f := func() string {
		t.Helper()
		splits, err := s.Splits(patient(t))
		if err != nil || len(splits) != 1 {
			t.Fatalf("%d splits and %v", len(splits), err)
		}
		return splits[0].TopicID
	}
	before := f()
	if err := cluster.DeleteTopic("orders"); err != nil {
		t.Fatal(err)
	}
	if err := cluster.CreateTopic("orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	if after := f(); after == before || after != uuidOf(cluster, "orders") {
		t.Errorf("the id was %s and is %s, want %s", before, after, uuidOf(cluster, "orders"))
	}
}

// A broker before topic ids; its fetch answers name topics, and its errors differ.
func TestSplitsOfAnOldBroker(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"), kfake.MaxVersions(kversion.V2_6_0()))
	s := newSource(t, cluster.ListenAddrs(), nil)
	splits, err := s.Splits(patient(t))
	if err != nil || len(splits) != 1 || splits[0].TopicID != "" {
		t.Fatalf("%+v and %v", splits, err)
	}
	c := open(t, s, map[record.TopicPartition]int64{orders: 0})
	produce(t, newClient(t, cluster.ListenAddrs()), "orders", 0, "a")
	c.reaches(orders, 1)
	if err := cluster.DeleteTopic("orders"); err != nil {
		t.Fatal(err)
	}
	c.quiet(2 * faultPause * absentMax)
	if _, waits := c.reader.waiting[orders]; !waits {
		t.Error("the reader still asks for a topic that is gone") // C26
	}
}

// One round trip a broker, whatever the number of partitions.
func TestSplitsOfManyPartitions(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1000, "orders"))
	s := newSource(t, cluster.ListenAddrs(), nil)
	lists := count(cluster, int16(kmsg.ListOffsets))
	splits, err := s.Splits(patient(t))
	if err != nil || len(splits) != 1000 {
		t.Fatalf("%d splits and %v", len(splits), err)
	}
	if n := lists.Load(); n != 3 {
		t.Errorf("%d ListOffsets requests, want 3", n)
	}
}

func TestSplitsFail(t *testing.T) {
	f := func(name string, key kmsg.Key, fault *kerr.Error, is error) {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
			cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Topic: "orders", Err: fault, Count: -1})
			_, err := newSource(t, cluster.ListenAddrs(), nil).Splits(patient(t))
			if !errors.Is(err, is) {
				t.Errorf("Splits gave %v", err)
			}
		})
	}
	f("no right to describe", kmsg.Metadata, kerr.TopicAuthorizationFailed, ErrDenied) // C25
	f("no right to list", kmsg.ListOffsets, kerr.TopicAuthorizationFailed, ErrDenied)
	f("bad name", kmsg.Metadata, kerr.InvalidTopicException, kerr.InvalidTopicException)
	f("unknown", kmsg.ListOffsets, kerr.UnknownServerError, kerr.UnknownServerError)
}

// C80: a topic that is being made has no leaders yet.
func TestSplitsLeaveOutWhatHasNoLeader(t *testing.T) {
	f := func(name string, key kmsg.Key, fault *kerr.Error) {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
			cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Topic: "orders", Err: fault, Count: -1})
			splits, err := newSource(t, cluster.ListenAddrs(), nil).Splits(patient(t))
			if err != nil || len(splits) != 0 {
				t.Errorf("%d splits and %v", len(splits), err)
			}
		})
	}
	f("topic", kmsg.Metadata, kerr.LeaderNotAvailable)
	f("gone meanwhile", kmsg.ListOffsets, kerr.UnknownTopicOrPartition)
}

func TestSplitsEndWithTheContext(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newSource(t, cluster.ListenAddrs(), nil).Splits(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Splits gave %v", err)
	}
}
