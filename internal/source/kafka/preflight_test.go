package kafka

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// C25: every right is looked at before the first record.
func TestPreflightChecksRights(t *testing.T) {
	allow := func(kind kmsg.ACLResourceType, name string, operation kmsg.ACLOperation) kfake.ACL {
		return kfake.ACL{
			Resource: kind, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: operation, Allow: true,
		}
	}
	describe := allow(kmsg.ACLResourceTypeTopic, "orders", kmsg.ACLOperationDescribe)
	read := allow(kmsg.ACLResourceTypeTopic, "orders", kmsg.ACLOperationRead) // implies Describe
	group := allow(kmsg.ACLResourceTypeGroup, "g", kmsg.ACLOperationRead)
	f := func(name string, want []string, acls ...kfake.ACL) {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"),
				kfake.User("PLAIN", "u", "p", acls...), kfake.SeedTopics(1, "orders"))
			s := newSource(t, cluster.ListenAddrs(), func(c *Config) {
				c.Group = "g"
				c.Client = append(c.Client, kgo.SASL(plain.Auth{User: "u", Pass: "p"}.AsMechanism()))
			})
			err := s.Preflight(patient(t))
			if len(want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || errors.Is(err, ErrUnreachable) {
				t.Fatalf("Preflight gave %v", err)
			}
			for _, part := range want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Preflight gave %v, want %q", err, part)
				}
			}
		})
	}
	f("all of them", nil, read, group)
	f("none", []string{"no right to Describe the topic"})
	f("not to read, nor the group", []string{
		"no right to Read the topic", "allow the job's user the operation Read on topic orders", "group g",
	}, describe)
	f("not the group", []string{"no right to move the offsets of group g"}, read)
}

// A user that the brokers do not know is no reason to wait.
func TestPreflightOfAWrongPassword(t *testing.T) {
	cluster := newCluster(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p"))
	cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		response := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		response.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return response, nil, true
	})
	s := newSource(t, cluster.ListenAddrs(), func(c *Config) {
		c.Client = append(c.Client, kgo.SASL(plain.Auth{User: "u", Pass: "wrong"}.AsMechanism()))
	})
	err := s.Preflight(patient(t))
	if !errors.Is(err, kerr.SaslAuthenticationFailed) || errors.Is(err, ErrUnreachable) ||
		!strings.Contains(err.Error(), "check source.kafka.sasl: the brokers do not accept the user or the secret") {
		t.Errorf("Preflight gave %v", err)
	}
}

func TestPreflightOfAMissingTopic(t *testing.T) {
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"))
	var log logged
	s := newLoggedSource(t, cluster.ListenAddrs(), log.logger(), func(c *Config) {
		c.Topics, c.Group = []string{"orders", "later"}, "g"
	})
	if err := s.Preflight(patient(t)); err != nil {
		t.Fatal(err)
	}
	if n := log.count("topic does not exist, waiting for it\" topic=later"); n != 1 {
		t.Errorf("%d lines name the missing topic, want 1", n)
	}
	if got := groupOffsets(t, newClient(t, cluster.ListenAddrs()), "g"); len(got) > 0 {
		t.Errorf("looking at the rights moved the group: %v", got)
	}
}

func TestPreflightUnreachable(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	err := newSource(t, []string{freeAddress(t)}, nil).Preflight(ctx)
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "dial tcp") {
		t.Errorf("Preflight gave %v", err)
	}
	canceled, stop := context.WithCancel(context.Background())
	stop()
	if err := newSource(t, []string{freeAddress(t)}, nil).Preflight(canceled); errors.Is(err, ErrUnreachable) ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("a canceled Preflight gave %v", err)
	}
}

// A broker that comes up within the time is waited for.
func TestPreflightWaits(t *testing.T) {
	address := freeAddress(t)
	s := newSource(t, []string{address}, nil)
	done := make(chan error, 1)
	go func() { done <- s.Preflight(patient(t)) }()
	newCluster(t, kfake.Ports(port(t, address)), kfake.SeedTopics(1, "orders"))
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// freeAddress is an address that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
