package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// kills is how often a process is killed in one run; FIRN_KILLS sets another number.
func kills(t *testing.T) int {
	n := 200
	if text := os.Getenv("FIRN_KILLS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("FIRN_KILLS: %v", err)
		}
	}
	return n
}

// writeJob writes a job file for the numbered messages and returns its path.
func writeJob(t *testing.T, broker, topic, table, catalog, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.yaml")
	text := fmt.Sprintf(`name: numbered
kind: kafka-to-iceberg
source:
  kafka:
    brokers: [%q]
    topics: [%q]
    metadata_interval: 1s
decode:
  schema:
    fields:
      - {name: seq, type: long, required: true}
      - {name: text, type: string}
sink:
  iceberg:
    catalog: %s
    table: %s
    partition: ["bucket(seq, 8)"]
    commit_interval: 200ms
%s`, broker, topic, catalog, table, more)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts the binary; what it logs is shown when the test fails.
func start(t *testing.T, binary string, args ...string) (*exec.Cmd, *output) {
	t.Helper()
	log := &output{}
	cmd := exec.Command(binary, args...)
	cmd.Stderr, cmd.Stdout = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, log
}

// output is what a process has printed so far. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String is all of it.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// mustRun runs the binary to its end and returns what it printed.
func mustRun(t *testing.T, binary string, args ...string) []byte {
	t.Helper()
	var out, log bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("firn %v: %v\n%s%s", args, err, out.String(), log.String())
	}
	return out.Bytes()
}

// restless has small files joined, snapshots expired and their files deleted all the time.
const restless = `    target_file_size: 64KiB
    rollup: {max_age: 1s}
    expire: {keep: 20, delete_after: 20s}
`

// TestKilledAtRandomInstants kills the process again and again while messages come in, small files are joined and old
// snapshots expire, and then lets it finish: every message is in the table once, by other readers' counting and by the
// audit (C01, C13). One reader scans all the time, and never sees a message missing or twice, or a file that is gone.
func TestKilledAtRandomInstants(t *testing.T) {
	broker, catalog, binary := Kafka(t), RESTCatalog(t), BuildFirn(t)
	topic := newTopic(t, broker, 8)
	table := fmt.Sprintf("e2e.kill_%d", time.Now().UnixNano())
	job := writeJob(t, broker, topic, table, fmt.Sprintf("{type: rest, uri: %q}", catalog), restless)
	sent, n := 0, kills(t)
	stop := scanAllTheTime(t, Query{Catalog: catalog, Table: table, Column: "seq"})
	for i := range n {
		produce(t, broker, topic, sent, sent+1000)
		sent += 1000
		cmd, log := start(t, binary, "run", job)
		// From before it has connected to well into steady work: it starts in about half a second.
		alive := time.NewTimer(time.Duration(rand.IntN(1500)) * time.Millisecond)
		<-alive.C
		if err := cmd.Process.Kill(); err != nil {
			t.Fatalf("kill %d: it had ended before: %v\n%s", i, err, log)
		}
		var ended *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &ended) || ended.Exited() {
			t.Fatalf("kill %d: it ended by itself: %v\n%s", i, err, log)
		}
	}
	mustRun(t, binary, "run", job, "--until-caught-up")
	scans := stop()
	mustHoldNumbered(t, binary, job, table, catalog, sent)
	rewrites := mustHaveRolledUp(t, binary, job, table)
	t.Logf("%d messages, killed %d times, %d scans beside it, %d roll-ups in the last snapshots", sent, n, scans, rewrites)
}
