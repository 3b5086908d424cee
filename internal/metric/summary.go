package metric

import "time"

// Summary is the figures of a job at one moment, fit for JSON. Bytes are bytes, MB is a million bytes.
type Summary struct {
	Job           string    `json:"job"`
	State         State     `json:"state"`
	StateSince    time.Time `json:"state_since"`
	Started       time.Time `json:"started"`
	At            time.Time `json:"at"`
	UptimeSeconds float64   `json:"uptime_seconds"`
	Workers       int64     `json:"workers"`

	Records    int64 `json:"records"` // read
	Bytes      int64 `json:"bytes"`   // of keys and values read
	Rows       int64 `json:"rows"`    // decoded
	Rejected   int64 `json:"rejected"`
	Tombstones int64 `json:"tombstones"`
	Reconnects int64 `json:"reconnects"`
	Buffered   int64 `json:"buffered_bytes"`

	Rate       Throughput `json:"rate"`        // over the last 10 s
	MeanRate   Throughput `json:"mean_rate"`   // since the start
	Commits    Commits    `json:"commits"`     //
	Freshness  Freshness  `json:"freshness"`   //
	Rollups    Rollups    `json:"rollups"`     // small files joined into large ones
	LagRecords int64      `json:"lag_records"` // below the last stable offsets and not in the table

	UncertainRecords int64          `json:"uncertain_records"` // in open transactions
	Partitions       []PartitionLag `json:"partitions"`
	Gaps             Gaps           `json:"gaps"`
	Errors           int64          `json:"errors"`
	LastError        *Problem       `json:"last_error,omitempty"`
	Process          Process        `json:"process"`
}

// Throughput is speed of reading.
type Throughput struct {
	RecordsPerSecond float64 `json:"records_per_second"`
	MBPerSecond      float64 `json:"mb_per_second"`
}

// Commits sums up the commits that landed.
type Commits struct {
	Count           int64       `json:"count"`
	Attempts        int64       `json:"attempts"`
	Conflicts       int64       `json:"conflicts"`
	Unknown         int64       `json:"unknown"`
	Rows            int64       `json:"rows"`
	Files           int64       `json:"files"`
	Bytes           int64       `json:"bytes"`
	FileBytes       []Bucket    `json:"file_bytes"` // file sizes as a histogram
	Ms              Percentiles `json:"ms"`         // since the start
	MsLastMinute    Percentiles `json:"ms_last_minute"`
	LastSnapshotID  int64       `json:"last_snapshot_id,omitempty"`
	LastCommittedAt *time.Time  `json:"last_committed_at,omitempty"`
}

// Freshness is the end of a commit minus the broker timestamp of the records it made visible.
type Freshness struct {
	NewestMs      float64     `json:"newest_ms"` // of the newest record of the last commit that had rows
	NewestVisible *time.Time  `json:"newest_visible,omitempty"`
	Ms            Percentiles `json:"ms"` // since the start
	MsLastMinute  Percentiles `json:"ms_last_minute"`
	AheadRecords  int64       `json:"ahead_records"` // timestamps later than the commit: a clock is wrong
}

// Gaps is what retention removed before it was read.
type Gaps struct {
	Count   int64 `json:"count"`
	Offsets int64 `json:"offsets"`
	Last    []Gap `json:"last"` // the newest hundred
}

// Process is what the whole process used; zeros where the system does not say.
type Process struct {
	CPUSeconds   float64 `json:"cpu_seconds"`
	PeakRSSBytes int64   `json:"peak_rss_bytes"`
}

// Summary is the figures now. It shares nothing with the job.
func (j *Job) Summary() Summary {
	now := j.now()
	s := Summary{
		Job: j.name, Started: j.started, At: now, UptimeSeconds: now.Sub(j.started).Seconds(),
		Records: j.records.Load(), Bytes: j.bytes.Load(),
		Rows: j.rows.Load(), Rejected: j.rejected.Load(), Tombstones: j.tombstones.Load(),
		Reconnects: j.reconnects.Load(), Buffered: j.buffered.Load(), Workers: j.workers.Load(),
		Errors: j.errors.Load(), Process: readProcess(),
	}
	s.Rate.RecordsPerSecond, s.Rate.MBPerSecond = j.rate.perSecond(now)
	s.Rate.MBPerSecond /= 1e6
	if s.UptimeSeconds > 0 {
		s.MeanRate.RecordsPerSecond = float64(s.Records) / s.UptimeSeconds
		s.MeanRate.MBPerSecond = float64(s.Bytes) / 1e6 / s.UptimeSeconds
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.summarizeLocked(&s, now)
	return s
}

func (j *Job) summarizeLocked(s *Summary, now time.Time) {
	s.State, s.StateSince = j.state, j.stateSince
	s.Partitions = j.partitionList()
	s.LagRecords = j.lag
	for _, p := range s.Partitions {
		s.UncertainRecords += p.UncertainRecords
	}
	s.Gaps = Gaps{Count: j.gaps.count, Offsets: j.gaps.offsets, Last: append([]Gap{}, j.gaps.last...)}
	if j.lastError.Text != "" {
		problem := j.lastError
		s.LastError = &problem
	}
	s.Commits, s.Freshness = j.commits.summary(now), j.commits.freshnessSummary(now)
	s.Rollups = j.rollups.summary(now)
}

func (s *commits) summary(now time.Time) Commits {
	return Commits{
		Count: s.count, Attempts: s.attempts, Conflicts: s.conflicts, Unknown: s.unknown,
		Rows: s.rows, Files: s.files, Bytes: s.bytes, FileBytes: s.fileSizes.list(),
		Ms: s.duration.sinceStart(), MsLastMinute: s.duration.lastMinute(now),
		LastSnapshotID: s.lastSnapshot, LastCommittedAt: timeOrNil(s.lastEnd),
	}
}

func (s *commits) freshnessSummary(now time.Time) Freshness {
	return Freshness{
		NewestMs: s.newestMs, NewestVisible: timeOrNil(s.newestVisible), AheadRecords: s.ahead,
		Ms: s.freshness.sinceStart(), MsLastMinute: s.freshness.lastMinute(now),
	}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
