package main

import (
	"log/slog"

	"firn/internal/metric"
)

// logSummary logs what a run came to.
func logSummary(log *slog.Logger, s metric.Summary) {
	var perCPU float64
	if s.Process.CPUSeconds > 0 {
		perCPU = float64(s.Bytes) / 1e6 / s.Process.CPUSeconds
	}
	log.Info("ended",
		"records", s.Records, "rows", s.Commits.Rows, "rejected", s.Rejected, "tombstones", s.Tombstones,
		"mb", float64(s.Bytes)/1e6, "mb_per_second", s.MeanRate.MBPerSecond, "mb_per_cpu_second", perCPU,
		"commits", s.Commits.Count, "files", s.Commits.Files, "freshness_ms_p50", s.Freshness.Ms.P50,
		"freshness_ms_p99", s.Freshness.Ms.P99, "commit_ms_p50", s.Commits.Ms.P50, "lag", s.LagRecords,
		"cpu_seconds", s.Process.CPUSeconds, "peak_rss_mb", float64(s.Process.PeakRSSBytes)/1e6)
}
