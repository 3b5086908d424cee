package metric

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Collector gives the job's figures to Prometheus, read when it scrapes. Every metric has the constant label firn_job;
// names, units and labels are in docs/metrics.md.
func (j *Job) Collector() prometheus.Collector { return &collector{job: j, desc: descriptions(j.name)} }

type collector struct {
	job  *Job
	desc map[string]*prometheus.Desc
}

// descriptions is every metric: name -> its text and labels.
func descriptions(job string) map[string]*prometheus.Desc {
	desc := map[string]*prometheus.Desc{}
	constant := prometheus.Labels{"firn_job": job}
	add := func(name, help string, labels ...string) {
		desc[name] = prometheus.NewDesc(name, help, labels, constant)
	}
	describeReading(add)
	describeCommits(add)
	describeRollups(add)
	return desc
}

func describeReading(add func(name, help string, labels ...string)) {
	add("firn_records_total", "Records read from the source.")
	add("firn_bytes_total", "Bytes of keys and values read from the source.")
	add("firn_rows_total", "Rows decoded from records.")
	add("firn_rejected_records_total", "Records that could not become rows.")
	add("firn_tombstone_records_total", "Records with a null value, skipped by policy.")
	add("firn_reconnects_total", "Connections that were lost and made again.")
	add("firn_errors_total", "Errors met, those that firn got over included.")
	add("firn_gaps_total", "Ranges of offsets that retention removed before they were read.")
	add("firn_gap_offsets_total", "Offsets that retention removed before they were read.", "topic", "partition")
	add("firn_lag_records", "Offsets below the last stable offset that are not in the table.", "topic", "partition")
	add("firn_uncertain_records", "Offsets past the last stable offset: open transactions.", "topic", "partition")
	add("firn_buffered_bytes", "Bytes of data read and not yet in committed files.")
	add("firn_workers", "Workers that decode and write.")
	add("firn_state", "1 for the state that the job is in, else 0.", "state")
	add("firn_start_timestamp_seconds", "When the job started, in seconds since 1970.")
}

func describeCommits(add func(name, help string, labels ...string)) {
	add("firn_commit_seconds", "Time of a commit, from its start until its rows were visible.")
	add("firn_commit_attempts_total", "Tries to commit, of commits that landed.")
	add("firn_commit_conflicts_total", "Tries that another writer's commit beat.")
	add("firn_commit_unknown_total", "Tries whose outcome had to be looked up in the table.")
	add("firn_committed_rows_total", "Rows made visible.")
	add("firn_committed_files_total", "Data files made visible.")
	add("firn_committed_bytes_total", "Bytes of data files made visible.")
	add("firn_file_bytes", "Sizes of the data files made visible.")
	add("firn_freshness_seconds", "End of commit minus broker timestamp; count and sum since the start.")
	add("firn_ahead_records_total", "Records whose broker timestamp is later than the end of their commit.")
	add("firn_newest_visible_timestamp_seconds", "Broker timestamp of the newest visible record; 0 before the first.")
	add("firn_last_commit_timestamp_seconds", "When the last commit landed; 0 before the first.")
}

// Describe sends every description.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.desc {
		out <- d
	}
}

// Collect sends the figures of one moment.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.job.Summary()
	count := func(name string, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(c.desc[name], prometheus.CounterValue, float64(v), labels...)
	}
	gauge := func(name string, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(c.desc[name], prometheus.GaugeValue, v, labels...)
	}
	collectReading(s, count, gauge)
	collectCommits(s, count, gauge)
	collectRollups(s.Rollups, count, gauge)
	c.collectHistograms(out)
}

func collectReading(s Summary, count func(string, int64, ...string), gauge func(string, float64, ...string)) {
	count("firn_records_total", s.Records)
	count("firn_bytes_total", s.Bytes)
	count("firn_rows_total", s.Rows)
	count("firn_rejected_records_total", s.Rejected)
	count("firn_tombstone_records_total", s.Tombstones)
	count("firn_reconnects_total", s.Reconnects)
	count("firn_errors_total", s.Errors)
	count("firn_gaps_total", s.Gaps.Count)
	for _, p := range s.Partitions {
		number := strconv.Itoa(int(p.Partition))
		gauge("firn_lag_records", float64(p.LagRecords), p.Topic, number)
		gauge("firn_uncertain_records", float64(p.UncertainRecords), p.Topic, number)
		count("firn_gap_offsets_total", p.GapOffsets, p.Topic, number)
	}
	gauge("firn_buffered_bytes", float64(s.Buffered))
	gauge("firn_workers", float64(s.Workers))
	for _, state := range States() {
		is := 0.0
		if state == s.State {
			is = 1
		}
		gauge("firn_state", is, string(state))
	}
	gauge("firn_start_timestamp_seconds", float64(s.Started.UnixMilli())/1000)
}

func collectCommits(s Summary, count func(string, int64, ...string), gauge func(string, float64, ...string)) {
	count("firn_commit_attempts_total", s.Commits.Attempts)
	count("firn_commit_conflicts_total", s.Commits.Conflicts)
	count("firn_commit_unknown_total", s.Commits.Unknown)
	count("firn_committed_rows_total", s.Commits.Rows)
	count("firn_committed_files_total", s.Commits.Files)
	count("firn_committed_bytes_total", s.Commits.Bytes)
	count("firn_ahead_records_total", s.Freshness.AheadRecords)
	var newest, last float64
	if t := s.Freshness.NewestVisible; t != nil {
		newest = float64(t.UnixMilli()) / 1000
	}
	if t := s.Commits.LastCommittedAt; t != nil {
		last = float64(t.UnixMilli()) / 1000
	}
	gauge("firn_newest_visible_timestamp_seconds", newest)
	gauge("firn_last_commit_timestamp_seconds", last)
}

func (c *collector) collectHistograms(out chan<- prometheus.Metric) {
	j := c.job
	now := j.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	s := &j.commits
	histogram := func(name string, b *buckets, scale float64) {
		n := uint64(b.count())
		out <- prometheus.MustNewConstHistogram(c.desc[name], n, b.sum*scale, b.cumulative(scale))
	}
	histogram("firn_commit_seconds", &s.seconds, 1e-6)
	histogram("firn_file_bytes", &s.fileSizes, 1)
	histogram("firn_rollup_seconds", &j.rollups.seconds, 1e-6)
	histogram("firn_rollup_file_bytes", &j.rollups.sizes, 1)
	minute := s.freshness.lastMinute(now)
	quantiles := map[float64]float64{}
	if minute.Count > 0 {
		quantiles = map[float64]float64{0.5: minute.P50 / 1000, 0.95: minute.P95 / 1000, 0.99: minute.P99 / 1000}
	}
	n := uint64(s.freshness.all.TotalCount())
	out <- prometheus.MustNewConstSummary(c.desc["firn_freshness_seconds"], n, s.freshness.sum, quantiles)
}
