package bigquery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"firn/internal/decode"
	double "firn/internal/fault/bigquery"
	"firn/internal/pipeline"
	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// world is a BigQuery with a table of a number and a short text, brokers with a topic for intents, and a source of one
// partition whose record n is the row n.
type world struct {
	t       *testing.T
	server  *double.Server
	client  *Client
	brokers *kfake.Cluster
	table   *storagepb.TableSchema
	rows    *record.Schema
	refused letters

	ends *kfake.FaultHandle // of the ends of transactions; nil when there was none

	mu sync.Mutex // guards what faults count
}

const intentTopic = "intents"

var (
	shortText = sized(columnOf("s", storagepb.TableFieldSchema_STRING), 0, 0, 5)
	source    = record.TopicPartition{Topic: "orders", Partition: 0}
	identity  = record.Identity{ClusterID: "c", TopicID: "t"}
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, table: tableWith(columnOf("n", storagepb.TableFieldSchema_INT64), shortText)}
	w.server, w.client = doubleOf(t)
	if _, err := w.client.CreateTable(t.Context(), testTable, TableSpec{Schema: w.table}); err != nil {
		t.Fatal(err)
	}
	w.rows = recordSchemaOf(t, w.table)
	var err error
	if w.brokers, err = kfake.NewCluster(kfake.NumBrokers(1)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.brokers.Close)
	compact := map[string]string{"cleanup.policy": "compact"}
	if err := w.brokers.CreateTopic(intentTopic, 1, compact); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) kafka() []kgo.Opt { return []kgo.Opt{kgo.SeedBrokers(w.brokers.ListenAddrs()...)} }

func (w *world) committer(job string) *Committer {
	w.t.Helper()
	k, err := NewCommitter(w.client, IntentLogOptions{
		Client: w.kafka(), Topic: intentTopic, Job: job, Timeout: 20 * time.Second,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(k.intents.close)
	return k
}

func (w *world) writer(o WriterOptions) *Writer {
	w.t.Helper()
	made, err := NewWriter(w.client, testTable, w.rows, w.table, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(made.Close)
	return made
}

// small is options by which a few rows make several requests.
func (w *world) small() WriterOptions {
	o := DefaultWriterOptions()
	o.Lanes, o.Refused, o.Limits = 3, &w.refused, Limits{Bytes: 40, BytesMax: 1000}
	return o
}

// batch is rows [from, to); text gives the text of each.
func (w *world) batch(from, to int64, text func(n int64) string) *record.Batch {
	w.t.Helper()
	d, err := decode.NewJSON(w.rows, decode.DefaultJSONOptions())
	if err != nil {
		w.t.Fatal(err)
	}
	block := &record.Block{TopicPartition: source}
	for n := from; n < to; n++ {
		value := fmt.Appendf(nil, `{"n":%d,"s":%q}`, n, text(n))
		block.Records = append(block.Records, record.Record{Offset: n, Value: value})
	}
	b := record.NewBatch(w.rows)
	d.Decode(block, b)
	if int64(b.Rows) != to-from {
		w.t.Fatalf("rejected: %+v", b.Rejected)
	}
	return b
}

func plain(int64) string { return "ok" }

// visible asserts that a query sees the rows below end, each once, but for those of except.
func (w *world) visible(end int64, except ...int64) {
	w.t.Helper()
	var got, want []int64
	for _, r := range w.server.Rows(testTable.String()) {
		got = append(got, r["n"].(int64))
	}
	slices.Sort(got)
	for n := range end {
		if !slices.Contains(except, n) {
			want = append(want, n)
		}
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("visible are %v, want %v", got, want)
	}
}

// process is one that reads, writes and commits, until it is killed.
type process struct {
	world     *world
	writer    *Writer
	committer pipeline.Committer
	at        int64 // the next record that is not committed

	ctx  context.Context //nolint:containedctx // it is the life of the process
	kill context.CancelFunc
}

func (w *world) start() *process {
	w.t.Helper()
	return w.startWith(w.small(), w.committer("j"))
}

func (w *world) startWith(o WriterOptions, k pipeline.Committer) *process {
	w.t.Helper()
	p := &process{world: w, writer: w.writer(o), committer: k}
	p.ctx, p.kill = context.WithCancel(w.t.Context())
	w.t.Cleanup(p.kill)
	if err := p.restart(); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// restart is what a pipeline does at the start of a session.
func (p *process) restart() error {
	floor, err := p.committer.Floor(p.ctx)
	if err != nil {
		return err
	}
	if len(floor) == 0 {
		next := record.Floor{source.Topic: {Identity: identity, Next: map[int32]int64{0: 0}}}
		if err := p.committer.Init(p.ctx, floor, next); err != nil {
			return err
		}
		floor = next
	}
	p.at, _ = floor.Next(source)
	return nil
}

// write hands out records to all lanes.
func (p *process) write(records int64, text func(int64) string) (record.Sealed, pipeline.Flush, error) {
	from, to := p.at, p.at+records
	for i, l := range p.writer.lanes {
		part := int64(len(p.writer.lanes))
		a, b := from+records*int64(i)/part, from+records*int64(i+1)/part
		if err := p.writeTo(l, p.world.batch(a, b, text)); err != nil {
			return record.Sealed{}, nil, err
		}
	}
	return record.Sealed{
		ID:     uuid.NewString(),
		Ranges: []record.Range{{TopicPartition: source, From: from, To: to}},
		Topics: []record.TopicMark{{Topic: source.Topic, Identity: identity}},
		Counts: record.Counts{Rows: records},
	}, p.writer.Rotate(), nil
}

// writeTo writes while all other lanes are taken.
func (p *process) writeTo(to *lane, b *record.Batch) error {
	for _, l := range p.writer.lanes {
		if l != to {
			l.writing.Lock()
			defer l.writing.Unlock()
		}
	}
	return p.writer.Write(p.ctx, b)
}

func (p *process) seal(records int64, text func(int64) string) (record.Sealed, error) {
	sealed, flush, err := p.write(records, text)
	if err != nil {
		return sealed, err
	}
	sealed.Files, err = flush.Seal(p.ctx)
	if err != nil {
		return sealed, err
	}
	var rows int64
	for _, f := range sealed.Files {
		rows += f.Rows + f.Refused
	}
	if rows != records {
		p.world.t.Errorf("%d rows are accounted for, of %d", rows, records)
	}
	return sealed, nil
}

var errRejected = errors.New("rejected")

// step reads, writes and commits once.
func (p *process) step(records int64) error {
	sealed, err := p.seal(records, plain)
	if err != nil {
		return err
	}
	return p.commit(sealed)
}

func (p *process) commit(sealed record.Sealed) error {
	out, err := p.committer.Commit(p.ctx, []record.Sealed{sealed}, nil)
	switch {
	case err != nil:
		return err
	case !slices.Contains(out.Committed, sealed.ID):
		return errRejected
	}
	p.at, _ = out.Floor.Next(source)
	return nil
}

// letters is dead letters in memory.
type letters struct {
	mu      sync.Mutex
	fail    error
	waiting []RefusedRow
	durable []RefusedRow
}

func (l *letters) Write(_ context.Context, rows []RefusedRow) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return l.fail
	}
	l.waiting = append(l.waiting, rows...)
	return nil
}

func (l *letters) Flush(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.durable, l.waiting = append(l.durable, l.waiting...), nil
	return l.fail
}
