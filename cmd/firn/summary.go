package main

import (
	"log/slog"
	"math"

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
		"mb", tenths(float64(s.Bytes)/1e6), "mb_per_second", tenths(s.MeanRate.MBPerSecond),
		"mb_per_cpu_second", tenths(perCPU), "commits", s.Commits.Count, "files", s.Commits.Files,
		"freshness_ms_p50", tenths(s.Freshness.Ms.P50), "freshness_ms_p99", tenths(s.Freshness.Ms.P99),
		"commit_ms_p50", tenths(s.Commits.Ms.P50), "lag", s.LagRecords, "cpu_seconds", tenths(s.Process.CPUSeconds),
		"peak_rss_mb", tenths(float64(s.Process.PeakRSSBytes)/1e6))
}

// tenths keeps one decimal: the figures are read by people, and --json has them whole.
func tenths(f float64) float64 { return math.Round(f*10) / 10 }
