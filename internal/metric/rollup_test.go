package metric

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// rollingJob has joined files.
func rollingJob(c *clock) *Job {
	j := NewJob("orders", c.Now)
	j.RollupWorked(RollupWork{
		Duration: 250 * time.Millisecond, PagesCopied: 90, BytesCopied: 9000, PagesReencoded: 10, BytesReencoded: 1000,
	})
	j.RollupWorked(RollupWork{Duration: 750 * time.Millisecond, PagesCopied: 10, BytesCopied: 1000})
	j.RolledUp(100, 200<<20)
	j.RolledUp(50, 1<<20)
	j.RollupRead(1, 20, 300)
	j.RollupRead(0, 0, 100)
	j.RollupStale()
	j.RollupFailed()
	j.RollupFailed()
	j.RollupKept(5, 6)
	j.RollupPending(7, 8000, c.Now())
	c.Move(90 * time.Second)
	return j
}

func TestRollups(t *testing.T) {
	c := newClock()
	j := rollingJob(c)
	want := Rollups{
		Count: 2, FilesIn: 150, FileBytes: []Bucket{{1 << 20, 1}, {256 << 20, 1}}, Stale: 1, Failures: 2, Seconds: 1,
		CopiedBytes: 10000, CopiedPages: 100, ReencodedBytes: 1000, ReencodedPages: 10,
		MemoryReadBytes: 1, DiskReadBytes: 20, StoreReadBytes: 400,
		PendingFiles: 7, PendingBytes: 8000, OldestPendingSeconds: 90, KeptMemoryBytes: 5, KeptDiskBytes: 6,
	}
	if d := cmp.Diff(want, j.Summary().Rollups); d != "" {
		t.Errorf("summary (-want +got):\n%s", d)
	}
	j.RollupPending(0, 0, time.Time{})
	if s := j.Summary().Rollups; s.PendingFiles != 0 || s.OldestPendingSeconds != 0 {
		t.Errorf("nothing pending: %+v", s)
	}
}

func TestRollupMetrics(t *testing.T) {
	const want = `
# HELP firn_rollup_bytes_total Bytes of joined files, by whether they were copied or encoded again.
# TYPE firn_rollup_bytes_total counter
firn_rollup_bytes_total{firn_job="orders",how="copied"} 10000
firn_rollup_bytes_total{firn_job="orders",how="reencoded"} 1000
# HELP firn_rollup_done_total Files joined from small ones that are in the table.
# TYPE firn_rollup_done_total counter
firn_rollup_done_total{firn_job="orders"} 2
# HELP firn_rollup_oldest_pending_seconds Age of the oldest small file not joined yet; 0 when there is none.
# TYPE firn_rollup_oldest_pending_seconds gauge
firn_rollup_oldest_pending_seconds{firn_job="orders"} 90
# HELP firn_rollup_read_bytes_total Bytes of small files that were joined, by where they were read.
# TYPE firn_rollup_read_bytes_total counter
firn_rollup_read_bytes_total{firn_job="orders",from="disk"} 20
firn_rollup_read_bytes_total{firn_job="orders",from="memory"} 1
firn_rollup_read_bytes_total{firn_job="orders",from="store"} 400
`
	names := []string{
		"firn_rollup_bytes_total", "firn_rollup_done_total", "firn_rollup_oldest_pending_seconds",
		"firn_rollup_read_bytes_total",
	}
	collector := rollingJob(newClock()).Collector()
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}
