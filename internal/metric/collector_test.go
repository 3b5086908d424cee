package metric

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// busyJob has used every method, so that its collector sends every metric.
func busyJob(c *clock) *Job {
	j := NewJob("orders", c.Now)
	j.Read("a", 0, 10, 1000)
	j.Decoded(8, 1, 1)
	j.Lag("a", 0, 4)
	j.Uncertain("a", 0, 2)
	j.Gap("a", 0, 5, 8)
	j.State(Running)
	start := c.Now()
	j.Committed(Commit{
		SnapshotID: 3, Start: start, Duration: 40 * time.Millisecond, Rows: 8, Bytes: 2 << 20, Files: 1,
		FileBytes: []int64{2 << 20}, Attempts: 3, Conflicts: 2, Unknown: 1,
		Events: []Event{{start.Add(-2 * time.Second).UnixMilli(), 8}},
	})
	j.RolledUp(100, 200<<20)
	return j
}

func TestCollectorValues(t *testing.T) {
	c := newClock()
	const want = `
# HELP firn_commit_conflicts_total Tries that another writer's commit beat.
# TYPE firn_commit_conflicts_total counter
firn_commit_conflicts_total{firn_job="orders"} 2
# HELP firn_gap_offsets_total Offsets that retention removed before they were read.
# TYPE firn_gap_offsets_total counter
firn_gap_offsets_total{firn_job="orders",partition="0",topic="a"} 3
# HELP firn_lag_records Offsets below the last stable offset that are not in the table.
# TYPE firn_lag_records gauge
firn_lag_records{firn_job="orders",partition="0",topic="a"} 4
# HELP firn_state 1 for the state that the job is in, else 0.
# TYPE firn_state gauge
firn_state{firn_job="orders",state="retrying"} 0
firn_state{firn_job="orders",state="running"} 1
firn_state{firn_job="orders",state="starting"} 0
firn_state{firn_job="orders",state="stopping"} 0
# HELP firn_last_commit_timestamp_seconds When the last commit landed; 0 before the first.
# TYPE firn_last_commit_timestamp_seconds gauge
firn_last_commit_timestamp_seconds{firn_job="orders"} 1.80000000004e+09
`
	names := []string{
		"firn_commit_conflicts_total", "firn_gap_offsets_total", "firn_lag_records", "firn_state",
		"firn_last_commit_timestamp_seconds",
	}
	if err := testutil.CollectAndCompare(busyJob(c).Collector(), strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

func TestCollectorFreshness(t *testing.T) {
	c := newClock()
	j := busyJob(c)
	const name = "firn_freshness_seconds"
	const busy = `
# HELP firn_freshness_seconds End of commit minus broker timestamp; count and sum since the start.
# TYPE firn_freshness_seconds summary
firn_freshness_seconds{firn_job="orders",quantile="0.5"} 2.040831
firn_freshness_seconds{firn_job="orders",quantile="0.95"} 2.040831
firn_freshness_seconds{firn_job="orders",quantile="0.99"} 2.040831
firn_freshness_seconds_sum{firn_job="orders"} 16.32
firn_freshness_seconds_count{firn_job="orders"} 8
`
	if err := testutil.CollectAndCompare(j.Collector(), strings.NewReader(busy), name); err != nil {
		t.Error(err)
	}
	c.Move(2 * time.Minute)
	quiet := regexp.MustCompile(".*quantile.*\n").ReplaceAllString(busy, "")
	if err := testutil.CollectAndCompare(j.Collector(), strings.NewReader(quiet), name); err != nil {
		t.Errorf("after two quiet minutes: %v", err)
	}
}

// docs/metrics.md names every metric that is exported, with its type, and no other.
func TestDocumentNamesEveryMetric(t *testing.T) {
	raw, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `(firn_[a-z_]+)` \\| ([a-z]+) \\| ([a-z0-9 ]+) \\|([^|]*)\\|")
	documented := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(raw), -1) {
		labels := strings.FieldsFunc(m[4], func(r rune) bool { return strings.ContainsRune("`, ", r) })
		slices.Sort(labels)
		documented[m[1]] = m[2] + " " + strings.Join(labels, ",")
	}
	exported := map[string]string{}
	families, err := pedantic(busyJob(newClock())).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		var labels []string
		m := family.GetMetric()[0]
		for _, l := range m.GetLabel() {
			if l.GetName() != "firn_job" {
				labels = append(labels, l.GetName())
			}
		}
		if m.GetSummary() != nil {
			labels = append(labels, "quantile")
		}
		slices.Sort(labels)
		exported[family.GetName()] = strings.ToLower(family.GetType().String()) + " " + strings.Join(labels, ",")
	}
	if d := cmp.Diff(exported, documented); d != "" {
		t.Errorf("exported (-) and documented (+):\n%s", d)
	}
}

// pedantic is a registry that checks what the collector sends against what it describes.
func pedantic(j *Job) *prometheus.Registry {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(j.Collector())
	return registry
}
