package deadletter

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"firn/internal/record"
)

const patience = 20 * time.Second

func newCluster(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func openTopic(t *testing.T, c *kfake.Cluster) *Topic {
	t.Helper()
	topic, err := OpenTopic(context.Background(), []kgo.Opt{kgo.SeedBrokers(c.ListenAddrs()...)}, "dead", "j")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = topic.Close() })
	return topic
}

func letters(t *testing.T, c *kfake.Cluster, n int) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics("dead"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var records []*kgo.Record
	for len(records) < n {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d letters of %d: %v", len(records), n, err)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

// C66, C69: the letter is the record as it was, and says why and where from.
func TestTopicKeepsLetters(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "dead"))
	topic := openTopic(t, cluster)
	tombstone := rejected(2, "")
	tombstone.Record.Value, tombstone.Record.Headers, tombstone.Field = nil, nil, ""
	value := []byte("v\xff")
	first := rejected(1, "")
	first.Record.Value = value
	if err := topic.Write(context.Background(), []record.Rejected{first, tombstone}); err != nil {
		t.Fatal(err)
	}
	copy(value, "??") // the source takes its buffer back
	if err := topic.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	first.Record.Value = []byte("v\xff")
	for i, m := range letters(t, cluster, 2) {
		l, err := ParseMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]record.Rejected{first, tombstone}[i], l.Rejected); diff != "" {
			t.Error(diff)
		}
		if l.Job != "j" || l.Time.IsZero() {
			t.Errorf("the letter is of job %q at %s", l.Job, l.Time)
		}
	}
}

func TestMessageOfADeadLetter(t *testing.T) {
	first := Letter{Rejected: rejected(1, "v"), Job: "one"}
	m := message("dead", first)
	m.Partition, m.Offset = 5, 9
	again := Letter{Job: "two", Rejected: record.Rejected{
		TopicPartition: record.TopicPartition{Topic: "dead", Partition: 5}, Reason: "still wrong",
		Record: record.Record{Offset: 9, Timestamp: time.UnixMilli(5), Key: m.Key, Value: m.Value},
	}}
	for _, h := range m.Headers {
		again.Record.Headers = append(again.Record.Headers, record.Header{Key: h.Key, Value: h.Value})
	}
	got, err := ParseMessage(message("dead", again))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(again, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseMessageRefuses(t *testing.T) {
	f := func(name, want string, change func(*kgo.Record)) {
		t.Run(name, func(t *testing.T) {
			m := message("dead", Letter{Rejected: rejected(1, "v"), Job: "j"})
			change(m)
			if _, err := ParseMessage(m); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	set := func(name, value string) func(*kgo.Record) {
		return func(m *kgo.Record) {
			for i := range m.Headers {
				if m.Headers[i].Key == name {
					m.Headers[i].Value = []byte(value)
				}
			}
		}
	}
	f("no headers", "is no dead letter", func(m *kgo.Record) { m.Headers = nil })
	f("other headers", "is no dead letter", func(m *kgo.Record) { m.Headers = m.Headers[:3] })
	f("a header is missing", "header firn.job is missing", func(m *kgo.Record) {
		m.Headers = m.Headers[:len(m.Headers)-1]
	})
	f("partition", "firn.partition", set(headerPartition, "2147483648"))
	f("offset", "firn.offset", set(headerOffset, "x"))
	f("timestamp", "firn.timestamp", set(headerTimestamp, ""))
}

// C67: what fails is not forgotten: Flush says so, and sends it again.
func TestTopicSendsAgain(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "dead"))
	topic := openTopic(t, cluster)
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord, Count: 1})
	if err := topic.Write(context.Background(), []record.Rejected{rejected(1, "a"), rejected(2, "b")}); err != nil {
		t.Fatal(err)
	}
	if err := topic.Flush(context.Background()); !errors.Is(err, kerr.InvalidRecord) {
		t.Fatalf("Flush gave %v", err)
	}
	if err := topic.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, m := range letters(t, cluster, 2) {
		l, err := ParseMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l.Record.Offset)
	}
	if diff := cmp.Diff([]int64{1, 2}, got); diff != "" {
		t.Error(diff)
	}
}

// While the broker is away Flush does not return nil.
func TestTopicWhileTheBrokerIsAway(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "dead"))
	topic := openTopic(t, cluster)
	hold := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, Count: -1})
	if err := topic.Write(context.Background(), []record.Rejected{rejected(1, "a")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := topic.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Flush gave %v", err)
	}
	hold.Remove()
	if err := topic.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	letters(t, cluster, 1)
}

// The topic's own limit counts, not the client's default.
func TestTopicTakesLargeLetters(t *testing.T) {
	cluster := newCluster(t, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "33554432"}))
	limit := map[string]string{"max.message.bytes": "4194304"}
	if err := cluster.CreateTopic("dead", 1, limit); err != nil {
		t.Fatal(err)
	}
	topic := openTopic(t, cluster)
	large := rejected(1, string(bytes.Repeat([]byte("x"), 3<<20)))
	if err := topic.Write(context.Background(), []record.Rejected{large}); err != nil {
		t.Fatal(err)
	}
	if err := topic.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	larger := rejected(2, string(bytes.Repeat([]byte("x"), 5<<20)))
	if err := topic.Write(context.Background(), []record.Rejected{larger}); err != nil {
		t.Fatal(err)
	}
	err := topic.Flush(context.Background())
	if !errors.Is(err, kerr.MessageTooLarge) || !strings.Contains(err.Error(), "raise max.message.bytes of topic dead") {
		t.Errorf("Flush gave %v", err)
	}
}

// C25: found at the start, not at the first letter.
func TestOpenTopicRefuses(t *testing.T) {
	user := func(operations ...kmsg.ACLOperation) []kfake.Opt {
		var acls []kfake.ACL
		for _, o := range operations {
			acls = append(acls, kfake.ACL{
				Resource: kmsg.ACLResourceTypeTopic, Name: "dead", Pattern: kmsg.ACLResourcePatternTypeLiteral,
				Operation: o, Allow: true,
			})
		}
		return []kfake.Opt{
			kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"),
			kfake.User("PLAIN", "u", "p", acls...), kfake.SeedTopics(1, "dead"),
		}
	}
	f := func(name, want string, opts ...kfake.Opt) {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, opts...)
			client := []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...)}
			if name != "missing" {
				client = append(client, kgo.SASL(login("u", "p")))
			}
			topic, err := OpenTopic(context.Background(), client, "dead", "j")
			if err == nil {
				defer func() { _ = topic.Close() }()
			}
			switch {
			case want == "" && err != nil:
				t.Error(err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	f("missing", "it does not exist")
	f("no right", "no right to write it", user()...)
	f("only to see it", "no right to write it", user(kmsg.ACLOperationDescribe)...)
	f("to write it", "", user(kmsg.ACLOperationDescribe, kmsg.ACLOperationWrite)...)
}

func login(user, password string) sasl.Mechanism {
	return plain.Auth{User: user, Pass: password}.AsMechanism()
}
