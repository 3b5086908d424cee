package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"firn/internal/job"
)

const (
	userName     = "firn"
	userPassword = "a secret"
)

// guardedBroker starts a broker with an authorizer. It has a listener for its admin, who may do everything, and one
// on which the user userName logs in by SASL PLAIN, who may do nothing yet.
func guardedBroker(t *testing.T) (adminAddress, userAddress string) {
	t.Helper()
	Kafka(t) // skips where no broker can be had
	dir := t.TempDir()
	script := func(args ...string) {
		var log bytes.Buffer
		path := filepath.Join(checkout(t), "e2e", "components", "kafka.sh")
		cmd := exec.Command("bash", append([]string{path}, args...)...)
		cmd.Stderr, cmd.Env = &log, append(cmd.Environ(), "KAFKA_HEAP=256m")
		if err := cmd.Run(); err != nil {
			t.Fatalf("kafka.sh %v: %v\n%s", args, err, log.String())
		}
	}
	ports := freePorts(t, 3)
	adminAddress, userAddress = "127.0.0.1:"+ports[0], "127.0.0.1:"+ports[1]
	script("start", "--dir", dir, "--port", ports[0],
		"controller.quorum.voters=1@127.0.0.1:"+ports[2],
		fmt.Sprintf("listeners=PLAINTEXT://%s,SASL_PLAINTEXT://%s,CONTROLLER://127.0.0.1:%s",
			adminAddress, userAddress, ports[2]),
		fmt.Sprintf("advertised.listeners=PLAINTEXT://%s,SASL_PLAINTEXT://%s", adminAddress, userAddress),
		"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
		"sasl.enabled.mechanisms=PLAIN",
		fmt.Sprintf("listener.name.sasl_plaintext.plain.sasl.jaas.config="+
			"org.apache.kafka.common.security.plain.PlainLoginModule required user_%s=%q;", userName, userPassword),
		"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users=User:ANONYMOUS")
	t.Cleanup(func() { script("stop", "--dir", dir) })
	return adminAddress, userAddress
}

// freePorts gives ports that nobody listens on now. They lie below the range from which the kernel serves outgoing
// connections, so that none of those takes one before the broker does.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	var ports []string
	for try := 0; len(ports) < n; try++ {
		if try == 100 {
			t.Fatal("no free ports between 20000 and 29000")
		}
		port := strconv.Itoa(20_000 + rand.IntN(9000))
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		defer func() { _ = l.Close() }() // all are held until the last is found
		ports = append(ports, port)
	}
	return ports
}

// TestRights gives the user one right after the other. What is missing is named each time, and by check as well as by
// run; with the last one the job runs (C25).
func TestRights(t *testing.T) {
	adminAddress, userAddress := guardedBroker(t)
	topic := newTopic(t, adminAddress, 1)
	produce(t, adminAddress, topic, 0, 10)
	j := numberedJob(userAddress, topic, "e2e.rights", localCatalog(t))
	login := &j.Source.Kafka.SASL
	login.Mechanism, login.Username, login.PasswordFile = "PLAIN", userName, secretFile(t, "wrong")
	fails := func(want ...string) {
		t.Helper()
		for _, command := range [][]string{{"run", jobFile(t, j), "--until-caught-up"}, {"check", jobFile(t, j)}} {
			var out, log bytes.Buffer
			cmd := exec.Command(BuildFirn(t), command...)
			cmd.Stdout, cmd.Stderr = &out, &log
			if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("firn %s: %v, want exit code 1", command[0], err)
			}
			for _, w := range want {
				if said := out.String() + log.String(); !strings.Contains(said, w) {
					t.Errorf("firn %s does not say %q:\n%s", command[0], w, said)
				}
			}
		}
	}
	fails("check source.kafka.sasl: the brokers do not accept the user or the secret")
	login.PasswordFile = secretFile(t, userPassword)
	fails("kafka source, topic "+topic+": no right to Describe the topic", "allow the job's user the operation Describe")
	allow(t, adminAddress, right{topic: topic, operation: kadm.OpDescribe})
	fails("no right to Read the topic")
	allow(t, adminAddress, right{topic: topic, operation: kadm.OpRead})
	fails("group " + j.Source.Kafka.Group)
	allow(t, adminAddress, right{group: j.Source.Kafka.Group, operation: kadm.OpRead})
	mustRun(t, BuildFirn(t), "check", jobFile(t, j))
	mustRun(t, BuildFirn(t), "run", jobFile(t, j), "--until-caught-up")
	mustHold(t, j, 10)

	letters := newTopic(t, adminAddress, 1)
	allow(t, adminAddress, right{topic: letters, operation: kadm.OpDescribe})
	j.Errors = job.Errors{Policy: "dead_letter", DeadLetter: job.DeadLetter{Topic: letters}}
	said := mustFail(t, 1, "run", jobFile(t, j), "--until-caught-up")
	if !strings.Contains(said, "opening dead letter topic "+letters+": no right to write it") {
		t.Error(said)
	}
}

// secretFile keeps a secret as a job file names it.
func secretFile(t *testing.T, secret string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// right is one on a topic or a group.
type right struct {
	topic, group string
	operation    kadm.ACLOperation
}

// allow gives the user a right.
func allow(t *testing.T, adminAddress string, o right) {
	t.Helper()
	b := kadm.NewACLs().Allow("User:" + userName).AllowHosts("*").ResourcePatternType(kadm.ACLPatternLiteral).
		Operations(o.operation)
	if o.topic != "" {
		b = b.Topics(o.topic)
	} else {
		b = b.Groups(o.group)
	}
	a := admin(t, adminAddress)
	results, err := a.CreateACLs(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	eventually(t, "the right", func() bool { // the authorizer learns of it from the metadata log
		found, err := a.DescribeACLs(t.Context(), b)
		return err == nil && len(found) > 0 && len(found[0].Described) > 0
	})
}
