package e2e

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
	"firn/internal/table"
)

// admin gives a client that changes topics.
func admin(t *testing.T, broker string) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

// sequence gives the numbers in the table, in order.
func sequence(t *testing.T, j *job.Job) []int {
	t.Helper()
	rows, err := load(t, j).Peek(t.Context(), table.PeekOptions{Limit: 100_000, Columns: []string{"seq"}})
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]int, len(rows.Values))
	for i, row := range rows.Values {
		if err := json.Unmarshal(row[0], &numbers[i]); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// numbers is [from, to) in order.
func numbers(from, to int) []int {
	var list []int
	for n := from; n < to; n++ {
		list = append(list, n)
	}
	return list
}

// audited gives what the audit says became of the offsets, and fails when it found a fault.
func audited(t *testing.T, j *job.Job) table.AuditReport {
	t.Helper()
	report, err := load(t, j).Audit(t.Context(), j.Name, table.AuditOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Errorf("audit: %+v", report.Faults)
	}
	return report
}

// TestStartLatest leaves out what was there before the first start, and nothing that came while the job was down.
func TestStartLatest(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 3)
	produce(t, broker, topic, 0, 10)
	j := numberedJob(broker, topic, "e2e.latest", localCatalog(t))
	j.Source.Kafka.Start = "latest"
	file := jobFile(t, j)
	mustRun(t, BuildFirn(t), "run", file, "--until-caught-up")
	produce(t, broker, topic, 10, 25)
	mustRun(t, BuildFirn(t), "run", file, "--until-caught-up")
	if d := cmp.Diff(numbers(10, 25), sequence(t, j)); d != "" {
		t.Error(d)
	}
	audited(t, j)
}

// TestStartAtATime begins at the first record that is not older.
func TestStartAtATime(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 1)
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 6 { // one a day
		r := &kgo.Record{Value: numbered(n), Timestamp: day.AddDate(0, 0, n)}
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	j := numberedJob(broker, topic, "e2e.time", localCatalog(t))
	j.Source.Kafka.Start = day.AddDate(0, 0, 2).Add(time.Second).Format(time.RFC3339)
	mustRun(t, BuildFirn(t), "run", jobFile(t, j), "--until-caught-up")
	if d := cmp.Diff(numbers(3, 6), sequence(t, j)); d != "" {
		t.Error(d)
	}
}

// gap fills a table to offset 100, and removes the records below 150 of 200 from the topic.
func gap(t *testing.T, broker string, j *job.Job) (file string) {
	t.Helper()
	topic := j.Source.Kafka.Topics[0]
	produce(t, broker, topic, 0, 100)
	file = jobFile(t, j)
	mustRun(t, BuildFirn(t), "run", file, "--until-caught-up")
	produce(t, broker, topic, 100, 200)
	var below kadm.Offsets
	below.Add(kadm.Offset{Topic: topic, Partition: 0, At: 150, LeaderEpoch: -1})
	if _, err := admin(t, broker).DeleteRecords(t.Context(), below); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestGapContinues counts what retention removed (C22).
func TestGapContinues(t *testing.T) {
	broker := Kafka(t)
	j := numberedJob(broker, newTopic(t, broker, 1), "e2e.gap", localCatalog(t))
	mustRun(t, BuildFirn(t), "run", gap(t, broker, j), "--until-caught-up")
	if d := cmp.Diff(append(numbers(0, 100), numbers(150, 200)...), sequence(t, j)); d != "" {
		t.Error(d)
	}
	if n := audited(t, j).Counts.Expired; n != 50 {
		t.Errorf("%d offsets are counted as removed, want 50", n)
	}
}

// TestGapStops reads nothing behind it, however often it is started.
func TestGapStops(t *testing.T) {
	broker := Kafka(t)
	j := numberedJob(broker, newTopic(t, broker, 1), "e2e.gap", localCatalog(t))
	j.Source.Kafka.OnGap = "stop"
	file := gap(t, broker, j)
	for range 2 {
		said := mustFail(t, 1, "run", file, "--until-caught-up")
		if !strings.Contains(said, "records from offset 100 to 149, 50 of them at most, were removed by retention") ||
			!strings.Contains(said, "on_gap: continue") {
			t.Error(said)
		}
	}
	if d := cmp.Diff(numbers(0, 100), sequence(t, j)); d != "" {
		t.Error(d)
	}
}

// TestTopicMadeAfterTheStart waits for the topic and reads it whole (C24).
func TestTopicMadeAfterTheStart(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 1)
	deleteTopic(t, broker, topic)
	j := numberedJob(broker, topic, "e2e.later", localCatalog(t))
	cmd, log, url := startServing(t, jobFile(t, j))
	eventually(t, "that it waits", func() bool { return logged(t, log, regexp.MustCompile("waiting for it")) })
	makeTopic(t, broker, topic, 2)
	produce(t, broker, topic, 0, 40)
	eventually(t, "the rows", hasRows(t, url, 40))
	mustStop(t, cmd, log)
	mustHold(t, j, 40)
}

// TestPartitionsAddedWhileRunning reads them from their first record.
func TestPartitionsAddedWhileRunning(t *testing.T) {
	broker := Kafka(t)
	topic := newTopic(t, broker, 2)
	j := numberedJob(broker, topic, "e2e.added", localCatalog(t))
	j.Source.Kafka.Start = "latest" // is not meant for partitions that come later
	cmd, log, url := startServing(t, jobFile(t, j))
	eventually(t, "that it reads", func() bool { return logged(t, log, regexp.MustCompile("msg=reading ")) })
	produce(t, broker, topic, 0, 50)
	eventually(t, "the first rows", hasRows(t, url, 50))
	if _, err := admin(t, broker).CreatePartitions(t.Context(), 2, topic); err != nil {
		t.Fatal(err)
	}
	produce(t, broker, topic, 50, 200)
	eventually(t, "the rows of all partitions", hasRows(t, url, 200))
	mustStop(t, cmd, log)
	mustHold(t, j, 200)
	if n := len(audited(t, j).Ranges); n != 4 {
		t.Errorf("ranges of %d partitions, want 4", n)
	}
}

// TestTopicMadeAgainWhileRunning deletes the topic under the job and makes it anew, which gives it another id (C17).
func TestTopicMadeAgainWhileRunning(t *testing.T) {
	broker := Kafka(t)
	topic, j, cmd, log, url := runToRow20(t, broker, "restart")
	deleteTopic(t, broker, topic)
	makeTopic(t, broker, topic, 1)
	produce(t, broker, topic, 20, 35)
	eventually(t, "the rows of the new topic", hasRows(t, url, 35))
	mustStop(t, cmd, log)
	mustHold(t, j, 35)
}

// TestTopicMadeAgainStops is the same where the job file says to stop.
func TestTopicMadeAgainStops(t *testing.T) {
	broker := Kafka(t)
	topic, j, cmd, log, _ := runToRow20(t, broker, "stop")
	deleteTopic(t, broker, topic)
	makeTopic(t, broker, topic, 1)
	produce(t, broker, topic, 20, 35)
	err := cmd.Wait()
	if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(log.String(), "was deleted and made again") {
		t.Errorf("%v\n%s", err, log)
	}
	mustHold(t, j, 20)
}

// runToRow20 starts a job and waits for its first 20 rows.
func runToRow20(t *testing.T, broker, onRecreated string) (string, *job.Job, *exec.Cmd, *output, string) {
	t.Helper()
	topic := newTopic(t, broker, 1)
	j := numberedJob(broker, topic, "e2e.again", localCatalog(t))
	j.Source.Kafka.OnRecreated = onRecreated
	produce(t, broker, topic, 0, 20)
	cmd, log, url := startServing(t, jobFile(t, j))
	eventually(t, "the first rows", hasRows(t, url, 20))
	return topic, j, cmd, log, url
}

// deleteTopic deletes a topic and waits until the broker does not know it.
func deleteTopic(t *testing.T, broker, topic string) {
	t.Helper()
	a := admin(t, broker)
	if _, err := a.DeleteTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the topic", func() bool {
		topics, err := a.ListTopics(t.Context(), topic)
		return err == nil && topics[topic].Err != nil
	})
}

func makeTopic(t *testing.T, broker, topic string, partitions int32) {
	t.Helper()
	if _, err := admin(t, broker).CreateTopic(t.Context(), partitions, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}
