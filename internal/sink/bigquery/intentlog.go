package bigquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// IntentLogOptions says where a job keeps its intents.
type IntentLogOptions struct {
	// Client says how to connect to the brokers.
	Client []kgo.Opt
	// Topic is a topic of one partition that loses nothing but what compaction may: cleanup.policy compact, or no
	// retention by time and size. Several jobs may share it.
	Topic string
	// Job is in the transactional id, firn.JOB, and the key of records: one process at a time writes for it.
	Job string
	// Timeout bounds each step; 0 is one minute. A transaction that is left behind holds back the readers of other jobs
	// as long.
	Timeout time.Duration
	Log     *slog.Logger // nil discards
}

// ErrFenced says that another process of the job has taken over.
var ErrFenced = errors.New("another process of this job has taken over")

// intentLog is the writing end of a job's intents: whoever opens it last. One goroutine uses it.
//
// Opening it has the brokers end the transaction of whoever had it before, by the epoch of its transactional id
// (KIP-98), and then reads. So what is read is all there will ever be before what this one writes.
type intentLog struct {
	options IntentLogOptions
	client  *kgo.Client // nil when it is not open
	last    *Intent     // nil when there is none
	offset  int64       // of last in the topic
	failed  bool        // the outcome of a write is not known, or the client is not to be trusted
}

// window is how many offsets before the end are read first to find the last intent; each further look is at
// windowGrowth times as many.
const (
	window       = 1 << 10
	windowGrowth = 16
)

// openTries bounds how often an opening that fails, or is itself overtaken, is tried; openPause is half of the first
// pause between them. The client has tried each of its requests for longer by then.
const (
	openTries = 5
	openPause = 50 * time.Millisecond
)

func newIntentLog(o IntentLogOptions) (*intentLog, error) {
	if o.Topic == "" || o.Job == "" {
		return nil, errors.New("an intent log needs a topic and the name of the job")
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &intentLog{options: o}, nil
}

// open fences whoever wrote before and reads the last intent.
func (g *intentLog) open(ctx context.Context) error {
	err := g.checkTopic(ctx)
	for try := range openTries {
		if try > 0 && err != nil {
			g.options.Log.Warn("opening the intent log; trying again", "topic", g.options.Topic, "error", err)
			if sleep(ctx, openPause<<try) != nil {
				break
			}
		} else if err != nil {
			break // the topic is not as it must be
		}
		if err = g.openOnce(ctx); err == nil {
			return nil
		}
		g.close()
	}
	return fmt.Errorf("opening the intent log, topic %s: %w", g.options.Topic, err)
}

func (g *intentLog) openOnce(ctx context.Context) error {
	g.close()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID("firn." + g.options.Job),
		kgo.TransactionTimeout(g.options.Timeout), kgo.ProducerLinger(0),
	}, g.options.Client...)...)
	if err != nil {
		return fmt.Errorf("making a kafka client: %w", err)
	}
	g.client, g.failed = client, false
	// The brokers answer once the transaction that was open, or about to end, has ended.
	if _, _, err := client.ProducerID(ctx); err != nil {
		return fmt.Errorf("taking over the transactional id firn.%s: %w", g.options.Job, err)
	}
	barrier := uuid.NewString()
	end, err := g.produce(ctx, g.options.Job+"/open", []byte(barrier))
	if err != nil {
		return err
	}
	return g.read(ctx, end, barrier)
}

// checkTopic sees that the topic keeps what it has to.
func (g *intentLog) checkTopic(ctx context.Context) error {
	client, err := kgo.NewClient(g.options.Client...)
	if err != nil {
		return fmt.Errorf("making a kafka client: %w", err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	topics, err := admin.ListTopics(ctx, g.options.Topic)
	if err == nil {
		err = topics.Error()
	}
	if err != nil {
		return fmt.Errorf("looking for it: %w: make it with one partition and cleanup.policy=compact", err)
	}
	if n := len(topics[g.options.Topic].Partitions); n != 1 {
		return fmt.Errorf("it has %d partitions: it must have one", n)
	}
	settings, err := admin.DescribeTopicConfigs(ctx, g.options.Topic)
	if err != nil {
		return fmt.Errorf("reading its settings: %w", err)
	}
	s, err := settings.On(g.options.Topic, nil)
	if err == nil {
		err = s.Err
	}
	if err != nil {
		return fmt.Errorf("reading its settings: %w", err)
	}
	return keeps(s.Configs)
}

// keeps tells whether a topic of these settings keeps the last record of each key for ever.
func keeps(settings []kadm.Config) error {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Key] = s.MaybeValue()
	}
	if values["cleanup.policy"] == "compact" || values["retention.ms"] == "-1" && values["retention.bytes"] == "-1" {
		return nil
	}
	return fmt.Errorf("its settings are cleanup.policy=%s, retention.ms=%s and retention.bytes=%s, by which intents are "+
		"lost: set cleanup.policy=compact", values["cleanup.policy"], values["retention.ms"], values["retention.bytes"])
}

// append writes an intent. After ErrFenced another process has the log, and what became of the intent is for the next
// open to find; any other error leaves it unknown until then too.
func (g *intentLog) append(ctx context.Context, i *Intent) error {
	if g.client == nil || g.failed {
		return errors.New("writing an intent: the log is not open")
	}
	text, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("writing an intent: %w", err)
	}
	offset, err := g.produce(ctx, g.options.Job, text)
	if err != nil {
		g.failed = true
		return fmt.Errorf("writing an intent to topic %s: %w", g.options.Topic, err)
	}
	g.last, g.offset = i, offset
	return nil
}

// produce writes one record in a transaction of its own. After an error the transaction may have been committed.
func (g *intentLog) produce(ctx context.Context, key string, value []byte) (offset int64, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx) // nothing was sent
	}
	// To end a transaction is not broken off: its outcome would be unknown without need.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.options.Timeout)
	defer cancel()
	if err := g.client.BeginTransaction(); err != nil {
		return 0, wrapFenced(err)
	}
	r := &kgo.Record{Topic: g.options.Topic, Key: []byte(key), Value: value}
	if err := g.client.ProduceSync(ctx, r).FirstErr(); err != nil {
		return 0, wrapFenced(err)
	}
	if err := g.client.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return 0, wrapFenced(err)
	}
	return r.Offset, nil
}

// fenced tells that the brokers know a newer writer of the job.
func fenced(err error) bool {
	return errors.Is(err, ErrFenced) || errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch)
}

func wrapFenced(err error) error {
	if fenced(err) {
		return fmt.Errorf("%w: %w", ErrFenced, err)
	}
	return err
}

// read finds the job's last intent before the barrier, which is at the offset given.
func (g *intentLog) read(ctx context.Context, end int64, barrier string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*g.options.Timeout) // others' transactions may have to end first
	defer cancel()
	starts, err := kadm.NewClient(g.client).ListStartOffsets(ctx, g.options.Topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return fmt.Errorf("looking for its start: %w", err)
	}
	first, _ := starts.Lookup(g.options.Topic, 0)
	for size := int64(window); ; size *= windowGrowth {
		from := max(first.Offset, end-size)
		found, at, err := g.scan(ctx, from, end, barrier)
		if err != nil {
			return err
		}
		if found != nil || from == first.Offset {
			g.last, g.offset = found, at
			return nil
		}
	}
}

// scan reads from an offset up to the barrier and returns the last intent of the job.
func (g *intentLog) scan(ctx context.Context, from, end int64, barrier string) (last *Intent, at int64, err error) {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{g.options.Topic: {0: kgo.NewOffset().At(from)}}),
	}, g.options.Client...)...)
	if err != nil {
		return nil, 0, fmt.Errorf("making a kafka client: %w", err)
	}
	defer client.Close()
	var record *kgo.Record
	for {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, 0, fmt.Errorf("reading it up to offset %d: %w", end, err)
		}
		for records := fetches.RecordIter(); !records.Done(); {
			r := records.Next()
			switch {
			case r.Offset > end:
				return nil, 0, fmt.Errorf("%w: what was written at offset %d is not there", ErrFenced, end)
			case r.Offset == end && string(r.Value) == barrier:
				last, err = g.parse(record)
				if last != nil {
					at = record.Offset
				}
				return last, at, err
			case string(r.Key) == g.options.Job:
				record = r
			}
		}
	}
}

func (g *intentLog) parse(r *kgo.Record) (*Intent, error) {
	if r == nil {
		return nil, nil
	}
	i := new(Intent)
	err := json.Unmarshal(r.Value, i)
	if err == nil {
		err = i.check(g.options.Job)
	}
	if err != nil {
		return nil, fmt.Errorf("the intent at offset %d cannot be read: %w", r.Offset, err)
	}
	return i, nil
}

// close ends the client. What was not committed is aborted by whoever opens the log next.
func (g *intentLog) close() {
	if g.client != nil {
		g.client.Close()
		g.client = nil
	}
}
