package iceberg

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"firn/internal/decode"
	"firn/internal/fault"
	"firn/internal/metric"
	"firn/internal/parquet"
	"firn/internal/pipeline"
	"firn/internal/record"
	"firn/internal/table"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"))
}

// planned is a store of which every creation, write and close asks the plan.
func planned(next table.Store, plan *fault.Plan) func(context.Context, string) (io.WriteCloser, error) {
	store := fault.Store[table.File]{Next: next, Plan: plan}
	return func(ctx context.Context, path string) (io.WriteCloser, error) {
		w, err := store.Create(ctx, path)
		return plannedWriter{w, plan}, err
	}
}

type plannedWriter struct {
	io.WriteCloser
	plan *fault.Plan
}

func (w plannedWriter) Write(p []byte) (n int, err error) {
	err = w.plan.Do("write", func() error {
		n, err = w.WriteCloser.Write(p)
		return err
	})
	return n, err
}

// job runs a whole pipeline from the log into the table, until it has caught up. The store of data files asks the plan.
func (l *lake) job(t *testing.T, log *fault.Log, plan *fault.Plan, memoryBytesMax int64) error {
	t.Helper()
	target := l.target()
	target.Create = planned(l.table.Store(), plan)
	w, err := NewWriter(target, Options{
		Parquet: parquet.DefaultOptions(), FileBytesMax: 1 << 20, SealersMax: 2, StoreTriesMax: 1, NewID: uuid.NewString,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer mustHoldNothing(t, w)
	return pipeline.New(pipeline.Config{
		Source: log, Writer: w, Committer: l.committer(t), Schema: target.Schema,
		NewDecoder: func() (pipeline.Decoder, error) { return decode.NewJSON(target.Schema, decode.DefaultJSONOptions()) },
		Metrics:    metric.NewJob("job", nil), Log: slog.New(slog.DiscardHandler), Workers: 2, MemoryBytesMax: memoryBytesMax,
		CommitInterval: time.Hour, MetadataInterval: time.Hour, ShutdownTimeout: time.Minute, UntilCaughtUp: true,
		NewID: uuid.NewString,
	}).Run(t.Context())
}

// The n-th operation on the store of data files fails, for every n, before or after it took effect, and the job ends
// of it, or goes on when it was a file that is stored early. It is started again, and then every record is in the table
// once (C01, C13).
func TestStoreFaultSweepOfAWholeJob(t *testing.T) {
	const fileBytes = 25 << 10 // that an open file takes which has but a row
	t.Run("with room", func(t *testing.T) { sweepJob(t, 1<<30, 3) })
	t.Run("with room for three files", func(t *testing.T) { sweepJob(t, 6*fileBytes, 6) })
}

// sweepJob fails the operations of jobs of which at least so many files come out.
func sweepJob(t *testing.T, memoryBytesMax int64, filesMin int) {
	const rows = 24
	build := func() (*lake, *fault.Log) {
		log := fault.NewLog("cluster-1")
		log.Create("topic", "id-1", 2)
		for n, message := range everyMessages(0, rows) {
			log.Append("topic", n%2, record.Record{Value: []byte(message)})
		}
		return newLake(t, everySchema(t), "bucket(id, 3)"), log
	}
	count := &fault.Plan{}
	l, log := build()
	if err := l.job(t, log, count, memoryBytesMax); err != nil {
		t.Fatal(err)
	}
	l.mustHold(t, rows)
	if count.Count() < 3*filesMin { // each is created, written and closed
		t.Fatalf("%d operations", count.Count())
	}
	for at := 1; at <= count.Count(); at++ {
		sides := []bool{false, true}
		if filesMin > 3 { // many operations are alike
			sides = []bool{at%2 == 0}
		}
		for _, after := range sides {
			l, log := build()
			plan := &fault.Plan{At: at, After: after}
			err := l.job(t, log, plan, memoryBytesMax)
			if early := err == nil && filesMin > 3; !early && !errors.Is(err, fault.ErrInjected) {
				t.Fatalf("operation %d, after %t: error %v", at, after, err)
			}
			if err := l.job(t, log, plan, memoryBytesMax); err != nil {
				t.Fatalf("operation %d, after %t, started again: %v", at, after, err)
			}
			l.mustHold(t, rows)
		}
	}
	t.Logf("%d operations failed in turn", count.Count())
}
