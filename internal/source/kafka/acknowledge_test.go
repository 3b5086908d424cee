package kafka

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"firn/internal/record"
)

func floorOf(topic string, next map[int32]int64) record.Floor {
	return record.Floor{topic: {Next: next}}
}

// groupOffsets are the group's offsets as a lag monitor sees them.
func groupOffsets(t *testing.T, client *kgo.Client, group string) map[record.TopicPartition]int64 {
	t.Helper()
	responses, err := kadm.NewClient(client).FetchOffsets(context.Background(), group)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[record.TopicPartition]int64)
	responses.Each(func(r kadm.OffsetResponse) { got[partitionOf(r.Topic, r.Partition)] = r.At })
	return got
}

func TestAcknowledgeMovesTheGroup(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(2, "orders"))
	client := newClient(t, cluster.ListenAddrs())
	s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.Group = "g" })
	commits := count(cluster, int16(kmsg.OffsetCommit))
	f := func(next map[int32]int64, want map[record.TopicPartition]int64, requests int64) {
		t.Helper()
		if err := s.Acknowledge(patient(t), floorOf("orders", next)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, groupOffsets(t, client, "g")); diff != "" {
			t.Error(diff)
		}
		if n := commits.Load(); n != requests {
			t.Errorf("%d commits so far, want %d", n, requests)
		}
	}
	second := partitionOf("orders", 1)
	f(map[int32]int64{0: 5, 1: 7}, map[record.TopicPartition]int64{orders: 5, second: 7}, 1)
	f(map[int32]int64{0: 5, 1: 7}, map[record.TopicPartition]int64{orders: 5, second: 7}, 1) // nothing changed
	f(map[int32]int64{0: 6, 1: 7}, map[record.TopicPartition]int64{orders: 6, second: 7}, 2)
	f(map[int32]int64{0: 2, 1: 7}, map[record.TopicPartition]int64{orders: 2, second: 7}, 3) // the operator set it back
	s.acks.all = time.Now().Add(-refreshInterval)
	f(map[int32]int64{0: 2, 1: 7}, map[record.TopicPartition]int64{orders: 2, second: 7}, 4) // C20: renewed
}

func TestAcknowledgeWithoutAGroup(t *testing.T) {
	s := newSource(t, []string{"127.0.0.1:1"}, nil) // it must not ask anyone
	if err := s.Acknowledge(patient(t), floorOf("orders", map[int32]int64{0: 1})); err != nil {
		t.Error(err)
	}
}

// C26: the floor keeps topics that are gone.
func TestAcknowledgePassesOverATopicThatIsGone(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.Group = "g" })
	floor := floorOf("orders", map[int32]int64{0: 4})
	floor["gone"] = record.TopicFloor{Next: map[int32]int64{0: 9}}
	if err := s.Acknowledge(patient(t), floor); err != nil {
		t.Fatal(err)
	}
	want := map[record.TopicPartition]int64{orders: 4}
	if diff := cmp.Diff(want, groupOffsets(t, newClient(t, cluster.ListenAddrs()), "g")); diff != "" {
		t.Error(diff)
	}
}

func TestAcknowledgeSaysWhatIsWrong(t *testing.T) {
	f := func(fault *kerr.Error, want string, is error) {
		t.Helper()
		cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
		s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.Group = "g" })
		cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: fault, Count: 1})
		floor := floorOf("orders", map[int32]int64{0: 1})
		err := s.Acknowledge(patient(t), floor)
		if !errors.Is(err, is) || err.Error() != want {
			t.Errorf("Acknowledge gave %v", err)
		}
		if err := s.Acknowledge(patient(t), floor); err != nil { // what failed is tried again
			t.Error(err)
		}
		if got := groupOffsets(t, newClient(t, cluster.ListenAddrs()), "g"); got[orders] != 1 {
			t.Errorf("then the group has %v", got)
		}
	}
	f(kerr.GroupAuthorizationFailed, "kafka source: no right to move the offsets of group g: denied by the brokers: "+
		"GROUP_AUTHORIZATION_FAILED: Not authorized to access group: Group authorization failed.; allow the job's user "+
		"the operation Read on group g, or set the job's group to one it may use", ErrDenied) // C25
	f(kerr.UnknownMemberID, "kafka source: group g has members of its own: UNKNOWN_MEMBER_ID: The coordinator is not "+
		"aware of this member.; give the job a group that no consumer uses", kerr.UnknownMemberID)
}
