package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"firn/internal/fault"
)

// TestFirstSignalCommitsAndSecondEndsAtOnce holds the last commit back by a proxy: the first signal waits for it, the
// second does not, and nothing is lost or doubled.
func TestFirstSignalCommitsAndSecondEndsAtOnce(t *testing.T) {
	broker, upstream, binary := Kafka(t), RESTCatalog(t), BuildFirn(t)
	topic := newTopic(t, broker, 2)
	name := fmt.Sprintf("e2e.signal_%d", time.Now().UnixNano())
	hold := make(chan struct{})
	var reached sync.Once
	held := make(chan struct{})
	proxy, err := fault.NewCatalog(upstream, func(n int, _ *http.Request) fault.Fate {
		if n < 4 { // the probe, the starts of the partitions, the first rows
			return fault.Pass()
		}
		reached.Do(func() { close(held) })
		return fault.Fate{Forward: true, Reply: true, Hold: hold}
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(proxy)
	defer server.Close()
	file := writeJob(t, broker, topic, name, fmt.Sprintf("{type: rest, uri: %q}", server.URL), "")

	// A commit hangs: the second signal ends it.
	produce(t, broker, topic, 0, 100)
	cmd, log := start(t, binary, "run", file)
	sent := feed(t, broker, topic, 100, held)
	signal(t, cmd, syscall.SIGTERM)
	signalUntilEnd(t, cmd, syscall.SIGTERM)
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 143 {
		t.Fatalf("second signal: %v\n%s", err, log)
	}

	// Nothing hangs: the first signal commits what was read and exits with 0.
	close(hold)
	cmd, log = start(t, binary, "run", file)
	eventually(t, "it reads", func() bool { return strings.Contains(log.String(), "msg=reading") })
	produce(t, broker, topic, sent, sent+100)
	sent += 100
	signal(t, cmd, syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("first signal: %v\n%s", err, log)
	}
	mustRun(t, binary, "run", file, "--until-caught-up")
	mustHoldNumbered(t, binary, file, name, upstream, sent)
	if errs := proxy.Wait(); len(errs) > 0 {
		t.Log(errs) // the killed process's connection
	}
}

// feed sends numbered messages until the channel is closed, and returns the next number.
func feed(t *testing.T, broker, topic string, from int, until <-chan struct{}) int {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		produce(t, broker, topic, from, from+50)
		from += 50
		select {
		case <-until:
			return from
		case <-deadline:
			t.Fatal("no commit was held back")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func signal(t *testing.T, cmd *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// signalUntilEnd repeats the signal until the process has ended: two signals at once may arrive as one.
func signalUntilEnd(t *testing.T, cmd *exec.Cmd, s syscall.Signal) {
	t.Helper()
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if cmd.Process.Signal(s) != nil {
				return
			}
		}
	}()
}
