package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"go.uber.org/goleak"

	"firn/internal/fault"
	"firn/internal/metric"
	"firn/internal/pipeline"
	"firn/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is what outlives a process: the source, the table and the dead letters.
type world struct {
	log     *fault.Log
	table   *fault.Table
	letters *fault.Letters
}

func newWorld() *world {
	return &world{log: fault.NewLog("cluster-1"), table: fault.NewTable(), letters: &fault.Letters{}}
}

// process is one process with its parts; plan fails one of its operations.
func (w *world) process(plan *fault.Plan) (pipeline.Config, *metric.Job) {
	w.log.Plan, w.letters.Plan = plan, plan
	m := metric.NewJob("test", nil)
	return pipeline.Config{
		Source: w.log, NewDecoder: func() (pipeline.Decoder, error) { return fault.Text{}, nil },
		Writer: fault.NewWriter(w.table, plan, uuid.NewString()), Committer: &fault.Committer{Table: w.table, Plan: plan},
		DeadLetters: w.letters, Schema: fault.TextSchema(), Metrics: m, Log: slog.New(slog.DiscardHandler),
		Workers: 2, CommitInterval: time.Millisecond, MetadataInterval: 2 * time.Millisecond,
		ShutdownTimeout: time.Minute, MemoryBytesMax: 1 << 20, NewID: uuid.NewString,
		RestartRecreated: true,
	}, m
}

// runUntil runs the pipeline until the condition holds, and ends it then.
func runUntil(t *testing.T, c pipeline.Config, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- pipeline.New(c).Run(ctx) }()
	eventually(t, what, done)
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := c.Writer.BufferedBytes(); n != 0 {
		t.Errorf("%d bytes are still buffered", n)
	}
}

// eventually polls a condition for up to a minute.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("never came: %s", what)
		case <-tick.C:
		}
	}
}

func values(prefix string, from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("%s%d", prefix, i))
	}
	return out
}

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return all
}

func mustRows(t *testing.T, w *world, want []string) {
	t.Helper()
	if d := cmp.Diff(want, w.table.Rows()); d != "" {
		t.Errorf("rows: %s", d)
	}
}

func TestEveryRecordOnceAndTheEndIsCommitted(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-a", 3)
	for p := range 3 {
		w.log.Append("a", p, fault.Sequence(fmt.Sprintf("a%d-", p), 100)...)
	}
	c, _ := w.process(nil)
	c.CommitInterval = time.Hour // so that only the last commit can hold them
	runUntil(t, c, "all is read", func() bool { return c.Metrics.Summary().Records == 300 })
	mustRows(t, w, sorted(values("a0-", 0, 100), values("a1-", 0, 100), values("a2-", 0, 100)))
	if d := cmp.Diff(w.table.Floor(), w.log.Acknowledged()); d != "" {
		t.Errorf("what the source was shown: %s", d)
	}
}

func TestUntilCaughtUpEndsByItself(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-a", 2)
	w.log.Append("a", 0, fault.Sequence("x", 10)...)
	c, m := w.process(nil)
	c.UntilCaughtUp = true
	if err := pipeline.New(c).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustRows(t, w, sorted(values("x", 0, 10)))
	if lag := m.Summary().LagRecords; lag != 0 { // C29, C32
		t.Errorf("lag %d", lag)
	}
	if c := m.Summary().Commits; c.Bytes != 100*c.Files || c.Files == 0 {
		t.Errorf("%d bytes in %d files of 100", c.Bytes, c.Files)
	}
	if err := pipeline.New(c).Run(t.Context()); err != nil { // nothing more to do
		t.Fatal(err)
	}
}

// C24, C80: a topic that appears later and partitions added to it are read from their first record.
func TestTopicsAndPartitionsThatAppearLater(t *testing.T) {
	w := newWorld()
	c, _ := w.process(nil)
	step := 0
	runUntil(t, c, "all three", func() bool {
		switch n := len(w.table.Rows()); {
		case step == 0:
			w.log.Create("late", "id-1", 1)
			w.log.Append("late", 0, fault.Sequence("p", 5)...)
			step++
		case step == 1 && n == 5:
			w.log.AddPartitions("late", 1)
			w.log.Append("late", 1, fault.Sequence("q", 5)...)
			step++
		case step == 2 && n == 10:
			return true
		}
		return false
	})
	mustRows(t, w, sorted(values("p", 0, 5), values("q", 0, 5)))
}

// C24: start says where topics begin that the job has never seen; what comes to them later is read whole, also when it
// came while no process ran.
func TestStartLatestSkipsOnlyWhatWasThereAtFirst(t *testing.T) {
	w := newWorld()
	w.log.StartLatest = true
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("old", 5)...)
	c, _ := w.process(nil)
	added := false
	runUntil(t, c, "a partition that was added", func() bool {
		if !added && len(w.table.Floor()) > 0 {
			w.log.Append("a", 0, fault.Sequence("x", 2)...)
			w.log.AddPartitions("a", 1)
			w.log.Append("a", 1, fault.Sequence("y", 3)...)
			added = true
		}
		return len(w.table.Rows()) == 5
	})
	w.log.AddPartitions("a", 1)
	w.log.Append("a", 2, fault.Sequence("z", 4)...)
	c, _ = w.process(nil)
	runUntil(t, c, "a partition that was added while it was down", func() bool { return len(w.table.Rows()) == 9 })
	mustRows(t, w, sorted(values("x", 0, 2), values("y", 0, 3), values("z", 0, 4)))
}

// C17, C78: offsets of a topic that was made again are other records.
func TestTopicMadeAgainIsReadFromItsStart(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("old", 5)...)
	c, _ := w.process(nil)
	again := false
	runUntil(t, c, "both incarnations", func() bool {
		n := len(w.table.Rows())
		if n == 5 && !again {
			w.log.Delete("a")
			w.log.Create("a", "id-2", 1)
			w.log.Append("a", 0, fault.Sequence("new", 3)...)
			again = true
		}
		return n == 8
	})
	mustRows(t, w, sorted(values("old", 0, 5), values("new", 0, 3)))
}

func TestPolicyRefusesOtherTopicsAndClusters(t *testing.T) {
	f := func(name string, change func(*world, *pipeline.Config), want string) {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.log.Create("a", "id-1", 1)
			w.log.Append("a", 0, fault.Sequence("x", 3)...)
			c, _ := w.process(nil)
			runUntil(t, c, "first rows", func() bool { return len(w.table.Rows()) == 3 })
			c, _ = w.process(nil)
			change(w, &c)
			err := pipeline.New(c).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
			mustRows(t, w, values("x", 0, 3))
		})
	}
	f("topic made again", func(w *world, c *pipeline.Config) {
		w.log.Create("a", "id-2", 1)
		c.RestartRecreated = false
	}, "topic a was deleted and made again")
	f("another cluster", func(w *world, _ *pipeline.Config) { w.log.ClusterID = "cluster-2" }, // C21
		"the table was filled from Kafka cluster cluster-1 and the brokers are cluster cluster-2")
}

// C22, C23: what retention removed is counted and passed, not waited for.
func TestExpiredOffsetsAreCountedAndPassed(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("x", 4)...)
	c, _ := w.process(nil)
	runUntil(t, c, "first rows", func() bool { return len(w.table.Rows()) == 4 })
	w.log.Append("a", 0, fault.Sequence("y", 10)...)
	w.log.Expire("a", 0, 9)
	c, m := w.process(nil)
	runUntil(t, c, "the rest", func() bool { return len(w.table.Rows()) == 9 })
	mustRows(t, w, sorted(values("x", 0, 4), values("y", 5, 10)))
	if gaps := m.Summary().Gaps; gaps.Offsets != 5 || gaps.Last[0].From != 4 || gaps.Last[0].To != 9 {
		t.Errorf("gaps %+v", gaps)
	}
}

// C30, C69: control records and tombstones move the position.
func TestControlRecordsAndTombstonesMoveThePosition(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, record.Record{Value: []byte("x0")}, record.Record{Control: true}, record.Record{})
	c, m := w.process(nil)
	c.UntilCaughtUp = true
	if err := pipeline.New(c).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustRows(t, w, values("x", 0, 1))
	if next, _ := w.table.Floor().Next(record.TopicPartition{Topic: "a"}); next != 3 {
		t.Errorf("floor %d, want 3", next)
	}
	if s := m.Summary(); s.Tombstones != 1 || s.Records != 2 {
		t.Errorf("%d tombstones of %d records", s.Tombstones, s.Records)
	}
}

// C66: one bad record does not stop the others, and is kept.
func TestRejectedRecordsGoAside(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, valued("x0", "bad1", "x1")...)
	c, _ := w.process(nil)
	c.UntilCaughtUp = true
	if err := pipeline.New(c).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustRows(t, w, values("x", 0, 2))
	if w.letters.Durable() != 1 {
		t.Errorf("%d dead letters", w.letters.Durable())
	}
}

func TestRejectedRecordStopsTheJobByDefault(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, record.Record{Value: []byte("x0")}, record.Record{Value: []byte("bad1")})
	c, _ := w.process(nil)
	c.DeadLetters = nil
	err := pipeline.New(c).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "record at a/0 offset 1 cannot become a row: it begins with bad") {
		t.Errorf("error %v", err)
	}
	if next, _ := w.table.Floor().Next(record.TopicPartition{Topic: "a"}); next > 1 {
		t.Errorf("the floor %d passed the record", next)
	}
}

// Another replica commits what this one has read: its own flush is rejected and it goes on from the floor.
func TestFlushThatSomeoneElseCommittedIsDropped(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 1)
	w.log.Append("a", 0, fault.Sequence("x", 5)...)
	c, _ := w.process(nil)
	hold := make(chan struct{})
	c.Committer = &fault.Committer{Table: w.table, Hold: hold}
	moved := false
	runUntil(t, c, "the rest", func() bool {
		if !moved && c.Metrics.Summary().Records == 5 {
			other := w.table.Floor()
			other["a"].Next[0] = 4
			w.table.SetFloor(other)
			close(hold)
			moved = true
		}
		return len(w.table.Rows()) == 1
	})
	mustRows(t, w, values("x", 4, 5))
}

// C37: while no commit lands, reading stops when what was read and is not in files has reached the memory limit.
func TestSlowCommitHoldsTheReadingBack(t *testing.T) {
	w := newWorld()
	w.log.Create("a", "id-1", 2)
	const valueBytes = 1000
	big := strings.Repeat("v", valueBytes)
	for p := range 2 {
		w.log.Append("a", p, fault.Sequence(fmt.Sprintf("%d%s", p, big), 2000)...)
	}
	c, _ := w.process(nil)
	c.MemoryBytesMax = 100_000
	hold := make(chan struct{})
	var inFiles atomic.Int64
	commit := (&fault.Committer{Table: w.table, Hold: hold}).Commit
	setCommit(&c, func(ctx context.Context, sealed []record.Sealed) (pipeline.Outcome, error) {
		inFiles.Add(sealed[0].Counts.Rows * valueBytes)
		return commit(ctx, sealed, nil)
	})
	var stuck int64
	same := 0
	runUntil(t, c, "everything after the hold", func() bool {
		if n := w.log.ReadBytes(); hold != nil && n > 0 && n == stuck {
			same++
		} else {
			stuck, same = n, 0
		}
		if same == 50 { // it has not read on for a while
			if held := stuck - inFiles.Load(); held > c.MemoryBytesMax {
				t.Errorf("%d bytes are held against a limit of %d", held, c.MemoryBytesMax)
			}
			close(hold)
			hold, same = nil, 0
		}
		return len(w.table.Rows()) == 4000
	})
}

// The n-th operation fails, for every n, before or after it took effect; the process dies of it or goes on; it is
// started again until it is done. Then every record is in the table once (C01, C08, C13, C15).
func TestFaultSweep(t *testing.T) {
	build := func() *world {
		w := newWorld()
		w.log.Create("a", "id-a", 2)
		w.log.Append("a", 0, fault.Sequence("x", 20)...)
		w.log.Append("a", 1, append(fault.Sequence("y", 7), record.Record{Value: []byte("bad1")})...)
		return w
	}
	finish := func(w *world, plan *fault.Plan) {
		for range 10 {
			c, _ := w.process(plan)
			c.UntilCaughtUp = true
			err := pipeline.New(c).Run(t.Context())
			w.letters.Crash()
			if err == nil {
				return
			}
			if !errors.Is(err, fault.ErrInjected) {
				t.Fatal(err)
			}
		}
		t.Fatal("it never finished")
	}
	count := &fault.Plan{}
	finish(build(), count)
	for at := 1; at <= count.Count(); at++ {
		for _, after := range []bool{false, true} {
			w := build()
			finish(w, &fault.Plan{At: at, After: after})
			if d := cmp.Diff(sorted(values("x", 0, 20), values("y", 0, 7)), w.table.Rows()); d != "" {
				t.Fatalf("operation %d, after %t: %s", at, after, d)
			}
			if w.letters.Durable() != 1 {
				t.Fatalf("operation %d, after %t: %d dead letters", at, after, w.letters.Durable())
			}
		}
	}
	t.Logf("%d operations failed in turn", count.Count())
}
