package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"firn/internal/job"
	"firn/internal/metric"
	"firn/internal/table"
	"firn/internal/wire"
)

// jobConfig is what differs between the jobs that are measured. All else is at its default.
type jobConfig struct {
	broker         *broker
	folder         string // for catalog and data
	kind           kind   // of messages
	partition      string // empty: none
	compression    string
	commitInterval time.Duration
	settings       []string // more lines of sink.iceberg
}

// jobFile is the name of the job file in the folder.
const jobFile = "job.yaml"

// file is the job file, which a user could run as well.
func (c jobConfig) file() (string, error) {
	schema, err := schemaOf(c.kind.columns)
	if err != nil {
		return "", err
	}
	var fields strings.Builder
	for _, f := range schema.Fields {
		fmt.Fprintf(&fields, "      - {name: %s, type: %q}\n", f.Name, f.Type)
	}
	partition := ""
	if c.partition != "" {
		partition = strconv.Quote(c.partition)
	}
	brokers := make([]string, len(c.broker.addresses))
	for i, a := range c.broker.addresses {
		brokers[i] = strconv.Quote(a)
	}
	return fmt.Sprintf(`name: bench
kind: kafka-to-iceberg
source:
  kafka:
    brokers: [%s]
    topics: [%q]
decode:
  schema:
    fields:
%ssink:
  iceberg:
    catalog: {type: hadoop, warehouse: %q}
    table: bench.messages
    partition: [%s]
    compression: %s
    commit_interval: %s
%slog: {level: warn}
`, strings.Join(brokers, ", "), c.broker.topic, fields.String(), c.warehouse(), partition, c.compression,
		c.commitInterval, c.more()), nil
}

func (c jobConfig) more() string {
	var lines strings.Builder
	for _, line := range c.settings {
		lines.WriteString("    " + line + "\n")
	}
	return lines.String()
}

// warehouse is the folder of the catalog.
func (c jobConfig) warehouse() string { return filepath.Join(c.folder, "warehouse") }

// jobMessage is what a job process says: first that it runs, at its end what came of it.
type jobMessage struct {
	Running bool       `json:"running,omitempty"`
	Report  *jobReport `json:"report,omitempty"`
}

// jobReport is what a job came to.
type jobReport struct {
	Summary metric.Summary `json:"summary"`
	// PeakRSSBytes is the process's own. What the kernel tells the parent may be the parent's: a new process starts in
	// the parent's memory.
	PeakRSSBytes int64 `json:"peak_rss_bytes"`
}

// jobOrder tells a job process to end once so many rows are committed.
type jobOrder struct {
	Rows int64 `json:"rows"`
}

// drainMax bounds how long a job may take to commit what was sent before the order to end.
const drainMax = time.Minute

// RunJob answers RoleJob: it runs a job and says on out when it runs and, at its end, what came of it. It ends by
// itself when untilCaughtUp, at an order from in, or when in ends.
func RunJob(
	ctx context.Context, j *job.Job, untilCaughtUp bool, in io.Reader, out io.Writer, log *slog.Logger,
) (err error) {
	a, err := wire.Open(ctx, j, wire.Options{UntilCaughtUp: untilCaughtUp}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	running, stop := context.WithCancel(ctx)
	defer stop()
	said := json.NewEncoder(out)
	group, running := errgroup.WithContext(running)
	group.Go(func() error {
		defer stop()
		return a.Run(running)
	})
	group.Go(func() error { return announce(running, a.Metrics, said) })
	obeyed := make(chan error, 1)
	go func() {
		obeyed <- obey(running, in, a.Metrics)
		stop()
	}()
	if err := group.Wait(); err != nil {
		return err
	}
	report := jobReport{Summary: a.Metrics.Summary()}
	report.PeakRSSBytes = peakRSS(report.Summary)
	if err := said.Encode(jobMessage{Report: &report}); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return <-obeyed
}

// announce says when the job runs.
func announce(ctx context.Context, m *metric.Job, out *json.Encoder) error {
	if !await(ctx, func() bool { state, _ := m.CurrentState(); return state == metric.Running }) {
		return nil
	}
	if err := out.Encode(jobMessage{Running: true}); err != nil {
		return fmt.Errorf("writing that the job runs: %w", err)
	}
	return nil
}

// obey waits for the order to end, and until it may be followed. No order is one to end at once.
func obey(ctx context.Context, in io.Reader, m *metric.Job) error {
	var order jobOrder
	if err := json.NewDecoder(in).Decode(&order); err != nil {
		return nil
	}
	draining, stop := context.WithTimeout(ctx, drainMax)
	defer stop()
	if !await(draining, func() bool { return m.Summary().Commits.Rows >= order.Rows }) && ctx.Err() == nil {
		return fmt.Errorf("after %s only %d of %d rows were committed", drainMax, m.Summary().Commits.Rows, order.Rows)
	}
	return nil
}

// await looks every now and then whether something is so. It is false when ctx ended first.
func await(ctx context.Context, so func() bool) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// peakRSS is the most memory that this process had resident.
func peakRSS(s metric.Summary) int64 {
	if kb, ok := strings.CutSuffix(procField(readProc("/proc/self/status"), "VmHWM"), " kB"); ok {
		if n, err := strconv.ParseInt(kb, 10, 64); err == nil {
			return n * 1024
		}
	}
	return s.Process.PeakRSSBytes
}

// startJob writes the job file and starts a process that runs it.
func (s *session) startJob(ctx context.Context, c jobConfig, untilCaughtUp bool) (*child, error) {
	path, err := c.write()
	if err != nil {
		return nil, err
	}
	arguments := []string{path}
	if untilCaughtUp {
		arguments = append(arguments, "--until-caught-up")
	}
	return startChild(s.Child(ctx, RoleJob, arguments...))
}

// write writes the job file and returns its path.
func (c jobConfig) write() (string, error) {
	text, err := c.file()
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.folder, jobFile)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("writing the job file: %w", err)
	}
	return path, nil
}

// files looks into the table of the job file that write wrote, whoever filled it.
func (c jobConfig) files(ctx context.Context) (dataFiles, error) {
	all, _, err := c.filesByAge(ctx, 0)
	return all, err
}

// filesByAge is all files, and those that no append less than the age ago has added. What a replacement has added holds
// older rows and is old whenever it was made.
func (c jobConfig) filesByAge(ctx context.Context, age time.Duration) (all, old dataFiles, err error) {
	j, err := job.Load(filepath.Join(c.folder, jobFile), os.Getenv)
	if err != nil {
		return nil, nil, err
	}
	catalog, err := wire.OpenCatalog(ctx, j.Sink.Iceberg.Catalog, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, err
	}
	t, err := catalog.Load(ctx, j.Sink.Iceberg.Table)
	if err != nil {
		return nil, nil, errors.Join(err, catalog.Close())
	}
	snapshots, err := t.Snapshots()
	if err != nil {
		return nil, nil, errors.Join(err, catalog.Close())
	}
	young := appendsSince(snapshots, age)
	list, err := t.Files(ctx, table.FilesOptions{})
	for _, f := range list {
		mb := float64(f.Bytes) / 1e6
		all = append(all, mb)
		if !young[f.SnapshotID] {
			old = append(old, mb)
		}
	}
	return all, old, errors.Join(err, catalog.Close())
}

// appendsSince are the snapshots of operation append that are less than the age older than the last one.
func appendsSince(snapshots []table.SnapshotInfo, age time.Duration) map[int64]bool {
	young := map[int64]bool{}
	for _, s := range snapshots {
		if s.Operation == "append" && snapshots[len(snapshots)-1].Time.Sub(s.Time) < age {
			young[s.ID] = true
		}
	}
	return young
}

// report waits for what the job came to, and for its end.
func (c *child) report() (*jobReport, error) {
	for {
		var m jobMessage
		if err := c.hear(&m); err != nil {
			return nil, err
		}
		if m.Report != nil {
			return m.Report, c.end()
		}
	}
}

// moved checks that a job moved each message once.
func (r *jobReport) moved(messages int64) error {
	s := &r.Summary
	if s.Commits.Rows != messages || s.Rejected != 0 || s.Gaps.Offsets != 0 {
		return fmt.Errorf("%d messages were sent, and the job committed %d rows, rejected %d and found a gap of %d", messages,
			s.Commits.Rows, s.Rejected, s.Gaps.Offsets)
	}
	return nil
}
